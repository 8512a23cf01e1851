//! What has to be right before the pipeline goes on behind stages 3 and 5: the file of questions, and the document of requirements.
//!
//! A gate reads Markdown and says what is missing, each finding with its line. One that blocks is a question to the person; the others
//! are said. It reads no file and moves nothing.

mod questions;

use std::collections::HashMap;

use claudex_loop::text;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde::Serialize;

use questions::{Question, questions};

use crate::contract::{Flags, body_start, frontmatter};

/// Sections that questions are asked about, and that the document of requirements has.
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
/// The words of how something is built, which requirements do without.
const TECHNICAL_WORDS: &str = "api apis backend codebase database databases docker endpoint endpoints \
    framework frontend graphql http json kubernetes microservice microservices middleware nosql sdk \
    sql webhook webhooks xml";
/// The most bytes of a file that are read.
const MOST_BYTES: usize = 256 * 1024;
/// The most findings of a file: beyond that it is beyond help.
const MOST_FINDINGS: usize = 100;
/// How many boxes a question has at least.
const LEAST_BOXES: usize = 3;
/// Below this share of the calls that were expected, in per cent, it is said.
const LEAST_COMPLETION: f64 = 60.0;

/// What a gate found in the files that it reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// What it found, by file and line.
    pub findings: Vec<GateFinding>,
}

/// One finding of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateFinding {
    /// Whether the pipeline waits for it.
    pub blocking: bool,
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl Gate {
    /// Returns whether the pipeline may go on.
    pub fn is_open(&self) -> bool {
        !self.findings.iter().any(|one| one.blocking)
    }
}

/// Looks at the file of questions that stage 3 wrote, and at its flags.
pub fn after_questions(file: Option<&[u8]>, round: u32, flags: &Flags) -> Gate {
    let name = format!("QUESTIONS-{round:03}.md");
    let mut page = Page::new(&name, file);
    if let Some(text) = page.text {
        page.check_round();
        let questions = questions(text);
        page.check_questions(&questions);
        page.check_sections(&questions);
    }
    if let Some((expected, share)) = flags.depth()
        && share < LEAST_COMPLETION
    {
        let message = format!("{share:.0} % of the {expected} calls to think deeply were made");
        page.say(
            0,
            message,
            "look whether what they would have found is asked",
        );
    }
    page.gate()
}

/// Looks at the document of requirements and at the decisions that stage 5 wrote, unless it decided NOT_READY.
pub fn after_validation(requirements: Option<&[u8]>, decisions: Option<&[u8]>) -> Gate {
    let mut page = Page::new("PRD.md", requirements);
    if let Some(text) = page.text {
        page.check_requirements(text);
    }
    let mut gate = page.gate();
    let is_empty = decisions.is_none_or(|bytes| bytes.iter().all(u8::is_ascii_whitespace));
    if is_empty {
        let is = if decisions.is_none() {
            "missing"
        } else {
            "empty"
        };
        gate.findings.push(GateFinding {
            blocking: false,
            file: "decision-log.md".to_owned(),
            line: 1,
            message: format!("decision-log.md is {is}"),
            help: "write down what was decided, and why".to_owned(),
        });
    }
    gate
}

/// Returns how far each section of the document of requirements is, by its key in the state: COMPLETE with text, PLACEHOLDER with its
/// heading alone, or MISSING.
pub fn sections(requirements: &[u8]) -> impl Iterator<Item = (String, &'static str)> {
    let outline = outline(&String::from_utf8_lossy(requirements));
    let all = REQUIRED_SECTIONS.into_iter().chain(OPTIONAL_SECTIONS);
    all.map(move |name| {
        let status = match section(&outline, name) {
            Section::Written => "COMPLETE",
            Section::Empty(_) => "PLACEHOLDER",
            Section::Missing => "MISSING",
        };
        (plain(&name.replace('&', "")).replace(' ', "_"), status)
    })
}

/// A file that a gate reads.
struct Page<'t> {
    name: &'t str,
    text: Option<&'t str>,
    findings: Vec<GateFinding>,
}

impl<'t> Page<'t> {
    fn new(name: &'t str, bytes: Option<&'t [u8]>) -> Self {
        let mut page = Self {
            name,
            text: None,
            findings: Vec::new(),
        };
        match bytes.map(|bytes| (bytes.len() <= MOST_BYTES, std::str::from_utf8(bytes))) {
            None => page.block(0, format!("{name} is missing"), "write it"),
            Some((false, _)) => {
                page.block(0, format!("{name} has more than 256 KiB"), "write less")
            }
            Some((_, Err(_))) => {
                page.block(0, format!("{name} is not UTF-8"), "write it anew, as UTF-8")
            }
            Some((true, Ok(text))) => {
                page.text = Some(text.strip_prefix('\u{feff}').unwrap_or(text))
            }
        }
        page
    }

    fn line(&self, at: usize) -> usize {
        self.text
            .map_or(1, |text| text[..at].matches('\n').count() + 1)
    }

    fn add(&mut self, blocking: bool, at: usize, message: String, help: &str) {
        let line = self.line(at);
        self.findings.push(GateFinding {
            blocking,
            file: self.name.to_owned(),
            line,
            message: text::one_line(&message, 300),
            help: help.to_owned(),
        });
    }

    fn block(&mut self, at: usize, message: String, help: &str) {
        self.add(true, at, message, help);
    }

    fn say(&mut self, at: usize, message: String, help: &str) {
        self.add(false, at, message, help);
    }

    fn gate(mut self) -> Gate {
        self.findings.sort_by_key(|one| one.line);
        Gate {
            findings: self.findings,
        }
    }

