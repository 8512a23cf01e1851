//! `list`: every loop of the project, one row each. Reads journals, heals nothing.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::Serialize;

use crate::app::exit::{Exit, Failure};
use crate::app::program::{App, Program};
use crate::app::{locate, loops, out, screen, table, words};
use crate::machine::Table;
use crate::machine::table::FieldKind;
use crate::store::{Entry, Listed, Store, Value};
use crate::text;

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    mode: Option<String>,
    phase: String,
    terminal: bool,
    age_seconds: u64,
    subject: Option<String>,
    session: Option<String>,
    swept: bool,
    problem: Option<String>,
    state: String,
}

impl Row {
    fn of(machine: &Table, store: &Store, listed: &Listed, swept: bool, now: Timestamp) -> Self {
        let entries = store.journal(&listed.id).unwrap_or_default();
        let mut changes = entries.iter().filter_map(|entry| match entry {
            Entry::Change(change) => Some(change),
            Entry::Note(_) => None,
        });
        let first = changes.next();
        let last = changes.next_back().or(first);
        let words = |name: &str| {
            let (_, value) = last?.fields.iter().find(|(known, _)| known == name)?;
            let line = text::one_line(&Value::to_plain(value), 200);
            Some(line).filter(|line| !line.is_empty())
        };
        let modified = listed
            .modified
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
        let began = first.map_or(modified, |change| change.at.as_second());
        Self {
            id: listed.id.to_string(),
            mode: machine.state.fields.mode.and_then(words),
            phase: text::one_line(listed.phase.as_deref().unwrap_or("?"), 40),
            terminal: listed.terminal,
            age_seconds: u64::try_from(now.as_second() - began).unwrap_or_default(),
            subject: subject(machine).and_then(words),
            session: listed
                .session
                .as_deref()
                .map(|session| text::one_line(session, 200)),
            swept,
            problem: listed
                .problem
                .as_deref()
                .map(|problem| text::one_line(problem, 300)),
            state: listed.path.to_string(),
        }
    }

    fn cells(&self) -> [String; 3] {
        let phase = if self.swept { "swept" } else { &self.phase };
        [self.id.clone(), phase.to_owned(), words::age(self.age_seconds)]
    }

    /// What stands in the last column: what is wrong, else what the loop is about.
    fn last(&self) -> String {
        match &self.problem {
            Some(problem) => format!("! {problem}"),
            None => self.subject.clone().unwrap_or_default(),
        }
    }
}

/// The field that says what a loop is about: the first text that a start takes.
fn subject(machine: &Table) -> Option<&'static str> {
    let mut fields = machine.fields.iter();
    let found = fields.find(|field| field.at_start && field.kind == FieldKind::Text)?;
    Some(found.name)
}

/// The loops of this project, newest first, the swept ones after them.
fn rows<M: Program>() -> Result<Vec<Row>, Failure> {
    let state = App::<M>::SPEAKER.state;
    let (here, now) = (loops::here()?, Timestamp::now());
    let row = |(store, listed): &(Store, Listed), swept| Row::of(M::TABLE, store, listed, swept, now);
    let active = locate::loops(state, &here);
    let swept = locate::swept(state, &here);
    let active = active.iter().map(|found| row(found, false));
    Ok(active.chain(swept.iter().map(|found| row(found, true))).collect())
}

/// The loops of this project.
pub(in crate::app) fn list<M: Program>(json: bool) -> Result<Exit, Failure> {
    let rows = rows::<M>()?;
    if json {
        out::json(&rows);
        return Ok(Exit::Complete);
    }
    if rows.is_empty() {
        out::line("There are no loops in this project.");
        return Ok(Exit::Complete);
    }
    let about = subject(M::TABLE)
        .unwrap_or_default()
        .replace('_', " ")
        .to_uppercase();
    let head = (["ID", "PHASE", "AGE"].map(str::to_owned), about);
    let lines: Vec<_> = std::iter::once(head)
        .chain(rows.iter().map(|row| (row.cells(), row.last())))
        .collect();
    for line in table::lines(&lines, screen::columns()) {
        out::line(&line);
    }
    if rows.iter().any(|row| row.swept) {
        out::line("");
        out::line(&format!("swept: this brings it back:\n    {} resume ID", M::NAME));
    }
    Ok(Exit::Complete)
}
