//! `review --changes`: a loop that reviews the work tree's changes, from its start to its summary,
//! in a terminal.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Time, loops};

use super::run::{self, Run};
use super::start::{self, parse_rounds};
use super::work::Work;

/// The name of the flag.
pub const CHANGES: &str = "changes";

/// The exit codes at the end of the help.
const EXIT_CODES: &str = "\
Exit codes: 0 complete, 5 the reviewer could not run;
            with --changes also 4 findings are open, 6 another loop is active";

#[derive(Debug, Args)]
struct Changes {
    /// Have the work tree’s changes reviewed, in a loop that begins and ends here; arguments are its
    /// topic
    #[arg(long, conflicts_with = "follow")]
    changes: bool,
    /// The topic's words after the first, which is in the place of a loop's id.
    #[arg(hide = true, requires = CHANGES)]
    topic: Vec<String>,
    /// How many rounds at most [default: 1, or CLAUDEX_MAX_REVIEW_ROUNDS]
    #[arg(long, value_name = "N", requires = CHANGES, allow_hyphen_values = true, value_parser = parse_rounds)]
    rounds: Option<u64>,
    #[arg(requires = CHANGES)]
    base: Option<String>,
    /// Print the outcome as JSON on stdout, and nothing else there
    #[arg(long, requires = CHANGES)]
    json: bool,
}

/// Adds the flags to `review`.
pub fn arguments(review: Command) -> Command {
    Changes::augment_args(review)
        .mut_arg(start::BASE, start::base)
        .after_help(EXIT_CODES)
}

/// Runs the command if it has the flag.
///
/// # Errors
/// Returns an error as [`run::run`] does, and if there are no changes or git cannot read them.
pub fn run(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let usage = |error: clap::Error| Failure::usage(&error);
    let changes = Changes::from_arg_matches(matches).map_err(usage)?;
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let topic: Vec<String> = text("id").into_iter().chain(changes.topic).collect();
    let arguments = Run {
        plan: None,
        resume: None,
        rounds: changes.rounds,
        reviewer: text("reviewer"),
        drafter: None,
        time: Time::from_arg_matches(matches).map_err(usage)?,
        json: changes.json,
    };
    let work = Work::Changes {
        folder: loops::here()?,
        topic: topic.join(" "),
        base: changes.base,
    };
    run::run_job(info, work, &arguments, matches)
}
