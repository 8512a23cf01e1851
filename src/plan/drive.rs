//! The driver of a loop outside Claude Code.
//!
//! The driver stops the loop like the Stop hook. Before each stop, a reviewer reviews the round and
//! a drafter revises the plan. Its progress is plain lines.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use claudex_loop::behaviours::{Step, try_in_turn};
use claudex_loop::machine::{Actor, Refused};
use claudex_loop::message::Message;
use claudex_loop::process::environment::Environment;
use claudex_loop::process::output::plain_line;
use claudex_loop::process::{self, Call, Event, ProcessEnd};
use claudex_loop::program::caller::Caller;
use claudex_loop::program::console::Console;
use claudex_loop::program::exit::{CommandResult, Exit, Failure, with_help};
use claudex_loop::program::review::{Review, check_choice};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{Program, Variables, locate, loops, out, reviewers, rounds};
use claudex_loop::review::evidence::{ReviewState, Round};
use claudex_loop::review::findings::Finding;
use claudex_loop::review::findings_file;
use claudex_loop::review::personas::{machine_personas, persona};
use claudex_loop::review::reviewer::Reviewer;
use claudex_loop::review::round::{RoundError, RoundEvent};
use claudex_loop::review::runs;
use claudex_loop::template;
use claudex_loop::text;
use serde_json::json;

use super::run::{self, RunArgs};
use super::typestate::{DecisionSignal, REVIEWING_REVIEW, TABLE};
use super::{
    AnyLoop, INFO, OnStop as _, Phase, PlanLoop, caveats, context, report, reviews_changes,
};

const DRAFT: Message = template!("messages/draft.md");
const SUMMARY: Message = template!("messages/summary.md");
/// The interval at which a run checks whether another process has ended its loop, and shows a sign
/// of life.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The most findings of a round that are shown. Their file has all.
const MAX_SHOWN_FINDINGS: usize = 20;

pub(super) struct Driver<'d> {
    pub(super) program: &'d Program,
    pub(super) settings: Settings,
    /// The reviewer, and those that replace it. The limits of the first one also apply to the drafter.
    reviewers: Vec<Reviewer>,
    arguments: &'d RunArgs,
    console: Console,
}

impl<'d> Driver<'d> {
    /// Makes a driver with the settings and reviewers of the project of a folder.
    pub(super) fn new(
        program: &'d Program,
        folder: &Utf8Path,
        arguments: &'d RunArgs,
    ) -> Result<Self, Failure> {
        let root = locate::nearest(INFO.state, folder).root().to_owned();
        let settings = loops::settings(INFO, &root, None)?;
        let named = arguments.reviewer.as_deref();
        check_choice(named, &settings, Caller::from_env().actor())?;
        Ok(Self {
            program,
            reviewers: reviewers::choose(named, None, &settings, &root)?,
            settings,
            arguments,
            console: Console::new("  ".to_owned(), arguments.json),
        })
    }

    /// Drives a loop to its end, or until it needs its user, and prints the outcome.
    pub(super) fn drive(&self, mut held: AnyLoop) -> CommandResult {
        let resumed = self.arguments.resume.as_ref();
        let verb = resumed.map_or("reviews", |_| "continues with");
        let subject = if reviews_changes(held.raw()) {
            "the changes of the work tree"
        } else {
            &held.fields().subject
        };
        self.show(&format!("Loop {} {verb} {subject}", held.id()));
        loop {
            if held.phase() == Phase::Reviewing {
                self.review(&held)?;
            }
            held = match self.stop(held) {
                Ok(Step::Moved { now, edge }) => {
                    let entered = self.program.enter(&now);
                    entered.map_err(|problem| self.failure(&now, &problem))?;
                    if edge.lets_turn_end(&TABLE) || runs::has_lasting_failure(now.raw()) {
                        return self.print(&now);
                    }
                    now
                }
                Ok(Step::Over(now)) => return self.print(&now),
                Ok(Step::Waits(now)) => {
                    let problem = format!("the loop does not continue from phase {}", now.phase());
                    return Err(self.failure(&now, &problem));
                }
                Err(refused) => return Err(self.failure(&refused.held, &refused.to_string())),
            };
        }
    }

