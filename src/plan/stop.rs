//! A stop of the agent in the plan loop: what its phases do, and what is said of it.
//!
//! Which loop a stop drives, and that every fault becomes "approve", is as for any machine (`src/app/stop.rs`).

use jiff::Timestamp;

use crate::app::session_start;
use crate::app::speaker::Speaker;
use crate::app::stop::{self as any, Driver, noted};
use crate::app::told::Outlook;
use crate::drive::{Step, words};
use crate::hook::answers::Told;
use crate::hook::decision::Decision;
use crate::hook::input::Input;
use crate::machine::raw::OpenError;
use crate::machine::{Actor, Raw, Refused};
use crate::plan::locate::SPEAKER;
use crate::plan::messages::{self, Facts};
use crate::plan::settings::Settings;
use crate::plan::typestate::{PERSONAS, TABLE};
use crate::plan::{AnyLoop, OnStop, Phase, closing, outlook, runner, summary};
use crate::review::personas::Personas;
use crate::store::{LoopId, Store};
use crate::text;

pub use crate::app::stop::Surroundings;

/// The plan loop's behaviours: those of the machine file, all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanLoop;

impl OnStop for PlanLoop {}

/// The plan loop in a stop, with the personas of its project.
#[derive(Debug)]
struct InPlan {
    personas: Personas,
    /// The client's session whose hook this is.
    session: Option<String>,
}

impl InPlan {
    fn of(input: &Input) -> Self {
        Self {
            personas: Personas::declared(PERSONAS),
            session: input.session_id.clone(),
        }
    }
}

impl Driver for InPlan {
    type Any = AnyLoop;

    fn speaker(&self) -> &Speaker {
        &SPEAKER
    }

    fn open(&self, store: &Store, id: &LoopId) -> Result<AnyLoop, OpenError> {
        AnyLoop::open(store, id, Actor::Hook)
    }

    fn leaves_alone(&self, input: &Input, held: &Raw) -> bool {
        let id = held.id();
        // The plan may be in a helper's hands. The client wakes the agent when the helper ends, and stops again then.
        input.has_running_subagent()
            // The client wakes the agent when its background command ends; a block now would only wake it for nothing.
            || (input.mentions_background(&format!("{id}-runner.sh"))
                || input.mentions_background(&format!("claudex-loop review {id}")))
                && held.store().is_running(id)
    }

    fn prepare(&mut self, store: &Store) -> Result<(), String> {
        let settings = Settings::load(store.root()).map_err(|error| error.to_string())?;
        if let Some(session) = &self.session {
            let kept = settings.keep_seen(session, store.root());
            kept.map_err(|error| format!("cannot keep which reviewer this session sees: {error}"))?;
        }
        settings.evidence_in_file.make_usual();
        self.personas = settings.personas;
        Ok(())
    }

    fn step(&self, held: AnyLoop) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        PlanLoop.stop(held)
    }

    fn tell(&self, step: Step<AnyLoop>, now: Timestamp) -> Result<Decision, String> {
        after(step, &self.personas, now)
    }

    fn outlook(&self, held: &AnyLoop) -> Outlook {
        let running = held.raw().store().is_running(held.id());
        outlook::of(held, &summary::runs(held), running)
    }

    fn again(&mut self, store: &Store, held: &AnyLoop, now: Timestamp) -> Option<String> {
        // Settings that cannot be used cost the personas' names, not the text: the next stop says what is wrong.
        let _ = self.prepare(store);
        outlook::again(held, &self.personas, now)
    }
}

/// Decides a stop.
pub fn decide(input: &Input, surroundings: &Surroundings, now: Timestamp) -> Decision {
    any::decide(&mut InPlan::of(input), input, surroundings, now)
}

/// What is said at the start of a session.
pub fn at_session_start(input: &Input, surroundings: &Surroundings, now: Timestamp) -> Told {
    session_start::tell(&mut InPlan::of(input), input, surroundings, now)
}

/// What a step says, and what it leaves on disk besides the state.
pub fn after(step: Step<AnyLoop>, personas: &Personas, now: Timestamp) -> Result<Decision, String> {
    match step {
        Step::Over(_) => Ok(Decision::Approve { note: None }),
        Step::Waits(held) => Ok(noted(waiting(&held))),
        Step::Moved { now: held, edge } => {
            let raw = held.raw();
            let took = summary::elapsed(summary::seconds(&held, now));
            raw.store().log(&format!(
                "{} {}: {} -> {}, round {} of {}, {took}",
                held.id(),
                edge.transition,
                TABLE.phases[edge.from].name,
                TABLE.phases[edge.to].name,
                held.fields().round(),
                held.fields().max_rounds(),
            ));
            if held.phase().review().is_some() {
                runner::write(&held, personas)
                    .map_err(|error| format!("could not write the runner: {error}"))?;
            }
            if held.phase() == Phase::Summarizing {
                closing::at_summary(&held);
            }
            if edge.lets_turn_end(&TABLE) {
                return Ok(ended(&held, personas, now));
            }
            match edge.words(&TABLE) {
                // A phase that asks has a text of the engine's own.
                None => match words::of(raw, edge).map_err(|error| error.to_string())? {
                    None => Ok(Decision::Approve { note: None }),
                    Some(reason) => Ok(Decision::Block { reason, note: None }),
                },
                Some(message) => {
                    let message = messages::for_mode(message, &held);
                    let reason = message
                        .render(&Facts::of(&held, personas, now))
                        .map_err(|error| error.to_string())?;
                    Ok(Decision::Block { reason, note: None })
                }
            }
        }
    }
}

/// The turn ends: the loop is over, or waits after a failure.
fn ended(held: &AnyLoop, personas: &Personas, now: Timestamp) -> Decision {
    let (raw, id) = (held.raw(), held.id());
    if held.phase().is_terminal()
        && let Err(error) = runner::clear(raw)
    {
        raw.store().log(&format!("{id} clean-up: {error}"));
    }
    let facts = || Facts::of(held, personas, now);
    match held.phase() {
        Phase::Errored => noted(format!(
            "claudex: loop {id} ended as errored after {} failures: {}. Its files stay; `claudex-loop journal {id}` tells what happened.",
            held.fields().failures(),
            facts().cause(),
        )),
        phase if phase.is_terminal() => match closing::at_end(held).as_slice() {
            [] => Decision::Approve { note: None },
            caveats => noted(text::one_line(
                &format!(
                    "claudex: loop {id} is over, and its summary does not say this: {} ‘claudex-loop journal {id}’ has it.",
                    caveats.join(" ")
                ),
                1500,
            )),
        },
        _ => {
            let facts = facts();
            noted(format!(
                "claudex: the review gave no verdict: {}. With another reviewer:\n    claudex-loop review {id} --reviewer NAME\nL{}",
                facts.cause(),
                waiting(held).trim_start_matches("claudex: l"),
            ))
        }
    }
}

/// A note for a loop that waits: for what, and the ways on.
fn waiting(held: &AnyLoop) -> String {
    let (id, fields) = (held.id(), held.fields());
    let what = match held.phase() {
        Phase::Drafting => format!("{} to be written.", text::shown(fields.subject())),
        Phase::Reviewing => format!(
            "the review of round {} of {}:\n    claudex-loop review {id}",
            fields.round(),
            fields.max_rounds(),
        ),
        _ => return format!("claudex: {}", words::waiting(held.raw())),
    };
    format!(
        "claudex: loop {id} waits for {what}\nTo be reminded again:{}\nTo give it up:{}",
        SPEAKER.command(&format!("resume {id}")),
        SPEAKER.command(&format!("cancel {id}")),
    )
}
