//! `tasks.md`: a table with a row for each task.

use std::collections::HashSet;

use clap::ValueEnum;
use claudex_loop::text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::name::parse_number;
use super::{Report, line_counter, parse_status};

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Status {
    /// To be done.
    #[value(aliases = ["todo", "to-do", "open", "not-started", "in-progress"])]
    Pending,
    /// Done.
    #[value(aliases = ["complete", "completed"])]
    Done,
    /// Cancelled.
    #[value(alias = "canceled")]
    Cancelled,
    /// Postponed.
    #[value(alias = "deferred")]
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

/// Reads the rows of the tables with the columns Id and Status, in the order of the file. Other
/// text and tables are for people.
pub(super) fn parse_tasks(text: &str, report: Report<'_>) -> Vec<Row> {
    let lines = table_lines(text);
    let Some(first) = lines.first() else {
        let problem = format!(
            "it has no table; write one, not in a code fence, with the columns {HEADER} and a line | --- | below them"
        );
        report(None, problem);
        return Vec::new();
    };
    let mut problems: Vec<(usize, String)> = Vec::new();
    let mut rows = Vec::new();
    let mut ids = HashSet::new();
    let mut columns = None;
    let mut has_columns = false;
    for line in &lines {
        if line.is_header {
            columns = line.find("Id").zip(line.find("Status"));
            has_columns |= columns.is_some();
        } else if let Some((id_column, status_column)) = columns.filter(|_| !line.is_blank()) {
            let text = line.cell(id_column);
            let number = parse_number(text.trim_start_matches(['#', '0']));
            let id = number.filter(|id| ids.insert(*id));
            if id.is_none() {
                let found = text::one_line(text, 60);
                let wrong = format!(
                    "the id is “{found}”; write a whole number from 1 that no other row has"
                );
                problems.push((line.number, wrong));
            }
            match parse_status("the status", line.cell(status_column)) {
                Err(wrong) => problems.push((line.number, wrong)),
                Ok(status) => rows.extend(id.map(|id| Row { id, status })),
            }
        }
    }
    if !has_columns {
        let column = first.find("Id").map_or("Id", |_| "Status");
        let missing = format!("the column {column} is missing; add it");
        problems.push((first.number, missing));
    } else if rows.is_empty() && problems.is_empty() {
        let empty = "the table has no row; write one for each task".to_owned();
        problems.push((first.number, empty));
    }
    if !problems.is_empty() {
        rows.clear();
    }
    for (line, problem) in problems {
        report(Some(line), problem);
    }
    rows
}

/// A line of a table, with its number from 1.
struct Line {
    number: usize,
    is_header: bool,
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

/// Returns the lines of all tables of a text, and the rows that a blank line, a heading or a comment
/// parts from their table.
fn table_lines(text: &str) -> Vec<Line> {
    let line_at = line_counter(text);
    let mut lines: Vec<Line> = Vec::new();
    let mut is_cell = false;
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match (event, lines.last_mut()) {
            (Event::Start(tag @ (Tag::TableHead | Tag::TableRow)), _) => lines.push(Line {
                number: line_at(at.start),
                is_header: tag == Tag::TableHead,
                cells: Vec::new(),
            }),
            (Event::Start(Tag::TableCell), Some(line)) => {
                is_cell = true;
                line.cells.push(String::new());
            }
            (Event::Text(part) | Event::Code(part), Some(line)) if is_cell => {
                let cell = line.cells.last_mut();
                cell.into_iter().for_each(|cell| cell.push_str(&part));
            }
            (Event::End(TagEnd::TableCell), _) => is_cell = false,
            (Event::Start(Tag::Paragraph), Some(_)) => {
                let rows = text[at.clone()].lines().zip(line_at(at.start)..);
                let rows = rows.filter(|(row, _)| row.trim_start().starts_with('|'));
                let cells = |row: &str| {
                    let row = row.trim().trim_matches('|');
                    row.split('|').map(str::to_owned).collect()
                };
                lines.extend(rows.map(|(row, number)| Line {
                    number,
                    is_header: false,
                    cells: cells(row),
                }));
            }
            _ => {}
        }
    }
    lines
}
