//! The facts about one loop, for `status` and `report`. Their names are documented in docs/status.md.

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::history::{self, Past};
use crate::behaviours::loop_message;
use crate::machine::table::{FieldInfo, FieldKind};
use crate::machine::{Actor, LoopHandle, PhaseDeclaration as _, Raw};
use crate::message::short;
use crate::program::Program;
use crate::program::caller::Caller;
use crate::program::reviewers::{self, Preferred};
use crate::program::settings::Settings;
use crate::program::stop::LET_END;
use crate::program::{change_text, durations, loops, messages, next_action, rounds, session_loops};
use crate::review::runs::RunOutcome;
use crate::store::{ChangeEntry, Entry, Listed, Store};
use crate::text;

/// The longest text of a field, in characters.
const MAX_TEXT_CHARS: usize = 1000;
/// The longest reason of a stop, in characters.
const MAX_REASON_CHARS: usize = 200;

/// Returns the facts about a change.
fn change_facts(raw: &Raw, past: &Past, change: &ChangeEntry, now: Timestamp) -> Json {
    json!({
        "text": change_line(raw, past, change, now),
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

/// `2026-11-22T00:02:03Z, 2m 3s ago: revise by the hook in reviewing, round 2 of 3, for run r1-…: high=1 medium=1 low=1`
fn change_line(raw: &Raw, past: &Past, change: &ChangeEntry, now: Timestamp) -> String {
    let line = history::change_line(raw.table(), past, change);
    format!("{}: {line}", dated(change.at, now))
}

fn dated(at: Timestamp, now: Timestamp) -> String {
    format!("{}, {}", durations::time(at), durations::ago(at, now))
}

/// Returns the action of the last stop with its reason, or `None` if it made the last change or there was none.
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
        let why = text::one_line(why, MAX_REASON_CHARS);
        return Some(format!("{}: let the turn end: {why}", dated(at, now)));
    }

    let stop = stop?;
    let last = past.last_decision()?;
    (last.revision != stop.revision).then(|| change_line(raw, past, stop, now))
}

/// Returns the facts about a loop.
pub(super) fn facts(
    program: &Program,
    held: &dyn LoopHandle,
    settings: &Settings,
    active: &[(Store, Listed)],
    now: Timestamp,
) -> Json {
    let info = program.info;
    let raw = held.raw();
    let table = raw.table();
    let names = &table.state.fields;
    let phase = messages::phase(raw);
    let past = Past::new(raw.store(), raw.id(), raw.journal().unwrap_or_default());
    let last_change = past.last_decision();
    let line = |field: &str| text::one_line(&raw.text(field), MAX_TEXT_CHARS);

    let is_own = |field: &&FieldInfo| field.kind != FieldKind::Held && field.exists_in(raw.phase());
    let fields = table.fields.iter().filter(is_own);
    let fields = fields.map(|field| {
        let value = short(raw.value(field.name), MAX_TEXT_CHARS);
        (field.name.to_owned(), value)
    });
    let shows = program.extension.status(held).into_iter();
    let shows = shows.map(|(name, text)| (name.to_owned(), short(text.into(), MAX_TEXT_CHARS)));

    let mut notes = program.extension.caveats(held, settings);
    notes.extend(rounds::caveats(raw, &past.entries));
    let outcome = past.runs.last().and_then(|run| run.ended.as_ref());
    if let Some(cause) = outcome.and_then(RunOutcome::cause) {
        notes.push(format!("the last review gave no verdict: {cause}"));
    }
    let mut next_action = next_action::describe(program, held);
    if !phase.terminal && is_of_another_session(raw) {
        let adopt = info.command(&format!("adopt {}", raw.id()));
        next_action.next =
            format!("another session has this loop; to take it over into this one:{adopt}");
    }
    let session = raw.text(names.session);
    let driven = session_loops::of_session(info, active.to_vec(), &session);
    json!({
        "id": raw.id().as_str(),
        "machine": table.name,
        "mode": names.mode.map(line),
        "phase": phase.name,
        "doc": phase.doc,
        "terminal": phase.terminal,
        "session": line(names.session),
        "driven": driven.first().filter(|_| !phase.terminal).map(|(_, id)| id.as_str()),
        "started": names.started.map(line),
        "elapsed_seconds": rounds::seconds(raw, now),
        "last_change": last_change.map(|change| change_facts(raw, &past, change, now)),
        "last_stop": last_stop(raw, &past, now),
        "fields": fields.collect::<Map<String, Json>>(),
        "shows": shows.collect::<Map<String, Json>>(),
        "review": review(raw, &past, settings),
        "notes": notes,
        "waits_for": next_action.waits_for,
        "next": next_action.next,
        "ways_on": loop_message::ways(raw),
        "state": raw.store().path_of(raw.id()).as_str(),
    })
}

/// Returns whether a session has the loop, and this call comes from another one.
fn is_of_another_session(raw: &Raw) -> bool {
    let is_other = |owner| {
        Caller::from_env()
            .session
            .is_some_and(|session| session != owner)
    };
    !messages::is_for_any_session(raw.table(), raw.phase())
        && loops::owner(raw).is_some_and(is_other)
}

/// Returns the facts about the reviews, or `None` if no phase of the machine reviews.
fn review(raw: &Raw, past: &Past, settings: &Settings) -> Option<Json> {
    let spec = rounds::spec(raw)?;
    let round = raw.count(spec.round);
    let personas = settings.personas.of_phase(spec);
    let has_begun = messages::phase(raw).review().is_some() || !past.runs.is_empty();
    let rounds = if has_begun {
        rounds::rounds(raw, &personas)
    } else {
        Vec::new()
    };
    let last = past.runs.last();
    let last = last.map(|run| text::one_line(&run.began.reviewer, 80));
    let chosen = || {
        let preferred = Preferred::in_round(raw, spec);
        let root = raw.store().root();
        let chosen = reviewers::choose(None, preferred.as_ref(), settings, root).ok()?;
        Some(chosen.shown)
    };
    Some(json!({
        "round": round,
        "persona": personas.of_round(round).label,
        "reviewer": if messages::phase(raw).terminal { last } else { last.or_else(chosen) },
        "running": raw.store().is_running(raw.id()),
        "rounds": rounds,
    }))
}
