//! The structure rules S1 to S10 of a plan's directory: one function that names all violations.

use std::collections::BTreeSet;

use crate::files::name::{Group, Name};
use crate::files::{Directory, Problem};

/// The tasks as the state counts them.
#[derive(Debug, Clone, Copy)]
pub struct TaskCounts {
    /// The number of active tasks.
    pub total: u64,
    /// The number of tasks that passed their review.
    pub done: u64,
    /// The task under review, 0 for none of them, or `None` while the agent does one.
    pub current: Option<u64>,
    /// The task that was reviewed last, or 0.
    pub reviewed: u64,
}

/// Returns all violations in a directory, rule by rule. `counts` is set if a task is current.
/// `asked` are the reviews that the agent has to answer, by default all.
pub fn violations(
    directory: &Directory,
    counts: Option<TaskCounts>,
    asked: Option<&BTreeSet<Name>>,
) -> Vec<Problem> {
    let mut found = Vec::new();
    if !directory.has(Name::Plan) {
        found.push(violation(1, "plan.md", "it is missing; write it"));
    }
    for (entry, entry_found) in &directory.entries {
        if entry_found.kind.is_dir() {
            let problem = "it is a folder; move it out of the plan’s directory";
            found.push(violation(3, entry, problem));
        } else if !entry_found.kind.is_file() {
            found.push(violation(2, entry, "not a regular file; remove it"));
        } else if Name::parse(entry).is_none() {
            let problem = "a plan has no file of this name; move it out of the plan’s directory";
            found.push(violation(2, entry, problem));
        }
    }
    let companions = directory.names();
    found.extend(companions.filter_map(|name| missing_companion(directory, name)));
    for (group, number) in unanswered(directory, asked) {
        let answer = Name::PostReview(group, number);
        let problem = format!("a newer review exists, and this one has no answer; write {answer}");
        found.push(violation(6, Name::Review(group, number), problem));
    }
    for task in directory.active().map(Name::Task) {
        if !directory.has(task) {
            let problem = format!("{task} is missing, and its row is pending or done; write it");
            found.push(violation(7, Name::Tasks, problem));
        }
    }
    found.extend(directory.problems.iter().cloned());
    let has_rows = !directory.tasks.is_empty() || !directory.has(Name::Tasks);
    if let Some(counts) = counts.filter(|_| has_rows) {
        found.extend(miscounted(counts, directory));
    }
    found.sort_by_key(|violation| violation.rule);
    found
}

fn violation(rule: u8, file: impl ToString, what: impl Into<String>) -> Problem {
    Problem::new(rule, &file.to_string(), None, what)
}

/// Returns the violation of a file whose companion is missing.
fn missing_companion(directory: &Directory, name: Name) -> Option<Problem> {
    let (rule, needed, fix) = match name {
        Name::Review(group, _) => (4, group.document()?, "put that back"),
        Name::PostReview(group, number) => (
            5,
            Name::Review(group, number),
            "name it after the review that it answers",
        ),
        Name::Task(_) => (7, Name::Tasks, "write it, with a row for each task"),
        _ => return None,
    };
    let problem = format!("{needed}, to which it belongs, is missing; {fix}");
    (!directory.has(needed)).then(|| violation(rule, name, problem))
}

/// Returns the differences between the table and the counts of the state.
fn miscounted(counts: TaskCounts, directory: &Directory) -> Vec<Problem> {
    let mut found = Vec::new();
    let active = directory.active().count() as u64;
    // If the user adds a task during a review of code, its row may follow with the next task.
    let may_follow = counts.current.is_some_and(|task| task > 0) && active < counts.total;
    if active != counts.total && !may_follow {
        let total = counts.total;
        let fix = if active < total {
            "put the missing row back, or write that of the task that the user added: the user drops tasks"
        } else {
            "take the other rows out, or ask the user to run /taskie:add-task for each"
        };
        let problem =
            format!("{active} tasks are pending or done, and the plan has {total}; {fix}");
        found.push(violation(10, Name::Tasks, problem));
    }
    let current = counts.current;
    let is_current_done = current.is_none_or(|current| directory.done().any(|id| id == current));
    let done = directory.done().count() as u64;
    if done != counts.done && !(is_current_done && done == counts.done + 1) {
        let reopened = directory.pending().find(|task| *task == counts.reviewed);
        let fix = match reopened {
            Some(task) if done < counts.done => format!("set row {task} back to done"),
            _ if done < counts.done => "set those back to done".to_owned(),
            _ => "do one task per turn: set the others back to pending".to_owned(),
        };
        let passed = counts.done;
        let problem =
            format!("{done} tasks are done, and {passed} have passed their review; {fix}");
        found.push(violation(10, Name::Tasks, problem));
    }
    found
}

/// Returns the reviews without an answer that are followed by a newer one of their group.
fn unanswered(directory: &Directory, asked: Option<&BTreeSet<Name>>) -> Vec<(Group, u64)> {
    let reviews = directory.names().filter_map(|name| match name {
        Name::Review(group, number) if asked.is_none_or(|asked| asked.contains(&name)) => {
            Some((group, number))
        }
        _ => None,
    });
    // In order of group and number.
    let reviews: BTreeSet<(Group, u64)> = reviews.collect();
    let has_newer = |(group, number): &(Group, u64)| {
        let mut later = reviews.range((*group, number + 1)..);
        later.next().is_some_and(|(next, _)| next == group)
    };
    let open = reviews.iter().copied().filter(has_newer);
    open.filter(|(group, number)| !directory.has(Name::PostReview(*group, *number)))
        .collect()
}
