//! A stop of the agent, as data: the hook's input, which loop it drives, what the machine does, and the decision.
//!
//! This is the boundary where every fault becomes "approve" with one line that says why: whatever goes wrong on our
//! side, nobody's turn is held.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::drive::{Step, words};
use crate::hook::decision::Decision;
use crate::hook::input::Input;
use crate::machine::{Actor, Refusal, Refused};
use crate::plan::caller::UNKNOWN;
use crate::plan::messages::{self, Facts};
use crate::plan::personas::Personas;
use crate::plan::settings::Settings;
use crate::plan::typestate::TABLE;
use crate::plan::{AnyLoop, OnStop, Phase, locate, runner, summary};
use crate::review::environment::GUARD;
use crate::store::{Listed, LoopId, Store, StoreError};
use crate::text;

/// The plan loop's behaviours: those of the machine file, all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanLoop;

impl OnStop for PlanLoop {}

/// What the hook's surroundings say.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// CLAUDE_PROJECT_DIR.
    pub project: Option<Utf8PathBuf>,
    /// The process's own directory.
    pub here: Option<Utf8PathBuf>,
    /// Whether this runs inside a reviewer of ours.
    pub reviewer_child: bool,
}

impl Surroundings {
    /// What the environment says.
    pub fn from_env() -> Self {
        let project = std::env::var("CLAUDE_PROJECT_DIR")
            .ok()
            .filter(|path| !path.is_empty());
        Self {
            project: project.map(Utf8PathBuf::from),
            here: locate::here().ok(),
            reviewer_child: std::env::var_os(GUARD).is_some(),
        }
    }
}

/// Decides a stop.
pub fn decide(input: &Input, surroundings: &Surroundings, now: Timestamp) -> Decision {
    let approve = Decision::Approve { note: None };
    if surroundings.reviewer_child || input.is_subagent() {
        return approve;
    }
    let stores = stores_of(input, surroundings);
    if stores.is_empty() {
        return approve;
    }
    let mut healed = Vec::new();
    let decision = match choose(&stores, input.session_id.as_deref(), &mut healed) {
        Choice::Drive { store, id } => drive(&store, &id, input, now),
        Choice::Swept { id } => noted(format!(
            "claudex: loop {id} was put aside after it had been idle for too long. To take it up: /claudex:resume {id} (in a terminal: claudex-loop resume {id})"
        )),
        Choice::Broken { problem } => {
            healed.retain(|one| !problem.ends_with(one));
            noted(problem)
        }
        Choice::None => approve,
    };
    with_repairs(decision, &healed)
}

/// The state folders that a hook's call is about.
fn stores_of(input: &Input, surroundings: &Surroundings) -> Vec<Store> {
    let cwd = input.cwd.as_deref().map(Utf8Path::new);
    let starts: Vec<&Utf8Path> = [
        surroundings.project.as_deref(),
        cwd.or(surroundings.here.as_deref()),
    ]
    .into_iter()
    .flatten()
    .filter(|path| path.is_absolute())
    .collect();
    locate::stores(&starts)
}

/// The loop that is not over and belongs to this session, as a stop would choose it.
pub(super) fn owned(input: &Input, surroundings: &Surroundings, session: &str) -> Option<(Store, LoopId)> {
    stores_of(input, surroundings).into_iter().find_map(|store| {
        let is_own = |listed: &Listed| {
            let own = listed.session.as_deref() == Some(session) && session != UNKNOWN;
            own && listed.problem.is_none()
                && !listed.terminal
                && listed.ours
                && store.is_for(listed.root.as_deref())
        };
        let id = heal(&store, &mut Vec::new()).into_iter().find(is_own)?.id;
        Some((store, id))
    })
}

fn noted(note: String) -> Decision {
    Decision::Approve { note: Some(note) }
}

enum Choice {
    Drive { store: Store, id: LoopId },
    Swept { id: LoopId },
    Broken { problem: String },
    None,
}

