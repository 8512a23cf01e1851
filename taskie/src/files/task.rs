//! `task-K.md`: subtasks, each with its fields, and the commands that have to run.

use claudex_loop::text;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::markdown::{Lines, unknown, without_marks, words};
use super::name::parse_number;
use super::{Parsed, Problem, digest};

words! {
    /// Says how far a subtask is.
    Status {
        /// It is to be done.
        Pending = "pending",
        /// It waits for a review.
        AwaitingReview = "awaiting-review",
        /// A review found something in it.
        ReviewChangesRequested = "review-changes-requested",
        /// It is done.
        Completed = "completed",
        /// It is not to be done now.
        Postponed = "postponed",
    }
}

/// The name of the field that holds the commands.
const MUST_RUN: &str = "Must-run commands";
/// The names of the fields that change while a task is done.
const PROGRESS: [&str; 2] = ["Status", "Git commit hash"];

/// A task's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFile {
    /// The subtasks, in the order of the file: at least one.
    pub subtasks: Vec<Subtask>,
}

/// A subtask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtask {
    /// Its number within the task.
    pub number: u64,
    /// What stands behind the number.
    pub title: String,
    /// How far it is.
    pub status: Status,
    /// All of its fields, in the order of the file.
    pub fields: Vec<Field>,
}

/// A bullet `- **Name**: value`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// The text in bold.
    pub name: String,
    /// What follows, and what stands in nested bullets, a line each.
    pub value: String,
    /// The commands that the value names: its code spans and the lines of its fences, but no span in a sentence.
    pub commands: Vec<String>,
    /// The text since the last command, on its line.
    since: String,
    /// Whether its line has a command.
    has_line_command: bool,
    line: Option<usize>,
}

impl TaskFile {
    /// Reads the file of a task.
    ///
    /// # Errors
    /// Everything that is wrong with it, with lines.
    pub fn parse(file: &str, task: u64, text: &str) -> Parsed<Self> {
        without_marks(file, text)?;
        let mut problems = Vec::new();
        let mut subtasks = Vec::new();
        let sections = sections(text);
        for Section {
            line,
            heading,
            fields,
        } in sections
        {
            let Some((number, title)) = subtask(&heading, task) else {
                let found = text::one_line(&text::shown(&heading), 60);
                let what = format!(
                    "“{found}” is no subtask of task {task}; write ### Subtask {task}.1: title"
                );
                problems.push(Problem::new(file, line, what));
                continue;
            };
            let field = fields.iter().find(|field| field.is("Status"));
            let found = field.map_or("", |field| field.value.as_str());
            let Some(status) = Status::parse(found) else {
                let line = field.map_or(line, |field| field.line);
                let what = unknown(
                    &format!("the status of subtask {task}.{number}"),
                    found,
                    Status::WORDS,
                );
                problems.push(Problem::new(file, line, what));
                continue;
            };
            subtasks.push(Subtask {
                number,
                title: title.to_owned(),
                status,
                fields,
            });
        }
        if subtasks.is_empty() && problems.is_empty() {
            let what = format!(
                "it has no subtask; write ### Subtask {task}.1: title, with a bullet - **Status**: pending below"
            );
            problems.push(Problem::new(file, None, what));
        }
        match problems.is_empty() {
            true => Ok(Self { subtasks }),
            false => Err(problems),
        }
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

    /// Returns the digest of what a review of the tasks looks at: everything but how far the subtasks are.
    pub fn digest(&self) -> String {
        let mut text = String::new();
        for one in &self.subtasks {
            text += &format!("{} {}\n", one.number, one.title);
            let fields = one.fields.iter();
            for field in fields.filter(|field| !PROGRESS.iter().any(|name| field.is(name))) {
                text += &format!("{}: {}\n", field.name, field.value);
            }
        }
        digest(&text)
    }

    /// Returns whether all subtasks are completed.
    pub fn is_completed(&self) -> bool {
        self.completed() == self.subtasks.len()
    }

    /// Returns the commands that have to run, in the order of the file, each once.
    pub fn must_run(&self) -> Vec<String> {
        let mut commands = Vec::new();
        let fields = self.subtasks.iter().flat_map(|one| &one.fields);
        for command in fields
            .filter(|field| field.is(MUST_RUN))
            .flat_map(|field| &field.commands)
        {
            if !commands.contains(command) {
                commands.push(command.clone());
            }
        }
        commands
    }
}

impl Field {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Adds a code span. It is a command if it begins its line, be it after a word such as “Run”, or follows another command. In
    /// parentheses, or after a sentence, it belongs to the prose.
    fn add_span(&mut self, span: &str) {
        const BETWEEN: [&str; 9] = [
            "and", "then", "also", "run", "or", "plus", "after", "that", "finally",
        ];
        let text = without_parentheses(&self.since);
        let is_command = text.is_some_and(|text| {
            let mut words = text
                .split(|letter: char| !letter.is_alphanumeric())
                .filter(|word| !word.is_empty());
            match self.has_line_command {
                true => words.all(|word| BETWEEN.contains(&&*word.to_lowercase())),
                false => !words.any(|word| NONE.contains(&&*word.to_lowercase())),
            }
        });
        if is_command && !span.trim().is_empty() {
            self.commands.push(span.trim().to_owned());
            self.has_line_command = true;
            self.since.clear();
        } else {
            // Whatever follows belongs to the same sentence.
            self.since.push_str("span");
        }
    }

