//! `tasks.md`: a table with a row for each task.

use std::collections::HashSet;

use clap::ValueEnum;
use claudex_loop::text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::name::parse_number;
use super::{Parsed, Problem, line_counter, parse_status};

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Status {
    /// To be done.
    Pending,
    /// Done.
    Done,
    /// Cancelled.
    Cancelled,
    /// Postponed.
    Postponed,
}

/// The header that a table should have. Only the first two columns are read, at any place.
const HEADER: &str = "| Id | Status | Priority | Description | Test strategy |";

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of the task, from 1.
    pub id: u64,
    /// The status.
    pub status: Status,
}

impl Row {
    /// Returns whether the task counts: it is done, or to be done.
    pub fn is_active(&self) -> bool {
        matches!(self.status, Status::Pending | Status::Done)
    }
}

/// Reads the rows of the tables that have the columns Id and Status, in the order of the file. Text and other tables around
/// them are for people.
pub(super) fn parse_tasks(file: &str, text: &str) -> Parsed<Vec<Row>> {
    let problem = |line, what: String| Problem::new(8, file, line, what);
    let tables = tables(text);
    let Some(first) = tables.first() else {
        let what = format!("it has no table; write one with the columns {HEADER}");
        return Err(vec![problem(None, what)]);
    };
    let columns = ["Id", "Status"];
    let tasks = tables.iter().filter_map(|table| {
        let [id, status] = columns.map(|name| table.header.find(name));
        Some((table, id?, status?))
    });
    let tasks: Vec<_> = tasks.collect();
    if tasks.is_empty() {
        let missing = columns
            .into_iter()
            .find(|name| first.header.find(name).is_none());
        let what = format!("the column {} is missing; add it", missing.unwrap_or("Id"));
        return Err(vec![problem(Some(first.header.line), what)]);
    }

    let mut problems = Vec::new();
    let mut rows = Vec::new();
    let mut ids = HashSet::new();
    for (table, id_column, status_column) in tasks {
        for row in table.rows.iter().filter(|row| !row.is_blank()) {
            let text = row.cell(id_column);
            let id = parse_number(text.trim_start_matches(['#', '0']));
            let id = id.filter(|id| ids.insert(*id));
            if id.is_none() {
                let found = text::one_line(text, 60);
                let what = format!(
                    "the id is “{found}”; write a whole number from 1 that no other row has"
                );
                problems.push(problem(Some(row.line), what));
            }
            match parse_status("the status", row.cell(status_column)) {
                Err(what) => problems.push(problem(Some(row.line), what)),
                Ok(status) => rows.extend(id.map(|id| Row { id, status })),
            }
        }
    }
    if rows.is_empty() && problems.is_empty() {
        let what = "the table has no row; write one for each task".to_owned();
        problems.push(problem(Some(first.header.line), what));
    }
    if problems.is_empty() {
        Ok(rows)
    } else {
        Err(problems)
    }
}

#[derive(Default)]
struct Table {
    header: Line,
    rows: Vec<Line>,
}

/// A line of a table, with its number from 1.
#[derive(Default)]
struct Line {
    line: usize,
    cells: Vec<String>,
}

impl Line {
    fn cell(&self, at: usize) -> &str {
        self.cells.get(at).map_or("", |cell| cell.trim())
    }

    /// Returns the place of the cell with this name.
    fn find(&self, name: &str) -> Option<usize> {
        let mut cells = self.cells.iter();
        cells.position(|cell| cell.trim().eq_ignore_ascii_case(name))
    }

    fn is_blank(&self) -> bool {
        self.cells.iter().all(|cell| cell.trim().is_empty())
    }
}

/// Returns the tables of a text.
fn tables(text: &str) -> Vec<Table> {
    let line_at = line_counter(text);
    let mut tables: Vec<Table> = Vec::new();
    let mut line = Line::default();
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Table::default()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                line = Line {
                    line: line_at(at.start),
                    cells: Vec::new(),
                }
            }
            Event::Start(Tag::TableCell) => line.cells.push(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(cell) = line.cells.last_mut() {
                    cell.push_str(&text);
                }
            }
            Event::End(end @ (TagEnd::TableHead | TagEnd::TableRow)) => {
                let line = std::mem::take(&mut line);
                match (end, tables.last_mut()) {
                    (TagEnd::TableHead, Some(table)) => table.header = line,
                    (_, Some(table)) => table.rows.push(line),
                    (_, None) => {}
                }
            }
            _ => {}
        }
    }
    tables
}
