//! `review --changes`: a loop that reviews the work tree's changes, from its start to its summary,
//! in a terminal.

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches as _};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Time, loops};

use super::run::{self, Run};
use super::start;
use super::work::Work;

/// The name of the flag.
pub const CHANGES: &str = "changes";
/// The argument with the topic's words after the first, which is in the place of a loop's id.
const TOPIC: &str = "topic";

/// The exit codes at the end of the help.
const EXIT_CODES: &str = "\
Exit codes: 0 complete, 5 the reviewer could not run;
            with --changes also 4 findings are open, 6 another loop is active";

/// Adds the flags to `review`.
pub fn arguments(review: Command) -> Command {
    review
        .arg(
            Arg::new(CHANGES)
                .long(CHANGES)
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["file", "follow"])
                .help("Have the work tree’s changes reviewed, in a loop that begins and ends here; arguments are its topic"),
        )
        .arg(
            Arg::new(TOPIC)
                .num_args(0..)
                .requires(CHANGES)
                .hide(true),
        )
        .arg(
            Arg::new("rounds")
                .long("rounds")
                .value_name("N")
                .value_parser(start::parse_rounds)
                .requires(CHANGES)
                .allow_hyphen_values(true)
                .help("How many rounds at most [default: 1, or CLAUDEX_MAX_REVIEW_ROUNDS]"),
        )
        .arg(start::base(Arg::new(start::BASE)).requires(CHANGES))
        .arg(
            Arg::new("json")
                .long("json")
                .requires(CHANGES)
                .action(ArgAction::SetTrue)
                .help("Print the outcome as JSON on stdout, and nothing else there"),
        )
        .after_help(EXIT_CODES)
}

/// Runs the command if it has the flag.
///
/// # Errors
/// Returns an error as [`run::run`] does, and if there are no changes or git cannot read them.
pub fn run(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let words = ["id", TOPIC].map(|name| matches.get_many::<String>(name));
    let topic: Vec<&str> = words
        .into_iter()
        .flatten()
        .flatten()
        .map(String::as_str)
        .collect();
    let arguments = Run {
        plan: None,
        resume: None,
        rounds: matches.get_one("rounds").copied(),
        reviewer: text("reviewer"),
        drafter: None,
        time: Time::from_arg_matches(matches).map_err(|error| Failure::usage(&error))?,
        json: matches.get_flag("json"),
    };
    let work = Work::Changes {
        folder: loops::here()?,
        topic: topic.join(" "),
        base: text(start::BASE),
    };
    run::run_job(info, work, &arguments, matches)
}
