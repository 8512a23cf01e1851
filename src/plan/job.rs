//! A loop outside Claude Code, from its start to its summary.
//!
//! The job stands in for the client: it has each round reviewed, has a drafter revise the plan, and
//! then lets the program stop the loop, as a hook does.

use claudex_loop::behaviours::ask::Asked;
use claudex_loop::behaviours::{Attempt, Step, loop_message, settle};
use claudex_loop::machine::Refused;
use claudex_loop::message::{Message, MessageError};
use claudex_loop::process::environment::Environment;
use claudex_loop::process::limits::Limits;
use claudex_loop::process::{self, Call, Event, ProcessEnd};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::reviewers::Chosen;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{Program, review};
use claudex_loop::review::evidence::{self, Found};
use claudex_loop::review::findings_json;
use claudex_loop::review::round::RoundError;
use claudex_loop::review::runs::{self, RunOutcome};
use claudex_loop::{Actor, Timestamp, files, text};
use serde_json::json;

use super::outcome::Outcome;
use super::progress::Progress;
use super::resume;
use super::typestate::{REVIEWING_REVIEW, Reviewing, ReviseNext, Summarizing, TABLE};
use super::{AnyLoop, Loop, OnStop, Phase, PlanLoop, context, report};

/// The drafter's prompt.
const DRAFT: Message = Message {
    name: "draft.md",
    text: include_str!("messages/draft.md"),
};

/// A job that is under way.
#[derive(Debug)]
pub struct Job<'j> {
    /// The command that revises the plan, for `/bin/sh -c`.
    pub drafter: Option<&'j str>,
    /// Time limits of a review and of the drafter.
    pub limits: Limits,
    /// The configuration.
    pub settings: &'j Settings,
    /// The reviewer.
    pub reviewer: &'j Chosen,
    /// The display.
    pub progress: Progress,
}

impl Job<'_> {
    /// Takes a loop to its end, or as far as it goes without its user.
    ///
    /// # Errors
    /// Returns an error if the loop is changed by another process or cannot go on. It is kept, and
    /// the error says how to resume it.
    pub fn run(&mut self, started: &AnyLoop) -> Result<Outcome, Failure> {
        // The user starts a loop. All later changes are those of the Stop hook.
        let held = AnyLoop::open(started.raw().store(), started.id(), Actor::Hook);
        let mut held = held.map_err(|error| Failure::new(Exit::Internal, error))?;
        let program = super::program_that_stops(JobStops {
            has_drafter: self.drafter.is_some(),
            personas: self.settings.personas.all().len() as u64,
        });
        let mut summary = String::new();
        loop {
            match held.phase() {
                Phase::Reviewing => self.review(&program, &held)?,
                Phase::Summarizing => summary = self.summarize(&held)?,
                _ => {}
            }

            match program.step(held, self.settings) {
                Ok(Step::Over(held)) => {
                    return Ok(Outcome::new(&held, self.settings, summary, None));
                }
                Ok(Step::Waits(held)) => {
                    return Err(internal_failure(&held, &loop_message::waiting(held.raw())));
                }
                Ok(Step::Moved { now, edge }) if edge.ends_turn || runs::is_parked(now.raw()) => {
                    let waits = Some(resume::help(&now));
                    return Ok(Outcome::new(&now, self.settings, summary, waits));
                }
                Ok(Step::Moved { now, .. }) => {
                    super::entered(&now, self.settings)
                        .map_err(|problem| internal_failure(&now, &problem))?;
                    held = now;
                }
                Err(refused) => {
                    let problem = refused.to_string();
                    return Err(stop_failure(&refused.held, Exit::Internal, &problem));
                }
            }
        }
    }

    /// Has the round reviewed and its findings dealt with.
    fn review(&mut self, program: &Program, held: &AnyLoop) -> Result<(), Failure> {
        let fields = held.fields();
        let persona = self.settings.personas.of_round(fields.round);
        let progress = &mut self.progress;
        progress.show_round(fields.round, fields.max_rounds, &persona.label);

        let round = review::Job {
            spec: &REVIEWING_REVIEW,
            personas: &self.settings.personas,
            settings: self.settings,
            limits: self.limits,
        };
        let report = review::run(program, held, &round, self.reviewer, &mut |event| {
            progress.show_review(event, &self.reviewer.shown)
        })
        .map_err(|error| match error {
            RoundError::Interrupted => interrupt_failure(held),
            error => internal_failure(held, &error.to_string()),
        })?;

        let notes = match report.how.digest() {
            Some(_) => report::after_review(held),
            None => Vec::new(),
        };
        progress.show_report(&report, &notes);

        match (self.drafter, &report.how) {
            (Some(drafter), RunOutcome::Findings { .. }) => self.draft(held, drafter),
            _ => Ok(()),
        }
    }

    /// Renders the summary. All edges that lead to it have the same message.
    fn summarize(&self, held: &AnyLoop) -> Result<String, Failure> {
        let mut edges = TABLE.edges().filter(|edge| edge.to == held.raw().phase());
        let message = edges.find_map(|edge| edge.words(&TABLE));
        let own = context::variables(held, self.settings, Timestamp::now());
        let summary = loop_message::render(held.raw(), message, own).map_err(render_failure)?;
        Ok(format!("{}\n", summary.unwrap_or_default().trim_end()))
    }

    /// Runs the drafter on the findings of the round.
    fn draft(&mut self, held: &AnyLoop, drafter: &str) -> Result<(), Failure> {
        let raw = held.raw();
        let path = findings_json::findings_path(raw.store(), raw.id(), held.fields().round);
        let findings = raw.store().read(&path).and_then(files::text);
        let findings = findings.map_err(|error| {
            internal_failure(
                held,
                &format!("cannot read {}: {error}", text::shown(&path)),
            )
        })?;
        let mut own = context::variables(held, self.settings, Timestamp::now());
        own.insert("text".to_owned(), json!(text::plain(&findings)));
        let prompt = loop_message::render(raw, Some(DRAFT), own)
            .map_err(render_failure)?
            .unwrap_or_default();
        let progress = &mut self.progress;
        progress.show_drafter();

        // The drafter is the user's own command and gets the user's environment.
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let environment = Environment::allowing(names).with_projects_programs();
        let call = Call {
            program: "/bin/sh",
            arguments: &["-c".to_owned(), drafter.to_owned()],
            directory: raw.store().root(),
            stdin: prompt.as_bytes(),
            environment: &environment,
            limits: self.limits,
        };
        let ended = process::supervise(&call, &mut |event| match event {
            Event::Line { text, .. } => progress.show_drafter_line(text),
            Event::Tick => progress.tick(),
        });

        let problem = match ended.how {
            ProcessEnd::Exited(0) => return Ok(()),
            ProcessEnd::Stopped => return Err(interrupt_failure(held)),
            ProcessEnd::Exited(status) => {
                let last = ended.stderr_tail.lines().last().unwrap_or_default();
                format!("exit status {status}. {}", text::one_line(last, 200))
            }
            ProcessEnd::TimedOut { after } => format!("not done after {} s", after.as_secs()),
            ProcessEnd::Idle { after } => format!("silent for {} s", after.as_secs()),
            how => format!("{how:?}"),
        };
        let problem = format!("the drafter failed: {}", text::one_line(&problem, 300));
        Err(internal_failure(held, &problem))
    }
}

