//! `tasks.md`: one table, a task a row.

use std::collections::HashSet;

use claudex_loop::text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::markdown::{Lines, unknown, without_marks, words};
use super::name::parse_number;
use super::{Parsed, Problem};

words! {
    /// Says what is to become of a task.
    Status {
        /// It is to be done.
        Pending = "pending",
        /// It is done.
        Done = "done",
        /// It is not to be done.
        Cancelled = "cancelled",
        /// It is not to be done now.
        Postponed = "postponed",
    }
}

/// The names of the columns that are read, in any order: a table must have the first two.
const COLUMNS: [&str; 3] = ["Id", "Status", "Description"];
const NEEDED: usize = 2;
/// The header that a table should have.
const HEADER: &str = "| Id | Status | Priority | Description | Test strategy |";
const ONLY: &str = "tasks.md is one table and nothing else; move it to plan.md or a task file";

/// The table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tasks {
    /// The rows, in the order of the file.
    pub rows: Vec<Row>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of the task, from 1.
    pub id: u64,
    /// What is to become of it.
    pub status: Status,
    /// What it is about.
    pub description: String,
}

impl Row {
    /// Returns whether the task counts: it is done, or to be done.
    pub fn is_active(&self) -> bool {
        matches!(self.status, Status::Pending | Status::Done)
    }
}

impl Tasks {
    /// Reads the table.
    ///
    /// # Errors
    /// Everything that is wrong with it, with lines.
    pub fn parse(file: &str, text: &str) -> Parsed<Self> {
        without_marks(file, text)?;
        let mut problems = Vec::new();
        let tables = tables(file, text, &mut problems);
        let [(header, cells)] = &*tables else {
            problems.push(match tables.get(1) {
                Some(((line, _), _)) => {
                    Problem::new(file, *line, format!("a second table: {ONLY}"))
                }
                None => {
                    let what = format!("there is no table; write one with the columns {HEADER}");
                    Problem::new(file, None, what)
                }
            });
            return Err(problems);
        };
        let mut columns = [None; COLUMNS.len()];
        for (number, (column, at)) in COLUMNS.iter().zip(&mut columns).enumerate() {
            let is_it = |cell: &&String| cell.eq_ignore_ascii_case(column);
            match header.1.iter().filter(is_it).count() {
                1 => *at = header.1.iter().position(|cell| is_it(&cell)),
                0 if number >= NEEDED => {}
                0 => problems.push(Problem::new(
                    file,
                    header.0,
                    format!("there is no column {column}; add it"),
                )),
                _ => problems.push(Problem::new(
                    file,
                    header.0,
                    format!("the column {column} stands twice; remove one"),
                )),
            }
        }
        if cells.is_empty() {
            problems.push(Problem::new(
                file,
                header.0,
                "the table has no row; write one for each task",
            ));
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut ids = HashSet::new();
        for (line, cells) in cells {
            let cell = |at: usize| Some(cells.get(columns[at]?).map_or("", String::as_str));
            let mut wrong = |what: String| problems.push(Problem::new(file, *line, what));
            let id = cell(0).and_then(|cell| {
                let id = parse_number(cell);
                match id {
                    None => wrong(format!(
                        "the id is “{}”; write a whole number from 1",
                        text::one_line(&text::shown(cell), 60)
                    )),
                    Some(id) if !ids.insert(id) => {
                        wrong(format!("the id {id} stands twice; give each task its own"));
                    }
                    Some(_) => {}
                }
                id
            });
            let status = cell(1).and_then(|cell| {
                let status = Status::parse(cell);
                if status.is_none() {
                    wrong(unknown("the status", cell, Status::WORDS));
                }
                status
            });
            if let (Some(id), Some(status)) = (id, status) {
                let description = cell(2).unwrap_or_default().to_owned();
                rows.push(Row {
                    id,
                    status,
                    description,
                });
            }
        }
        if problems.is_empty() {
            Ok(Self { rows })
        } else {
            Err(problems)
        }
    }

    /// Returns the tasks that count.
    pub fn active(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.is_active())
    }

    /// Returns the tasks that are done.
    pub fn done(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.status == Status::Done)
    }

    /// Returns the task to do next: the pending one with the lowest id.
    pub fn next(&self) -> Option<&Row> {
        let pending = self.rows.iter().filter(|row| row.status == Status::Pending);
        pending.min_by_key(|row| row.id)
    }

    /// Returns the row of a task.
    pub fn row(&self, id: u64) -> Option<&Row> {
        self.rows.iter().find(|row| row.id == id)
    }
}

type Cells = (Option<usize>, Vec<String>);

/// Returns each table as its header and its rows, each with its line. Whatever else stands there is a problem.
fn tables(file: &str, text: &str, problems: &mut Vec<Problem>) -> Vec<(Cells, Vec<Cells>)> {
    let lines = Lines::of(text);
    let mut tables: Vec<(Cells, Vec<Cells>)> = Vec::new();
    let (mut depth, mut in_table, mut row) = (0_usize, false, Cells::default());
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::Start(Tag::Table(_))) {
            problems.push(Problem::new(file, Some(lines.at(at.start)), ONLY));
        }
        match &event {
            Event::Start(Tag::Table(_)) => in_table = true,
            Event::End(TagEnd::Table) => in_table = false,
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                row = (Some(lines.at(at.start)), Vec::new())
            }
            Event::End(TagEnd::TableHead) => tables.push((std::mem::take(&mut row), Vec::new())),
            Event::End(TagEnd::TableRow) => {
                if let Some((_, rows)) = tables.last_mut() {
                    rows.push(std::mem::take(&mut row));
                }
            }
            Event::Start(Tag::TableCell) => row.1.push(String::new()),
            Event::Text(said) | Event::Code(said) if in_table => {
                if let Some(cell) = row.1.last_mut() {
                    cell.push_str(said);
                }
            }
            _ => {}
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    for (header, rows) in &mut tables {
        for cells in std::iter::once(header).chain(rows) {
            cells
                .1
                .iter_mut()
                .for_each(|cell| *cell = cell.trim().to_owned());
        }
    }
    tables
}
