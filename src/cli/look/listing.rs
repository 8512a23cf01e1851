//! `list`: every loop of the project, one row each. Reads journals, heals nothing.

use std::time::SystemTime;

use claudex_loop::app::locate::swept;
use claudex_loop::app::{table, words};
use claudex_loop::plan::typestate::STATE;
use claudex_loop::plan::{locate, summary};
use claudex_loop::review::findings::Counts;
use claudex_loop::review::twin;
use claudex_loop::store::{Entry, Listed, Store, Value};
use claudex_loop::text;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::exit::{Exit, Failure};
use crate::cli::{args, out, screen};

#[derive(Debug, Serialize)]
struct Row {
    review_id: String,
    mode: Option<String>,
    phase: String,
    terminal: bool,
    round: Option<u64>,
    max_rounds: Option<u64>,
    findings_round: Option<u64>,
    findings: Option<Counts>,
    elapsed_seconds: Option<u64>,
    age_seconds: u64,
    topic: Option<String>,
    continues: Option<String>,
    session_id: Option<String>,
    running: bool,
    swept: bool,
    problem: Option<String>,
    path: String,
}

impl Row {
    fn of(store: &Store, listed: &Listed, swept: bool, now: Timestamp) -> Self {
        let last = store.journal(&listed.id).ok().and_then(|entries| {
            entries.into_iter().rev().find_map(|entry| match entry {
                Entry::Change(change) => Some(change),
                Entry::Note(_) => None,
            })
        });
        let field = |name: &str| {
            let fields = &last.as_ref()?.fields;
            fields
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value)
        };
        let words = |name: &str| {
            field(name)
                .and_then(Value::as_str)
                .map(|value| text::one_line(value, 200))
                .filter(|value| !value.is_empty())
        };
        let count = |name: &str| field(name).and_then(Value::as_count);
        let round = count("round");
        let found = (1..=round.unwrap_or_default().min(1000)).rev().find_map(|round| {
            let file = store.read(&twin::findings_path(store, &listed.id, round)).ok()?;
            Some((round, summary::counts_of(&file)?))
        });
        let since = |then: i64, until: i64| u64::try_from(until - then).unwrap_or_default();
        let started = count("started_at_epoch").and_then(|epoch| i64::try_from(epoch).ok());
        let until = match &last {
            Some(change) if listed.terminal => change.at.as_second(),
            _ => now.as_second(),
        };
        let modified = listed
            .modified
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
        Self {
            review_id: listed.id.to_string(),
            mode: words("mode"),
            phase: text::one_line(listed.phase.as_deref().unwrap_or("?"), 40),
            terminal: listed.terminal,
            round,
            max_rounds: count("max_rounds"),
            findings_round: found.map(|(round, _)| round),
            findings: found.map(|(_, counts)| counts),
            elapsed_seconds: started.map(|started| since(started, until)),
            age_seconds: since(started.unwrap_or(modified), now.as_second()),
            topic: words("topic"),
            continues: words("continues"),
            session_id: listed.session.clone(),
            running: store.is_running(&listed.id),
            swept,
            problem: listed.problem.clone(),
            path: listed.path.to_string(),
        }
    }

    /// The row's cells but for the topic.
    fn cells(&self) -> [String; 6] {
        let dash = || "-".to_owned();
        [
            self.review_id.clone(),
            self.mode.clone().unwrap_or_else(dash),
            if self.swept {
                "swept".to_owned()
            } else if self.running {
                format!("{}*", self.phase)
            } else {
                self.phase.clone()
            },
            match (self.round, self.max_rounds) {
                (Some(round), Some(most)) => format!("{round}/{most}"),
                _ => dash(),
            },
            self.findings.map_or_else(dash, |found| {
                format!("{}/{}/{}", found.high, found.medium, found.low)
            }),
            words::age(self.age_seconds),
        ]
    }

    /// What stands in the last column: what is wrong, else the topic.
    fn last(&self) -> String {
        match &self.problem {
            Some(problem) => format!("! {}", text::one_line(problem, 300)),
            None => self.topic.clone().unwrap_or_default(),
        }
    }
}

