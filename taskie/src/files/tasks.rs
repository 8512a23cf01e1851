//! `tasks.md`: a table with a row for each task.

use std::collections::HashSet;

use clap::ValueEnum;
use claudex_loop::text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::name::parse_number;
use super::{Parsed, Problem, line_counter, parse_status, problems_or};

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
    let Some(first) = tables.first().and_then(|table| table.first()) else {
        let missing = format!("it has no table; write one with the columns {HEADER}");
        return Err(vec![problem(None, missing)]);
    };
    let mut problems = Vec::new();
    let mut rows = Vec::new();
    let mut ids = HashSet::new();
    let mut has_columns = false;
    for table in &tables {
        let Some((header, lines)) = table.split_first() else {
            continue;
        };
        let (Some(id_column), Some(status_column)) = (header.find("Id"), header.find("Status"))
        else {
            continue;
        };
        has_columns = true;
        for line in lines.iter().filter(|line| !line.is_blank()) {
            let text = line.cell(id_column);
            let number = parse_number(text.trim_start_matches(['#', '0']));
            let id = number.filter(|id| ids.insert(*id));
            if id.is_none() {
                let found = text::one_line(text, 60);
                let wrong = format!(
                    "the id is “{found}”; write a whole number from 1 that no other row has"
                );
                problems.push(problem(Some(line.number), wrong));
            }
            match parse_status("the status", line.cell(status_column)) {
                Err(wrong) => problems.push(problem(Some(line.number), wrong)),
                Ok(status) => rows.extend(id.map(|id| Row { id, status })),
            }
        }
    }
    let missing = ["Id", "Status"]
        .into_iter()
        .find(|name| first.find(name).is_none());
    let number = Some(first.number);
    if !has_columns {
        let column = missing.unwrap_or("Id");
        problems.push(problem(
            number,
            format!("the column {column} is missing; add it"),
        ));
    } else if rows.is_empty() && problems.is_empty() {
        let empty = "the table has no row; write one for each task".to_owned();
        problems.push(problem(number, empty));
    }
    problems_or(problems, rows)
}

/// A line of a table, with its number from 1.
struct Line {
    number: usize,
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

/// Returns the tables of a text, each as its lines. The first one is its header.
fn tables(text: &str) -> Vec<Vec<Line>> {
    let line_at = line_counter(text);
    let mut tables: Vec<Vec<Line>> = Vec::new();
    let mut cell: Option<String> = None;
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                let number = line_at(at.start);
                let cells = Vec::new();
                if let Some(table) = tables.last_mut() {
                    table.push(Line { number, cells });
                }
            }
            Event::Start(Tag::TableCell) => cell = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(cell) = &mut cell {
                    cell.push_str(&part);
                }
            }
            Event::End(TagEnd::TableCell) => {
                if let Some(line) = tables.last_mut().and_then(|table| table.last_mut()) {
                    line.cells.extend(cell.take());
                }
            }
            _ => {}
        }
    }
    tables
}
