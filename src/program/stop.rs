//! A stop of the agent, as data: the hook's input, which loop it drives, what the machine does, and the decision.
//!
//! This is the boundary where every fault becomes "approve" with one line that says why: whatever goes wrong on our
//! side, nobody's turn is held. From top to bottom: `decide` finds the loop, `drive` opens it and lets the machine step,
//! `said` says what came of it.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::assembled::{App, Program};
use super::caller::UNKNOWN;
use super::info::ProgramInfo;
use super::loops::with_help;
use super::settings::Settings;
use super::state_folders::MAX_FOLDERS;
use super::{chosen, incompatible, locate, messages, next_action, rounds, turn, vanished};
use crate::behaviours::{Step, words};
use crate::hooks::{Action, Decision, Input};
use crate::machine::LoopHandle;
use crate::machine::{Actor, Refusal, Refused};
use crate::process::environment::GUARD;
use crate::review::runs;
use crate::store::{Budget, HOOK_TIMEOUT, Listed, LoopId, Store};
use crate::text;

/// Prefix of the folder's log line about a stop that changed nothing. `status` shows that line.
pub(super) const LET_END: &str = "let the turn end: ";

/// What the hook's surroundings say.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// CLAUDE_PROJECT_DIR.
    pub project: Option<Utf8PathBuf>,
    /// The process's own directory.
    pub here: Option<Utf8PathBuf>,
    /// Whether this runs inside a reviewer of ours.
    pub reviewer_child: bool,
    /// What the call has left of its time.
    pub budget: Budget,
}

impl Surroundings {
    /// Reads what the environment says. The call's time begins here.
    pub fn from_env() -> Self {
        let budget = Budget::of_hook();
        let project = std::env::var("CLAUDE_PROJECT_DIR")
            .ok()
            .filter(|path| !path.is_empty());
        Self {
            project: project.map(Utf8PathBuf::from),
            here: locate::here().ok(),
            reviewer_child: std::env::var_os(GUARD).is_some(),
            budget,
        }
    }
}

/// Decides a stop.
pub(super) fn decide<M: App>(
    program: &Program<M>,
    input: &Input,
    surroundings: &Surroundings,
    now: Timestamp,
) -> Decision {
    let approve = Decision::approve(None);
    if surroundings.reviewer_child || input.is_subagent() {
        return approve;
    }
    let info = program.info;
    let stores = stores_of(info, input, surroundings);
    let vanished = vanished::name_once(info, &folders_of(input, surroundings), "stop");
    if stores.is_empty() {
        return with_repairs(info, approve, &vanished);
    }
    let decision = match choose(info, &stores, input.session_id.as_deref()) {
        _ if surroundings.budget.is_over() => noted(info.line(&out_of_time(info, &stores[0]))),
        Choice::Drive { store, id } => {
            let decision = drive(program, &store, &id, input, now);
            turn::end(info, input, &decision);
            decision
        }
        Choice::Swept { id } => noted(info.line(&format!(
            "loop {id} was archived after it had been idle for too long. To go on with it:{}",
            info.command(&format!("resume {id}"))
        ))),
        Choice::Broken { problem } => noted(info.line(&problem)),
        Choice::None => approve,
    };
    with_repairs(info, decision, &vanished)
}

/// Says that the time was over before a loop was found and could be driven. What went wrong until then is not said: it may
/// follow from that, as where git had no time to answer.
fn out_of_time(info: &ProgramInfo, store: &Store) -> String {
    format!(
        "a turn waits {} s for loops at most, and there was more to look at or to wait for in {}, so nothing was done; move what is no \
         loop of yours out of it, end what holds its .lock, or see why git is slow here (‘{} status’ takes its time)",
        HOOK_TIMEOUT.as_secs(),
        text::shown(store.folder()),
        info.program
    )
}

/// The state folders that a hook's call is about.
pub(super) fn stores_of(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
) -> Vec<Store> {
    let stores = locate::stores(info.state, &folders_of(input, surroundings)).into_iter();
    stores
        .map(|store| store.within(&surroundings.budget))
        .collect()
}