/// The loop that is not over and belongs to this session; else one that belongs to nobody yet. `healed` gets what was put
/// right or set aside on the way, each a sentence: whoever's loop it was, this is the one time that it can be told.
fn choose(stores: &[Store], session: Option<&str>, healed: &mut Vec<String>) -> Choice {
    let mut unknown = None;
    let mut broken = None;
    for store in stores {
        for listed in heal(store, healed) {
            if listed.problem.is_some() && listed.terminal {
                // It is over, whatever wrote it: another version of ours, or an older tool. Nobody has to be told at each stop.
                continue;
            }
            if let Some(problem) = &listed.problem {
                broken.get_or_insert_with(|| {
                    format!("claudex: {} cannot be used as a loop: {problem}", listed.path)
                });
                continue;
            }
            if listed.terminal || !listed.ours || !store.is_for(listed.root.as_deref()) {
                continue;
            }
            match listed.session.as_deref().unwrap_or(UNKNOWN) {
                UNKNOWN | "" => {
                    unknown.get_or_insert_with(|| (store.clone(), listed.id.clone()));
                }
                owner if Some(owner) == session => {
                    return Choice::Drive {
                        store: store.clone(),
                        id: listed.id,
                    };
                }
                _ => {}
            }
        }
    }
    if let Some((store, id)) = unknown {
        return Choice::Drive { store, id };
    }
    let swept = stores
        .iter()
        .flat_map(Store::swept)
        .find(|listed| session.is_some() && listed.session.as_deref() == session && !listed.terminal);
    match (broken, swept) {
        (Some(problem), _) => Choice::Broken { problem },
        (None, Some(listed)) => Choice::Swept { id: listed.id },
        (None, None) => Choice::None,
    }
}

/// The loops of a store, after those that cannot be read were opened once: opening heals from the journal, or sets the
/// file aside and says why.
fn heal(store: &Store, healed: &mut Vec<String>) -> Vec<Listed> {
    let mut listed = store.list();
    let mut repaired = false;
    for broken in listed.iter_mut().filter(|listed| listed.problem.is_some()) {
        match store.open(&broken.id) {
            Ok(opened) => {
                repaired = true;
                let id = &broken.id;
                healed.extend(opened.repairs.iter().map(|repair| format!("loop {id}: {repair}")));
            }
            Err(error) => {
                let kept = match &error {
                    StoreError::Unreadable {
                        quarantined: Some(kept),
                        ..
                    } => Some(format!("; it was set aside as {kept}")),
                    _ => None,
                };
                let problem = text::one_line(&format!("{error}{}", kept.as_deref().unwrap_or_default()), 500);
                if kept.is_some() {
                    healed.push(problem.clone());
                }
                broken.problem = Some(problem);
            }
        }
    }
    if repaired {
        let problems: Vec<_> = listed
            .into_iter()
            .filter(|listed| listed.problem.is_some())
            .collect();
        listed = store.list();
        for old in problems {
            if let Some(new) = listed
                .iter_mut()
                .find(|new| new.id == old.id && new.problem.is_some())
            {
                new.problem = old.problem;
            }
        }
    }
    listed
}

