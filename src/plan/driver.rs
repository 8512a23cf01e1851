//! The main job outside Claude Code: a plan document goes through the same machine, from start to summary.
//!
//! The driver stands where the Stop hook stands: it takes the hook's edges through the same generated methods. What an
//! agent would do between two stops, a drafter does: a command of the person's that revises the file. Without one every
//! persona reviews the plan once.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use claudex_loop::behaviours::ask::Asked;
use claudex_loop::behaviours::{Attempt, Step, settle, words};
use claudex_loop::machine::{Refusal, Refused};
use claudex_loop::message::{Message, MessageError};
use claudex_loop::process::environment::Environment;
use claudex_loop::process::limits::Limits;
use claudex_loop::process::{self, Call, Event as ProcessEvent, ProcessEnd};
use claudex_loop::program::reviewers::Chosen;
use claudex_loop::program::rounds::{self, RoundLine};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{App as _, LoopArgs, review};
use claudex_loop::review::evidence::{self, Found};
use claudex_loop::review::findings_json;
use claudex_loop::review::round::{Report, RoundError, RoundEvent};
use claudex_loop::review::runs::{self, RunOutcome};
use claudex_loop::store::{LoopId, StartError, Store};
use claudex_loop::{Actor, Timestamp, text};
use derive_more::{Display, Error};
use serde::Serialize;
use serde_json::json;

use super::start::StartRefused;
use super::typestate::{
    DecisionSignal, Plan, REVIEWING_REVIEW, Reviewing, ReviseNext, Summarizing, TABLE, Verb,
};
use super::work::Work;
use super::{AnyLoop, Loop, OnStop, Phase, PlanLoop, context, report, resume, runner, summary};

/// Limits how long it goes unnoticed that another process ended the loop.
const LOOK: Duration = Duration::from_secs(2);
/// What a drafter is told.
const DRAFT: Message = Message {
    name: "draft.md",
    text: include_str!("messages/draft.md"),
};

/// Says how it is done.
#[derive(Debug)]
pub struct Job<'j> {
    /// How many rounds at most, where that was said.
    pub rounds: Option<u64>,
    /// The command that revises the plan, for `/bin/sh -c`.
    pub drafter: Option<&'j str>,
    /// How long a review, or the drafter, may take.
    pub limits: Limits,
    /// What the configuration says.
    pub settings: &'j Settings,
}

/// What whoever watches the job is told.
#[derive(Debug)]
pub enum Event<'e> {
    /// The loop was started, or goes on.
    Started {
        /// It.
        held: &'e AnyLoop,
        /// Whether it goes on.
        again: bool,
    },
    /// A round begins.
    Round {
        /// From 1.
        round: u64,
        /// The last one.
        of: u64,
        /// The persona's label.
        persona: &'e str,
    },
    /// A review goes on.
    Review(RoundEvent<'e>),
    /// A round's review ended.
    Reviewed {
        /// Its report.
        report: &'e Report,
        /// Says what is to be told besides.
        notes: &'e [String],
    },
    /// The drafter works on the findings.
    Drafting,
    /// The drafter said something; None: it is still at it.
    Draft(Option<&'e str>),
}

/// Is told how it goes; on `Break` the job is given up.
pub type Listener<'l> = dyn FnMut(Event<'_>) -> ControlFlow<()> + 'l;

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Ending {
    /// The plan is through.
    Complete,
    /// The rounds were used up.
    StoppedAtMaxRounds,
    /// The same was found for the third time.
    Stalled,
    /// The reviewer could not run, or could not be read.
    ReviewerFailed,
}

/// What a job came to.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The loop's id.
    pub id: String,
    /// How it ended.
    pub ending: Ending,
    /// The plan, where one was reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Utf8PathBuf>,
    /// The report, where changes were reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Utf8PathBuf>,
    /// The proposed patches, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixes: Option<Utf8PathBuf>,
    /// Its rounds.
    pub rounds: Vec<RoundLine>,
    /// How long it took, in seconds.
    pub seconds: u64,
    /// The state file.
    pub state: Utf8PathBuf,
    /// The findings file of the last round.
    pub findings: Utf8PathBuf,
    /// What the summary has to admit.
    pub caveats: Vec<String>,
    /// Why the reviewer failed, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What the loop waits for, and how a person lets it go on, where it is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// The summary, Markdown; empty where the reviewer failed.
    pub summary: String,
}

