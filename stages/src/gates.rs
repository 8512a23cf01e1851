//! The gates after stages 3 and 5: the checks of the file of questions and of the requirements document.
//!
//! A finding has its line. One that blocks becomes a question to the user, who is only notified of the others.

use std::collections::HashSet;

use claudex_loop::text;
use serde_json::Value as Json;

use crate::contract::{Flags, MAX_BYTES, body_start, frontmatter, lines};

/// The sections that need questions and that the requirements document needs.
pub const REQUIRED_SECTIONS: [&str; 8] = [
    "Product Definition",
    "Target Users",
    "Problem Analysis",
    "Value Proposition",
    "Core Workflows",
    "Feature Inventory",
    "Business Constraints",
    "Assumptions & Risks",
];
/// The sections of the requirements document that its gate does not ask for.
const OPTIONAL_SECTIONS: [&str; 2] = ["Executive Summary", "Screen Inventory"];
/// The technical words, which requirements avoid.
const TECHNICAL_WORDS: &str = "api apis backend codebase database databases docker endpoint endpoints \
    framework frontend graphql http json kubernetes microservice microservices middleware nosql sdk \
    sql webhook webhooks xml";
/// The most questions that are checked.
const MAX_QUESTIONS: usize = 100;
/// The longest part of a heading that is compared, in bytes.
const MAX_HEADING_BYTES: usize = 200;
/// The longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;
/// The fewest boxes of a question.
const MIN_BOXES: usize = 3;
/// The smallest share of the expected ThinkDeep calls without a finding, in per cent.
const MIN_DEPTH_PERCENT: f64 = 60.0;

/// The result of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    /// The name of the file that is checked.
    file: String,
    /// The findings, in the order of the file.
    pub findings: Vec<GateFinding>,
}

/// One finding of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateFinding {
    /// Whether the pipeline may not continue.
    pub blocking: bool,
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The problem, and the text to write instead.
    pub message: String,
}

/// Checks the file of questions and the flags of stage 3.
pub fn after_questions(file: Option<&[u8]>, round: u32, flags: &Flags) -> Gate {
    let mut gate = Gate::new(format!("QUESTIONS-{round:03}.md"));
    if let Some(text) = gate.read(file) {
        gate.check_questions(text);
    }
    if let Some((expected, share)) = flags.depth()
        && share < MIN_DEPTH_PERCENT
    {
        let problem = format!("only {share:.0} % of the {expected} ThinkDeep calls were made");
        gate.warn(
            1,
            problem,
            "check whether the questions cover what they would have found",
        );
    }
    gate.findings.sort_by_key(|one| one.line);
    gate
}