/// Opens the loop, binds it where it belongs to nobody, and lets the machine decide.
fn drive(store: &Store, id: &LoopId, input: &Input, now: Timestamp) -> Decision {
    let fault = |problem: String| {
        let line = text::one_line(&problem, 500);
        store.log(&format!("{id} stop: {line}"));
        noted(format!("claudex: loop {id} was left as it is: {line}"))
    };
    let mut held = match AnyLoop::open(store, id, Actor::Hook) {
        Ok(held) => held,
        Err(error) => return fault(error.to_string()),
    };
    let repairs: Vec<String> = held.raw().repairs().iter().map(ToString::to_string).collect();
    if let Some(session) = input.session_id.as_deref()
        && [UNKNOWN, ""].contains(&held.fields().session_id().as_str())
    {
        let bound = store.set_session(held.raw().record(), session, "bind", "hook");
        held = match bound
            .map_err(|error| error.to_string())
            .and_then(|_| AnyLoop::open(store, id, Actor::Hook).map_err(|error| error.to_string()))
        {
            Ok(held) => held,
            Err(problem) => return fault(problem),
        };
    }
    if let Err(error) = store.touch(id) {
        store.log(&format!("{id} touch: {error}"));
    }
    if input.has_running_subagent() {
        // The plan may be in a helper's hands. The client wakes the agent when the helper ends, and stops again then.
        return Decision::Approve {
            note: note_of(&repairs),
        };
    }
    let running_elsewhere = input.mentions_background(&format!("{id}-runner.sh"))
        || input.mentions_background(&format!("claudex-loop review {id}"));
    if running_elsewhere && store.is_running(id) {
        // The client wakes the agent when its background command ends; a block now would only wake it for nothing.
        return Decision::Approve {
            note: note_of(&repairs),
        };
    }
    let settings = match Settings::load(store.root()) {
        Ok(settings) => settings,
        Err(error) => return fault(error.to_string()),
    };
    settings.evidence.make_usual();
    let decision = match PlanLoop.stop(held) {
        // The change is made by now: whatever goes wrong in telling it, the loop is not as it was.
        Ok(step) => match after(step, &settings.personas, now) {
            Err(problem) => {
                let line = text::one_line(&problem, 500);
                store.log(&format!("{id} stop: {line}"));
                Ok(noted(format!(
                    "claudex: loop {id} has gone on, and could not say so: {line}. Where it is now: claudex-loop status"
                )))
            }
            decided => decided,
        },
        Err(refused) => refusal(&refused),
    };
    match decision {
        Ok(decision) => with_repairs(decision, &repairs),
        Err(problem) => fault(problem),
    }
}

fn note_of(repairs: &[String]) -> Option<String> {
    (!repairs.is_empty()).then(|| format!("claudex: {}", repairs.join("; ")))
}

fn with_repairs(decision: Decision, repairs: &[String]) -> Decision {
    let Some(repaired) = note_of(repairs) else {
        return decision;
    };
    let join =
        |note: Option<String>| Some(note.map_or(repaired.clone(), |note| format!("{repaired}\n{note}")));
    match decision {
        Decision::Approve { note } => Decision::Approve { note: join(note) },
        Decision::Block { reason, note } => Decision::Block {
            reason,
            note: join(note),
        },
    }
}

fn refusal(refused: &Refused<AnyLoop>) -> Result<Decision, String> {
    match *refused.refusal {
        // Another stop or verb was faster: it has said what is to be said.
        Refusal::Stale { .. } => Ok(Decision::Approve { note: None }),
        _ => Err(refused.to_string()),
    }
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
                    let reason = messages::render(message, &Facts::of(&held, personas, now))
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
        phase if phase.is_terminal() => Decision::Approve { note: None },
        _ => {
            let facts = facts();
            noted(format!(
                "claudex: the review gave no verdict: {}. With another reviewer: claudex-loop review {id} --reviewer NAME. L{}",
                facts.cause(),
                waiting(held).trim_start_matches("claudex: l"),
            ))
        }
    }
}

/// One line for a loop that waits: for what, and the ways on.
fn waiting(held: &AnyLoop) -> String {
    let (id, fields) = (held.id(), held.fields());
    let what = match held.phase() {
        Phase::Drafting => format!("{} to be written", fields.subject()),
        Phase::Reviewing => format!(
            "the review of round {} of {} (claudex-loop review {id})",
            fields.round(),
            fields.max_rounds(),
        ),
        _ => return format!("claudex: {}", words::waiting(held.raw())),
    };
    format!(
        "claudex: loop {id} waits for {what}. To be reminded again: /claudex:resume {id} (in a terminal: claudex-loop resume {id}). \
         To give it up: /claudex:cancel {id} (in a terminal: claudex-loop cancel {id})"
    )
}