/// A job that did not come to an end.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum JobError {
    /// It could not be started.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Start(StartError),
    /// There are no changes to review, or they cannot be read.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Changes(StartRefused),
    /// The plan cannot be read.
    #[display("could not read the plan {path}: {source}", path = claudex_loop::text::shown(path), source = claudex_loop::text::shown(source.to_string()))]
    #[diagnostic(code(claudex::run::plan), help("give the path of a Markdown file"))]
    Plan {
        /// The file.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The plan is not text.
    #[display("the plan {path} is not UTF-8 text", path = claudex_loop::text::shown(path))]
    #[diagnostic(code(claudex::run::text), help("save it as UTF-8"))]
    NotText {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The plan is empty.
    #[display("the plan {path} is empty", path = claudex_loop::text::shown(path))]
    #[diagnostic(code(claudex::run::empty), help("write the plan first"))]
    Empty {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A round could not be performed.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Round(RoundError),
    /// The drafter failed. The loop is kept.
    #[display("the drafter failed: {problem}")]
    #[diagnostic(
        code(claudex::run::drafter),
        help("to go on with it:\n    claudex-loop run --resume {id}")
    )]
    Drafter {
        /// The loop.
        id: String,
        /// How.
        problem: String,
    },
    /// Whoever watched gave up. The loop is kept.
    #[display("interrupted; loop {id} is kept")]
    #[diagnostic(
        code(claudex::run::interrupted),
        help("to go on with it:\n    claudex-loop run --resume {id}")
    )]
    Interrupted {
        /// The loop.
        id: String,
    },
    /// Another process ended the loop, as `cancel` does.
    #[display("loop {id} is {phase}: another process ended it")]
    #[diagnostic(
        code(claudex::run::over),
        help("what happened:\n    claudex-loop journal {id}")
    )]
    Over {
        /// The loop.
        id: String,
        /// Names how it ended.
        phase: Phase,
    },
    /// Another process drives the loop, too, and was first.
    #[display("another process changed loop {id} meanwhile")]
    #[diagnostic(
        code(claudex::run::elsewhere),
        help("where it is, and what comes next:\n    claudex-loop status {id}")
    )]
    Elsewhere {
        /// The loop.
        id: String,
    },
    /// A transition was refused.
    #[display("{problem}")]
    #[diagnostic(
        code(claudex::run::refused),
        help("`claudex-loop journal {id}` tells what happened")
    )]
    Refused {
        /// The loop.
        id: String,
        /// Why.
        problem: String,
    },
    /// A message does not render.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Render(MessageError),
    /// A file of the loop cannot be written.
    #[display("could not write a file of the loop: {_0}")]
    #[diagnostic(code(claudex::run::io))]
    Io(std::io::Error),
}

impl From<Refused<AnyLoop>> for JobError {
    fn from(refused: Refused<AnyLoop>) -> Self {
        let id = refused.held.id().to_string();
        match *refused.refusal {
            Refusal::Stale { .. } => over(refused.held.raw().store(), refused.held.id())
                .unwrap_or(JobError::Elsewhere { id }),
            _ => JobError::Refused {
                id,
                problem: refused.to_string(),
            },
        }
    }
}

/// The loop's behaviours as this driver has them.
struct Driver {
    has_drafter: bool,
    personas: u64,
}

impl OnStop for Driver {
    /// As the machine file says, but for one thing: where nobody revises the plan between rounds, a clean round goes on to
    /// the next persona, until each has seen it.
    fn reviewing(&self, held: Loop<Reviewing>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        let fields = held.fields();
        if !self.has_drafter
            && fields.round < fields.max_rounds.min(self.personas)
            && let Ok(Found::Clean(settled)) = evidence::inspect(held.raw(), &REVIEWING_REVIEW)
        {
            let next: ReviseNext = held
                .revise(&settled)
                .map_err(|refused| refused.map(AnyLoop::from))?;
            return settle(Attempt::<Loop<Reviewing>, _>::Taken(AnyLoop::from(next)));
        }
        PlanLoop.reviewing(held)
    }

    fn summarizing_asks(&self, held: &Loop<Summarizing>) -> Result<Option<Asked>, String> {
        PlanLoop.summarizing_asks(held)
    }
}

/// Does the job.
///
/// # Errors
/// See [`JobError`]. A loop that was not brought to its end is cancelled, so that it is in nobody's way; one that was
/// interrupted, or whose reviewer or drafter failed, is kept.
pub fn run(
    work: Work,
    job: &Job<'_>,
    chosen: &Chosen,
    listener: &mut Listener<'_>,
) -> Result<Outcome, JobError> {
    let again = matches!(work, Work::Kept(_));
    let held = work.begin(job)?;
    let (store, id) = (held.raw().store().clone(), held.id().clone());
    // A start is a person's; what follows is what the hook would do.
    let open = || {
        AnyLoop::open(&store, &id, Actor::Hook).map_err(|error| JobError::Refused {
            id: id.to_string(),
            problem: error.to_string(),
        })
    };
    let done = open().and_then(|held| {
        let _ = held
            .raw()
            .told()
            .permissions
            .set(job.settings.permissions(Actor::Hook));
        match listener(Event::Started { held: &held, again }) {
            ControlFlow::Break(()) => Err(interrupted(&held)),
            ControlFlow::Continue(()) => {
                let mut looked = Instant::now();
                through(held, job, chosen, &mut |event| {
                    let said = listener(event);
                    if said.is_continue() && looked.elapsed() >= LOOK {
                        looked = Instant::now();
                        if over(&store, &id).is_some() {
                            return ControlFlow::Break(());
                        }
                    }
                    said
                })
            }
        }
    });
    let given_up = |error: &JobError| {
        !matches!(
            error,
            JobError::Interrupted { .. } | JobError::Elsewhere { .. } | JobError::Drafter { .. }
        )
    };
    if done.as_ref().is_err_and(given_up)
        && let Ok(held) = AnyLoop::open(&store, &id, Actor::Person)
        && !held.phase().is_terminal()
    {
        cancel(held);
    }
    done
}

