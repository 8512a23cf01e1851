//! `tasks.md`: one table with a row for each task.

use std::collections::HashSet;

use clap::ValueEnum;
use claudex_loop::text;
use pulldown_cmark::{Event, Options, Parser, Tag};

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
const ONLY: &str = "tasks.md is one table and nothing else; move it to plan.md or a task file";

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

/// Reads the rows of the table, in the order of the file.
pub(super) fn parse_tasks(file: &str, text: &str) -> Parsed<Vec<Row>> {
    let lines = table_lines(file, text)?;
    let Some((header, lines)) = lines.split_first() else {
        let subject = format!("there is no table; write one with the columns {HEADER}");
        return Err(vec![Problem::new(8, file, None, subject)]);
    };
    let column = |name: &str| {
        let mut cells = header.cells.iter();
        let at = cells.position(|cell| cell.trim().eq_ignore_ascii_case(name));
        let missing = || format!("there is no column {name}; add it");
        at.ok_or_else(|| vec![Problem::new(8, file, Some(header.line), missing())])
    };
    let id_column = column("Id")?;
    let status_column = column("Status")?;

    let mut problems = Vec::new();
    if lines.is_empty() {
        let subject = "the table has no row; write one for each task";
        problems.push(Problem::new(8, file, Some(header.line), subject));
    }
    let mut rows = Vec::new();
    let mut ids = HashSet::new();
    for TableLine { line, cells } in lines {
        let cell = |at: usize| cells.get(at).map_or("", |cell| cell.trim());
        let mut problem = |subject| problems.push(Problem::new(8, file, Some(*line), subject));
        let id = parse_number(cell(id_column)).filter(|id| ids.insert(*id));
        if id.is_none() {
            let found = text::one_line(cell(id_column), 60);
            problem(format!(
                "the id is “{found}”; write a whole number from 1 that no other row has"
            ));
        }
        match parse_status("the status", cell(status_column)) {
            Err(subject) => problem(subject),
            Ok(status) => rows.extend(id.map(|id| Row { id, status })),
        }
    }
    if problems.is_empty() {
        Ok(rows)
    } else {
        Err(problems)
    }
}

struct TableLine {
    line: usize,
    cells: Vec<String>,
}

/// Returns the lines of the table, its header first.
fn table_lines(file: &str, text: &str) -> Parsed<Vec<TableLine>> {
    let line_at = line_counter(text);
    let mut lines: Vec<TableLine> = Vec::new();
    let mut problems = Vec::new();
    let mut depth = 0_usize;
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let line = line_at(at.start);
        let is_table = lines.is_empty() && matches!(event, Event::Start(Tag::Table(_)));
        if depth == 0 && !is_table {
            problems.push(Problem::new(8, file, Some(line), ONLY));
        }
        match event {
            Event::Start(tag) => {
                depth += 1;
                match tag {
                    Tag::TableHead | Tag::TableRow => lines.push(TableLine {
                        line,
                        cells: Vec::new(),
                    }),
                    Tag::TableCell => {
                        if let Some(row) = lines.last_mut() {
                            row.cells.push(String::new());
                        }
                    }
                    _ => {}
                }
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(text) | Event::Code(text) => {
                if let Some(cell) = lines.last_mut().and_then(|row| row.cells.last_mut()) {
                    cell.push_str(&text);
                }
            }
            _ => {}
        }
    }
    if problems.is_empty() {
        Ok(lines)
    } else {
        Err(problems)
    }
}
