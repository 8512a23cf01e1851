//! Words about a journal's changes: who made one, what it is for, how long ago it was.

use jiff::Timestamp;

use crate::machine::Table;
use crate::store::ChangeEntry;
use crate::text;
use serde_json::Value;

/// Returns what a change is for: the doc of the first edge with its transition and phases. It is `None`
/// for the store's own changes.
pub fn purpose(table: &'static Table, change: &ChangeEntry) -> Option<String> {
    let from = table.stored(change.from.as_deref()?)?;
    let to = table.stored(change.to.as_deref()?)?;
    let edge = table
        .edges_at(&change.what, from)
        .find(|edge| edge.to == to)?;
    Some(edge.doc.trim_end_matches('.').to_owned()).filter(|doc| !doc.is_empty())
}

/// Stands in the field of the session of a loop that a command of the program's drives from its start to its end: no client has such a
/// session, so no hook takes the loop over.
pub const RUN: &str = "run";

/// Returns whether a change was made where a command of the program's drove the loop.
pub fn is_driven(table: &Table, change: &ChangeEntry) -> bool {
    change
        .field(table.state.fields.session)
        .and_then(Value::as_str)
        == Some(RUN)
}

/// Names who made a change: `the hook`, `the agent`, `a person`, `run`.
pub fn maker(table: &Table, change: &ChangeEntry) -> String {
    match change.by.as_str() {
        "hook" if is_driven(table, change) => format!("`{RUN}`"),
        by => who(by),
    }
}

/// Names who is meant: `the hook`, `the agent`, `a person`.
pub fn who(by: &str) -> String {
    match by {
        "hook" | "agent" => format!("the {by}"),
        "person" => "a person".to_owned(),
        other => text::one_line(other, 60),
    }
}

/// ` canary -> rollout`, or ` in canary`.
pub fn way(change: &ChangeEntry) -> String {
    match (&change.from, &change.to) {
        (Some(from), Some(to)) if from == to => format!(" in {from}"),
        (Some(from), Some(to)) => format!(" {from} -> {to}"),
        (None, Some(to)) => format!(" -> {to}"),
        _ => String::new(),
    }
}

/// Returns a time to the second: `2026-11-22T00:02:03Z`.
pub fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2m 3s ago`.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    match u64::try_from(now.as_second() - then.as_second()) {
        Ok(seconds) => format!("{} ago", elapsed(seconds)),
        Err(_) => "in the future by this clock".to_owned(),
    }
}

/// `Ns`, `Nm Ns` or `Nh Nm`.
pub fn elapsed(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m {rest}s"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// An age in one unit, for a column: `5s`, `12m`, `3h`, `9d`.
pub fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        for (seconds, shown) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3_599, "59m"),
            (3_600, "1h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (8_640_000, "100d"),
        ] {
            assert_eq!(age(seconds), shown);
        }
        let then: Timestamp = "2026-11-22T00:00:00Z".parse().unwrap();
        let now: Timestamp = "2026-11-22T00:02:03Z".parse().unwrap();
        assert_eq!(ago(then, now), "2m 3s ago");
        assert_eq!(ago(now, then), "in the future by this clock");
    }
}
