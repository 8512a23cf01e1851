//! The command line of a machine's program: what the arguments mean, and which exit code comes out.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, FromArgMatches, Subcommand};
use jiff::Timestamp;

use super::exit::{self, Exit, Failure};
#[cfg(feature = "machine-tools")]
use super::machine;
use super::program::{App, Program};
use super::stop::{Surroundings, decide};
use super::{answer, doctor, hooks, look, loops, session_start, start, verbs};
use crate::process::environment::GUARD;
use crate::process::limits::parse_duration;
use crate::text;

/// What `--help` says last.
const EXIT_CODES: &str = "\
Exit codes:
  0  complete
  1  refused: another loop is active (start), the transition is not open here, or the answer is no
  2  bad usage
  3  a failure of our own, or of the system";

/// The commands that every machine has, but for `start`, whose flags are the machine's.
#[derive(Debug, Subcommand)]
enum Command {
    /// Show where the loop is
    Status(Look),
    /// List the loops of this project
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what happened to a loop, change by change
    Journal(Look),
    /// Let a loop that waits, or that was swept, go on (a person's command)
    Resume(Target),
    /// Take a loop over into this session (a person's command)
    Adopt(Target),
    /// Put loops aside that showed no sign of life
    Sweep {
        /// For how long, such as 90m or 36h
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_duration)]
        older_than: Duration,
        /// Say what would be put aside, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Check that a loop's folder can be written, and that the client calls the hook
    Doctor {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the hooks for .claude/settings.json, or for a plugin
    Hooks {
        /// Call the program by its name, not by the path where it lies now
        #[arg(long)]
        by_name: bool,
    },
    /// Review the round that a loop is in (not in this version)
    #[command(hide = true)]
    Review(Target),
    /// Look at machines: this program's own, or any machine.toml
    #[command(subcommand)]
    #[cfg(feature = "machine-tools")]
    Machine(machine::Command),
    /// The client's Stop hook: one JSON value on stdin, one decision on stdout
    Stop,
    /// The client's hook on AskUserQuestion: takes an answer to the question of a phase
    Answer,
    /// The client's hook at the start of a session: says in one line where a loop waits
    SessionStart,
}

/// A loop to look at.
#[derive(Debug, Args)]
struct Look {
    /// The loop's id [default: the active one, else the newest]
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A loop that a command is about.
#[derive(Debug, Args)]
struct Target {
    /// The loop's id [default: the active one]
    #[arg(value_name = "ID")]
    id: Option<String>,
}

/// The whole command line.
fn command<M: Program>() -> clap::Command {
    let command = clap::Command::new(M::NAME)
        .version(M::VERSION)
        .after_help(EXIT_CODES)
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(start::command::<M>());
    // The derived parts bring their own docs along.
    Command::augment_subcommands(M::Verb::augment_subcommands(command))
        .about(M::TABLE.doc)
        .long_about(None)
}

/// Runs a program: reads its arguments, does what they say, prints what went wrong.
///
/// `claudex_loop::main!` calls it; a program that does more of its own calls it with what the `app` of its generated
/// module makes.
pub fn main<M: Program>(app: App<M>) -> ExitCode {
    crate::process::keeper::serve();
    exit::set_up_reports();
    let matches = match command::<M>().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return exit::bad_usage(&error).into(),
    };
    match dispatch(app, &matches) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

fn dispatch<M: Program>(mut app: App<M>, matches: &clap::ArgMatches) -> Result<Exit, Failure> {
    let Some((name, arguments)) = matches.subcommand() else {
        return Ok(Exit::Usage);
    };
    let not_inside = || not_inside_a_reviewer(name);
    if name == "start" {
        not_inside()?;
        return start::start::<M>(arguments);
    }
    let unusable = |error: clap::Error| {
        Failure::plain(
            Exit::Usage,
            "claudex::arguments",
            error.to_string(),
            "`--help` says what there is",
        )
    };
    if !Command::has_subcommand(name) {
        not_inside()?;
        loops::all_usable(&App::<M>::SPEAKER)?;
        return verbs::verb::<M>(M::Verb::from_arg_matches(matches).map_err(unusable)?);
    }
    let speaker = App::<M>::SPEAKER;
    let command = Command::from_arg_matches(matches).map_err(unusable)?;
    if let Command::Status(_)
    | Command::List { .. }
    | Command::Journal(_)
    | Command::Resume(_)
    | Command::Adopt(_)
    | Command::Sweep { .. } = command
    {
        loops::all_usable(&speaker)?;
    }
    match command {
        Command::Status(look) => look::status::<M>(look.id.as_deref(), look.json),
        Command::List { json } => look::list::<M>(json),
        Command::Journal(look) => look::journal::<M>(look.id.as_deref(), look.json),
        Command::Resume(target) => {
            not_inside()?;
            loops::resume::<M>(target.id.as_deref())
        }
        Command::Adopt(target) => {
            not_inside()?;
            loops::adopt::<M>(target.id.as_deref())
        }
        Command::Sweep { older_than, dry_run } => {
            if !dry_run {
                not_inside()?;
            }
            loops::sweep(&speaker, older_than, dry_run)
        }
        Command::Doctor { json } => doctor::doctor::<M>(json),
        Command::Hooks { by_name } => {
            let asks = M::TABLE.phases.iter().any(|phase| phase.question.is_some());
            hooks::print(&speaker, asks, by_name)
        }
        Command::Review(target) => Err(no_review(target.id.as_deref())),
        #[cfg(feature = "machine-tools")]
        Command::Machine(command) => machine::run(
            command,
            &machine::Own {
                source: M::SOURCE,
                table: M::TABLE,
            },
        ),
        Command::Stop => {
            let surroundings = Surroundings::from_env();
            Ok(hooks::stop(&speaker, &surroundings.budget, |input| {
                decide(&mut app, input, &surroundings, Timestamp::now())
            }))
        }
        Command::Answer => {
            let surroundings = Surroundings::from_env();
            Ok(hooks::answer(&surroundings.budget, |input| {
                answer::take::<M>(&speaker, input, &surroundings)
            }))
        }
        Command::SessionStart => {
            let surroundings = Surroundings::from_env();
            Ok(hooks::session_start(&surroundings.budget, |input| {
                session_start::tell(&mut app, input, &surroundings, Timestamp::now())
            }))
        }
    }
}

/// Reviews are asked for with prompt, persona and a person's settings, which are the plan loop's own so far.
fn no_review(id: Option<&str>) -> Failure {
    let of = id
        .map(|id| format!(" of {}", text::one_line(id, 80)))
        .unwrap_or_default();
    Failure::plain(
        Exit::Refused,
        "claudex::review::none",
        format!("this program runs no review{of}: only claudex-loop's own plan loop does in this version"),
        "a program with a `main` of its own can call claudex_loop::review::round::run; a phase that runs a command \
         or asks a person needs no review",
    )
}

/// A reviewer only reviews. Its environment is not a client's, so that it would pass for a person.
fn not_inside_a_reviewer(command: &str) -> Result<(), Failure> {
    if std::env::var_os(GUARD).is_none() {
        return Ok(());
    }
    Err(Failure::plain(
        Exit::Refused,
        "claudex::reviewer::inside",
        format!("a program that loops run (a reviewer, a drafter) changes none, and {command} would"),
        &format!("{GUARD} is set here; status, list and journal can be looked at"),
    ))
}
