//! The files of a plan's directory, as types: their names, and the content of the Markdown files.

mod must_run;
pub mod name;
pub mod task;
pub mod tasks;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::time::SystemTime;

use camino::Utf8Path;
use clap::ValueEnum;
use claudex_loop::digest::sha256;
use claudex_loop::files::{FileInfo, Folder, TEMPORARY, folder_of, optional};
use claudex_loop::text;
use derive_more::Display;

use self::name::{Group, Name};
use self::task::TaskFile;
use self::tasks::{Row, Status, parse_tasks};

/// The largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The number of lines that make a plan without an overview complete.
const COMPLETE_PLAN_LINES: usize = 50;

/// A violation of a structure rule, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
#[display("S{rule} {file}{}: {what}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct Problem {
    /// The rule's number: 1 for S1.
    pub rule: u8,
    /// The name of the file.
    pub file: String,
    /// The line from 1, or `None` for the file as a whole.
    pub line: Option<usize>,
    /// The problem and its fix.
    pub what: String,
}

impl Problem {
    pub(crate) fn new(rule: u8, file: &str, line: Option<usize>, what: impl Into<String>) -> Self {
        Self {
            rule,
            file: text::printable(file),
            line,
            what: what.into(),
        }
    }
}

/// A function that takes the problems of a file: the line from 1, or `None` for all, and the text.
pub type Report<'r> = &'r mut dyn FnMut(Option<usize>, String);

/// The content of a plan's directory.
#[derive(Debug, Default)]
pub struct Directory {
    /// The files and folders by name.
    pub entries: BTreeMap<String, FileInfo>,
    /// The text of plan.md.
    pub plan: String,
    /// The text of design.md.
    pub design: String,
    /// The rows of tasks.md. A table with problems has none.
    pub tasks: Vec<Row>,
    /// The task files without problems by their numbers.
    pub task_files: BTreeMap<u64, TaskFile>,
    /// The problems of plan.md, tasks.md and the task files.
    pub problems: Vec<Problem>,
    /// The reviews that end in PASS (true) or FAIL.
    pub verdicts: BTreeMap<Name, bool>,
}

impl Directory {
    /// Reads a plan's directory. A missing directory is empty.
    pub fn read_plan(root: &Utf8Path, plan_id: &str) -> Result<Self, String> {
        let path = root.join(".taskie/plans").join(plan_id).join("plan.md");
        let found = optional(folder_of(&[root], &path));
        let read = found.and_then(|found| match found {
            Some((folder, _)) => Self::read(&folder),
            None => Ok(Self::default()),
        });
        read.map_err(|error| format!("cannot read the plan’s directory: {error}"))
    }

    /// Reads a directory.
    pub fn read(folder: &Folder) -> io::Result<Self> {
        let mut directory = Self::default();
        // A crash may leave a temporary file of the state.
        let listed = folder.list()?.into_iter();
        let entries: BTreeMap<String, FileInfo> = listed
            .filter(|(entry, _)| !entry.starts_with(TEMPORARY))
            .collect();
        for (entry, found) in &entries {
            if let Some(name) = Name::parse(entry).filter(|_| found.kind.is_file())
                && !matches!(name, Name::State | Name::PostReview(..))
            {
                directory.add(entry, name, read_text(folder, entry, found.size));
            }
        }
        directory.entries = entries;
        Ok(directory)
    }

    fn add(&mut self, entry: &str, name: Name, text: Result<String, String>) {
        let rule = match name {
            Name::Tasks => 8,
            Name::Task(_) => 9,
            _ => 1,
        };
        let problems = &mut self.problems;
        let report = &mut |line, what| problems.push(Problem::new(rule, entry, line, what));
        match (name, text) {
            (Name::Plan | Name::Tasks | Name::Task(_), Err(problem)) => report(None, problem),
            // The design and the reviews break no rule.
            (_, Err(_)) => {}
            (Name::Plan, Ok(text)) => self.plan = text,
            (Name::Design, Ok(text)) => self.design = text,
            (Name::Tasks, Ok(text)) => self.tasks = parse_tasks(&text, report),
            (Name::Task(number), Ok(text)) => {
                let file = TaskFile::parse(number, &text, report);
                self.task_files.extend(file.map(|file| (number, file)));
            }
            (review, Ok(text)) => {
                self.verdicts
                    .extend(verdict(&text).map(|is_pass| (review, is_pass)));
            }
        }
    }

