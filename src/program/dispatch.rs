//! The dispatch of a call: the command line, or a client's hook, to the function that answers it.

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches, Subcommand as _};

use super::app::{App, Program};
use super::arguments::{Asking, Choosing, Command, Hook, Report, Verifying};
use super::caller::Caller;
use super::command_line::{self, Frequent};
use super::exit::{Exit, Failure};
use super::settings::Settings;
use super::surroundings::Surroundings;
use super::{
    adopt, compaction, config, display, doctor, generate, hooks, import, loops, out, pause, plugin,
    question_answer, resume, review, rollback, session_start, start, state, stop, sweep,
    use_command, verbs, verify,
};
use crate::behaviours::verify::is_used;
use crate::hooks::HookOutput;
use crate::process::environment::GUARD;

/// What `--protocol` answers first; a plugin's launcher asks for it.
pub(super) const PROTOCOL: &str = "1";

/// Returns what `--protocol` answers after the program's name: `protocol 1 (0.1.0)`.
pub(super) fn protocol<M: App>() -> String {
    format!("protocol {PROTOCOL} ({})", M::VERSION)
}

/// Says which protocol this program speaks; returns how it ends, unless it goes on. A plugin asks and calls in one: what is printed next
/// is the answer of the protocol that it speaks.
pub(super) fn speak<M: App>(wanted: &str) -> Option<Exit> {
    out::line(&format!("{} {}", M::INFO.program, protocol::<M>()));
    match wanted {
        "" => Some(Exit::Complete),
        PROTOCOL => None,
        _ => Some(Exit::Refused),
    }
}

/// Runs the command that the arguments name.
pub(super) fn dispatch<M: App>(
    program: &Program<M>,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let info = program.info;
    // Before anything calls git.
    Settings::seen(info, &Caller::from_env(), None);
    let asked = matches.get_one::<String>("protocol");
    if let Some(ended) = asked.and_then(|wanted| speak::<M>(wanted)) {
        return Ok(ended);
    }
    let Some((name, given)) = matches.subcommand() else {
        return Ok(Exit::Usage);
    };
    let unusable = |error: clap::Error| Failure::usage(&error);
    let mut verbs = program.verbs.iter().map(|own| ((own.command)(), own));
    if let Some((command, own)) = verbs.find(|(command, _)| command.get_name() == name) {
        if let Some(report) = Report::instead_of(&command, given) {
            loops::all_usable(info)?;
            return display::report(program, &report);
        }
        not_inside_a_reviewer(name)?;
        loops::all_usable(info)?;
        return verbs::own(program, (name, own), given);
    }
    let mut commands = program.commands.iter();
    if let Some(own) = commands.find(|own| (own.command)().get_name() == name) {
        not_inside_a_reviewer(name)?;
        return (own.run)(info, given);
    }
    let is_given = |flag| given.value_source(flag) == Some(ValueSource::CommandLine);
    if let Some(own) = program
        .flags
        .iter()
        .find(|own| own.command == name && is_given(own.flag))
    {
        not_inside_a_reviewer(name)?;
        return (own.run)(info, given);
    }
    if name == "start" {
        not_inside_a_reviewer(name)?;
        return start::start(program, given);
    }
    if let Ok(Asking::Answer { id, label }) = Asking::from_arg_matches(matches) {
        not_inside_a_reviewer(name)?;
        loops::all_usable(info)?;
        return question_answer::by_hand(program, id.as_deref(), &label);
    }
    if is_used(M::TABLE)
        && let Ok(Verifying::Verify { id }) = Verifying::from_arg_matches(matches)
    {
        not_inside_a_reviewer(name)?;
        loops::all_usable(info)?;
        return verify::verify(program, id.as_deref());
    }
    if let Ok(Choosing::Use { id }) = Choosing::from_arg_matches(matches) {
        not_inside_a_reviewer(name)?;
        loops::all_usable(info)?;
        return use_command::choose::<M>(id.as_deref());
    }
    // A machine's own `pause` goes before ours.
    let is_own = name == "pause" && M::Verb::has_subcommand(name);
    if is_own || !Command::has_subcommand(name) {
        not_inside_a_reviewer(name)?;
        loops::all_usable(info)?;
        return verbs::verb(
            program,
            M::Verb::from_arg_matches(matches).map_err(unusable)?,
        );
    }
    let command = Command::from_arg_matches(matches).map_err(unusable)?;
    if changes_loops(&command) {
        not_inside_a_reviewer(name)?;
    }
    if is_about_loops(&command) {
        loops::all_usable(info)?;
    }
    match command {
        Command::Status(look) => display::status(program, &look),
        Command::List(format) => display::list::<M>(format.json),
        Command::Journal(journal) => display::journal::<M>(&journal),
        Command::Report(report) => display::report(program, &report),
        Command::Review(arguments) => review::review(program, &arguments),
        Command::Resume { target, adopt, yes } => resume::resume(program, &target, adopt, yes),
        Command::Pause(target) => pause::pause(program, &target),
        Command::Adopt { target, yes } => adopt::adopt(program, &target, yes),
        Command::Import { file, id } => import::import(program, &file, id.as_deref()),
        Command::Personas => display::personas(info),
        Command::Sweep {
            older_than,
            dry_run,
        } => {
            let usual = || loops::settings_here(info).map(|settings| settings.stale_after());
            let older = match older_than {
                Some(older) if Caller::from_env().inside => older.max(usual()?),
                Some(older) => older,
                None => usual()?,
            };
            sweep::sweep(info, older, dry_run)
        }
        Command::Rollback { yes, from_prompt } => rollback::rollback(info, yes, from_prompt),
        Command::Doctor(format) => doctor::doctor(program, format.json),
        Command::Config(command) => config::config(info, &command),
        Command::Hooks { by_name } => hooks::print(info, command_line::asks(M::TABLE), by_name),
        Command::Plugin(command) => plugin::run(program, &command),
        Command::Statusline => Ok(answer_client(program, &Frequent::Statusline)),
        Command::Completions { shell } => {
            generate::completions(&command_line::command(program), info, shell)
        }
        Command::Hook { hook } => Ok(answer_client(program, &Frequent::Hook(hook))),
        Command::State(command) => state::state(program, command),
    }
}