    fn check_round(&mut self) {
        let help =
            "begin the file with `---`, `round_number: 1` with the round’s number, and `---`";
        let frontmatter = self.text.and_then(frontmatter);
        let Some(keys) = frontmatter else {
            self.block(
                0,
                "the file has no frontmatter that can be read".to_owned(),
                help,
            );
            return;
        };
        let round = keys.get("round_number").and_then(serde_json::Value::as_u64);
        if round.is_none_or(|round| round == 0) {
            self.block(0, "the frontmatter has no `round_number`".to_owned(), help);
        }
    }

    fn check_questions(&mut self, questions: &[Question]) {
        if questions.is_empty() {
            let help = "write each question as `## Q-PREFIX001: title [CRITICAL]`, with its answers as `- [ ] …`";
            self.block(0, "the file has no question".to_owned(), help);
            return;
        }
        let mut ids = HashMap::new();
        for question in questions {
            if self.findings.len() >= MOST_FINDINGS {
                break;
            }
            let (at, id) = (question.heading.start, text::shown(&question.id));
            if let Some(first) = ids.insert(question.id.as_str(), at) {
                let line = self
                    .text
                    .map_or(1, |text| text[..first].matches('\n').count() + 1);
                let message = format!("the question {id} is there twice: line {line} has it, too");
                self.block(at, message, "give this one an id of its own");
            }
            if question.boxes < LEAST_BOXES {
                let message = format!(
                    "the question {id} has {} of {LEAST_BOXES} boxes",
                    question.boxes
                );
                self.block(
                    at,
                    message,
                    "write three answers or more, each as `- [ ] …`",
                );
            }
            for box_at in question.broken.iter().take(MOST_FINDINGS) {
                let message = format!("a box of the question {id} is broken");
                self.block(
                    *box_at,
                    message,
                    "write `- [ ] …`, or `- [x] …` where it is chosen",
                );
            }
        }
        if !questions.iter().any(|question| question.is_critical) {
            let help = "mark what has to be answered: `## Q-PREFIX001: title [CRITICAL]`";
            self.say(0, "no question is CRITICAL".to_owned(), help);
        }
    }

    fn check_sections(&mut self, questions: &[Question]) {
        if questions.is_empty() {
            return;
        }
        for section in REQUIRED_SECTIONS {
            let name = plain(section);
            if !questions
                .iter()
                .any(|question| has_words(&question.words, &name))
            {
                let message = format!("no question is about {section}");
                self.say(
                    0,
                    message,
                    "ask about it, or see that nothing is open there",
                );
            }
        }
    }

    fn check_requirements(&mut self, text: &str) {
        let outline = outline(text);
        for name in REQUIRED_SECTIONS {
            match section(&outline, name) {
                Section::Missing => {
                    let message = format!("PRD.md has no section {name}");
                    self.block(0, message, "write its heading, and the section below it");
                }
                Section::Empty(at) => {
                    let message = format!("the section {name} has no text");
                    self.block(at, message, "write the section");
                }
                Section::Written => {}
            }
        }
        let technical_words: Vec<&str> = TECHNICAL_WORDS.split_whitespace().collect();
        let mut found = Vec::new();
        for (event, span) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            let (Event::Text(part) | Event::Code(part)) = event else {
                continue;
            };
            for word in part.split(|one: char| !one.is_alphanumeric()) {
                let is_one = |technical: &&str| technical.eq_ignore_ascii_case(word);
                let Some(technical) = technical_words.iter().find(|one| is_one(one)) else {
                    continue;
                };
                if !found.contains(&technical) {
                    found.push(technical);
                    let message = format!("“{word}” says how it is built");
                    self.say(span.start, message, "say what people can do with it");
                }
            }
        }
    }
}

/// A heading of a document, in its order.
struct Heading {
    at: usize,
    name: String,
    /// Whether anything stands below it, before the next heading of its level.
    has_text: bool,
}

/// How far a section is.
enum Section {
    Missing,
    /// Its heading is here, and nothing below it.
    Empty(usize),
    Written,
}

fn section(outline: &[Heading], name: &str) -> Section {
    let name = plain(name);
    let mut named = outline
        .iter()
        .filter(|heading| has_words(&heading.name, &name));
    match named.clone().next() {
        None => Section::Missing,
        Some(first) if !named.any(|heading| heading.has_text) => Section::Empty(first.at),
        Some(_) => Section::Written,
    }
}

fn outline(text: &str) -> Vec<Heading> {
    let (mut all, mut open) = (Vec::<Heading>::new(), Vec::<(HeadingLevel, usize)>::new());
    let body = body_start(text);
    let mut events = Parser::new_ext(&text[body..], Options::ENABLE_TABLES).into_offset_iter();
    while let Some((event, span)) = events.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let at = span.start + body;
                open.retain(|(above, _)| *above < level);
                open.push((level, all.len()));
                all.push(Heading {
                    at,
                    name: plain(&text[at..span.end + body]),
                    has_text: false,
                });
                events
                    .by_ref()
                    .find(|(event, _)| matches!(event, Event::End(TagEnd::Heading(_))));
            }
            Event::Text(part) | Event::Code(part) if !part.trim().is_empty() => {
                for (_, index) in &open {
                    all[*index].has_text = true;
                }
            }
            _ => {}
        }
    }
    all
}

/// Returns the words of a text in lower case, with one space between them and `and` for `&`.
fn plain(text: &str) -> String {
    let text = text.replace('&', " and ").to_lowercase();
    let words = text
        .split(|one: char| !one.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether a plain text has these words in it.
fn has_words(text: &str, words: &str) -> bool {
    format!(" {text} ").contains(&format!(" {words} "))
}
