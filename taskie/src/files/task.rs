//! `task-K.md`: subtasks, each with a status and the commands that have to run.

use std::mem;

use clap::ValueEnum;
use claudex_loop::text;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::must_run::commands;
use super::name::parse_number;
use super::{Report, digest, line_counter, parse_status};

/// The status of a subtask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Status {
    /// To be done.
    #[value(aliases = ["todo", "to-do", "open", "not-started", "in-progress"])]
    Pending,
    /// Waiting for a review.
    AwaitingReview,
    /// To be changed after a review.
    ReviewChangesRequested,
    /// Done.
    #[value(aliases = ["complete", "done"])]
    Completed,
    /// Postponed.
    #[value(alias = "deferred")]
    Postponed,
}

/// The names of the bullets that change while a task is done.
const PROGRESS: [&str; 2] = ["Status", "Git commit hash"];
/// The names of the bullet with the commands that have to run.
const MUST_RUN: [&str; 3] = ["Must run commands", "Must run command", "Must run"];
/// The words that begin the heading of a subtask.
const SUBTASK: [&str; 2] = ["subtask", "sub-task"];
/// The characters around the name of a bullet: its mark, its checkbox, and those of bold text.
const MARKS: &str = "-*+_ []xX.)0123456789";

/// A task's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFile {
    /// The subtasks, in the order of the file: at least one.
    pub subtasks: Vec<Subtask>,
}

/// A subtask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtask {
    /// The line of the heading, from 1.
    line: usize,
    /// The heading.
    pub heading: String,
    /// The status.
    pub status: Status,
    /// The bullets `- **Name**: value`, as the file has them.
    bullets: Vec<String>,
}

impl Subtask {
    /// Returns the word of its status.
    pub fn status_name(&self) -> String {
        let value = self.status.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns the status of a subtask of a task, as the bullets have it.
    fn read_status(&self, task: u64) -> Result<Status, String> {
        let Some(number) = subtask_number(&self.heading, task) else {
            let found = text::one_line(&self.heading, 60);
            return Err(format!(
                "“{found}” is not a subtask of task {task}; write ### Subtask {task}.1: title"
            ));
        };
        let bullets = self.bullets.iter();
        let mut statuses = bullets.filter_map(|bullet| value(bullet, "Status"));
        let word = statuses.next().and_then(|status| status.lines().next());
        if statuses.next().is_some() || self.bullets.iter().any(|one| begins_subtask(one)) {
            let next = number + 1;
            return Err(format!(
                "subtask {task}.{number} has another one below it; give each its own heading, such as ### Subtask {task}.{next}: title"
            ));
        }
        let name = format!("the status of subtask {task}.{number}");
        parse_status(&name, word.unwrap_or_default().trim_end())
    }
}

impl TaskFile {
    /// Reads the file of a task. Returns `None` if it has problems.
    pub fn parse(task: u64, text: &str, report: Report<'_>) -> Option<Self> {
        let mut subtasks = find_subtasks(text, task);
        let mut is_valid = !subtasks.is_empty();
        if !is_valid {
            let problem = format!(
                "it has no subtask; write ### Subtask {task}.1: title, with a bullet - **Status**: pending below"
            );
            report(None, problem);
        }
        for subtask in &mut subtasks {
            match subtask.read_status(task) {
                Ok(status) => subtask.status = status,
                Err(problem) => {
                    report(Some(subtask.line), problem);
                    is_valid = false;
                }
            }
        }
        is_valid.then_some(Self { subtasks })
    }

    /// Returns the number of subtasks that are completed.
    pub fn completed(&self) -> usize {
        let completed = |one: &&Subtask| one.status == Status::Completed;
        self.subtasks.iter().filter(completed).count()
    }

    /// Returns whether a subtask is no longer pending.
    pub fn is_begun(&self) -> bool {
        let mut subtasks = self.subtasks.iter();
        subtasks.any(|one| one.status != Status::Pending)
    }

    /// Returns the first subtask that is not completed.
    pub fn open_subtask(&self) -> Option<&Subtask> {
        let mut subtasks = self.subtasks.iter();
        subtasks.find(|one| one.status != Status::Completed)
    }

    /// Returns whether all subtasks are completed.
    pub fn is_completed(&self) -> bool {
        self.completed() == self.subtasks.len()
    }

    /// Returns the digest of the subtasks without their progress, for the review of the tasks.
    pub fn digest(&self) -> String {
        let mut text = String::new();
        let is_progress =
            |bullet: &&String| PROGRESS.iter().any(|name| value(bullet, name).is_some());
        for subtask in &self.subtasks {
            text += &subtask.heading;
            for bullet in subtask.bullets.iter().filter(|bullet| !is_progress(bullet)) {
                text.extend(bullet.lines().map(str::trim));
            }
        }
        digest(&text)
    }

    /// Returns the commands that have to run, in the order of the file.
    pub fn must_run(&self) -> impl Iterator<Item = String> {
        let bullets = self.subtasks.iter().flat_map(|one| &one.bullets);
        bullets
            .filter(|bullet| is_must_run(bullet))
            .flat_map(|bullet| commands(bullet))
    }
}

/// Returns the value of a bullet `- **Name**: value` if it has this name.
fn value<'b>(bullet: &'b str, name: &str) -> Option<&'b str> {
    let (before, value) = bullet.split_once(':')?;
    // `**Must-run commands** (all)`
    let name_part = before.split(" (").next().unwrap_or(before);
    let own_name = name_part
        .trim_matches(|c| MARKS.contains(c))
        .replace(['-', '\u{2011}'], " ");
    let is_named = own_name.eq_ignore_ascii_case(name);
    is_named.then(|| value.trim_matches(|c: char| c.is_whitespace() || "*_`".contains(c)))
}

