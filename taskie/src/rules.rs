//! The structure rules S1 to S10 of a plan's directory: one function that names every violation.

use std::collections::BTreeSet;
use std::fmt;

use crate::files::name::{Group, Name};
use crate::files::tasks::{Status, Tasks};
use crate::files::{Directory, Kind, Problem};

/// What the rules need besides the directory.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The counts of the tasks, or `None` if no task is under way.
    pub coding: Option<Coding>,
    /// The reviews that the agent has to answer; `None` if all of them.
    pub asked: Option<BTreeSet<Name>>,
}

/// The tasks as the state counts them.
#[derive(Debug, Clone, Copy)]
pub struct Coding {
    /// The number of active tasks.
    pub total: u64,
    /// The number of tasks that passed their review.
    pub done: u64,
    /// The task under review, or `None` while one is being done.
    pub current: Option<u64>,
    /// Whether the user added a task since tasks.md was written, whose row may be missing.
    pub added: bool,
}

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The rule's number.
    pub rule: u8,
    /// The file and what is wrong with it.
    pub problem: Problem,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S{} {}", self.rule, self.problem)
    }
}

/// Returns everything in a directory that breaks a rule, rule by rule.
pub fn violations(directory: &Directory, context: &Context) -> Vec<Violation> {
    let mut found = Vec::new();
    match &directory.plan {
        None => found.push(broken(1, "plan.md", "it is missing; write it")),
        Some(Err(problems)) => found.extend(all(1, problems)),
        Some(Ok(_)) => {}
    }
    for (entry, what) in &directory.entries {
        found.extend(match what.kind {
            Kind::Folder => Some(broken(
                3,
                entry,
                "it is a folder; move it out of the plan’s directory",
            )),
            Kind::Other => Some(broken(2, entry, "not a regular file; remove it")),
            Kind::File if Name::parse(entry).is_none() => Some(broken(
                2,
                entry,
                "a plan has no file of this name; move it out of the plan’s directory",
            )),
            Kind::File => None,
        });
    }
    found.extend(
        directory
            .names()
            .filter_map(|name| of_name(directory, name)),
    );
    for review in unanswered(directory, context.asked.as_ref()) {
        if let Name::Review(group, number) = review {
            let answer = Name::PostReview(group, number);
            let what =
                format!("a newer review is there, and this one has no answer; write {answer}");
            found.push(broken(6, review, what));
        }
    }
    let tasks = directory.table();
    for row in tasks.iter().flat_map(|tasks| tasks.active()) {
        let file = Name::Task(row.id);
        if !directory.has(file) {
            let status = row.status.word();
            let what = format!(
                "task {} is {status}, and {file} is missing; write it",
                row.id
            );
            found.push(broken(7, Name::Tasks, what));
        }
    }
    if let Some(Err(problems)) = &directory.tasks {
        found.extend(all(8, problems));
    }
    let task_files = directory.task_files.values();
    let unread = task_files.filter_map(|file| file.as_ref().err());
    found.extend(unread.flat_map(|problems| all(9, problems)));
    if let (Some(coding), Some(tasks)) = (context.coding, tasks) {
        found.extend(miscounted(coding, tasks));
    }
    found.sort_by_key(|violation| violation.rule);
    found
}

fn broken(rule: u8, file: impl fmt::Display, what: impl Into<String>) -> Violation {
    let problem = Problem {
        file: claudex_loop::text::shown(file.to_string()),
        line: None,
        what: what.into(),
    };
    Violation { rule, problem }
}

fn all(rule: u8, problems: &[Problem]) -> impl Iterator<Item = Violation> {
    let problems = problems.iter().cloned();
    problems.map(move |problem| Violation { rule, problem })
}

/// Returns what a file needs beside it.
fn of_name(directory: &Directory, name: Name) -> Option<Violation> {
    let missing = |needed: Name| !directory.has(needed);
    match name {
        Name::Review(group, _) => {
            let document = group.document().filter(|document| missing(*document))?;
            let what = format!(
                "{document}, which it reviews, is missing; write that, or remove the review"
            );
            Some(broken(4, name, what))
        }
        Name::PostReview(group, number) if missing(Name::Review(group, number)) => {
            let review = Name::Review(group, number);
            let what = format!(
                "{review}, which it answers, is missing; name it after the review that it answers"
            );
            Some(broken(5, name, what))
        }
        Name::Task(_) if missing(Name::Tasks) => Some(broken(
            7,
            name,
            "tasks.md is missing; write it, with a row for each task",
        )),
        _ => None,
    }
}

/// Returns the differences between the table and the counts of the state.
fn miscounted(coding: Coding, tasks: &Tasks) -> Vec<Violation> {
    let mut found = Vec::new();
    let active = tasks.active().count() as u64;
    if active != coding.total && !(coding.added && active < coding.total) {
        let what = format!(
            "{active} tasks are pending or done, and the plan has {}; put the table back: the user adds and drops tasks",
            coding.total
        );
        found.push(broken(10, Name::Tasks, what));
    }
    let is_current_done = coding.current.is_none_or(|current| {
        let row = tasks.row(current);
        row.is_some_and(|row| row.status == Status::Done)
    });
    let done = tasks.done().count() as u64;
    if done != coding.done && !(is_current_done && done == coding.done + 1) {
        let what = format!(
            "{done} tasks are done, and {} have passed their review; a task is done once it has its own turn",
            coding.done
        );
        found.push(broken(10, Name::Tasks, what));
    }
    found
}

/// Returns the reviews that have no answer although a newer one of their group is there.
fn unanswered(directory: &Directory, asked: Option<&BTreeSet<Name>>) -> Vec<Name> {
    let asked = |name: &Name| {
        matches!(name, Name::Review(..)) && asked.is_none_or(|asked| asked.contains(name))
    };
    // In order of group and number: the newest of a group stands last.
    let reviews: BTreeSet<Name> = directory.names().filter(asked).collect();
    let group = |name: &Name| match name {
        Name::Review(group, _) => Some(*group),
        _ => None::<Group>,
    };
    let mut next = reviews.iter().skip(1);
    let mut unanswered = Vec::new();
    for review in &reviews {
        let is_newest = next.next().is_none_or(|next| group(next) != group(review));
        if let (false, Name::Review(group, number)) = (is_newest, *review)
            && !directory.has(Name::PostReview(group, number))
        {
            unanswered.push(*review);
        }
    }
    unanswered
}
