//! The command line: what the arguments mean, and which exit code comes out. Decisions are made in the rooms below.

mod args;
mod config;
mod doctor;
mod generate;
mod hooks;
mod look;
mod loops;
mod review;
mod run;
mod start;
mod state;
mod verbs;

use std::process::ExitCode;

use camino::Utf8Path;
use clap::FromArgMatches;
use claudex_loop::app::{exit, machine, out, screen};
use claudex_loop::plan::caller::Caller;
use claudex_loop::plan::settings::Settings;
use claudex_loop::plan::typestate::{SOURCE, TABLE};
use claudex_loop::plan::{Transition, locate};
use claudex_loop::process::environment::GUARD;
use claudex_loop::process::keeper;

use args::{Cli, Command};
use exit::{Exit, Failure};

/// What `--protocol` answers first; the plugin's launcher asks for it.
pub(crate) const PROTOCOL: u32 = 1;

/// Parses the arguments, runs the command, prints what went wrong.
pub(crate) fn main() -> ExitCode {
    keeper::serve();
    exit::set_up_reports();
    let parsed = args::command()
        .try_get_matches()
        .and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return exit::bad_usage(&error).into(),
    };
    if cli.protocol {
        out::line(&format!(
            "claudex-loop protocol {PROTOCOL} ({})",
            env!("CARGO_PKG_VERSION")
        ));
        return Exit::Complete.into();
    }
    let Some(command) = cli.command else {
        let _ = args::command().print_help();
        return Exit::Usage.into();
    };
    match dispatch(command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

pub(crate) use claudex_loop::app::loops::here;

/// The settings that hold in a project; whether a round counts without a review is fixed for this process with them.
pub(crate) fn settings(root: &Utf8Path) -> Result<Settings, Failure> {
    settings_of(root, None)
}

/// Loads the same for a command that is about a loop of this session.
pub(crate) fn settings_of(root: &Utf8Path, session: Option<&str>) -> Result<Settings, Failure> {
    let settings = Settings::for_call(root, &Caller::from_env(), session);
    let settings = settings.map_err(|error| Failure::new(Exit::Usage, error))?;
    settings.evidence_in_file.make_usual();
    Ok(settings)
}

/// Like [`settings`], for a verb: a slip in a file keeps nobody from giving a loop up, so what ends one takes the defaults.
pub(crate) fn settings_for(transition: Transition, root: &Utf8Path) -> Result<Settings, Failure> {
    let name = <&str>::from(transition);
    let mut edges = TABLE.edges.iter().filter(|edge| edge.transition == name);
    match settings(root) {
        Err(_) if edges.all(|edge| TABLE.phases[edge.to].terminal) => Ok(Settings::default()),
        settings => settings,
    }
}

/// The settings of the project of the working directory.
pub(crate) fn settings_here() -> Result<Settings, Failure> {
    settings(&locate::root(&here()?))
}

/// Whether a command starts, reviews or changes a loop, as far as its arguments tell.
fn changes_loops(command: &Command) -> bool {
    match command {
        Command::Run(_)
        | Command::Start(_)
        | Command::Review(_)
        | Command::Resume(_)
        | Command::Adopt(_)
        | Command::Sweep { dry_run: false }
        | Command::Rollback { .. }
        | Command::Verb(_) => true,
        Command::State(state) => state::changes(state),
        _ => false,
    }
}

/// A reviewer only reviews. Its environment is not a client's, so that it would pass for a person; and a review that it began, or
/// followed, would wait for itself.
fn not_inside_a_reviewer(command: &Command) -> Result<(), Failure> {
    if std::env::var_os(GUARD).is_none() || !changes_loops(command) {
        return Ok(());
    }
    Err(Failure::plain(
        Exit::Refused,
        "claudex::reviewer::inside",
        "a program that loops run (a reviewer, a drafter) changes none".to_owned(),
        &format!("{GUARD} is set here; status, list and journal can be looked at"),
    ))
}

/// Returns whether a command is about loops that are there already.
fn is_about_loops(command: &Command) -> bool {
    let looks = matches!(
        command,
        Command::Status(_) | Command::List(_) | Command::Journal(_)
    );
    let makes = matches!(command, Command::Run(_) | Command::Start(_) | Command::State(_));
    looks || changes_loops(command) && !makes
}

fn dispatch(command: Command) -> Result<Exit, Failure> {
    not_inside_a_reviewer(&command)?;
    if is_about_loops(&command) {
        claudex_loop::app::loops::all_usable(&locate::SPEAKER)?;
    }
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Start(arguments) => start::start(arguments),
        Command::Review(arguments) => review::review(arguments),
        Command::Status(arguments) => look::status(&arguments),
        Command::List(arguments) => look::list(&arguments),
        Command::Resume(target) => loops::resume(&target),
        Command::Adopt(target) => loops::adopt(&target),
        Command::Journal(arguments) => look::journal(&arguments),
        Command::Sweep { dry_run } => loops::sweep(dry_run),
        Command::Rollback { yes, from_prompt } => loops::rollback(yes, from_prompt),
        Command::Personas => look::personas(),
        Command::Doctor { json } => doctor::doctor(json),
        Command::Config(command) => config::config(command),
        Command::Machine(command) => machine::run(
            command,
            &machine::Own {
                source: SOURCE,
                table: &TABLE,
            },
        ),
        Command::State(command) => state::state(command),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { dir } => generate::man(dir.as_deref()),
        Command::Stop => Ok(hooks::stop()),
        Command::Prompt => Ok(hooks::prompt()),
        Command::Answer => Ok(hooks::answer()),
        Command::SessionStart => Ok(hooks::session_start()),
        Command::Verb(verb) => verbs::verb(verb),
    }
}
