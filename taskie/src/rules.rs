//! The structure rules S1 to S10 of a plan's directory: one function that names every violation.

use std::collections::BTreeSet;
use std::fmt;

use crate::files::name::{Group, Name};
use crate::files::{Directory, Kind, Problem};

/// Holds what the rules need besides the directory.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Where the coding stands; `None`: nobody codes.
    pub coding: Option<Coding>,
    /// The reviews that the agent has to answer; `None` if all of them.
    pub asked: Option<BTreeSet<Name>>,
}

/// Holds what the state says of the tasks.
#[derive(Debug, Clone, Copy)]
pub struct Coding {
    /// The number of active tasks.
    pub total: u64,
    /// The number of tasks that passed their review.
    pub done: u64,
    /// The task under review; `None`: one is being done.
    pub current: Option<u64>,
    /// Whether a person added a task since tasks.md was written: its row may still be to come.
    pub added: bool,
}

/// Breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The rule's number.
    pub rule: u8,
    /// Says what breaks it.
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
    let mut broken = |rule: u8, problem: Problem| found.push(Violation { rule, problem });
    let wrong = |file: &str, what: String| Problem {
        file: claudex_loop::text::shown(file),
        line: None,
        what,
    };
    match &directory.plan {
        None => broken(1, wrong("plan.md", "it is missing; write it".to_owned())),
        Some(Err(problems)) => problems
            .iter()
            .cloned()
            .for_each(|problem| broken(1, problem)),
        Some(Ok(_)) => {}
    }
    for (entry, found) in &directory.entries {
        match found.kind {
            Kind::Folder => broken(
                3,
                wrong(
                    entry,
                    "it is a folder; move it out of the plan’s directory".to_owned(),
                ),
            ),
            Kind::Other => broken(
                2,
                wrong(entry, "it is no regular file; remove it".to_owned()),
            ),
            Kind::File if Name::parse(entry).is_none() => broken(
                2,
                wrong(
                    entry,
                    "a plan has no file of this name; move it out of the plan’s directory"
                        .to_owned(),
                ),
            ),
            Kind::File => {}
        }
    }
    for name in directory.names() {
        match name {
            Name::Review(group, _) => {
                if let Some(document) = group
                    .document()
                    .filter(|document| !directory.has(*document))
                {
                    broken(
                        4,
                        wrong(
                            &name.to_string(),
                            format!(
                                "{document}, which it reviews, is missing; write that, or remove the review"
                            ),
                        ),
                    );
                }
            }
            Name::PostReview(group, number) => {
                let review = Name::Review(group, number);
                if !directory.has(review) {
                    broken(
                        5,
                        wrong(
                            &name.to_string(),
                            format!(
                                "{review}, which it answers, is missing; name it after the review that it answers"
                            ),
                        ),
                    );
                }
            }
            _ => {}
        }
    }
    for review in unanswered(directory, context.asked.as_ref()) {
        if let Name::Review(group, number) = review {
            let answer = Name::PostReview(group, number);
            broken(
                6,
                wrong(
                    &review.to_string(),
                    format!("a newer review is there, and this one has no answer; write {answer}"),
                ),
            );
        }
    }
    for file in directory
        .names()
        .filter(|name| matches!(name, Name::Task(_)))
    {
        if !directory.has(Name::Tasks) {
            broken(
                7,
                wrong(
                    &file.to_string(),
                    "tasks.md is missing; write it, with a row for each task".to_owned(),
                ),
            );
        }
    }
    let tasks = directory.table();
    for row in tasks.iter().flat_map(|tasks| tasks.active()) {
        let file = Name::Task(row.id);
        if !directory.has(file) {
            broken(
                7,
                wrong(
                    "tasks.md",
                    format!(
                        "task {} is {}, and {file} is missing; write it",
                        row.id,
                        row.status.word()
                    ),
                ),
            );
        }
    }
    if let Some(Err(problems)) = &directory.tasks {
        problems
            .iter()
            .cloned()
            .for_each(|problem| broken(8, problem));
    }
    for problem in directory
        .task_files
        .values()
        .filter_map(|file| file.as_ref().err())
        .flatten()
    {
        broken(9, problem.clone());
    }
    if let (Some(coding), Some(tasks)) = (context.coding, tasks) {
        let (active, done) = (tasks.active().count() as u64, tasks.done().count() as u64);
        if active != coding.total && !(coding.added && active < coding.total) {
            broken(
                10,
                wrong(
                    "tasks.md",
                    format!(
                        "{active} tasks are pending or done, and the plan has {}; put the table back, a person adds and drops tasks",
                        coding.total
                    ),
                ),
            );
        }
        let is_current_done = match coding.current {
            Some(current) => tasks
                .row(current)
                .is_some_and(|row| row.status == crate::files::tasks::Status::Done),
            None => true,
        };
        if done != coding.done && !(is_current_done && done == coding.done + 1) {
            broken(
                10,
                wrong(
                    "tasks.md",
                    format!(
                        "{done} tasks are done, and {} have passed their review; a task is done once it has its own turn",
                        coding.done
                    ),
                ),
            );
        }
    }
    found.sort_by_key(|violation| violation.rule);
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