    /// Adds the lines of a fence. A comment is no command, and a prompt no part of one.
    fn add_fence(&mut self, text: &str) {
        let joined = text.replace("\\\n", " ");
        let lines = joined.lines().map(str::trim);
        let lines = lines.map(|line| line.strip_prefix("$ ").unwrap_or(line).trim());
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        self.commands.extend(lines.map(str::to_owned));
    }

    /// Begins another line of the value.
    fn end_line(&mut self) {
        self.since.clear();
        self.has_line_command = false;
    }
}

/// The words that say that there is no command.
const NONE: [&str; 3] = ["none", "no", "not"];

/// Returns a text without what stands in parentheses, or `None` if one is still open.
fn without_parentheses(text: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut outside = String::new();
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            letter if depth == 0 => outside.push(letter),
            _ => {}
        }
    }
    (depth == 0).then_some(outside)
}

/// Returns the number and the title of a heading that is one of the task's subtasks, of any level.
fn subtask(heading: &str, task: u64) -> Option<(u64, &str)> {
    let rest = heading.strip_prefix("Subtask ")?.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, title) = rest.split_at(end.unwrap_or(rest.len()));
    let (of, number) = number.trim_end_matches('.').split_once('.')?;
    let is_own = parse_number(of)? == task;
    let title = title
        .trim_start_matches([':', ' ', '-', '–', '—'])
        .trim_end();
    is_own.then_some((parse_number(number)?, title))
}

/// A heading that begins as a subtask's does, and the fields below it.
struct Section {
    line: Option<usize>,
    heading: String,
    fields: Vec<Field>,
}

/// Returns the sections of the subtasks. Other headings, and what stands outside of bullets, say nothing.
fn sections(text: &str) -> Vec<Section> {
    let lines = Lines::of(text);
    let mut sections: Vec<Section> = Vec::new();
    let mut heading: Option<Section> = None;
    // Whether the heading above is a subtask's, how deep in items and quotes we are, whether in a field's name.
    let mut is_subtask = false;
    let mut depth = 0_usize;
    let mut in_name = false;
    let mut in_fence = false;
    let mut field: Option<Field> = None;
    for (event, at) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) if depth == 0 => {
                heading = Some(Section {
                    line: Some(lines.at(at.start)),
                    heading: String::new(),
                    fields: Vec::new(),
                });
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(section) = heading.take() {
                    is_subtask = section.heading.starts_with("Subtask ");
                    sections.extend(is_subtask.then_some(section));
                }
            }
            Event::Start(Tag::Item) => {
                depth += 1;
                match &mut field {
                    None if depth == 1 => {
                        field = Some(Field {
                            line: Some(lines.at(at.start)),
                            ..Field::default()
                        });
                    }
                    Some(field) => {
                        field.value.push('\n');
                        field.end_line();
                    }
                    None => {}
                }
            }
            Event::End(TagEnd::Item) => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some(field) = field.take().filter(|field| !field.name.is_empty())
                    && is_subtask
                    && let Some(section) = sections.last_mut()
                {
                    section.fields.push(field.trimmed());
                }
            }
            Event::Start(Tag::BlockQuote(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_)) => depth = depth.saturating_sub(1),
            Event::Start(Tag::Strong) => {
                in_name = field
                    .as_ref()
                    .is_some_and(|field| field.name.is_empty() && field.value.trim().is_empty());
            }
            Event::End(TagEnd::Strong) => in_name = false,
            Event::Text(said) => match (&mut heading, &mut field) {
                (Some(section), _) => section.heading.push_str(&said),
                (None, Some(field)) if in_name => field.name.push_str(&said),
                (None, Some(field)) => {
                    field.value.push_str(&said);
                    match in_fence {
                        true => field.add_fence(&said),
                        false => field.since.push_str(&said),
                    }
                }
                (None, None) => {}
            },
            Event::Code(said) => match (&mut heading, &mut field) {
                (Some(section), _) => section.heading.push_str(&said),
                (None, Some(field)) => {
                    field.value.push_str(&said);
                    field.add_span(&said);
                }
                (None, None) => {}
            },
            Event::SoftBreak => {
                if let Some(field) = &mut field {
                    field.value.push('\n');
                    field.since.push(' ');
                }
            }
            Event::HardBreak | Event::Start(Tag::CodeBlock(_) | Tag::Paragraph) => {
                in_fence = matches!(event, Event::Start(Tag::CodeBlock(_)));
                if let Some(field) = &mut field {
                    field.value.push('\n');
                    field.end_line();
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                in_fence = false;
                if let Some(field) = &mut field {
                    field.since.clear();
                    field.has_line_command = true;
                }
            }
            _ => {}
        }
    }
    sections
}

impl Field {
    /// Returns the field without the colon and the white space around it.
    fn trimmed(mut self) -> Self {
        self.name = self.name.trim().trim_end_matches(':').trim_end().to_owned();
        let value = self.value.trim_start();
        let value = value.strip_prefix(':').unwrap_or(value);
        let lines = value.lines().map(str::trim).filter(|line| !line.is_empty());
        self.value = lines.collect::<Vec<_>>().join("\n");
        self
    }
}
