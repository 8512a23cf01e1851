//! `run`: the main job, with a progress display on a terminal and plain lines elsewhere.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use claudex_loop::Actor;
use claudex_loop::files::folder_of;
use claudex_loop::program::caller::Caller;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::settings::{MOST_ROUNDS, positive};
use claudex_loop::program::{Time, Tone, locate, loops, out, review, reviewers, start};
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::round::RoundEvent;
use claudex_loop::store::{StartError, StoreError};
use claudex_loop::text;

use super::driver::{self, Ending, Event, Job, JobError};
use super::start::PLAN;
use super::status_line::StatusLine;
use super::work::Work;
use super::{INFO, resume, reviews_changes};

/// Most findings of a round that are shown; their file has all.
const SHOWN: usize = 20;

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
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub rounds: Option<String>,
    /// Who reviews: codex, claude, lint (built in), one of your configuration, auto [default: CLAUDEX_REVIEWER, else auto]
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// A command that revises the plan between rounds; it gets the findings on stdin
    #[arg(long, value_name = "COMMAND")]
    pub drafter: Option<String>,
    /// How long a review, or the drafter, may take.
    #[command(flatten)]
    pub time: Time,
    /// Print the outcome as JSON on stdout, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Ends the help of the command.
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

/// Takes a plan through the loop, or goes on with one that was kept.
///
/// # Errors
/// The arguments cannot be, another loop is active, there is no such loop to go on with, or the reviewer gave no verdict.
pub fn run(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let arguments = Run::from_arg_matches(matches).map_err(|error| Failure::usage(&error))?;
    let work = match (&arguments.resume, &arguments.plan) {
        (Some(id), _) => Work::Kept(resume::held(id)?),
        (None, plan) => Work::Plan(plan_path(
            &loops::here()?,
            plan.as_deref().unwrap_or(PLAN.into()),
        )?),
    };
    drive(info, work, &arguments, matches)
}

