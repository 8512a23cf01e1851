//! `run`: a plan from its first round to its summary, outside Claude Code.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use claudex_loop::Actor;
use claudex_loop::files::folder_of;
use claudex_loop::program::caller::Caller;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Time, locate, loops, out, review, reviewers};
use claudex_loop::text;

use super::job::Job;
use super::outcome::{Ending, Outcome};
use super::progress::Progress;
use super::start::{PLAN, parse_rounds};
use super::work::{self, Work};
use super::{INFO, resume};

/// Take a plan document through the whole loop, outside Claude Code
#[derive(Debug, Args)]
pub struct Run {
    /// The plan, a Markdown file
    #[arg(value_name = "PLAN.md", required_unless_present = "resume")]
    pub plan: Option<Utf8PathBuf>,
    /// Go on with a loop that was interrupted, with the rounds that it has
    #[arg(long, value_name = "LOOP", conflicts_with_all = ["plan", "rounds"])]
    pub resume: Option<String>,
    /// How many rounds at most [default: 3, or CLAUDEX_MAX_PLAN_ROUNDS]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_rounds)]
    pub rounds: Option<u64>,
    /// Who reviews: codex, claude, lint (built in), one of your configuration, auto [default:
    /// CLAUDEX_REVIEWER, else auto]
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// A command that revises the plan between rounds; it gets the findings on stdin
    #[arg(long, value_name = "COMMAND")]
    pub drafter: Option<String>,
    /// Time limits of a review and of the drafter.
    #[command(flatten)]
    pub time: Time,
    /// Print the outcome as JSON on stdout, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// The exit codes at the end of the help.
const EXIT_CODES: &str = "\
Exit codes: 0 complete, 4 stopped at max rounds or stalled, 5 the reviewer could not run, 6 another loop is active";

/// Returns the subcommand.
pub fn command() -> Command {
    Run::augment_args(
        Command::new("run")
            .about("Take a plan document through the whole loop, outside Claude Code")
            .after_help(EXIT_CODES),
    )
}

/// Runs the subcommand.
///
/// # Errors
/// Returns an error if the arguments are wrong, another loop is active, or the reviewer gave no
/// verdict.
pub fn run(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let arguments = Run::from_arg_matches(matches).map_err(|error| Failure::usage(&error))?;
    let work = match &arguments.resume {
        Some(id) => Work::Kept(resume::open(id)?),
        None => {
            let plan = arguments.plan.as_deref().unwrap_or(PLAN.into());
            Work::Plan(plan_path(&loops::here()?, plan)?)
        }
    };
    run_job(info, work, &arguments, matches)
}

/// Runs a job, shows its progress and prints its outcome.
///
/// # Errors
/// Returns an error as [`run`] does.
pub fn run_job(
    info: &'static ProgramInfo,
    work: Work,
    arguments: &Run,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let root = work.root();
    let settings = loops::settings(info, &root, None)?;
    let named = arguments.reviewer.as_deref();
    if named.is_some_and(|named| named != settings.reviewer)
        && Caller::from_env().actor(false) == Actor::Agent
    {
        return Err(review::users_choice("claudex-loop run"));
    }
    let reviewer = reviewers::choose(named, None, &settings, &root)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let limits = arguments.time.limits(reviewer.limits)?;
    let mut progress = Progress::new(arguments.json);

    let is_resumed = matches!(work, Work::Kept(_));
    let started = work.begin(arguments.rounds, &settings)?;
    resume::note_flags(&started, &resume::flags(matches));
    progress.show_start(&started, is_resumed, &reviewer.shown);
    let mut job = Job {
        drafter: arguments.drafter.as_deref(),
        limits,
        settings: &settings,
        reviewer: &reviewer,
        progress,
    };
    let outcome = job.run(&started);
    job.progress.finish();
    let outcome = outcome?;

    if arguments.json {
        out::json(&outcome);
    } else if outcome.ending == Ending::ReviewerFailed {
        return Err(reviewer_failed(&outcome));
    } else {
        print(&outcome);
    }
    Ok(match outcome.ending {
        Ending::Complete => Exit::Complete,
        Ending::StoppedAtMaxRounds | Ending::Stalled => Exit::MaxRounds,
        Ending::ReviewerFailed => Exit::Reviewer,
    })
}

fn print(outcome: &Outcome) {
    out::line("");
    out::markdown(&outcome.summary);
    out::line(&format!("State: {}", text::shown(&outcome.state)));
}

fn reviewer_failed(outcome: &Outcome) -> Failure {
    let cause = outcome.cause.as_deref().unwrap_or_default();
    let id = &outcome.id;
    let (state, help) = match &outcome.waits {
        Some(waits) => ("is kept, with the rounds that are finished", waits.as_str()),
        None => (
            "is over",
            "once the reviewer works, run the same command again",
        ),
    };
    let message = format!("the reviewer gave no verdict: {cause}; loop {id} {state}");
    Failure::plain(Exit::Reviewer, "claudex::run::reviewer", message, help)
}

/// Returns the path of a plan without symlinks. Below the project's root none is followed;
/// elsewhere the user chose the folder.
fn plan_path(here: &Utf8Path, given: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let path = here.join(given);
    let found = folder_of(&[&locate::root(INFO.state, here)], &path)
        .and_then(|(folder, name)| Ok(folder.path().canonicalize_utf8()?.join(name)));
    found.map_err(|error| work::unreadable_plan(&path, &error))
}
