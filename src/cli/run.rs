//! `run`: the main job, with a progress display on a terminal and plain lines elsewhere.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::files::folder_of;
use claudex_loop::machine::Actor;
use claudex_loop::plan::caller::Caller;
use claudex_loop::plan::driver::{self, Ending, Event, Job, JobError};
use claudex_loop::plan::start::StartRefused;
use claudex_loop::plan::{locate, reviewers};
use claudex_loop::store::{StartError, StoreError};
use claudex_loop::text;
use indicatif::{ProgressBar, ProgressStyle};

use super::exit::{Exit, Failure};
use super::{args, out, review};

/// Takes a plan through the loop.
pub(crate) fn run(arguments: args::Run) -> Result<Exit, Failure> {
    let here = super::here()?;
    let plan = plan_path(&here, &arguments.plan)?;
    let root = locate::root(plan.parent().unwrap_or(&here));
    let settings = super::settings(&root)?;
    if let Some(named) = arguments.reviewer.as_deref()
        && Caller::from_env().actor(false) == Actor::Agent
        && named != settings.reviewer
        && named != "lint"
    {
        return Err(not_the_agents());
    }
    let chosen = reviewers::choose(arguments.reviewer.as_deref(), &settings, &root)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let job = Job {
        plan: &plan,
        rounds: arguments.rounds.clone(),
        drafter: arguments.drafter.as_deref(),
        limits: arguments.time.limits(chosen.limits),
        personas: &settings.personas,
    };
    let mut display = Display::new(arguments.json);
    let interrupted = review::interrupts();
    let outcome = driver::run(&job, chosen.reviewer.as_ref(), &mut |event| {
        display.show(&event, &chosen.shown);
        if interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    display.finish();
    let outcome = outcome.map_err(|error| {
        let exit = exit_of(&error);
        match &error {
            JobError::Start(refused) => super::start::active(exit, refused),
            _ => None,
        }
        .unwrap_or_else(|| Failure::new(exit, error))
    })?;
    if arguments.json {
        out::json(&outcome);
    } else if outcome.ending == Ending::ReviewerFailed {
        let cause = outcome.cause.clone().unwrap_or_default();
        return Err(Failure::plain(
            Exit::Reviewer,
            "claudex::run::reviewer",
            format!("the reviewer gave no verdict, twice: {cause}"),
            "the loop is over; once the reviewer works, run the same command again",
        ));
    } else {
        out::line("");
        out::text(&for_people(&outcome.summary));
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

/// Returns the path of a plan without symlinks: below the project's root none is followed, and elsewhere the folder is the
/// person's own choice.
fn plan_path(here: &Utf8Path, given: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let path = here.join(given);
    let found = folder_of(&[&locate::root(here)], &path)
        .and_then(|(folder, name)| Ok(folder.path().canonicalize_utf8()?.join(name)));
    found.map_err(|source| Failure::new(Exit::Usage, JobError::Plan { path, source }))
}

/// Refuses an agent's choice: who reviews is the person's, as for `review`. `lint` is open to all: it is no program, and the
/// same for everyone.
fn not_the_agents() -> Failure {
    Failure::plain(
        Exit::Refused,
        "claudex::run::reviewer_choice",
        "who reviews is a person’s choice, and this call comes from an agent".to_owned(),
        "leave --reviewer out, or name lint; a person chooses in a terminal, or by reviewer in the configuration",
    )
}

/// The summary without the lines that are for an agent.
fn for_people(summary: &str) -> String {
    let lines = summary.lines().filter(|line| {
        !line.starts_with("**Print this summary") && !line.starts_with("(To give this loop up")
    });
    let text: Vec<&str> = lines.collect();
    format!("{}\n", text.join("\n").trim_end())
}

fn exit_of(error: &JobError) -> Exit {
    match error {
        JobError::Start(StartRefused::Store(
            StartError::Active { .. } | StartError::Store(StoreError::NotStartedHere { .. }),
        )) => Exit::Active,
        JobError::Start(StartRefused::Store(_) | StartRefused::Io { .. }) => Exit::Internal,
        JobError::Start(_) | JobError::Plan { .. } | JobError::NotText { .. } | JobError::Empty { .. } => {
            Exit::Usage
        }
        JobError::Interrupted => Exit::Interrupted,
        _ => Exit::Internal,
    }
}

/// A spinner on a terminal, lines elsewhere; with `--json` the lines go to stderr.
struct Display {
    bar: Option<ProgressBar>,
    to_stderr: bool,
    lines: review::Lines,
}

impl Display {
    fn new(json: bool) -> Self {
        let bar = (!json && std::io::stdout().is_terminal() && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self {
            lines: review::Lines::limited(bar.is_none()),
            bar,
            to_stderr: json,
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| out::line(line)),
            None if self.to_stderr => out::note(line),
            None => out::line(line),
        }
    }

    fn show(&mut self, event: &Event<'_>, reviewer: &str) {
        match event {
            Event::Started { held } => {
                self.say(&format!(
                    "Loop {} reviews {} (reviewer: {reviewer})",
                    held.id(),
                    held.fields().subject()
                ));
            }
            Event::Round { round, of, persona } => {
                self.lines = review::Lines::limited(self.bar.is_none());
                if let Some(bar) = &self.bar {
                    bar.set_message(text::plain(&format!("round {round} of {of}, {persona}")));
                }
                self.say(&format!("Round {round} of {of}, {persona}"));
            }
            Event::Review(claudex_loop::review::round::Said::Began { .. }) => {}
            Event::Review(said) => {
                if let Some(line) = self.lines.shown(*said, reviewer) {
                    self.say(&format!("  {line}"));
                }
            }
            Event::Reviewed { report } => {
                self.say(&format!("  {}", review::result(report)));
            }
            Event::Drafting => {
                if let Some(bar) = &self.bar {
                    bar.set_message("the drafter revises the plan");
                }
                self.say("  the drafter revises the plan");
            }
            Event::Draft(Some(line)) => {
                if let Some(line) = self.lines.of_program(line) {
                    self.say(&format!("  | {line}"));
                }
            }
            Event::Draft(None) => {}
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
