//! `Program::main`: a call of the command line, or of a client's hook, to the function that answers it.

use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches, ValueEnum};

use super::arguments::{Command, Config, Hook, Report};
use super::builder::{PROTOCOL, Program};
use super::caller::Caller;
use super::exit::{self, Exit, Failure};
use super::extension::RunCommand;
use super::settings::Settings;
use super::surroundings::Surroundings;
use super::{
    adopt, archive, command_line, compaction, config, display, doctor, generate, hooks, import,
    loops, out, permission, plugin, question_answer, resume, review, session_start, start, state,
    stop, use_command, verbs, verify,
};
use crate::hooks::HookOutput;
use crate::process::environment::GUARD;

impl Program {
    /// Runs the program: reads its arguments, runs the command, prints an error.
    pub fn main(self) -> ExitCode {
        if let Some((asked, command)) = frequent() {
            let ended = asked.and_then(|wanted| speak(&self, &wanted));
            let exit = ended.or_else(|| run(&self, command).ok());
            let exit = exit.unwrap_or(Exit::Complete);
            // The process ends here, so freeing memory would be wasted time.
            std::mem::forget(self);
            return exit.into();
        }
        out::disable_color_inside_client();
        let matches = match command_line::read(&self) {
            Ok(matches) => matches,
            Err(error) => return exit::bad_usage(&error).into(),
        };
        match dispatch(&self, &matches) {
            Ok(exit) => exit.into(),
            Err(failure) => {
                failure.print();
                failure.exit.into()
            }
        }
    }
}

/// Prints the protocol of this program. Returns the exit code, or `None` if the call goes on: a plugin asks and calls at once.
fn speak(program: &Program, wanted: &str) -> Option<Exit> {
    out::line(&format!("{} {}", program.info.program, program.protocol()));
    match wanted {
        "" => Some(Exit::Complete),
        PROTOCOL => None,
        _ => Some(Exit::Refused),
    }
}

/// Returns the command of this process and the value of `--protocol`, if it is one that a client calls at every turn or more
/// often. clap's parser takes longer than the answer. `None`: clap has to parse the arguments.
fn frequent() -> Option<(Option<String>, Command)> {
    let mut words: Vec<String> = (std::env::args_os().skip(1))
        .map(|word| word.into_string().ok())
        .collect::<Option<_>>()?;
    let protocol = words
        .first()
        .and_then(|first| first.strip_prefix("--protocol="))
        .map(str::to_owned);
    words.drain(..usize::from(protocol.is_some()));
    let command = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // The most frequent call does not wait for clap's list of names.
        ["hook", "stop"] => Command::Hook { hook: Hook::Stop },
        ["hook", name] => Command::Hook {
            hook: Hook::from_str(name, false).ok()?,
        },
        ["statusline"] => Command::Statusline,
        _ => return None,
    };
    Some((protocol, command))
}

/// Runs the command that the arguments name.
fn dispatch(program: &Program, matches: &ArgMatches) -> Result<Exit, Failure> {
    let info = program.info;
    // Before anything calls git.
    Settings::seen(info, &Caller::from_env(), None);
    let asked = matches.get_one::<String>("protocol");
    if let Some(ended) = asked.and_then(|wanted| speak(program, wanted)) {
        return Ok(ended);
    }
    let Some((name, given)) = matches.subcommand() else {
        return Ok(Exit::Usage);
    };
    if let Some(run) = own_command(program, name, given) {
        not_inside_a_reviewer(name)?;
        return run(info, given);
    }
    let mut verbs = program.verbs.iter();
    if let Some(own) = verbs.find(|own| (own.command)().get_name() == name) {
        loops::all_usable(info)?;
        if let Some(report) = Report::instead_of(given) {
            return display::report(program, &report);
        }
        not_inside_a_reviewer(name)?;
        return verbs::own(program, (name, own), given);
    }
    if name == "start" {
        not_inside_a_reviewer(name)?;
        return start::start(program, given);
    }
    if command_line::is_machine_verb(program, name) {
        not_inside_a_reviewer(name)?;
        loops::all_usable(info)?;
        let verb = program
            .app
            .parse(matches)
            .map_err(|error| Failure::usage(&error))?;
        return verbs::verb(program, verb);
    }
    let command = Command::from_arg_matches(matches).map_err(|error| Failure::usage(&error))?;
    if changes_loops(&command) {
        not_inside_a_reviewer(name)?;
    }
    if is_about_loops(&command) {
        loops::all_usable(info)?;
    }
    run(program, command)
}