/// Returns the folders that a hook's call comes from, the project first.
pub(super) fn folders_of<'a>(
    input: &'a Input,
    surroundings: &'a Surroundings,
) -> Vec<&'a Utf8Path> {
    let cwd = input.cwd.as_deref().map(Utf8Path::new);
    let folders = [
        surroundings.project.as_deref(),
        cwd.or(surroundings.here.as_deref()),
    ];
    folders
        .into_iter()
        .flatten()
        .filter(|path| path.is_absolute())
        .collect()
}

/// The loop that is not over and belongs to this session, as a stop would choose it.
pub fn owned(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
    session: &str,
) -> Option<(Store, LoopId)> {
    all_owned(info, input, surroundings, session)
        .into_iter()
        .next()
}

/// All loops that are not over and belong to this session, the one that a stop would choose first.
pub(super) fn all_owned(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
    session: &str,
) -> Vec<(Store, LoopId)> {
    let mut owned = Vec::new();
    for store in stores_of(info, input, surroundings) {
        let is_own = |listed: &Listed| {
            let own = listed.session.as_deref() == Some(session) && session != UNKNOWN;
            own && listed.problem.is_none()
                && !listed.terminal
                && listed.ours
                && store.is_for(listed.root.as_deref())
        };
        let listed = store.list_active().into_iter().filter(is_own);
        owned.extend(listed.map(|listed| (store.clone(), listed)));
        if !owned.is_empty() && !chosen::has_many(info) {
            break;
        }
    }
    chosen::order(info, session, &mut owned);
    owned
        .into_iter()
        .map(|(store, listed)| (store, listed.id))
        .collect()
}

/// The turn may end, and the person reads why.
pub fn noted(note: String) -> Decision {
    Decision::approve(Some(note))
}

enum Choice {
    Drive { store: Store, id: LoopId },
    Swept { id: LoopId },
    Broken { problem: String },
    None,
}

/// The loop that is not over and belongs to this session, of several the one that [`chosen::order`] puts first; else one that belongs
/// to nobody yet.
fn choose(info: &ProgramInfo, stores: &[Store], session: Option<&str>) -> Choice {
    let mut drivable: Vec<(Store, Listed)> = Vec::new();
    let mut broken = None;
    let mut left_alone = None;
    'stores: for store in stores {
        if let Some(error) = store.refusal() {
            broken.get_or_insert_with(|| text::note(&with_help(&error), 700));
            continue;
        }
        for listed in store.list_active() {
            if listed.left_alone && !listed.terminal && store.is_for(listed.root.as_deref()) {
                left_alone.get_or_insert_with(|| {
                    let what = text::one_line(listed.problem.as_deref().unwrap_or_default(), 700);
                    let id = listed.id.as_str();
                    let taken_up = store
                        .has_journal(&listed.id)
                        .then(|| incompatible::take_over(info, id));
                    format!(
                        "{what}; {}",
                        taken_up.unwrap_or_else(|| incompatible::NO_LOOP.to_owned())
                    )
                });
                continue;
            }
            if listed.left_alone || listed.problem.is_some() && listed.terminal {
                // It is over, whatever wrote it: another version of ours, or an older tool. Nobody has to be told at each stop.
                continue;
            }
            if let Some(problem) = &listed.problem {
                let path = text::shown(&listed.path);
                broken.get_or_insert_with(|| match problem.starts_with(&path) {
                    true => problem.clone(),
                    false => format!("{path} cannot be used as a loop: {problem}"),
                });
                continue;
            }
            if listed.terminal || !listed.ours || !store.is_for(listed.root.as_deref()) {
                continue;
            }
            let nobodys = chosen::is_nobodys(&listed);
            if nobodys || listed.session.as_deref() == session {
                drivable.push((store.clone(), listed));
                if !nobodys && !chosen::has_many(info) {
                    break 'stores;
                }
            }
        }
    }
    chosen::order(info, session.unwrap_or_default(), &mut drivable);
    if let Some((store, listed)) = drivable.into_iter().next() {
        return Choice::Drive {
            store,
            id: listed.id,
        };
    }
    let archived = stores.iter().flat_map(Store::archived).find(|listed| {
        session.is_some() && listed.session.as_deref() == session && !listed.terminal
    });
    let not_seen = || {
        (stores.len() == MAX_FOLDERS).then(|| {
            format!(
                "{MAX_FOLDERS} state folders or more lie above this one; only the nearest were looked at"
            )
        })
    };
    let broken = broken.or(left_alone).or_else(not_seen);
    match (broken, archived) {
        (Some(problem), _) => Choice::Broken { problem },
        (None, Some(listed)) => Choice::Swept { id: listed.id },
        (None, None) => Choice::None,
    }
}