    /// Returns the names of the files that a plan has.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        let names = self.entries.keys().filter_map(|name| Name::parse(name));
        names.filter(|name| self.has(*name))
    }

    /// Returns whether a file exists.
    pub fn has(&self, name: Name) -> bool {
        let found = self.entries.get(&name.to_string());
        found.is_some_and(|found| found.kind.is_file())
    }

    /// Returns when a file was last written.
    pub fn modified(&self, name: Name) -> Option<SystemTime> {
        let found = self.entries.get(&name.to_string());
        found.map(|found| found.modified)
    }

    /// Returns the highest number of the reviews of a group.
    pub fn newest_review(&self, group: Group) -> Option<u64> {
        let numbers = self.names().filter_map(|name| match name {
            Name::Review(of, number) if of == group => Some(number),
            _ => None,
        });
        numbers.max()
    }

    /// Returns the numbers of the active tasks.
    pub fn active(&self) -> impl Iterator<Item = u64> {
        self.tasks_that(Row::is_active)
    }

    /// Returns the numbers of the tasks that are done.
    pub fn done(&self) -> impl Iterator<Item = u64> {
        self.tasks_that(|row| row.status == Status::Done)
    }

    /// Returns the numbers of the pending tasks.
    pub fn pending(&self) -> impl Iterator<Item = u64> {
        self.tasks_that(|row| row.status == Status::Pending)
    }

    fn tasks_that(&self, is_wanted: impl Fn(&Row) -> bool) -> impl Iterator<Item = u64> {
        let rows = self.tasks.iter().filter(move |row| is_wanted(row));
        rows.map(|row| row.id)
    }

    /// Returns the number of the task to do next: the pending one with the lowest id.
    pub fn next_task(&self) -> Option<u64> {
        self.pending().min()
    }

    /// Returns the must-run commands of these tasks, each once.
    pub fn must_run(&self, tasks: impl IntoIterator<Item = u64>) -> Vec<String> {
        let tasks = tasks.into_iter();
        let files = tasks.filter_map(|task| self.task_files.get(&task));
        let commands = files.flat_map(TaskFile::must_run);
        let mut seen = HashSet::new();
        commands
            .filter(|command| seen.insert(command.clone()))
            .collect()
    }

    /// Returns whether plan.md is complete.
    pub fn has_complete_plan(&self) -> bool {
        let mut lines = self.plan.lines();
        lines.any(|line| line.trim_end() == "## Overview")
            || self.plan.lines().count() >= COMPLETE_PLAN_LINES
    }

    /// Returns the digest of plan.md and design.md, for the field `reviewed`.
    pub fn plan_digest(&self) -> String {
        format!("plan:{}", digest(&format!("{}{}", self.plan, self.design)))
    }
}

/// Returns the digest of a text. A box that is ticked or not makes no difference.
fn digest(text: &str) -> String {
    let plain = text.replace("[x]", "[ ]").replace("[X]", "[ ]");
    sha256(plain)[..16].to_owned()
}

/// Reads a text without its byte order mark, or returns the reason why it cannot be read.
fn read_text(folder: &Folder, name: &str, size: u64) -> Result<String, String> {
    if size > MAX_FILE_BYTES {
        return Err(format!(
            "it is larger than {MAX_FILE_BYTES} bytes; shorten it"
        ));
    }
    let bytes = folder.read(name, MAX_FILE_BYTES);
    let text = bytes
        .and_then(claudex_loop::files::text)
        .map_err(|error| format!("it cannot be read as UTF-8 text: {error}"))?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Returns whether the last line of a review says PASS, or `None` if it has no verdict.
fn verdict(review: &str) -> Option<bool> {
    match review.trim_end().lines().next_back()?.trim() {
        "VERDICT: PASS" => Some(true),
        "VERDICT: FAIL" => Some(false),
        _ => None,
    }
}

/// Reads a word of a list, in any case, with spaces or `_` for `-`. Ignores a sign around it and a
/// note in brackets after it: `✅ Done (see PR 4)`.
fn parse_status<W: ValueEnum>(what: &str, found: &str) -> Result<W, String> {
    let before_note = found.split('(').next().unwrap_or_default();
    let word = before_note.trim_matches(|c: char| !c.is_alphabetic());
    W::from_str(&word.replace([' ', '_'], "-"), true).map_err(|_| {
        let variants = W::value_variants().iter();
        let values = variants.filter_map(ValueEnum::to_possible_value);
        let words: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        let problem = match found {
            "" => "is missing".to_owned(),
            _ => format!("is “{}”", text::one_line(found, 60)),
        };
        format!("{what} {problem}; write one of {}", words.join(", "))
    })
}

/// Returns a function from an offset to its line, from 1. All lines together cost the file's size.
fn line_counter(text: &str) -> impl Fn(usize) -> usize {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    move |offset| ends.partition_point(|end| *end < offset) + 1
}

#[cfg(test)]
mod tests;