/// Returns the function of the program's own command, or of a flag that replaces a command.
fn own_command(program: &Program, name: &str, given: &ArgMatches) -> Option<RunCommand> {
    let is_given = |flag| given.value_source(flag) == Some(ValueSource::CommandLine);
    let mut commands = program.commands.iter();
    let command = commands.find(|own| (own.command)().get_name() == name);
    let mut flags = program.flags.iter();
    let flag = flags.find(|own| own.command == name && is_given(own.flag));
    command.map(|own| own.run).or(flag.map(|own| own.run))
}

/// Runs a command that every program has.
fn run(program: &Program, command: Command) -> Result<Exit, Failure> {
    let info = program.info;
    match command {
        Command::Status(look) => display::status(program, &look),
        Command::List(format) => display::list(info, format.json, None),
        Command::Journal(journal) => display::journal(program, &journal),
        Command::Report(report) => display::report(program, &report),
        Command::Review(arguments) => review::review(program, &arguments),
        Command::Verify { id } => verify::verify(program, id.as_deref()),
        Command::Use { id } => use_command::choose(program, &id),
        Command::Answer { id, label } => question_answer::by_hand(program, id.as_deref(), &label),
        Command::Resume { target, adopt, yes } => resume::resume(program, &target, adopt, yes),
        Command::Pause(target) => resume::pause(program, &target),
        Command::Adopt { target, yes } => adopt::adopt(program, &target, yes),
        Command::Import { file, id } => import::import(program, &file, id.as_deref()),
        Command::Personas => display::personas(info),
        Command::Sweep => archive::sweep(info),
        Command::Rollback { yes, from_prompt } => archive::rollback(info, yes, from_prompt),
        Command::Doctor(format) => doctor::doctor(program, format.json),
        Command::Config(Config::Show(format)) => config::show(info, format.json),
        Command::Hooks { by_name } => hooks::print(info, command_line::asks(info.table), by_name),
        Command::Plugin(command) => plugin::run(program, &command),
        Command::Statusline => Ok(display::statusline(program)),
        Command::Completions { shell } => {
            generate::completions(&command_line::command(program), info, shell)
        }
        Command::Hook { hook } => Ok(answer_hook(program, hook)),
        Command::State(command) => state::state(program, command),
    }
}

/// Answers a hook of the client, which always exits 0.
fn answer_hook(program: &Program, hook: Hook) -> Exit {
    let info = program.info;
    let surroundings = Surroundings::from_env();
    match hook {
        Hook::Stop => stop::answer(program, &surroundings),
        Hook::Prompt => hooks::prompt(info, &surroundings),
        Hook::Answer => hooks::answer("PostToolUse", &surroundings, |input| {
            question_answer::answer(program, input, &surroundings)
        }),
        Hook::SessionStart => hooks::answer("SessionStart", &surroundings, |input| {
            session_start::answer(program, input, &surroundings)
        }),
        Hook::PreCompact => hooks::answer("PreCompact", &surroundings, |input| {
            compaction::note(info, input, &surroundings);
            HookOutput::default()
        }),
        Hook::PreToolUse => hooks::permit(&surroundings, |input| {
            permission::decide(program, input, &surroundings)
        }),
    }
}

/// Returns whether a command reviews or changes a loop, as far as its arguments tell.
fn changes_loops(command: &Command) -> bool {
    match command {
        Command::Review(_)
        | Command::Verify { .. }
        | Command::Use { .. }
        | Command::Answer { .. }
        | Command::Resume { .. }
        | Command::Pause(_)
        | Command::Adopt { .. }
        | Command::Import { .. }
        | Command::Sweep
        | Command::Rollback { .. } => true,
        Command::State(command) => state::changes(command),
        _ => false,
    }
}

/// Returns whether a command is about loops that are there already.
fn is_about_loops(command: &Command) -> bool {
    match command {
        Command::Status(_) | Command::List(_) | Command::Journal(_) | Command::Report(_) => true,
        Command::State(_) => false,
        _ => changes_loops(command),
    }
}

/// Refuses a command inside a reviewer or drafter. Its environment is not a client's, so it would pass for the user, and a review
/// that it follows would wait for itself.
fn not_inside_a_reviewer(command: &str) -> Result<(), Failure> {
    if std::env::var_os(GUARD).is_none() {
        return Ok(());
    }
    Err(Failure::plain(
        Exit::Refused,
        format!("a reviewer or drafter may not run ‘{command}’, which changes loops"),
        "run status, list or journal instead",
    ))
}
