//! The facts about one loop, for `status` and `report`. docs/status.md documents their names.

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::history::LoopHistory;
use crate::behaviours::loop_message;
use crate::machine::table::FieldInfo;
use crate::machine::{LoopHandle, PhaseDeclaration as _, Raw};
use crate::message::short;
use crate::program::Program;
use crate::program::locate::StateFolders;
use crate::program::reviewers;
use crate::program::settings::Settings;
use crate::program::stop::LET_END;
use crate::program::{next_action, rounds};
use crate::review::personas::{persona, review_personas};
use crate::store::{Active, ChangeEntry, Entry};
use crate::text;

const MAX_TEXT_CHARS: usize = 1000;
const MAX_LINE_CHARS: usize = 400;

/// `2026-11-22T00:02:03Z, 2m 3s ago: revise by the hook in reviewing, for run r1-…: high=1`
fn dated(at: Timestamp, line: &str) -> String {
    let age = text::elapsed(rounds::seconds_between(at, Timestamp::now()));
    let line = text::one_line(line, MAX_LINE_CHARS);
    format!("{at:.0}, {age} ago: {line}")
}

/// Returns the last stop and its reason, or `None` if it made the last change.
fn last_stop(raw: &Raw, last: Option<&ChangeEntry>) -> Option<String> {
    let log = raw.store().last_logged();
    let id = format!(" {} ", raw.id());
    let is_stop = |line: &str| line.starts_with(LET_END) || line.contains(" -> ");
    let mut lines = log.lines().rev().filter_map(|line| line.split_once(&id));
    let (at, line) = lines.find(|(_, line)| is_stop(line))?;
    let is_last = last.is_some_and(|last| line.starts_with(&format!("{}: ", last.what)));
    let at = at.parse().ok().filter(|_| !is_last)?;
    Some(dated(at, line))
}

pub(super) fn facts(program: &Program, held: &dyn LoopHandle, settings: &Settings) -> Json {
    let raw = held.raw();
    let table = raw.table();
    let names = &table.state.fields;
    let phase = raw.phase_info();
    let past = LoopHistory::read(raw);
    // A `bind` is made by the stop that then decides.
    let is_step = |entry: &&Entry| entry.change().is_some_and(|change| change.what != "bind");
    let last_entry = past.entries.iter().rfind(is_step);
    let last = last_entry.and_then(Entry::change);
    let last_change = last.map(|change| {
        let mut facts = past.facts(change);
        facts["text"] = dated(change.at, &past.lines(last_entry).concat()).into();
        facts
    });
    let line = |field: &str| text::one_line(&raw.text(field), MAX_TEXT_CHARS);
    let is_own = |field: &&FieldInfo| !field.is_engine_field() && field.exists_in(raw.phase());
    let own_fields = table.state.declared.iter().filter(is_own);
    let fields = own_fields.map(|field| (field.name, raw.value(field.name)));
    let texts = program.extension.status(held).into_iter();
    let next = next_action::for_caller(program, held);
    json!({
        "id": raw.id().as_str(),
        "machine": table.name,
        "mode": names.mode.map(line),
        "phase": phase.name,
        "doc": phase.doc,
        "terminal": phase.terminal,
        "session": line(names.session),
        "driven": driven(raw),
        "started": names.started.map(line),
        "elapsed_seconds": rounds::seconds(raw),
        "last_change": last_change,
        "last_stop": last_stop(raw, last),
        "fields": short_values(fields),
        "shows": short_values(texts.map(|(name, text)| (name, text.into()))),
        "review": review(raw, &past, settings),
        "notes": notes(program, held, &past),
        "waits_for": next.waits_for,
        "next": next.next,
        "ways_on": loop_message::available_verbs(raw),
        "state": raw.store().path_of(raw.id()).as_str(),
    })
}

fn short_values<'n>(values: impl Iterator<Item = (&'n str, Json)>) -> Map<String, Json> {
    let short = values.map(|(name, value)| (name.to_owned(), short(value, MAX_TEXT_CHARS)));
    short.collect()
}

/// Returns the loop that the stops of the loop's session drive, if there may be several.
fn driven(raw: &Raw) -> Option<String> {
    let spec = raw.store().spec();
    if spec.active != Active::Many || raw.phase_info().terminal {
        return None;
    }
    let session = raw.text(spec.fields.session);
    let owned = StateFolders::find(spec, vec![raw.store().root().to_owned()]).owned(&session);
    Some(owned.first()?.id.to_string())
}

fn notes(program: &Program, held: &dyn LoopHandle, past: &LoopHistory) -> Vec<String> {
    let mut notes = program.extension.caveats(held);
    notes.extend(rounds::caveats(held.raw()));
    if let Some(cause) = past.runs.last().and_then(|run| run.ended.cause.as_ref()) {
        notes.push(format!("the last review gave no verdict: {cause}"));
    }
    notes
}

fn review(raw: &Raw, past: &LoopHistory, settings: &Settings) -> Option<Json> {
    let spec = rounds::spec(raw)?;
    let round = raw.count(spec.round);
    let personas = review_personas(raw.table(), spec);
    let is_over = raw.phase_info().terminal;
    let has_begun = raw.phase_info().review().is_some() || !past.runs.is_empty();
    let last = past.runs.last().map(|run| run.began.reviewer.clone());
    let chosen = || {
        let chosen = reviewers::choose(None, Some((raw, spec)), settings, raw.store().root());
        Some(chosen.ok()?.remove(0).shown)
    };
    Some(json!({
        "round": round,
        "persona": persona(personas, round).label,
        "reviewer": last.or_else(|| chosen().filter(|_| !is_over)),
        "running": raw.store().is_running(raw.id()),
        "rounds": if has_begun { rounds::rounds(raw) } else { Vec::new() },
    }))
}