fn is_must_run(bullet: &str) -> bool {
    MUST_RUN.iter().any(|name| value(bullet, name).is_some())
}

/// Puts the items of code below a bullet that is only `Must-run commands:` into one bullet with it.
fn join_must_run(bullets: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut is_open = false;
    for bullet in bullets {
        let text = bullet.trim_start_matches(|c| MARKS.contains(c));
        match joined.last_mut() {
            Some(above) if is_open && text.starts_with('`') => above.extend(["\n\n", &bullet]),
            _ => {
                let is_name = text
                    .trim_end_matches(['*', '_', ' ', '\r', '\n'])
                    .ends_with(':');
                is_open = is_name && is_must_run(&bullet);
                joined.push(bullet);
            }
        }
    }
    joined
}

/// Returns the text after one of these words at the beginning of a heading, behind a sign or a word
/// such as `Optional:`.
fn after_word<'h>(heading: &'h str, words: &[&str]) -> Option<&'h str> {
    let texts = [
        Some(heading),
        heading.split_once(": ").map(|(_, text)| text),
    ];
    texts.into_iter().flatten().find_map(|text| {
        let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
        let (word, rest) = text.split_once(' ')?;
        words.contains(&&*word.to_lowercase()).then_some(rest)
    })
}

/// Returns whether a bullet is a subtask without a heading: `- [ ] Subtask 1.2: title`.
fn begins_subtask(bullet: &str) -> bool {
    let text = bullet.trim_start_matches(|c| MARKS.contains(c));
    let title = after_word(text, &SUBTASK);
    let number = title.and_then(|title| title.split_once(':'));
    number.is_some_and(|(number, _)| number.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

/// Returns the number in the heading `Subtask 2.1: title`, `Step 2.1` or `2.1: title`.
fn subtask_number(heading: &str, task: u64) -> Option<u64> {
    let title = after_word(heading, &["subtask", "sub-task", "task", "step"]).unwrap_or(heading);
    let rest = title.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let number = &rest[..end.unwrap_or(rest.len())];
    let (of, number) = number.trim_end_matches('.').split_once('.')?;
    parse_number(number).filter(|_| parse_number(of) == Some(task))
}

/// Returns the sections whose headings, of any level, begin with the word for subtasks, and those
/// with a number of this task: if there are subtasks by the word, only those with a status.
fn find_subtasks(text: &str, task: u64) -> Vec<Subtask> {
    let line_at = line_counter(text);
    let section = |line| Subtask {
        line,
        heading: String::new(),
        status: Status::Pending,
        bullets: Vec::new(),
    };
    // The text above the first heading is a section, too.
    let mut sections = vec![section(1)];
    let mut is_heading = false;
    // The number of open items and quotes. Only text outside of them counts.
    let mut depth = 0_usize;
    for (event, at) in Parser::new(text).into_offset_iter() {
        match (event, sections.last_mut()) {
            (Event::Start(Tag::Heading { .. }), _) if depth == 0 => {
                is_heading = true;
                sections.push(section(line_at(at.start)));
            }
            (Event::End(TagEnd::Heading(_)), _) => is_heading = false,
            (Event::Text(part) | Event::Code(part), Some(section)) if is_heading => {
                section.heading.push_str(&part);
            }
            // A paragraph counts as a bullet in each line, and a fence belongs to the bullet above.
            (Event::Start(Tag::Paragraph), Some(section)) if depth == 0 => {
                section.bullets.extend(text[at].lines().map(str::to_owned));
            }
            (Event::Start(Tag::CodeBlock(_)), Some(section)) if depth == 0 => {
                let bullet = section.bullets.pop().unwrap_or_default();
                section.bullets.push(bullet + "\n\n" + &text[at]);
            }
            (Event::Start(Tag::Item | Tag::BlockQuote(_)), section) => {
                if let Some(section) = section.filter(|_| depth == 0) {
                    section.bullets.push(text[at].to_owned());
                }
                depth += 1;
            }
            (Event::End(TagEnd::Item | TagEnd::BlockQuote(_)), _) => depth -= 1,
            _ => {}
        }
    }
    for section in &mut sections {
        section.bullets = join_must_run(mem::take(&mut section.bullets));
    }
    let has_number = |section: &Subtask| subtask_number(&section.heading, task).is_some();
    let has_word = |section: &Subtask| after_word(&section.heading, &SUBTASK).is_some();
    let has_words = sections.iter().any(|one| has_word(one) && has_number(one));
    let has_status = |section: &Subtask| {
        let mut bullets = section.bullets.iter();
        bullets.any(|bullet| value(bullet, "Status").is_some())
    };
    let is_subtask = |section: &Subtask| match (has_word(section), has_number(section)) {
        (true, true) => true,
        (false, false) => false,
        // `Subtask overview` is none, beside others with a number.
        _ => !has_words || has_status(section),
    };
    let mut subtasks: Vec<Subtask> = Vec::new();
    let mut must_run: Vec<String> = Vec::new();
    for section in sections {
        if is_subtask(&section) {
            subtasks.push(section);
            continue;
        }
        // `#### Must-run commands` is a bullet that is written as a heading.
        let heading = format!("{}:\n\n{}", section.heading, section.bullets.join("\n"));
        let bullets = if is_must_run(&heading) {
            vec![heading]
        } else {
            section.bullets
        };
        let found = bullets.into_iter().filter(|bullet| is_must_run(bullet));
        match subtasks.last_mut() {
            Some(above) => above.bullets.extend(found),
            None => must_run.extend(found),
        }
    }
    if let Some(first) = subtasks.first_mut() {
        first.bullets.extend(must_run);
    }
    subtasks
}