/// Opens the loop, binds it where it belongs to nobody, and lets the machine decide.
fn drive<M: App>(
    program: &Program<M>,
    store: &Store,
    id: &LoopId,
    input: &Input,
    now: Timestamp,
) -> Decision {
    let info = program.info;
    let fault = |problem: String| {
        let mut line = text::note(&problem, 900);
        if store.budget().is_over() {
            line += &format!(
                "; the {} s that a turn waits for loops are over, and the next one tries again",
                HOOK_TIMEOUT.as_secs()
            );
        }
        store.log(&format!("{id} {LET_END}{line}"));
        noted(info.line(&format!("loop {id} was left as it is: {line}")))
    };
    let open = || M::open(store, id, Actor::Hook);
    let mut held = match open() {
        Ok(held) => held,
        Err(error) => return fault(incompatible::line(info, &store.path_of(id), &error)),
    };
    let mut repairs: Vec<String> = held
        .raw()
        .repairs()
        .iter()
        .map(ToString::to_string)
        .collect();
    let owner = held.raw().text(info.state.fields.session);
    // A session of that name owns nothing: each stop would bind the loop to nobody again, one more change every time.
    if let Some(session) = input
        .session_id
        .as_deref()
        .filter(|session| *session != UNKNOWN)
        && [UNKNOWN, ""].contains(&owner.as_str())
    {
        let bound = store.set_session(held.raw().record(), session, "bind", "hook");
        held = match bound
            .map_err(|error| error.to_string())
            .and_then(|_| open().map_err(|error| error.to_string()))
        {
            Ok(held) => held,
            Err(problem) => return fault(problem),
        };
    }
    if let Err(error) = store.touch(id) {
        store.log(&format!("{id} touch: {error}"));
    }
    let turn = turn::look(info, input, held.raw());
    if let Some(why) = turn.ends {
        store.log(&format!("{id} {LET_END}{why}"));
        let note = turn.note.map(|note| info.line(&note));
        return with_repairs(info, Decision::approve(note), &repairs);
    }
    repairs.extend(turn.note);
    let settings = match settings(info, store, input) {
        Ok(settings) => settings,
        Err(problem) => return fault(problem),
    };
    program.prepare(&held, &settings, Actor::Hook);
    let asks = match program.question(&held) {
        Ok(asked) => asked.is_some(),
        Err(problem) => return fault(format!("it cannot ask: {problem}")),
    };
    let decision = match store.budget().stand_still(|| (program.on_stop)(held)) {
        // The change is made by now: whatever goes wrong in saying it, the loop is not as it was.
        Ok(step) => match said(program, step, asks, &settings, now) {
            Err(problem) => {
                let line = text::one_line(&problem, 500);
                store.log(&format!("{id} words: {line}"));
                Ok(noted(info.line(&format!(
                    "loop {id} has gone on, and could not say so: {line}. Where it is now: {} status",
                    info.program
                ))))
            }
            decided => decided,
        },
        Err(refused) => refusal(&refused),
    };
    match decision {
        Ok(decision) => with_repairs(info, decision, &repairs),
        Err(problem) => fault(problem),
    }
}

/// Loads the settings, and keeps for commands inside the session what its hook sees.
fn settings(info: &'static ProgramInfo, store: &Store, input: &Input) -> Result<Settings, String> {
    let settings = Settings::load(info, store.root()).map_err(|error| error.to_string())?;
    if let Some(session) = &input.session_id {
        let kept = settings.keep_seen(session);
        kept.map_err(|error| format!("cannot keep which reviewer this session sees: {error}"))?;
    }
    Ok(settings)
}