fn interrupted(held: &AnyLoop) -> JobError {
    over(held.raw().store(), held.id()).unwrap_or_else(|| JobError::Interrupted {
        id: held.id().to_string(),
    })
}

/// Tells that a loop is over on disk, which another process has seen to while this one was at it.
fn over(store: &Store, id: &LoopId) -> Option<JobError> {
    let phase = AnyLoop::open(store, id, Actor::Hook).ok()?.phase();
    phase.is_terminal().then(|| JobError::Over {
        id: id.to_string(),
        phase,
    })
}

/// Gives a loop up; that it could not be is the lesser trouble by then.
fn cancel(held: AnyLoop) {
    let verb = Verb::Cancel(LoopArgs::default());
    if let Ok(cancelled) = Plan::take(verb, held) {
        let _ = runner::clear(cancelled.raw());
    }
}

fn through(
    mut held: AnyLoop,
    job: &Job<'_>,
    chosen: &Chosen,
    listener: &mut Listener<'_>,
) -> Result<Outcome, JobError> {
    let driver = Driver {
        has_drafter: job.drafter.is_some(),
        personas: job.settings.personas.all().len() as u64,
    };
    let program = super::program();
    let mut summary = String::new();
    loop {
        // One that was kept may have been left here.
        if held.phase() == Phase::Summarizing && summary.is_empty() {
            summary = summed_up(&held, job)?;
        }
        if held.phase() == Phase::Reviewing {
            let fields = held.fields();
            let persona = job.settings.personas.of_round(fields.round);
            let round = Event::Round {
                round: fields.round,
                of: fields.max_rounds,
                persona: &persona.label,
            };
            if listener(round).is_break() {
                return Err(interrupted(&held));
            }
            let round = review::Job {
                spec: &REVIEWING_REVIEW,
                personas: &job.settings.personas,
                settings: job.settings,
                limits: job.limits,
            };
            let report = review::run(&program, &held, &round, chosen, &mut |said| {
                listener(Event::Review(said))
            })
            .map_err(|error| match error {
                RoundError::Interrupted => interrupted(&held),
                error => JobError::Round(error),
            })?;
            let notes = match report.how.digest() {
                Some(_) => report::after_review(&held),
                None => Vec::new(),
            };
            let reviewed = Event::Reviewed {
                report: &report,
                notes: &notes,
            };
            if listener(reviewed).is_break() {
                return Err(interrupted(&held));
            }
            if let (Some(drafter), RunOutcome::Findings { .. }) = (job.drafter, &report.how) {
                draft(&held, drafter, job, listener)?;
            }
        }
        match driver.stop(held)? {
            Step::Over(now) => return Ok(outcome(&now, job, summary)),
            // A phase that machine.toml gains waits for whom it is made for: the rounds are over, and the loop stays.
            Step::Waits(now) if !matches!(now.phase(), Phase::Drafting | Phase::Reviewing) => {
                return Ok(Outcome {
                    waits: Some(words::waiting(now.raw())),
                    ..outcome(&now, job, summary)
                });
            }
            Step::Waits(now) => {
                return Err(JobError::Refused {
                    id: now.id().to_string(),
                    problem: format!("the loop waits in phase {}", now.phase()),
                });
            }
            Step::Moved { now, edge } => {
                if edge.ends_turn || runs::is_parked(now.raw()) {
                    // The reviewer failed again, or would. The loop is kept, as one that was interrupted.
                    return Ok(Outcome {
                        waits: Some(format!("to {}", resume::go_on(&now))),
                        ..outcome(&now, job, String::new())
                    });
                }
                // The outcome has what a summary, printed with it, could not say.
                super::entered(&now, job.settings).map_err(|problem| JobError::Refused {
                    id: now.id().to_string(),
                    problem,
                })?;
                if now.phase().is_terminal() {
                    return Ok(outcome(&now, job, summary));
                }
                held = now;
            }
        }
    }
}