/// The rows as lines for a terminal of so many columns, or for a file.
fn table(rows: &[Row], columns: Option<usize>) -> Vec<String> {
    let head = ["ID", "MODE", "PHASE", "ROUND", "H/M/L", "AGE"].map(str::to_owned);
    let lines: Vec<_> = std::iter::once((head, "TOPIC".to_owned()))
        .chain(rows.iter().map(|row| (row.cells(), row.last())))
        .collect();
    table::lines(&lines, columns)
}

/// The loops of this project, newest first, the swept ones after them.
fn rows() -> Result<Vec<Row>, Failure> {
    let here = crate::cli::here()?;
    let now = Timestamp::now();
    let mut rows: Vec<Row> = locate::loops(&here)
        .iter()
        .map(|(store, listed)| Row::of(store, listed, false, now))
        .collect();
    for (store, listed) in swept(&STATE, &here) {
        rows.push(Row::of(&store, &listed, true, now));
    }
    Ok(rows)
}

/// The loops of this project.
pub(crate) fn list(format: &args::Format) -> Result<Exit, Failure> {
    let rows = rows()?;
    if format.json {
        out::json(&rows);
        return Ok(Exit::Complete);
    }
    let columns = screen::columns();
    if rows.is_empty() {
        out::line("There are no claudex loops in this project.");
        return Ok(Exit::Complete);
    }
    for line in table(&rows, columns) {
        out::line(&line);
    }
    let mut legend = Vec::new();
    if rows.iter().any(|row| row.running) {
        legend.push("*: a review is running.");
    }
    if rows.iter().any(|row| row.swept) {
        legend.push("swept: this brings it back:\n    claudex-loop resume ID");
    }
    if !legend.is_empty() {
        out::line("");
        screen::wrap("", &legend.join(" "), columns)
            .iter()
            .for_each(|line| out::line(line));
    }
    Ok(Exit::Complete)
}

/// Whether there is nothing to list.
pub(super) fn is_empty() -> Result<bool, Failure> {
    rows().map(|rows| rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(topic: &str) -> Row {
        Row {
            review_id: "20261122-005333-0a1b2c".to_owned(),
            mode: Some("plan".to_owned()),
            phase: "summarizing".to_owned(),
            terminal: false,
            round: Some(3),
            max_rounds: Some(3),
            findings_round: Some(3),
            findings: Some(Counts {
                high: 1,
                medium: 22,
                low: 0,
            }),
            elapsed_seconds: Some(125),
            age_seconds: 7_300,
            topic: Some(topic.to_owned()),
            continues: None,
            session_id: None,
            running: true,
            swept: false,
            problem: None,
            path: String::new(),
        }
    }

    #[test]
    fn a_row_is_one_line_that_fits_the_terminal_in_whatever_script_its_topic_is() {
        let rows = [
            row("Move the queue to Postgres before winter"),
            row("計画を".repeat(40).as_str()),
            row(""),
        ];
        let lines = table(&rows, Some(80));
        assert_eq!(lines.len(), 4, "{lines:#?}");
        assert!(lines.iter().all(|line| screen::width(line) <= 80), "{lines:#?}");
        assert!(lines[0].starts_with("ID ") && lines[0].ends_with("TOPIC"));
        let wanted = "20261122-005333-0a1b2c  plan  summarizing*  3/3    1/22/0  2h   Move the queu...";
        assert_eq!(lines[1], wanted);
        assert!(
            table(&rows, None)[1].ends_with("before winter"),
            "a file gets all of it"
        );
    }

    #[test]
    fn on_a_narrow_terminal_the_topic_stands_below_its_row() {
        let lines = table(&[row("Move the queue to Postgres before winter")], Some(60));
        assert_eq!(lines.len(), 3, "{lines:#?}");
        assert!(lines.iter().all(|line| screen::width(line) <= 60), "{lines:#?}");
        assert_eq!(lines[2], "    Move the queue to Postgres before winter");
    }
}
