//! The text about a change of a journal: its maker, its purpose, its phases.

use serde_json::Value;

use super::caller::RUN;
use crate::machine::{EdgeAt, Table};
use crate::store::ChangeEntry;
use crate::text;

/// Returns the edges by which a change may have been made: those with its transition and phases.
pub(super) fn edges_of(table: &'static Table, change: &ChangeEntry) -> Vec<EdgeAt> {
    let phase = |stored: &Option<String>| table.stored(stored.as_deref()?);
    let (Some(from), Some(to)) = (phase(&change.from), phase(&change.to)) else {
        return Vec::new();
    };
    let mut edges: Vec<EdgeAt> = table.edges_at(&change.what, from).collect();
    edges.retain(|edge| edge.to == to);
    edges
}

/// Returns the purpose of a change: the doc of its edge, or `None` for the store's own changes.
pub(super) fn purpose(table: &'static Table, change: &ChangeEntry) -> Option<String> {
    let edge = edges_of(table, change).into_iter().next()?;
    Some(edge.doc.trim_end_matches('.').to_owned()).filter(|doc| !doc.is_empty())
}

/// Returns whether a command of the program drove the loop when a change was made.
pub(super) fn is_driven(table: &Table, change: &ChangeEntry) -> bool {
    change
        .field(table.state.fields.session)
        .and_then(Value::as_str)
        == Some(RUN)
}

/// Returns who made a change: `the hook`, `the agent`, `a person`, `run`.
pub(super) fn maker(table: &Table, change: &ChangeEntry) -> String {
    match change.by.as_str() {
        "hook" if is_driven(table, change) => format!("`{RUN}`"),
        by => who(by),
    }
}

/// Returns who is meant: `the hook`, `the agent`, `a person`.
pub(super) fn who(by: &str) -> String {
    match by {
        "hook" | "agent" => format!("the {by}"),
        "person" => "the user".to_owned(),
        other => text::one_line(other, 60),
    }
}

/// Returns the phases of a change: ` canary -> rollout`, or ` in canary`.
pub(super) fn phases(change: &ChangeEntry) -> String {
    match (&change.from, &change.to) {
        (Some(from), Some(to)) if from == to => format!(" in {from}"),
        (Some(from), Some(to)) => format!(" {from} -> {to}"),
        (None, Some(to)) => format!(" -> {to}"),
        _ => String::new(),
    }
}

/// Returns a reason for the end of a line about a change: `: …`, or `, for run …`.
pub(super) fn reason(why: &str) -> String {
    match why {
        "" => String::new(),
        why if why.starts_with("for run ") => format!(", {why}"),
        why => format!(": {why}"),
    }
}