/// Returns the summary of a loop that sums up: every edge that leads there has the same.
fn summed_up(held: &AnyLoop, job: &Job<'_>) -> Result<String, JobError> {
    let mut edges = TABLE.edges().filter(|edge| edge.to == held.raw().phase());
    let message = edges.find_map(|edge| edge.words(&TABLE));
    let own = context::of(held, job.settings, Timestamp::now());
    let said = words::render(held.raw(), message, own).map_err(JobError::Render)?;
    Ok(for_people(&said.unwrap_or_default()))
}

/// Returns the summary without the lines that are for an agent.
fn for_people(summary: &str) -> String {
    let lines = summary.lines().filter(|line| {
        !line.starts_with("**Print this summary") && !line.starts_with("(To give this loop up")
    });
    let text: Vec<&str> = lines.collect();
    format!("{}\n", text.join("\n").trim_end())
}

fn outcome(held: &AnyLoop, job: &Job<'_>, summary: String) -> Outcome {
    let raw = held.raw();
    let fields = held.fields();
    let ending = match (held.phase(), fields.decision_signal) {
        (Phase::Drafting | Phase::Reviewing | Phase::Errored | Phase::Cancelled, _) => {
            Ending::ReviewerFailed
        }
        (_, DecisionSignal::NoMaterialFindings) => Ending::Complete,
        (_, DecisionSignal::Stalled) => Ending::Stalled,
        (_, DecisionSignal::MaxReached | DecisionSignal::None) => Ending::StoppedAtMaxRounds,
    };
    let (report, fixes) = report::there(held);
    let cause = rounds::runs(raw)
        .iter()
        .rev()
        .find_map(|run| Some(run.ended.as_ref()?.cause()?.to_string()));
    Outcome {
        id: held.id().to_string(),
        ending,
        plan: (!super::reviews_changes(held)).then(|| raw.path("{subject}")),
        report: report.map(|path| raw.store().root().join(path)),
        fixes: fixes.map(|path| raw.store().root().join(path)),
        rounds: rounds::rounds(raw, &job.settings.personas),
        seconds: rounds::seconds(raw, Timestamp::now()),
        state: raw.store().path_of(held.id()),
        findings: findings_json::findings_path(raw.store(), raw.id(), fields.round),
        caveats: summary::all_caveats(held, job.settings),
        cause: cause
            .map(|cause| cause.trim_end_matches(['.', ' ']).to_owned())
            .or_else(|| Some("the reviewer failed".to_owned()))
            .filter(|_| ending == Ending::ReviewerFailed),
        waits: None,
        summary,
    }
}

/// Has the findings dealt with.
fn draft(
    held: &AnyLoop,
    drafter: &str,
    job: &Job<'_>,
    listener: &mut Listener<'_>,
) -> Result<(), JobError> {
    let raw = held.raw();
    let findings = findings_json::findings_path(raw.store(), raw.id(), held.fields().round);
    let findings = raw
        .store()
        .read(&findings)
        .and_then(claudex_loop::files::text);
    let text = text::plain(&findings.map_err(JobError::Io)?);
    let mut own = context::of(held, job.settings, Timestamp::now());
    own.insert("text".to_owned(), json!(text));
    let message = words::render(raw, Some(DRAFT), own)
        .map_err(JobError::Render)?
        .unwrap_or_default();
    if listener(Event::Drafting).is_break() {
        return Err(interrupted(held));
    }
    // The drafter is the person's own command and gets the person's own environment.
    let environment =
        Environment::allowing(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
            .with_projects_programs();
    let call = Call {
        program: "/bin/sh",
        arguments: &["-c".to_owned(), drafter.to_owned()],
        directory: raw.store().root(),
        stdin: message.as_bytes(),
        environment: &environment,
        limits: job.limits,
    };
    let ended = process::supervise(&call, &mut |event| {
        listener(Event::Draft(match event {
            ProcessEvent::Line { text, .. } => Some(text),
            ProcessEvent::Tick => None,
        }))
    });
    match ended.how {
        ProcessEnd::Exited(0) => Ok(()),
        ProcessEnd::Stopped => Err(interrupted(held)),
        how => {
            let said = text::one_line(ended.stderr_tail.lines().last().unwrap_or_default(), 200);
            let problem = match how {
                ProcessEnd::Exited(status) => format!("exit status {status}. {said}"),
                ProcessEnd::TimedOut { after } => format!("not done after {} s", after.as_secs()),
                ProcessEnd::Idle { after } => format!("silent for {} s", after.as_secs()),
                how => format!("{how:?}"),
            };
            Err(JobError::Drafter {
                id: held.id().to_string(),
                problem: text::one_line(&problem, 300),
            })
        }
    }
}
