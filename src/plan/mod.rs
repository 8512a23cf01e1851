//! Our own machine: the plan loop of the root's `machine.toml`, with its messages, personas and the Rust that only it needs.
//!
//! [`typestate`] is what `build.rs` generated; the other files are the few things that a machine file does not say. All of it
//! stands on the public API alone, as a stranger's program does: [`program`] puts it together.

claudex_loop::machine!(plan as typestate);

pub mod changes;
pub mod closing;
pub mod context;
pub mod driver;
pub mod interview;
pub mod machine;
pub mod new;
pub mod report;
pub mod resume;
pub mod run;
pub mod runner;
mod schema;
pub mod start;
mod status_line;
pub mod summary;
pub mod verbs;
pub mod work;

use camino::Utf8PathBuf;
use claudex_loop::Timestamp;
use claudex_loop::behaviours::ask::{Answer, Asked};
use claudex_loop::hooks::{HookOutput, Input};
use claudex_loop::program::caller::RUN;
use claudex_loop::program::exit::Failure;
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::rounds;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::start::{StartFields, StartRequest};
use claudex_loop::program::surroundings::Surroundings;
use claudex_loop::program::{Extension, NextAction, Program, Variables};
use claudex_loop::review::findings::Counts;

pub use typestate::{AnyLoop, Loop, Mode, OnStop, Phase, Start, Verb};
use typestate::{DecisionSignal, Summarizing, Transition};

/// The name of the plan loop's program in its messages.
pub const INFO: &ProgramInfo = &ProgramInfo::of(&typestate::TABLE);

/// Behaves as the plan loop does: as the machine file says.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanLoop;

impl OnStop for PlanLoop {
    /// Asks what becomes of a plan that its rounds did not settle. A loop of `run` has no agent that could ask.
    fn summarizing_asks(&self, held: &Loop<Summarizing>) -> Result<Option<Asked>, String> {
        let fields = held.fields();
        let is_open = matches!(
            fields.decision_signal,
            DecisionSignal::MaxReached | DecisionSignal::Stalled
        );
        let header = held.header();
        let is_plan = header.mode == Some(Mode::Plan.to_string());
        if !is_open || !is_plan || header.session == RUN {
            return Ok(None);
        }
        let round = fields.round;
        let most = fields.max_rounds;
        let question = format!("The plan is not settled after round {round} of {most}. What now?");
        let options = vec![
            Answer::new("Revise manually", Transition::ReviseManually)
                .description("You work through the findings and edit the plan; the loop ends."),
            Answer::new("More rounds", Transition::More { rounds: 2 })
                .description("Two rounds more; /claudex:more N grants as many as you like."),
            Answer::new("Accept it incomplete", Transition::AcceptIncomplete).description(
                "The plan is known-incomplete, with what is open on record; the loop ends.",
            ),
        ];
        Ok(Some(Asked::new(question, "Plan", options)))
    }
}

/// Puts the program together: what follows from the machine file, and what only the plan loop has.
pub fn program() -> Program<typestate::Plan> {
    typestate::program(PlanLoop)
        .command(run::command, run::run)
        .command(new::command, new::run)
        .command(machine::command, machine::run)
        .flag("review", changes::CHANGES, changes::run)
        .extend(PlanLoop)
}

impl Extension<typestate::Plan> for PlanLoop {
    fn arguments(&self, command: clap::Command) -> clap::Command {
        start::arguments(command)
    }

    fn start(&self, request: StartRequest<'_>) -> Result<StartFields, Failure> {
        start::fields(request)
    }

    fn context(&self, held: &AnyLoop, settings: &Settings, now: Timestamp) -> Variables {
        context::of(held, settings, now)
    }

    fn earlier_findings(&self, held: &AnyLoop) -> Vec<Utf8PathBuf> {
        runner::history(held)
    }

    fn entered(&self, held: &AnyLoop, settings: &Settings) -> Result<Vec<String>, String> {
        entered(held, settings)
    }

    fn reviewed(&self, held: &AnyLoop) -> Vec<String> {
        report::after_review(held)
    }

    fn before_take(&self, held: &mut AnyLoop, verb: &Verb) -> Result<(), Failure> {
        resume::not_a_sessions(held, verb)
    }

    fn answered(&self, input: &Input, surroundings: &Surroundings) -> Option<HookOutput> {
        interview::take(input, surroundings)
    }

    fn refusal_help(&self, held: &AnyLoop, transition: &str) -> Option<String> {
        verbs::instead(held, transition)
    }

    fn start_instead(&self, held: &AnyLoop, verb: &Verb) -> Option<Vec<String>> {
        verbs::start_instead(held, verb)
    }

    fn caveats(&self, held: &AnyLoop, settings: &Settings) -> Vec<String> {
        notes(held, settings)
    }

    fn next_action(&self, held: &AnyLoop) -> Option<NextAction> {
        resume::next_action(held)
    }
}

/// Returns whether a loop reviews the changes of the work tree.
pub fn reviews_changes(held: &AnyLoop) -> bool {
    held.header().mode == Some(Mode::Review.to_string())
}

/// Returns what `status` has to say of a loop besides: how it came out, what a summary admits, and that the agent was reminded.
fn notes(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let mut notes = Vec::new();
    if matches!(held.phase(), Phase::Summarizing | Phase::Done) {
        let last = rounds::rounds(held.raw(), &settings.personas).pop();
        let mut outcome = context::outcome(held, &settings.personas, last.as_ref());
        let found = last.and_then(|line| line.counts);
        if let Some(found) = found.filter(|found| *found != Counts::default()) {
            outcome += &format!(" Round {} found {found}.", held.fields().round);
        }
        notes.push(outcome);
    }
    notes.extend(summary::caveats(held, settings));
    let waits = matches!(held.phase(), Phase::Drafting | Phase::Reviewing);
    if waits && held.fields().reminders > 0 {
        notes.push(format!(
            "the agent was reminded once and will not be again; to have it reminded:{}",
            INFO.command(&format!("resume {}", held.id()))
        ));
    }
    notes
}

/// Does what a phase asks for once a loop is in it: the runner of a round, the look before a summary, and the one after it,
/// whose caveats it returns.
///
/// # Errors
/// The runner cannot be written.
pub fn entered(held: &AnyLoop, settings: &Settings) -> Result<Vec<String>, String> {
    match held.phase() {
        phase if phase.is_terminal() => {
            if let Err(error) = runner::clear(held.raw()) {
                held.raw()
                    .store()
                    .log(&format!("{} clean-up: {error}", held.id()));
            }
            return Ok(closing::at_end(held).into_iter().collect());
        }
        phase if phase.review().is_some() => {
            let written = runner::write(held, &settings.personas);
            written.map_err(|error| error.to_string())?;
        }
        Phase::Summarizing => closing::at_summary(held),
        _ => {}
    }
    Ok(Vec::new())
}
