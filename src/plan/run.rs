//! `run` and `review --changes`: a loop from its first round to its summary, outside Claude Code.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use claudex_loop::program::caller::Caller;
use claudex_loop::program::console::Console;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{Program, locate, loops, review, reviewers};

use super::drive::Driver;
use super::start::{self, PLAN, parse_rounds};
use super::{AnyLoop, INFO, Mode, resume};

/// The name of the flag of `review`.
pub(super) const CHANGES: &str = "changes";

/// Take a plan document through the whole loop, outside Claude Code
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 complete, 4 stopped at max rounds or stalled, 5 the reviewer could not run, 6 another loop is active"
)]
pub(super) struct Run {
    /// The plan, a Markdown file
    #[arg(value_name = "PLAN.md", required_unless_present = "resume")]
    plan: Option<Utf8PathBuf>,
    /// Go on with a loop that was interrupted, with the rounds that it has
    #[arg(long, value_name = "LOOP", conflicts_with_all = ["plan", "rounds"])]
    pub(super) resume: Option<String>,
    /// How many rounds at most [default: 3, or CLAUDEX_MAX_PLAN_ROUNDS]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_rounds)]
    rounds: Option<u64>,
    /// The reviewer: codex, claude, lint (built in), one of your configuration, auto [default: CLAUDEX_REVIEWER, else auto]
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,
    /// A command that revises the plan between rounds; it gets the findings on stdin
    #[arg(long, value_name = "COMMAND")]
    pub(super) drafter: Option<String>,
    /// Print the outcome as JSON on stdout, and nothing else there
    #[arg(long)]
    pub(super) json: bool,
}

// The flags of `review` that only `--changes` uses. A doc comment would become the help.
#[derive(Debug, Args)]
struct Changes {
    /// Have the work tree’s changes reviewed, in a loop that begins and ends here; arguments are its topic
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

/// Returns the subcommand `run`.
pub(super) fn command() -> Command {
    Run::augment_args(Command::new("run"))
}

/// Adds the flags of `--changes` to `review`.
pub(super) fn review_arguments(review: Command) -> Command {
    Changes::augment_args(review)
        .mut_arg(start::BASE, start::base)
        .after_help(
            "Exit codes: 0 complete, 5 the reviewer could not run;\n            \
             with --changes also 4 findings are open, 6 another loop is active",
        )
}

/// Runs the subcommand `run`.
pub(super) fn run(program: &Program, matches: &ArgMatches) -> Result<Exit, Failure> {
    let arguments = Run::from_arg_matches(matches)?;
    if let Some(id) = &arguments.resume {
        let held = resume::open(id)?;
        let root = held.raw().store().root().to_owned();
        return drive(program, &root, &arguments, |_| Ok(held));
    }
    let plan = arguments.plan.as_deref().unwrap_or(PLAN.into());
    let (plan, topic) = start::read_plan(&loops::here()?, plan)?;
    let mut fields = vec![
        ("topic", topic.into()),
        ("from_draft", true.into()),
        ("subject", plan.as_str().into()),
    ];
    fields.extend(arguments.rounds.map(|rounds| ("max_rounds", rounds.into())));
    let folder = plan.parent().unwrap_or(&plan);
    drive(program, folder, &arguments, |settings| {
        start::begin(program, Mode::Plan, fields, folder, matches, settings)
    })
}

/// Runs `review` with the flag `--changes`.
pub(super) fn run_changes(program: &Program, matches: &ArgMatches) -> Result<Exit, Failure> {
    let changes = Changes::from_arg_matches(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let topic: Vec<String> = text("id").into_iter().chain(changes.topic).collect();
    let mut fields = vec![("topic", topic.join(" ").into())];
    fields.extend(changes.base.map(|base| (start::BASE, base.into())));
    fields.extend(changes.rounds.map(|rounds| ("max_rounds", rounds.into())));
    let arguments = Run {
        plan: None,
        resume: None,
        rounds: changes.rounds,
        reviewer: text("reviewer"),
        drafter: None,
        json: changes.json,
    };
    let here = loops::here()?;
    drive(program, &here, &arguments, |settings| {
        start::begin(program, Mode::Review, fields, &here, matches, settings)
    })
}

/// Begins a loop once the settings and the reviewer are known, and drives it to its end. `folder` is one of its project.
fn drive(
    program: &Program,
    folder: &Utf8Path,
    arguments: &Run,
    begin: impl FnOnce(&Settings) -> Result<AnyLoop, Failure>,
) -> Result<Exit, Failure> {
    let root = locate::root(INFO.state, folder);
    let settings = loops::settings(INFO, &root, None)?;
    let named = arguments.reviewer.as_deref();
    review::check_choice(named, &settings, Caller::from_env().actor(false))?;
    let reviewers = reviewers::choose(named, None, &settings, &root)?;

    let held = begin(&settings)?;
    let driver = Driver {
        program,
        settings: &settings,
        reviewers: &reviewers,
        arguments,
        console: Console::new("  ".to_owned(), arguments.json),
    };
    driver.drive(held)
}