/// Checks the requirements document and the decision log of stage 5.
pub fn after_validation(requirements: Option<&[u8]>, decisions: Option<&[u8]>) -> Gate {
    let mut gate = Gate::new("PRD.md".to_owned());
    if let Some(text) = gate.read(requirements) {
        gate.check_requirements(text);
    }
    gate.findings.sort_by_key(|one| one.line);
    let problem = match decisions {
        None => "decision-log.md is missing",
        Some(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => "decision-log.md is empty",
        Some(_) => return gate,
    };
    gate.file = "decision-log.md".to_owned();
    gate.warn(1, problem, "write down what was decided, and why");
    gate
}

/// Returns the status of each section by its key in the state: COMPLETE with text, PLACEHOLDER with only a
/// heading, or MISSING.
pub(crate) fn sections(requirements: &[u8]) -> impl Iterator<Item = (String, &'static str)> {
    let outline = outline(&String::from_utf8_lossy(requirements));
    let all = REQUIRED_SECTIONS.into_iter().chain(OPTIONAL_SECTIONS);
    all.map(move |name| {
        let status = match find_section(&outline, name) {
            None => "MISSING",
            Some((_, true)) => "COMPLETE",
            Some((_, false)) => "PLACEHOLDER",
        };
        (words(&name.replace('&', "")).replace(' ', "_"), status)
    })
}

impl Gate {
    fn new(file: String) -> Self {
        let findings = Vec::new();
        Self { file, findings }
    }

    /// Returns whether the pipeline may go on.
    pub fn is_open(&self) -> bool {
        !self.findings.iter().any(|one| one.blocking)
    }

    /// Returns a sentence for each finding. Blocking ones come first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let (first, rest): (Vec<_>, Vec<_>) = self.findings.iter().partition(|one| one.blocking);
        let line = |one: &GateFinding| format!("{}:{}: {}.", one.file, one.line, one.message);
        first.into_iter().chain(rest).map(line).collect()
    }

    fn warn(&mut self, line: usize, problem: impl AsRef<str>, fix: &str) {
        let message = format!("{}; {fix}", problem.as_ref());
        self.findings.push(GateFinding {
            blocking: false,
            file: self.file.clone(),
            line,
            message: text::one_line(&message, MAX_MESSAGE_CHARS),
        });
    }

    fn block(&mut self, line: usize, problem: impl AsRef<str>, fix: &str) {
        let index = self.findings.len();
        self.warn(line, problem, fix);
        self.findings[index].blocking = true;
    }

    /// Returns the text of the file, or blocks if it cannot be read.
    fn read<'t>(&mut self, file: Option<&'t [u8]>) -> Option<&'t str> {
        let (problem, fix) = match file.map(str::from_utf8) {
            None => ("is missing", "write it"),
            Some(_) if file.is_some_and(|bytes| bytes.len() > MAX_BYTES) => {
                ("has more than 256 KiB", "write less")
            }
            Some(Err(_)) => ("is not UTF-8", "write it again, as UTF-8"),
            Some(Ok(text)) => return Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
        };
        self.block(1, format!("{} {problem}", self.file), fix);
        None
    }

    fn check_questions(&mut self, text: &str) {
        let keys = frontmatter(text);
        let round = keys
            .as_ref()
            .map(|keys| keys.get("round_number").and_then(Json::as_u64));
        let fix =
            "begin the file with `---`, `round_number: 1` with the number of the round, and `---`";
        match round {
            Some(Some(1..)) => {}
            Some(_) => self.block(1, "the frontmatter has no `round_number`", fix),
            None => self.block(1, "the file has no frontmatter that can be read", fix),
        }
        let questions = questions(text);
        if questions.is_empty() {
            let fix = "write each question as `## Q-PREFIX001: title [CRITICAL]`, with its answers as `- [ ] …`";
            self.block(1, "the file has no question", fix);
            return;
        }
        let mut ids = HashSet::new();
        for question in questions.iter().take(MAX_QUESTIONS) {
            let line = question.line;
            let id = question.heading.split([':', ' ']).next();
            let name = format!("the question {}", text::shown(id.unwrap_or_default()));
            if !ids.insert(id) {
                self.block(
                    line,
                    format!("{name} is there twice"),
                    "give this one an id of its own",
                );
            }
            let lines = question.body.iter();
            let boxes = lines.filter_map(|(line, text)| Some((*line, is_whole_box(text)?)));
            let (whole, broken): (Vec<_>, Vec<_>) = boxes.partition(|(_, is_whole)| *is_whole);
            if whole.len() < MIN_BOXES {
                let problem = format!("{name} has {} of {MIN_BOXES} boxes", whole.len());
                self.block(
                    line,
                    problem,
                    "write three answers or more, each as `- [ ] …`",
                );
            }
            if let Some((line, _)) = broken.first() {
                let fix = "write `- [ ] …`, or `- [x] …` if it is chosen";
                self.block(*line, format!("a box of {name} is broken"), fix);
            }
        }
        if !questions
            .iter()
            .any(|question| question.heading.contains("[CRITICAL]"))
        {
            let fix = "mark those that must be answered: `## Q-PREFIX001: title [CRITICAL]`";
            self.warn(1, "no question is CRITICAL", fix);
        }
        let all_words: Vec<String> = questions.iter().map(Question::words).collect();
        for section in REQUIRED_SECTIONS {
            let name = words(section);
            if !all_words.iter().any(|words| has_words(words, &name)) {
                let fix = "ask about it, unless nothing is open there";
                self.warn(1, format!("no question is about {section}"), fix);
            }
        }
    }

    fn check_requirements(&mut self, text: &str) {
        let outline = outline(text);
        for name in REQUIRED_SECTIONS {
            match find_section(&outline, name) {
                None => {
                    let fix = "write its heading, and the section below it";
                    self.block(1, format!("PRD.md has no section {name}"), fix);
                }
                Some((line, false)) => {
                    self.block(
                        line,
                        format!("the section {name} has no text"),
                        "write the section",
                    );
                }
                Some((_, true)) => {}
            }
        }

        let mut technical: Vec<&str> = TECHNICAL_WORDS.split_whitespace().collect();
        for (number, line, _) in lines(text, 0) {
            for word in line.split(|one: char| !one.is_alphanumeric()) {
                let is_word = |one: &&str| one.eq_ignore_ascii_case(word);
                // Each word is reported once.
                if let Some(at) = technical.iter().position(is_word) {
                    technical.swap_remove(at);
                    let problem = format!("“{word}” is a technical word");
                    self.warn(number, problem, "say what people can do with it");
                }
            }
        }
    }
}