/// Answers the client. A hook always exits 0.
pub(super) fn answer_client<M: App>(program: &Program<M>, call: &Frequent) -> Exit {
    let Frequent::Hook(hook) = call else {
        return display::statusline::<M>();
    };
    let info = program.info;
    let surroundings = Surroundings::from_env();
    let budget = &surroundings.budget;
    match hook {
        Hook::Stop => stop::answer(program, &surroundings),
        Hook::Prompt => hooks::prompt(info, &surroundings),
        Hook::Answer => hooks::answer("PostToolUse", budget, |input| {
            question_answer::take(program, input, &surroundings)
        }),
        Hook::SessionStart => hooks::answer("SessionStart", budget, |input| {
            session_start::tell(program, input, &surroundings)
        }),
        Hook::PreCompact => hooks::answer("PreCompact", budget, |input| {
            compaction::note(info, input, &surroundings);
            HookOutput::default()
        }),
    }
}

/// Returns whether a command reviews or changes a loop, as far as its arguments tell.
fn changes_loops(command: &Command) -> bool {
    match command {
        Command::Review(_)
        | Command::Resume { .. }
        | Command::Pause(_)
        | Command::Adopt { .. }
        | Command::Import { .. }
        | Command::Sweep { dry_run: false, .. }
        | Command::Rollback { .. } => true,
        Command::State(command) => state::changes(command),
        _ => false,
    }
}

/// Returns whether a command is about loops that are there already.
fn is_about_loops(command: &Command) -> bool {
    let looks = matches!(
        command,
        Command::Status(_) | Command::List(_) | Command::Journal(_) | Command::Report(_)
    );
    looks
        || matches!(command, Command::Sweep { .. })
        || changes_loops(command) && !matches!(command, Command::State(_))
}

/// Refuses a reviewer to change loops. Its environment is not a client's, so that it would pass for a person; and a review that
/// it began, or followed, would wait for itself.
fn not_inside_a_reviewer(command: &str) -> Result<(), Failure> {
    if std::env::var_os(GUARD).is_none() {
        return Ok(());
    }
    Err(Failure::plain(
        Exit::Refused,
        "claudex::reviewer::inside",
        format!(
            "a program that loops run (a reviewer, a drafter) changes none, and {command} would"
        ),
        "status, list and journal can be looked at",
    ))
}