/// Takes a loop to its end, shows how it goes and what came of it.
///
/// # Errors
/// As [`run`].
pub fn drive(
    info: &'static ProgramInfo,
    work: Work,
    arguments: &Run,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let root = work.root();
    let settings = loops::settings(info, &root, None)?;
    if let Some(named) = arguments.reviewer.as_deref()
        && Caller::from_env().actor(false) == Actor::Agent
        && named != settings.reviewer
    {
        return Err(not_the_agents());
    }
    let chosen = reviewers::choose(arguments.reviewer.as_deref(), None, &settings, &root)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let rounds = arguments.rounds.as_deref().map(rounds).transpose()?;
    let job = Job {
        rounds,
        drafter: arguments.drafter.as_deref(),
        limits: arguments.time.limits(chosen.limits)?,
        settings: &settings,
    };
    let given = resume::given(matches);
    let mut display = Display::new(arguments.json);
    let interrupted = review::interrupts();
    let outcome = driver::run(work, &job, &chosen, &mut |event| {
        if let Event::Started { held, .. } = &event {
            resume::note(held, &given);
        }
        display.show(&event, &chosen.shown);
        if interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    display.finish();
    let outcome = outcome.map_err(|error| match error {
        JobError::Interrupted { id } => {
            let code = "claudex::run::interrupted";
            resume::kept(Exit::Interrupted, code, "interrupted", &id, &given, &root)
        }
        JobError::Drafter { ref id, .. } => {
            let why = error.to_string();
            let why = why.trim_end_matches(['.', ' ']);
            resume::kept(
                Exit::Internal,
                "claudex::run::drafter",
                why,
                id,
                &given,
                &root,
            )
        }
        error => failure(error),
    })?;
    if arguments.json {
        out::json(&outcome);
    } else if outcome.ending == Ending::ReviewerFailed {
        let (code, cause) = ("claudex::run::reviewer", outcome.cause.unwrap_or_default());
        return Err(match outcome.waits {
            Some(_) => {
                let why = format!("the reviewer gave no verdict, twice: {cause}");
                resume::kept(Exit::Reviewer, code, &why, &outcome.id, &given, &root)
            }
            None => Failure::plain(
                Exit::Reviewer,
                code,
                format!("the reviewer gave no verdict, and the loop is over: {cause}"),
                "once the reviewer works, run the same command again",
            ),
        });
    } else {
        out::line("");
        out::markdown(&outcome.summary);
        if let Some(waits) = &outcome.waits {
            out::line(&format!("The rounds are over, and {waits}"));
        }
        out::line(&format!("State: {}", text::shown(&outcome.state)));
    }
    Ok(match outcome.ending {
        Ending::Complete => Exit::Complete,
        Ending::StoppedAtMaxRounds | Ending::Stalled => Exit::MaxRounds,
        Ending::ReviewerFailed => Exit::Reviewer,
    })
}

fn rounds(given: &str) -> Result<u64, Failure> {
    positive(given, MOST_ROUNDS).ok_or_else(|| {
        Failure::plain(
            Exit::Usage,
            "claudex::start::rounds",
            format!(
                "--rounds takes a positive integer up to {MOST_ROUNDS}, and got `{}`",
                text::one_line(given, 40)
            ),
            "for example: --rounds 3",
        )
    })
}

/// Returns the path of a plan without symlinks: below the project's root none is followed, and elsewhere the folder is the
/// person's own choice.
fn plan_path(here: &Utf8Path, given: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let path = here.join(given);
    let found = folder_of(&[&locate::root(INFO.state, here)], &path)
        .and_then(|(folder, name)| Ok(folder.path().canonicalize_utf8()?.join(name)));
    found.map_err(|source| Failure::new(Exit::Usage, JobError::Plan { path, source }))
}

/// Refuses an agent's choice of the reviewer, as `review` does.
fn not_the_agents() -> Failure {
    Failure::plain(
        Exit::Refused,
        "claudex::run::reviewer_choice",
        "who reviews is a person’s choice, and this call comes from an agent".to_owned(),
        "leave --reviewer out; a person chooses in a terminal, or by reviewer in the configuration",
    )
}

fn failure(error: JobError) -> Failure {
    let exit = match &error {
        JobError::Start(StartError::Store(
            StoreError::Active { .. } | StoreError::NotOurs { .. },
        )) => Exit::Active,
        JobError::Plan { .. } | JobError::NotText { .. } | JobError::Empty { .. } => Exit::Usage,
        JobError::Elsewhere { .. } | JobError::Over { .. } => Exit::Refused,
        _ => Exit::Internal,
    };
    match error {
        JobError::Changes(refused) => refused.into(),
        JobError::Start(StartError::Store(StoreError::Active { ref id, .. }))
            if let Some(help) = resume::in_the_way(id) =>
        {
            Failure::plain(exit, "claudex::start::active", error.to_string(), &help)
        }
        JobError::Start(error) if exit == Exit::Active => start::refused(INFO, error).exiting(exit),
        error => Failure::new(exit, error),
    }
}

/// The progress of a run: a status line on a terminal, plain lines elsewhere. With `--json` the lines go to stderr.
struct Display {
    status: Option<StatusLine>,
    to_stderr: bool,
    lines: review::Lines,
}

impl Display {
    fn new(json: bool) -> Self {
        let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let status = (!json && is_terminal).then(StatusLine::new);
        Self {
            lines: review::Lines::limited(status.is_none()),
            status,
            to_stderr: json,
        }
    }

    /// Prints a line.
    fn say(&mut self, line: &str) {
        self.say_toned(line, "", Tone::Heading);
    }

    fn say_toned(&mut self, line: &str, word: &str, tone: Tone) {
        match &mut self.status {
            Some(status) => status.suspend(|| out::toned(line, word, tone)),
            None if self.to_stderr => out::note(line),
            None => out::toned(line, word, tone),
        }
    }

    fn show(&mut self, event: &Event<'_>, reviewer: &str) {
        match event {
            Event::Started { held, again } => {
                let id = held.id();
                let subject = match reviews_changes(held) {
                    true => "the changes of the work tree".to_owned(),
                    false => held.fields().subject.clone(),
                };
                let what = if *again { "goes on with" } else { "reviews" };
                self.say(&format!(
                    "Loop {id} {what} {subject} (reviewer: {reviewer})"
                ));
            }
            Event::Round { round, of, persona } => {
                self.lines = review::Lines::limited(self.status.is_none());
                if let Some(status) = &mut self.status {
                    status.begin(&format!("round {round} of {of}, {persona}"));
                }
                let line = format!("Round {round} of {of}, {persona}");
                self.say_toned(&line, &line, Tone::Heading);
            }
            Event::Review(RoundEvent::Began { .. }) => {}
            Event::Review(RoundEvent::Tick) | Event::Draft(None) => {
                if let Some(status) = &mut self.status {
                    status.tick();
                }
            }
            Event::Review(said) => {
                if let Some(line) = self.lines.shown(*said, reviewer) {
                    self.say(&format!("  {line}"));
                }
            }
            Event::Reviewed { report, notes } => {
                let result = format!("  {}", review::result(report));
                self.say_toned(&result, review::NOTHING, Tone::Good);
                let mut all: Vec<_> = report.findings.0.iter().collect();
                all.sort_by_key(|finding| finding.severity);
                for finding in all.iter().take(SHOWN) {
                    let severity = finding.severity.to_string().to_lowercase();
                    let line = format!("    {severity:<6}  {}", bullet(finding));
                    self.say_toned(&line, &severity, finding.severity.into());
                }
                if let Some(more) = all.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                    self.say(&format!("    and {more} more in that file"));
                }
                for note in *notes {
                    self.say(&format!("  {note}"));
                }
            }
            Event::Drafting => {
                if let Some(status) = &mut self.status {
                    status.begin("the drafter revises the plan");
                }
                self.say("  the drafter revises the plan");
            }
            Event::Draft(Some(line)) => {
                if let Some(line) = self.lines.of_program(line) {
                    self.say(&format!("  | {line}"));
                }
            }
        }
    }

    fn finish(&mut self) {
        if let Some(status) = &mut self.status {
            status.finish();
        }
    }
}