/// Says what a step came to, after the program has done what entering the phase asks of it. `asks`: a person was asked before it.
fn said<M: App>(
    program: &Program<M>,
    step: Step<M::Any>,
    asks: bool,
    settings: &Settings,
    now: Timestamp,
) -> Result<Decision, String> {
    let info = program.info;
    let (held, edge) = match &step {
        Step::Over(_) => return Ok(Decision::approve(None)),
        Step::Waits(held) => {
            let asked = program.question(held)?;
            let own = (program.next_action)(held);
            let raw = held.raw();
            let waits = next_action::waiting(info, raw, asked.as_ref(), own.as_ref());
            let first = waits.lines().next().unwrap_or_default();
            let (id, why) = (raw.id(), first.trim_end_matches([':', '.']));
            let why = why.replacen(&format!("loop {id}"), "it", 1);
            raw.store().log(&format!("{id} {LET_END}{why}"));
            return Ok(noted(info.line(&waits)));
        }
        Step::Moved { now, edge } => (now, *edge),
    };
    program.prepare(held, settings, Actor::Hook);
    let (raw, table) = (held.raw(), M::TABLE);
    let round = rounds::spec(raw).map(|spec| format!(", {}", rounds::of_most(raw, spec)));
    let elapsed = table.phases[edge.to]
        .terminal
        .then(|| format!(", elapsed {}", rounds::elapsed(rounds::seconds(raw, now))));
    raw.store().log(&format!(
        "{} {}: {} -> {}{}{}",
        raw.id(),
        edge.transition,
        table.phases[edge.from].name,
        table.phases[edge.to].name,
        round.unwrap_or_default(),
        elapsed.unwrap_or_default(),
    ));
    let caveats = (program.entered)(held, settings)?;
    if edge.lets_turn_end(table) || runs::is_parked(raw) {
        messages::clear(raw);
        // Where a phase waits for the end of the turn alone, the block before it has said the rest.
        let said = table.phases[edge.from]
            .on_stop
            .as_ref()
            .is_some_and(|on_stop| !asks && ["approve", "ask"].contains(&on_stop.name));
        if said && caveats.is_empty() {
            return Ok(Decision::approve(None));
        }
        // Of a review that comes next every program says how it is run.
        let reviews = || {
            table.phases[edge.to]
                .review
                .map(|_| next_action::of(program, held))
        };
        let next = (program.next_action)(held).or_else(reviews);
        return Ok(noted(messages::ended(info, raw, &caveats, next)));
    }
    let own = program.words(held, settings, now)?;
    Ok(match words::render(raw, edge.words(table), own) {
        Ok(None) => Decision::approve(None),
        Ok(Some(reason)) if edge.reminds(table) => {
            let waits_for = text::one_line(&next_action::of(program, held).waits_for, 150);
            let note = format!(
                "reminded the agent: loop {} waits for {waits_for}",
                raw.id()
            );
            Decision {
                action: Action::Remind(reason),
                note: Some(info.line(&note)),
            }
        }
        Ok(Some(reason)) => Decision {
            action: Action::Block(reason),
            note: None,
        },
        // The loop has moved on: the agent has to know what it waits for, whatever became of its words.
        Err(error) => {
            let next = next_action::of(program, held).next;
            Decision {
                action: Action::Block(messages::fallback(info, raw, &next)),
                note: Some(info.line(&error.to_string())),
            }
        }
    })
}

fn note_of(info: &ProgramInfo, repairs: &[String]) -> Option<String> {
    (!repairs.is_empty()).then(|| info.line(&repairs.join("; ")))
}

fn with_repairs(info: &ProgramInfo, mut decision: Decision, repairs: &[String]) -> Decision {
    let Some(repaired) = note_of(info, repairs) else {
        return decision;
    };
    decision.note = Some(match decision.note.take() {
        Some(note) => format!("{repaired}\n{note}"),
        None => repaired,
    });
    decision
}

fn refusal<L>(refused: &Refused<L>) -> Result<Decision, String> {
    match *refused.refusal {
        // Another stop or verb was faster: it has said what is to be said.
        Refusal::Stale { .. } => Ok(Decision::approve(None)),
        _ => Err(refused.to_string()),
    }
}