    /// Stops a loop like the Stop hook. Without a drafter, clean rounds go through all personas.
    fn stop(&self, held: AnyLoop) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        let personas = machine_personas(&TABLE).len() as u64;
        let fields = held.fields();
        let has_next_persona = fields.round < fields.max_rounds.min(personas);
        match held {
            AnyLoop::Reviewing(held)
                if self.arguments.drafter.is_none()
                    && has_next_persona
                    && let Ok((ReviewState::Clean(settled), _)) =
                        Round::read(held.raw(), &REVIEWING_REVIEW)
                            .and_then(|round| round.inspect()) =>
            {
                try_in_turn(held, &[&|held| Ok(held.revise(&settled)?.into())])
            }
            held => {
                self.program.prepare(&held, &self.settings, Actor::Hook);
                PlanLoop.stop(held)
            }
        }
    }

    fn review(&self, held: &AnyLoop) -> Result<(), Failure> {
        let review = Review {
            program: self.program,
            held,
            spec: &REVIEWING_REVIEW,
            reviewers: &self.reviewers,
        };
        let round = held.fields().round;
        let persona = persona(machine_personas(&TABLE), round).label;
        let rounds = held.fields().max_rounds;
        self.show(&format!("Round {round} of {rounds}, {persona}"));

        let report = review
            .run(&mut self.watch(held))
            .map_err(|error| match error {
                RoundError::Interrupted(why) => {
                    run::failure(held, self.arguments, Exit::Interrupted, why)
                }
                error => self.failure(held, &with_help(&error)),
            })?;
        review.print_result(&self.console, &report);
        self.show_findings(report.run.findings());
        if report.run.verdict().is_some() {
            let notes = report::after_review(held);
            notes.iter().for_each(|note| self.console.line(note));
        }
        match (&self.arguments.drafter, report.run.verdict()) {
            (Some(drafter), Some(findings)) if !findings.is_empty() => {
                self.draft(held, drafter, &findings_file::render(round, findings))
            }
            _ => Ok(()),
        }
    }

    /// Shows a line for each finding of a round, the gravest first. Their file has the details.
    fn show_findings(&self, findings: &[Finding]) {
        let mut findings: Vec<_> = findings.iter().collect();
        findings.sort_by_key(|finding| finding.severity);
        for finding in findings.iter().take(MAX_SHOWN_FINDINGS) {
            let severity = finding.severity.to_string().to_lowercase();
            let line = format!("    {severity:<6}  {}", findings_file::bullet(finding));
            self.console.plain(&line, &severity, out::HEADING);
        }
        let more = findings.len().saturating_sub(MAX_SHOWN_FINDINGS);
        if more > 0 {
            self.console.line(&format!("and {more} more in that file"));
        }
    }

    fn show(&self, line: &str) {
        self.console.plain(line, line, out::HEADING);
    }

    /// Returns a listener for events, which breaks after a signal or if the loop has ended.
    fn watch<'w>(
        &'w self,
        held: &'w AnyLoop,
    ) -> impl FnMut(RoundEvent<'_>) -> ControlFlow<()> + 'w {
        let mut polled = Instant::now();
        move |event| {
            if polled.elapsed() >= CANCEL_POLL_INTERVAL {
                polled = Instant::now();
                // A start elsewhere archives idle loops.
                let _ = held.raw().store().touch(held.id());
                if run::ended_phase(held).is_some() {
                    return ControlFlow::Break(());
                }
            }
            self.console.event(event)
        }
    }

    fn render(&self, held: &AnyLoop, message: Message, more: Variables) -> Result<String, Failure> {
        self.program
            .render(held, Some(message), more)
            .map(Option::unwrap_or_default)
            .map_err(|problem| self.failure(held, &problem))
    }

    fn draft(&self, held: &AnyLoop, drafter: &str, findings: &str) -> Result<(), Failure> {
        let text = ("text".to_owned(), json!(findings));
        let prompt = self.render(held, DRAFT, Variables::from_iter([text]))?;
        self.console.line("the drafter revises the plan");

        // The drafter is the user's own command, so it gets the user's environment.
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let environment = Environment::allowing(names).with_projects_programs();
        let call = Call {
            program: "/bin/sh",
            arguments: &["-c".to_owned(), drafter.to_owned()],
            directory: held.raw().store().root(),
            stdin: prompt.as_bytes(),
            environment: &environment,
            limits: self.reviewers[0].limits,
        };
        let before = held.raw().read("{subject}").ok();
        let mut watch = self.watch(held);
        let ended = process::supervise(&call, &mut |event| match event {
            Event::Line(_, line) => watch(RoundEvent::Reviewer(&plain_line(line))),
            Event::Tick => watch(RoundEvent::Tick),
        });
        match &ended.how {
            ProcessEnd::Exited(0) => {
                if held.raw().read("{subject}").ok() == before {
                    self.console.line("the drafter left the plan as it was");
                }
                Ok(())
            }
            ProcessEnd::Stopped => Err(run::failure(
                held,
                self.arguments,
                Exit::Interrupted,
                "interrupted",
            )),
            how => {
                let stderr = ended.stderr_tail();
                let last = stderr.lines().last().unwrap_or_default();
                let problem = text::one_line(&format!("{how}. {last}"), 300);
                Err(self.failure(held, &format!("the drafter failed: {problem}")))
            }
        }
    }

    fn print(&self, held: &AnyLoop) -> CommandResult {
        let raw = held.raw();
        let store = raw.store();
        let id = held.id();
        let is_reviewed = caveats::is_closing(held);
        let (ending, exit) = match held.fields().decision_signal {
            _ if !is_reviewed => ("reviewer-failed", Exit::Reviewer),
            DecisionSignal::NoMaterialFindings => ("complete", Exit::Complete),
            DecisionSignal::Stalled => ("stalled", Exit::MaxRounds),
            DecisionSignal::MaxReached | DecisionSignal::None => {
                ("stopped-at-max-rounds", Exit::MaxRounds)
            }
        };
        let cause = (!is_reviewed).then(|| context::cause(raw));
        let summary = if is_reviewed {
            // The commands in it repeat the reviewer.
            let plan = text::shell_word(&text::escape_hidden(raw.path("{subject}")));
            let plan = format!("{} {plan}", self.arguments.reviewer_flag());
            let plan = ("plan_argument".to_owned(), json!(plan.trim_start()));
            self.render(held, SUMMARY, Variables::from_iter([plan]))?
        } else {
            String::new()
        };
        let summary = summary.trim_end();
        let waits =
            (!held.phase().is_terminal()).then(|| run::resume_help(held, Some(self.arguments)));
        if self.arguments.json {
            let [report, fixes] = report::existing_files(held);
            let findings = findings_file::findings_path(store, id, held.fields().round);
            let mut facts = json!({
                "id": id.as_str(),
                "ending": ending,
                "plan": (!reviews_changes(raw)).then(|| raw.path("{subject}")),
                "report": report.map(|path| store.root().join(path)),
                "fixes": fixes.map(|path| store.root().join(path)),
                "rounds": rounds::rounds(raw),
                "seconds": rounds::seconds(raw),
                "state": store.path_of(id),
                "findings": Some(findings).filter(|path| path.is_file()),
                "caveats": caveats::all(held),
                "cause": cause,
                "waits": waits,
                "summary": summary,
            });
            if let Some(facts) = facts.as_object_mut() {
                facts.retain(|_, fact| !fact.is_null());
            }
            out::json(&facts);
            return Ok(exit);
        }
        let Some(cause) = cause else {
            let state = text::printable(store.path_of(id));
            out::line(&format!("\n{summary}\nState: {state}"));
            return Ok(exit);
        };
        let problem = format!("the reviewer gave no verdict: {cause}");
        if waits.is_some() {
            return Err(run::failure(held, self.arguments, Exit::Reviewer, &problem));
        }
        let message = format!("{problem}; loop {id} is over");
        let help = "once the reviewer works, run the same command again";
        Err(Failure::with_help(Exit::Reviewer, message, help))
    }

    fn failure(&self, held: &AnyLoop, problem: &str) -> Failure {
        run::failure(held, self.arguments, Exit::Internal, problem)
    }
}
