//! The facts about one loop, for `status` and `report`. Their names are documented in docs/status.md.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::past::Past;
use crate::machine::table::FieldKind;
use crate::machine::{Actor, LoopHandle, Raw};
use crate::message::short;
use crate::program::Program;
use crate::program::caller::{Caller, UNKNOWN};
use crate::program::messages::{self, Way};
use crate::program::next_action::{self, NextAction};
use crate::program::reviewers::{self, Preferred};
use crate::program::rounds::{self, RoundLine};
use crate::program::settings::Settings;
use crate::program::stop::LET_END;
use crate::program::{change_text, durations, session_loops};
use crate::review::runs::RunOutcome;
use crate::store::{ChangeEntry, Entry, Listed, LoopId, Store};
use crate::text;

/// The longest text of a field, in characters.
const MAX_TEXT_CHARS: usize = 1000;
/// The longest reason of a stop, in characters.
const MAX_REASON_CHARS: usize = 200;

/// The facts about a loop. Their names are those of the JSON.
#[derive(Serialize)]
pub(super) struct Shown {
    id: String,
    machine: &'static str,
    mode: Option<String>,
    phase: &'static str,
    doc: &'static str,
    terminal: bool,
    session: String,
    /// The loop that the stops of that session drive, if the machine has many.
    driven: Option<String>,
    started: Option<String>,
    elapsed_seconds: u64,
    last_change: Option<Json>,
    /// The last change on one line, with its age.
    #[serde(skip)]
    pub(super) last_line: Option<String>,
    /// The last stop and its reason, if it did not make the last change.
    last_stop: Option<String>,
    pub(super) fields: Map<String, Json>,
    /// Further texts of the program, by name.
    pub(super) shows: Map<String, Json>,
    /// The reviews, if a phase of the machine reviews.
    pub(super) review: Option<Review>,
    notes: Vec<String>,
    waits_for: String,
    next: String,
    ways_on: Vec<Way>,
    state: String,
}

/// The reviews of a loop.
#[derive(Serialize)]
pub(super) struct Review {
    round: u64,
    /// The field that counts the rounds; `None` if the findings files are numbered on their own.
    #[serde(skip)]
    pub(super) field: Option<&'static str>,
    persona: String,
    reviewer: Option<String>,
    running: bool,
    pub(super) rounds: Vec<RoundLine>,
}

/// Returns the facts about a change.
fn change_facts(raw: &Raw, past: &Past, change: &ChangeEntry) -> Json {
    json!({
        "what": text::one_line(&change.what, 80),
        "by": text::one_line(&change.by, 80),
        "at": change.at,
        "from": change.from,
        "to": change.to,
        "run": change.run,
        "revision": change.revision,
        "why": past.why(raw.table(), change),
    })
}

/// `revise by the hook at …, 2m 3s ago, for run r1-…: high=1 medium=1 low=1`
fn change_line(raw: &Raw, past: &Past, change: &ChangeEntry, now: Timestamp) -> String {
    let way = match (&change.from, &change.to) {
        (Some(from), Some(to)) if from != to => format!(" ({from} -> {to})"),
        _ => String::new(),
    };
    format!(
        "{}{way} by {} at {}, {}{}",
        text::one_line(&change.what, 80),
        change_text::maker(raw.table(), change),
        durations::time(change.at),
        durations::ago(change.at, now),
        change_text::reason(&past.why(raw.table(), change)),
    )
}

/// Returns what the last stop did and why, or `None` if it made the last change or there was none.
/// The folder's log has the stops that changed nothing.
fn last_stop(raw: &Raw, past: &Past, now: Timestamp) -> Option<String> {
    let by_hook = |change: &&ChangeEntry| {
        change.by == Actor::Hook.to_string()
            && change.what != "bind"
            && !change_text::is_driven(raw.table(), change)
    };
    let stop = past.entries.iter().filter_map(Entry::change).rfind(by_hook);
    let is_change =
        |text: &str| stop.is_some_and(|stop| text.starts_with(&format!("{}: ", stop.what)));

    let log = raw.store().last_logged();
    let id = format!(" {} ", raw.id());
    let mut lines = log.lines().rev().filter_map(|line| line.split_once(&id));
    let newest = lines.find(|(_, text)| text.starts_with(LET_END) || is_change(text));
    if let Some((at, text)) = newest
        && let Some(why) = text.strip_prefix(LET_END)
        && let Ok(at) = at.parse()
    {
        return Some(format!(
            "let the turn end at {}, {}: {}",
            durations::time(at),
            durations::ago(at, now),
            text::one_line(why, MAX_REASON_CHARS)
        ));
    }

    let stop = stop?;
    let last = past.last_decision()?;
    (last.revision != stop.revision).then(|| change_line(raw, past, stop, now))
}

