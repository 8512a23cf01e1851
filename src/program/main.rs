//! `Program::main`: calls the function for a command line or for a client's hook.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};

use super::app::{PROTOCOL, Program};
use super::arguments::{Command, Config};
use super::exit::{self, CommandResult, Exit};
use super::settings;
use super::{
    archive, command_line, display, doctor, hooks, import, loops, out, ownership, plugin,
    question_answer, review, slash_arguments, start, state, verbs,
};

impl Program {
    /// Runs the program: reads its arguments, runs the command, prints an error.
    pub fn main(self) -> ExitCode {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        let first = words.get(1).and_then(|word| word.to_str());
        // A plugin asks for the protocol and calls a hook in one call.
        if let Some(wanted) = first.and_then(|first| first.strip_prefix("--protocol")) {
            out::line(&format!("{} {}", self.info.program, self.protocol()));
            match wanted.trim_start_matches('=') {
                "" => return Exit::Complete.into(),
                PROTOCOL => words.remove(1),
                _ => return Exit::Refused.into(),
            };
        }
        if let Some(exit) = run_frequent(&self, &words) {
            // The process ends here, so freeing memory would waste time.
            std::mem::forget(self);
            return exit.into();
        }
        out::disable_color_inside_client();
        // Keeps the user's variables for all child processes, so before any call of git.
        settings::call_environment(self.info, None);
        let ended = match slash_arguments::parse(&self, &words) {
            Some(typed) => typed.and_then(|matches| dispatch(&self, &matches)),
            None => match command_line::command(&self).try_get_matches_from(words) {
                Ok(matches) => dispatch(&self, &matches),
                Err(error) => Ok(exit::bad_usage(&error)),
            },
        };
        let exit = ended.unwrap_or_else(|failure| {
            failure.print();
            failure.exit
        });
        if let Some(error) = out::failure() {
            out::note(&self.info.line(&format!("cannot write to stdout: {error}")));
            // A script must not take the output for complete.
            if exit == Exit::Complete {
                return Exit::Internal.into();
            }
        }
        exit.into()
    }
}

/// Runs a command that clients call at every turn: clap's parser takes longer than the answer.
fn run_frequent(program: &Program, words: &[OsString]) -> Option<Exit> {
    let words = words.iter().skip(1).map(|word| word.to_str());
    match words.collect::<Option<Vec<&str>>>()?[..] {
        ["hook", name] => hooks::answer(program, name),
        ["statusline"] => Some(display::statusline(program)),
        _ => None,
    }
}

fn dispatch(program: &Program, matches: &ArgMatches) -> CommandResult {
    let info = program.info;
    let Some((name, arguments)) = matches.subcommand() else {
        return Ok(Exit::Usage);
    };
    let needs_loops = command_line::needs_loops(name);
    if needs_loops && !command_line::shows_loops(name) {
        verbs::check_outside_reviewer(name)?;
    }
    if let Some(result) = program.extension.run(program, name, arguments) {
        return result;
    }
    if name == "start" {
        return start::begin(program, arguments);
    }
    if needs_loops {
        loops::check_folders(info)?;
    }
    if let Some(edge) = verbs::find(info.table, name) {
        return verbs::run(program, &edge, arguments);
    }
    run(program, Command::from_arg_matches(matches)?)
}

fn run(program: &Program, command: Command) -> CommandResult {
    let info = program.info;
    match command {
        Command::Status(look) => display::status(program, &look),
        Command::List(format) => display::list(info, format.json),
        Command::Journal(look) => display::journal(program, &look),
        Command::Report { target, format } => display::report(program, &target, &format),
        Command::Review(arguments) => review::review(program, &arguments),
        Command::Verify(target) => review::verify(program, target.id.as_deref()),
        Command::Use { id } => ownership::choose(program, &id),
        Command::Answer { id, label } => question_answer::run(program, id.as_deref(), &label),
        Command::Resume(target) => ownership::resume(program, target.id.as_deref()),
        Command::Pause(target) => ownership::pause(program, target.id.as_deref()),
        Command::Archive(target) => archive::archive(info, target.id.as_deref()),
        Command::Adopt { target, yes } => ownership::adopt(program, target.id.as_deref(), yes),
        Command::Import { file } => import::import(program, "import", &file, Ok),
        Command::Personas => display::personas(info),
        Command::Sweep => archive::sweep(info),
        Command::Rollback { yes } => archive::rollback(info, yes),
        Command::Doctor(format) => doctor::doctor(program, format.json),
        Command::Config(Config::Show(format)) => display::configuration(info, format.json),
        Command::Hooks => hooks::print(info, command_line::asks(info.table)),
        Command::Plugin(command) => plugin::run(program, &command),
        Command::Statusline => Ok(display::statusline(program)),
        Command::State { helper, arguments } => state::state(program, &helper, &arguments),
    }
}
