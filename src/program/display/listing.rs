//! `list`: the loops of the project, one row each. It reads journals and repairs nothing. The names of its JSON are
//! documented in docs/status.md.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::Serialize;

use crate::machine::Table;
use crate::machine::table::FieldKind;
use crate::program::exit::{Exit, Failure};
use crate::program::info::ProgramInfo;
use crate::program::{Tone, durations, locate, loops, out, rounds, vanished};
use crate::review::findings::Counts;
use crate::review::runs::{self, Run};
use crate::review::{ReviewSpec, findings_json};
use crate::store::{ChangeEntry, Entry, FieldValue, Listed, LoopId, Store};
use crate::text;

/// The most loops that are over and listed without `--json`: about a screen.
const MAX_OVER: usize = 20;
/// The longest text of the last column, in characters. JSON has more.
const MAX_ABOUT_CHARS: usize = 60;

/// A loop, as `list --json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    id: String,
    mode: Option<String>,
    pub(super) phase: String,
    terminal: bool,
    pub(super) round: Option<u64>,
    pub(super) max_rounds: Option<u64>,
    pub(super) findings_round: Option<u64>,
    pub(super) findings: Option<Counts>,
    elapsed_seconds: Option<u64>,
    pub(super) age_seconds: u64,
    about: Option<String>,
    session: Option<String>,
    pub(super) running: bool,
    archived: bool,
    problem: Option<String>,
    state: String,
}

/// Returns the start of a loop and its newest change. The whole journal is read only if that change does not have the start.
fn began(store: &Store, listed: &Listed) -> Option<(Timestamp, ChangeEntry)> {
    let newest = listed.newest.as_ref().and_then(|last| {
        let started = last.field(store.spec().fields.started?)?.to_plain();
        Some((started.parse().ok()?, last.clone()))
    });
    newest.or_else(|| {
        let entries = store.journal(&listed.id).ok()?;
        let mut changes = entries.iter().filter_map(Entry::change);
        let first = changes.next()?;
        Some((first.at, changes.next_back().unwrap_or(first).clone()))
    })
}

/// Returns the round of the newest review with a verdict, and its findings, for a machine whose findings files count on their own.
fn newest_findings(store: &Store, id: &LoopId) -> Option<(u64, Counts)> {
    let journal = store.journal(id).ok()?;
    let runs = runs::read(&journal);
    let has_verdict = |run: &&Run| run.ended.as_ref().is_some_and(|how| how.digest().is_some());
    let run = runs.iter().rfind(has_verdict)?;
    let counts = rounds::counts_of_run(store, id, run)?;
    Some((run.began.round, counts))
}

impl Row {
    pub(super) fn of(
        machine: &Table,
        store: &Store,
        listed: &Listed,
        archived: bool,
        now: Timestamp,
    ) -> Self {
        let (began, last) = began(store, listed).unzip();
        let last = last.as_ref();
        let field = |name: &str| last?.field(name);
        let words = |name: &str| {
            let line = text::one_line(&FieldValue::to_plain(field(name)?), 200);
            Some(line).filter(|line| !line.is_empty())
        };
        let count = |name: &str| field(name).and_then(FieldValue::as_count);
        let spec = machine.phases.iter().find_map(|phase| phase.review);
        let round = spec.and_then(|spec| count(spec.round));
        let found = match spec.is_some_and(ReviewSpec::is_numbered) {
            true => newest_findings(store, &listed.id),
            false => (1..=round.unwrap_or_default().min(1000))
                .rev()
                .find_map(|round| {
                    let file = store
                        .read(&findings_json::findings_path(store, &listed.id, round))
                        .ok()?;
                    Some((round, rounds::counts_of(&file)?))
                }),
        };
        let modified = listed
            .modified
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| {
                i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
            });
        let since = |then: i64, until: i64| u64::try_from(until - then).unwrap_or_default();
        let began = began.map(Timestamp::as_second);
        let until = match last {
            Some(change) if listed.terminal => change.at.as_second(),
            _ => now.as_second(),
        };
        let plain =
            |text: &Option<String>, most| text.as_deref().map(|text| text::one_line(text, most));
        Self {
            id: listed.id.to_string(),
            mode: machine.state.fields.mode.and_then(words),
            phase: text::one_line(listed.phase.as_deref().unwrap_or("?"), 40),
            terminal: listed.terminal,
            round,
            max_rounds: round.and_then(|_| count("max_rounds")),
            findings_round: found.map(|(round, _)| round),
            findings: found.map(|(_, counts)| counts),
            elapsed_seconds: began.map(|began| since(began, until)),
            age_seconds: since(began.unwrap_or(modified), now.as_second()),
            about: about(machine).and_then(words),
            session: plain(&listed.session, 200),
            running: store.is_running(&listed.id),
            archived,
            problem: plain(&listed.problem, 300),
            state: listed.path.to_string(),
        }
    }

    /// Returns the last column: the problem, else the subject.
    fn last(&self) -> String {
        match &self.problem {
            Some(problem) => format!("! {problem}"),
            None => text::one_line(self.about.as_deref().unwrap_or_default(), MAX_ABOUT_CHARS),
        }
    }
}

/// A column of the table: its heading and the cell of a row.
type Column = (String, fn(&Row) -> String);

