//! `explain`: what the last stop decided for a loop, by which facts, and what the next one waits for.

use jiff::Timestamp;

use super::past::Past;
use crate::behaviours::LoopHandle;
use crate::machine::table::{EdgeInfo, FieldKind};
use crate::machine::{Actor, Raw, Table};
use crate::program::arguments::Target;
use crate::program::assembled::{CommandLine, Program};
use crate::program::exit::{Exit, Failure};
use crate::program::next_action::{self, NextAction};
use crate::program::stop::LET_END;
use crate::program::words::edge_of;
use crate::program::{screen, words};
use crate::store::{ChangeEntry, Entry, Record};
use crate::text;

/// Longest value of a field that is shown, in characters.
const VALUE: usize = 100;

/// Prints why the last stop was blocked or approved, fact by fact.
pub(in crate::program) fn explain<M: CommandLine>(
    program: &Program<M>,
    target: &Target,
) -> Result<Exit, Failure> {
    let (held, _, past) = super::open(program, target, "explain")?;
    let raw = held.raw();
    let columns = screen::columns();
    let say = |label: &str, text: &str| super::fact(label, text, columns);
    say("loop", raw.id().as_ref());
    for (label, fact) in facts(raw, &past, Timestamp::now()) {
        say(label, &fact);
    }
    let NextAction { waits_for, next } = next_action::of(program, &held);
    say("waits for", &waits_for);
    say("next", &next);
    Ok(Exit::Complete)
}

/// Returns what decided the last stop, each fact with its label, in the order in which it counted. Of a stop that changed nothing
/// only the folder's log tells; what led there, the last one that changed the loop.
fn facts(raw: &Raw, past: &Past, now: Timestamp) -> Vec<(&'static str, String)> {
    let table = raw.table();
    let changes = || past.entries.iter().filter_map(Entry::change);
    let stops =
        |change: &&ChangeEntry| change.by == Actor::Hook.to_string() && change.what != "bind";
    let stop = changes().rfind(stops);
    let idle = idle(raw, stop, now).map(|idle| ("last stop", idle));
    let mut facts: Vec<_> = idle.into_iter().collect();
    let Some(stop) = stop else {
        if facts.is_empty() {
            facts.push(("last stop", "none yet".to_owned()));
        }
        return facts;
    };
    let by_run = words::is_driven(table, stop);
    let before = changes().rfind(|change| change.revision < stop.revision);
    let record = before.map(|before| Record::of_change(table.state, raw.id(), before));
    let edge = edge_of(table, record.as_ref(), stop);
    let told = edge.is_some_and(|edge| !edge.lets_turn_end(table) && is_told(table, edge));
    let ended = match (by_run, told) {
        (true, _) => "`run` took it",
        (false, true) => "it blocked: the agent was told what to do",
        (false, false) => "it let the turn end",
    };
    facts.extend([
        (
            match facts.is_empty() {
                false => "before it",
                true if by_run => "last step",
                true => "last stop",
            },
            format!("{}, {}; {ended}", stop.at, words::ago(stop.at, now)),
        ),
        (
            "took",
            format!("{}{}", text::one_line(&stop.what, 80), words::way(stop)),
        ),
        ("because", past.why(table, stop)),
    ]);
    if let (Some(before), Some(record)) = (before, record) {
        if let Some(guard) = edge.and_then(|edge| condition(table, &record, edge, stop.at)) {
            facts.push(("held", guard.1));
        }
        let closed = closed(table, &record, stop).into_iter();
        facts.extend(closed.map(|guard| ("not open", guard)));
        let changed = changed(table, before, stop);
        if !changed.is_empty() {
            facts.push(("set", changed.join(", ")));
        }
    }
    if let Some(since) = past
        .last_decision()
        .filter(|last| last.revision > stop.revision)
    {
        facts.push((
            "since then",
            format!(
                "{}{} by {}, {}",
                text::one_line(&since.what, 80),
                words::way(since),
                words::maker(table, since),
                words::ago(since.at, now)
            ),
        ));
    }
    facts
}

/// Returns what the log has of a stop that changed nothing, where none has changed the loop since.
fn idle(raw: &Raw, changed: Option<&ChangeEntry>, now: Timestamp) -> Option<String> {
    let log = raw.store().last_logged();
    let id = format!(" {} ", raw.id());
    let mut lines = log.lines().rev().filter_map(|line| line.split_once(&id));
    let is_change =
        |said: &str| changed.is_some_and(|stop| said.starts_with(&format!("{}: ", stop.what)));
    let (at, said) = lines.find(|(_, said)| said.starts_with(LET_END) || is_change(said))?;
    let (at, why): (Timestamp, _) = (at.parse().ok()?, said.strip_prefix(LET_END)?);
    let (ago, why) = (words::ago(at, now), text::one_line(why, 500));
    Some(format!(
        "{at}, {ago}; it let the turn end and changed nothing: {why}"
    ))
}

/// Returns whether the agent is told something after an edge; a stop that has nothing to say lets the turn end.
fn is_told(table: &Table, edge: &EdgeInfo) -> bool {
    edge.words(table).is_some() || table.phases[edge.to].question.is_some()
}

/// Returns whether an edge's guard held, and the guard with what it saw: `round < max_rounds (round is 2, max_rounds is 3)`.
fn condition(
    table: &Table,
    record: &Record,
    edge: &EdgeInfo,
    at: Timestamp,
) -> Option<(bool, String)> {
    let guard = edge.when.as_ref()?;
    let mut seen = Vec::new();
    guard.seen(table, record, None, at, &mut seen);
    let seen: Vec<String> = seen.iter().map(|one| text::one_line(one, VALUE)).collect();
    let holds = guard.holds(table, record, None, at).ok()?;
    Some((holds, format!("{} ({})", edge.when_text, seen.join(", "))))
}

/// Returns the transitions of a stop in that phase whose guards did not hold, each with what its guard saw.
fn closed(table: &'static Table, record: &Record, stop: &ChangeEntry) -> Vec<String> {
    let of_phase = |edge: &&EdgeInfo| {
        edge.by.is_empty()
            && edge.transition != stop.what
            && Some(table.phases[edge.from].stored) == stop.from.as_deref()
    };
    let closed = table.edges.iter().filter(of_phase).filter_map(|edge| {
        let (holds, guard) = condition(table, record, edge, stop.at)?;
        (!holds).then(|| format!("{}: {guard}", edge.transition))
    });
    closed.collect()
}

/// Returns the machine's own fields that a change gave another value: `round = 3`.
fn changed(table: &Table, before: &ChangeEntry, after: &ChangeEntry) -> Vec<String> {
    let own = |name: &str| {
        table
            .field(name)
            .is_some_and(|field| field.kind != FieldKind::Held)
    };
    let fields = after
        .fields
        .iter()
        .filter(|field| own(&field.0) && !before.fields.contains(field));
    fields
        .map(|(name, value)| format!("{name} = {}", text::one_line(&value.to_plain(), VALUE)))
        .collect()
}