struct Heading {
    line: usize,
    name: String,
    /// Whether there is text before the next heading of its level.
    has_text: bool,
}

/// Returns the line of the first heading of a section, and whether there is text below one of them.
fn find_section(outline: &[Heading], name: &str) -> Option<(usize, bool)> {
    let name = words(name);
    let named = |heading: &&Heading| has_words(&heading.name, &name);
    let first = outline.iter().find(named)?;
    let has_text = outline.iter().filter(named).any(|heading| heading.has_text);
    Some((first.line, has_text))
}

fn outline(text: &str) -> Vec<Heading> {
    let mut all: Vec<Heading> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (number, line, is_code) in lines(text, body_start(text)) {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if level > 0 && title.starts_with(' ') && !is_code {
            open.retain(|(above, _)| *above < level);
            open.push((level, all.len()));
            all.push(Heading {
                line: number,
                name: words(title),
                has_text: false,
            });
        } else if !line.trim().is_empty() && !line.trim_start().starts_with("<!--") {
            for (_, index) in &open {
                all[*index].has_text = true;
            }
        }
    }
    all
}

/// Returns the words of a text in lower case, with one space between them and `and` for `&`.
fn words(text: &str) -> String {
    let lower = text.replace('&', " and ").to_lowercase();
    let parts = lower.split(|one: char| !one.is_alphanumeric());
    let words: Vec<&str> = parts.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn has_words(text: &str, words: &str) -> bool {
    format!(" {text} ").contains(&format!(" {words} "))
}

/// A question of the file: its heading, the one above it, and the lines below it with their numbers.
struct Question<'t> {
    line: usize,
    heading: &'t str,
    above: &'t str,
    body: Vec<(usize, &'t str)>,
}

impl Question<'_> {
    fn words(&self) -> String {
        let body = self.body.iter().map(|(_, line)| *line);
        let lines = [self.above, self.heading].into_iter().chain(body);
        lines.map(words).collect::<Vec<_>>().join(" ")
    }
}

/// Reads the questions: each from its heading to the next one of its level. Code is skipped.
fn questions(text: &str) -> Vec<Question<'_>> {
    let mut questions: Vec<Question<'_>> = Vec::new();
    let mut above = "";
    let mut is_open = false;
    let body = lines(text, body_start(text));
    for (number, line, _) in body.filter(|(_, _, is_code)| !is_code) {
        if let Some(heading) = line.strip_prefix("# ").or(line.strip_prefix("## ")) {
            is_open = line.starts_with("## Q-");
            if is_open {
                questions.push(Question {
                    line: number,
                    heading: heading.trim(),
                    above,
                    body: Vec::new(),
                });
            } else {
                above = &heading[..heading.floor_char_boundary(MAX_HEADING_BYTES)];
            }
        } else if let Some(question) = questions.last_mut().filter(|_| is_open) {
            question.body.push((number, line));
        }
    }
    questions
}

/// Returns whether the box of a line is whole, such as `- [ ] a`, or broken, such as `- []`, `- [y]` and `-[ ]`.
/// Returns `None` if the line has no box.
fn is_whole_box(line: &str) -> Option<bool> {
    let item = line.trim_start().strip_prefix(['-', '*', '+'])?;
    let label = item.trim_start_matches(' ').strip_prefix('[')?;
    let Some((inside, behind)) = label.split_once(']') else {
        return label.starts_with([' ', 'x']).then_some(false);
    };
    // A link, or words in brackets, are no box.
    if behind.starts_with(['(', '[', ':']) || inside.chars().count() > 3 {
        return None;
    }
    let is_marked = matches!(inside, " " | "x" | "X") && behind.starts_with([' ', '\t']);
    Some(is_marked && item.starts_with(' '))
}