/// Returns the columns that a machine has.
fn columns(machine: &Table) -> Vec<Column> {
    let mut columns: Vec<Column> = vec![("LOOP".to_owned(), |row| row.id.clone())];
    if machine.modes.len() > 1 {
        let mode = |row: &Row| row.mode.clone().unwrap_or("-".to_owned());
        columns.push(("MODE".to_owned(), mode));
    }
    columns.push(("PHASE".to_owned(), |row| {
        match (row.archived, row.running) {
            (true, _) => "archived".to_owned(),
            (false, true) => format!("{}*", row.phase),
            (false, false) => row.phase.clone(),
        }
    }));
    if machine.phases.iter().any(|phase| phase.review.is_some()) {
        columns.push(("ROUND".to_owned(), |row| {
            match (row.round, row.max_rounds) {
                (Some(round), Some(most)) => format!("{round}/{most}"),
                (Some(round), None) => round.to_string(),
                _ => "-".to_owned(),
            }
        }));
        columns.push(("H/M/L".to_owned(), |row| match row.findings {
            Some(found) => format!("{}/{}/{}", found.high, found.medium, found.low),
            None => "-".to_owned(),
        }));
    }
    columns.push(("AGE".to_owned(), |row| durations::age(row.age_seconds)));
    let about = about(machine).unwrap_or_default().replace('_', " ");
    columns.push((about.to_uppercase(), Row::last));
    columns
}

/// Returns the field with the subject of a loop: the first text that a start takes.
pub(super) fn about(machine: &Table) -> Option<&'static str> {
    let mut fields = machine.fields.iter();
    let found = fields.find(|field| field.at_start && field.kind == FieldKind::Text)?;
    Some(found.name)
}

/// Returns the loops of this project, newest first, with this many that are over at most of each state folder, the archived ones
/// after them, and how many it left out.
fn rows(info: &ProgramInfo, over: usize) -> Result<(Vec<Row>, usize), Failure> {
    let state = info.state;
    let (here, now) = (loops::here()?, Timestamp::now());
    let row = |(store, listed): &(Store, Listed), archived| {
        Row::of(info.table, store, listed, archived, now)
    };
    let mut more = 0;
    let loops = locate::of_stores(state, &here, |store| {
        let mut listed = store.list();
        let (all, mut finished) = (listed.len(), 0);
        listed.retain(|one| {
            finished += usize::from(one.terminal);
            !one.terminal || finished <= over
        });
        more += all - listed.len();
        listed
    });
    let archived = locate::archived(state, &here);
    let rows = loops.iter().map(|found| row(found, false));
    Ok((
        rows.chain(archived.iter().map(|found| row(found, true)))
            .collect(),
        more,
    ))
}

/// Returns the lines of a table, with columns as wide as their cells. The first row is the heading.
fn lines(rows: &[Vec<String>]) -> Vec<String> {
    let mut lines = vec![String::new(); rows.len()];
    for column in 0..rows.first().map_or(0, Vec::len) {
        let width = rows.iter().map(|row| row[column].chars().count()).max();
        let width = width.unwrap_or_default();
        for (line, row) in lines.iter_mut().zip(rows) {
            *line += &format!("{:<width$}  ", row[column]);
        }
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Returns whether there is nothing to list.
pub(super) fn is_empty(info: &ProgramInfo) -> Result<bool, Failure> {
    rows(info, 1).map(|(rows, _)| rows.is_empty())
}

/// Prints the loops of this project: as JSON all of them, else the active ones and the newest others.
pub(in crate::program) fn list(info: &ProgramInfo, json: bool) -> Result<Exit, Failure> {
    for line in vanished::name(info, &[&loops::here()?]) {
        out::note(&info.line(&line));
    }
    let (rows, more) = rows(info, if json { usize::MAX } else { MAX_OVER })?;
    if json {
        out::json(&rows);
        return Ok(Exit::Complete);
    }
    if rows.is_empty() {
        out::line("There are no loops in this project.");
        return Ok(Exit::Complete);
    }
    let columns = columns(info.table);
    let heading = columns.iter().map(|(heading, _)| heading.clone()).collect();
    let cells = |row: &Row| columns.iter().map(|(_, cell)| cell(row)).collect();
    let table: Vec<Vec<String>> = std::iter::once(heading)
        .chain(rows.iter().map(cells))
        .collect();
    for (index, line) in lines(&table).iter().enumerate() {
        match index {
            0 => out::toned(line, line, Tone::Heading),
            _ => out::toned(line, "  ! ", Tone::Bad),
        }
    }
    let mut legend = Vec::new();
    let program = info.program;
    if more > 0 {
        legend.push(format!(
            "older loops: {more}. To list them too:\n    {program} list --json"
        ));
    }
    if rows.iter().any(|row| row.running) {
        legend.push("*: a review or a command is running".to_owned());
    }
    if rows.iter().any(|row| row.archived) {
        legend.push(format!(
            "To restore an archived loop:\n    {program} resume LOOP"
        ));
    }
    if !legend.is_empty() {
        out::line("");
        out::line(&legend.join("\n"));
    }
    Ok(Exit::Complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["LOOP", "AGE", "TOPIC"]),
            row(["20261122-005333-0a1b2c", "2h", "Move the queue"]),
        ];
        assert_eq!(
            lines(&rows),
            [
                "LOOP                    AGE  TOPIC",
                "20261122-005333-0a1b2c  2h   Move the queue",
            ]
        );
    }
}