/// Collects the facts about a loop.
pub(super) fn shown(
    program: &Program,
    held: &dyn LoopHandle,
    settings: &Settings,
    active: &[(Store, Listed)],
    now: Timestamp,
) -> Shown {
    let info = program.info;
    let raw = held.raw();
    let table = raw.table();
    let held_fields = &table.state.fields;
    let phase = messages::phase(raw);
    let shown = |field: &str| text::one_line(&raw.text(field), MAX_TEXT_CHARS);
    let past = Past::of(raw.store(), raw.id(), raw.journal().unwrap_or_default());
    let last_change = past.last_decision();
    let fields = table.fields.iter();
    let own = fields.filter(|field| field.kind != FieldKind::Held && field.exists_in(raw.phase()));
    let value = |name: &str| short(raw.value(name), MAX_TEXT_CHARS);
    let own = own.map(|field| (field.name.to_owned(), value(field.name)));
    let shows = program.app.status(held).into_iter();
    let shows = shows.map(|(name, text)| (name.to_owned(), short(text.into(), MAX_TEXT_CHARS)));
    let mut notes = program.app.caveats(held, settings);
    notes.extend(rounds::caveats(raw, &past.entries));
    let last_run = past.runs.last();
    let outcome = last_run.and_then(|run| run.ended.as_ref());
    if let Some(cause) = outcome.and_then(RunOutcome::cause) {
        notes.push(format!("the last review gave no verdict: {cause}"));
    }
    let NextAction {
        waits_for,
        mut next,
    } = next_action::of(program, held);
    let id = raw.id();
    if !phase.terminal && is_of_another_session(raw) {
        next = format!(
            "another session has this loop; to take it over into this one:{}",
            info.command(&format!("adopt {id}"))
        );
    }
    Shown {
        id: raw.id().to_string(),
        machine: table.name,
        mode: held_fields.mode.map(shown),
        phase: phase.name,
        doc: phase.doc,
        terminal: phase.terminal,
        session: shown(held_fields.session),
        driven: session_loops::driven(info, &raw.text(held_fields.session), active)
            .filter(|_| !phase.terminal)
            .map(LoopId::to_string),
        started: held_fields.started.map(shown),
        elapsed_seconds: rounds::seconds(raw, now),
        last_change: last_change.map(|change| change_facts(raw, &past, change)),
        last_line: last_change.map(|change| change_line(raw, &past, change, now)),
        last_stop: last_stop(raw, &past, now),
        fields: own.collect(),
        shows: shows.collect(),
        review: review(raw, &past, settings),
        notes,
        waits_for,
        next,
        ways_on: messages::ways(raw),
        state: raw.store().path_of(raw.id()).to_string(),
    }
}

/// Returns whether a session has the loop, and this call comes from another one.
fn is_of_another_session(raw: &Raw) -> bool {
    let owner = raw.text(raw.table().state.fields.session);
    let is_owned = ![UNKNOWN, ""].contains(&owner.as_str());
    let caller = Caller::from_env().session;
    is_owned
        && !messages::is_for_any_session(raw.table(), raw.phase())
        && caller.is_some_and(|session| session != owner)
}

fn review(raw: &Raw, past: &Past, settings: &Settings) -> Option<Review> {
    let spec = rounds::spec(raw)?;
    let personas = settings.personas.of_phase(spec);
    let round = raw.count(spec.round);
    let chosen = || {
        let preferred = Preferred::of(raw, spec);
        let root = raw.store().root();
        let chosen = reviewers::choose(None, preferred.as_ref(), settings, root).ok()?;
        Some(chosen.shown)
    };
    let last = past
        .runs
        .last()
        .map(|run| text::one_line(&run.began.reviewer, 80));
    // A loop that has not come to its reviews yet has no rounds to show.
    let begun = messages::phase(raw).review.is_some() || last.is_some();
    Some(Review {
        round,
        field: (!spec.is_numbered()).then_some(spec.round),
        persona: personas.of_round(round).label.clone(),
        reviewer: match messages::phase(raw).terminal {
            true => last,
            false => last.or_else(chosen),
        },
        running: raw.store().is_running(raw.id()),
        rounds: match begun {
            true => rounds::rounds(raw, &personas),
            false => Vec::new(),
        },
    })
}