/// The stops of a job.
struct JobStops {
    has_drafter: bool,
    personas: u64,
}

impl OnStop for JobStops {
    /// Decides as the machine file says, except that without a drafter a clean round goes on to the
    /// next persona, until each has reviewed the plan.
    fn reviewing(&self, held: Loop<Reviewing>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        let fields = held.fields();
        let has_next_persona = fields.round < fields.max_rounds.min(self.personas);
        if !self.has_drafter
            && has_next_persona
            && let Ok((Found::Clean(settled), _)) = evidence::inspect(held.raw(), &REVIEWING_REVIEW)
        {
            let next: ReviseNext = held
                .revise(&settled)
                .map_err(|refused| refused.map(AnyLoop::from))?;
            return settle(Attempt::<Loop<Reviewing>, _>::Taken(AnyLoop::from(next)));
        }
        PlanLoop.reviewing(held)
    }

    fn summarizing_asks(&self, _: &Loop<Summarizing>) -> Result<Option<Asked>, String> {
        Ok(None)
    }
}

/// Returns the failure of a job that cannot go on. Its loop is kept.
fn internal_failure(held: &AnyLoop, problem: &str) -> Failure {
    resume::kept_failure(held, Exit::Internal, problem)
}

/// Returns the failure of a job that was interrupted, by a signal or because another process ended
/// its loop.
fn interrupt_failure(held: &AnyLoop) -> Failure {
    stop_failure(held, Exit::Interrupted, "interrupted")
}

/// Returns the failure of a job if another process has ended its loop, or else for this problem.
fn stop_failure(held: &AnyLoop, exit: Exit, problem: &str) -> Failure {
    let id = held.id();
    match resume::ended_phase(held.raw().store(), id) {
        None => resume::kept_failure(held, exit, problem),
        Some(phase) => Failure::plain(
            Exit::Refused,
            "claudex::run::over",
            format!("loop {id} is {phase}: another process ended it"),
            &format!("what happened:\n    claudex-loop journal {id}"),
        ),
    }
}

fn render_failure(error: MessageError) -> Failure {
    Failure::new(Exit::Internal, error)
}
