//! `Program::main`: a call of the command line, or of a client's hook, to the function that answers it.

use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches, ValueEnum};

use super::arguments::{Command, Config, Hook, Report};
use super::builder::{PROTOCOL, Program};
use super::exit::{self, Exit, Failure};
use super::settings::{self, Settings};
use super::slash_arguments::{self, LOOKS};
use super::surroundings::Surroundings;
use super::{
    adopt, archive, command_line, compaction, display, doctor, hooks, import, loops, out,
    permission, plugin, question_answer, resume, review, session_start, start, state, stop, verbs,
    verify,
};
use crate::hooks::HookOutput;

/// The commands for which loops need not be usable. Of those of `state`, each checks for itself whether it changes any.
const WITHOUT_LOOPS: [&str; 8] = [
    "config",
    "doctor",
    "hook",
    "hooks",
    "personas",
    "plugin",
    "state",
    "statusline",
];

impl Program {
    /// Runs the program: reads its arguments, runs the command, prints an error.
    pub fn main(self) -> ExitCode {
        if let Some((protocol, command)) = frequent() {
            let exit = protocol
                .and_then(|wanted| speak(&self, &wanted))
                .or_else(|| run(&self, command).ok())
                .unwrap_or(Exit::Complete);
            // The process ends here, so freeing memory would be wasted time.
            std::mem::forget(self);
            return exit.into();
        }
        out::disable_color_inside_client();
        let matches = match command_line::read(&self) {
            Ok(matches) => matches,
            Err(error) => return exit::bad_usage(&error).into(),
        };
        match dispatch(&self, matches) {
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
fn dispatch(program: &Program, matches: ArgMatches) -> Result<Exit, Failure> {
    let info = program.info;
    // Before anything calls git.
    Settings::seen(info, None);
    let protocol = matches.get_one::<String>("protocol");
    if let Some(ended) = protocol.and_then(|wanted| speak(program, wanted)) {
        return Ok(ended);
    }
    let Some(name) = matches.subcommand_name() else {
        return Ok(Exit::Usage);
    };
    let is_look = LOOKS.contains(&name);
    let is_harmless = is_look || WITHOUT_LOOPS.contains(&name);
    if !is_harmless {
        verbs::outside_reviewer(name)?;
    }
    let matches = &slash_arguments::resolve(program, matches)?;
    let Some((name, arguments)) = matches.subcommand() else {
        return Ok(Exit::Usage);
    };
    if let Some(report) = Report::instead_of(arguments) {
        loops::all_usable(info)?;
        return display::report(program, &report);
    }
    if let Some(result) = program.extension.run(program, name, arguments) {
        return result;
    }
    if name == "start" {
        return start::begin(program, arguments, false);
    }
    if is_look || !is_harmless {
        loops::all_usable(info)?;
    }
    let usage = |error| Failure::usage(&error);
    if command_line::is_machine_verb(program, name) {
        let verb = program.app.parse(matches).map_err(usage)?;
        return verbs::verb(program, verb);
    }
    run(program, Command::from_arg_matches(matches).map_err(usage)?)
}

/// Runs a command that every program has.
fn run(program: &Program, command: Command) -> Result<Exit, Failure> {
    let info = program.info;
    match command {
        Command::Status(look) => display::status(program, &look),
        Command::List(format) => display::list(info, format.json),
        Command::Journal(look) => display::journal(program, &look),
        Command::Report(report) => display::report(program, &report),
        Command::Review(arguments) => review::review(program, &arguments),
        Command::Verify { id } => verify::verify(program, id.as_deref()),
        Command::Use { id } => resume::choose(program, &id),
        Command::Answer { id, label } => {
            question_answer::answer_in_terminal(program, id.as_deref(), &label)
        }
        Command::Resume(target) => resume::resume(program, &target),
        Command::Pause(target) => resume::pause(program, &target),
        Command::Adopt { target, yes } => adopt::adopt(program, &target, yes),
        Command::Import { file, id } => import::import(program, &file, id.as_deref()),
        Command::Personas => display::personas(info),
        Command::Sweep => archive::sweep(info),
        Command::Rollback { yes, from_prompt } => archive::rollback(info, yes, from_prompt),
        Command::Doctor(format) => doctor::doctor(program, format.json),
        Command::Config(Config::Show(format)) => settings::show(info, format.json),
        Command::Hooks { by_name } => hooks::print(info, command_line::asks(info.table), by_name),
        Command::Plugin(command) => plugin::run(program, &command),
        Command::Statusline => Ok(display::statusline(program)),
        Command::Hook { hook } => Ok(answer_hook(program, hook)),
        Command::State { helper, arguments } => state::state(program, &helper, &arguments),
    }
}

/// Answers a hook of the client, which always exits 0.
fn answer_hook(program: &Program, hook: Hook) -> Exit {
    let info = program.info;
    let surroundings = &Surroundings::from_env();
    match hook {
        Hook::Stop => return stop::answer(program, surroundings),
        Hook::Prompt => hooks::prompt(info, surroundings),
        Hook::Answer => hooks::answer("PostToolUse", |input| {
            question_answer::answer(program, input, surroundings)
        }),
        Hook::SessionStart => hooks::answer("SessionStart", |input| {
            session_start::answer(program, input, surroundings)
        }),
        Hook::PreCompact => hooks::answer("PreCompact", |input| {
            compaction::note(info, input, surroundings);
            HookOutput::default()
        }),
        Hook::PreToolUse => hooks::permit(|input| permission::decide(program, input, surroundings)),
    }
    Exit::Complete
}
