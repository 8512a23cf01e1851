//! The gates after stages 3 and 5: the checks of the file of questions and of the requirements document.
//!
//! A finding has its line. One that blocks becomes a question to the user; the others are told.

mod questions;

use std::collections::HashMap;

use claudex_loop::text;
use serde_json::Value as Json;

use questions::{Question, questions};

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
/// The fewest bytes of a file that is not read.
const TOO_MANY_BYTES: usize = MAX_BYTES + 1;
/// The most findings of a file.
const MAX_FINDINGS: usize = 100;
/// The fewest boxes of a question.
const MIN_BOXES: usize = 3;
/// The smallest share of the expected ThinkDeep calls without a finding, in per cent.
const MIN_DEPTH_PERCENT: f64 = 60.0;

/// The result of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    /// The findings.
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
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: &'static str,
}

impl Gate {
    /// Returns whether the pipeline may go on.
    pub fn is_open(&self) -> bool {
        !self.findings.iter().any(|one| one.blocking)
    }

    /// Returns a sentence for each finding. What blocks comes first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let (first, rest): (Vec<_>, Vec<_>) = self.findings.iter().partition(|one| one.blocking);
        let line = |one: &GateFinding| {
            format!("{}:{}: {} ({}).", one.file, one.line, one.message, one.help)
        };
        first.into_iter().chain(rest).map(line).collect()
    }
}

/// Checks the file of questions and the flags of stage 3.
pub fn after_questions(file: Option<&[u8]>, round: u32, flags: &Flags) -> Gate {
    let mut page = Page::new(format!("QUESTIONS-{round:03}.md"), file);
    if page.findings.is_empty() {
        page.check_round();
        page.check_questions(&questions(page.text));
    }
    if let Some((expected, share)) = flags.depth()
        && share < MIN_DEPTH_PERCENT
    {
        let message = format!("only {share:.0} % of the {expected} ThinkDeep calls were made");
        let help = "check whether the questions cover what they would have found";
        page.warn(0, message, help);
    }
    page.gate()
}

/// Checks the requirements document and the decision log of stage 5.
pub fn after_validation(requirements: Option<&[u8]>, decisions: Option<&[u8]>) -> Gate {
    let mut page = Page::new("PRD.md".to_owned(), requirements);
    if page.findings.is_empty() {
        page.check_requirements();
    }
    let mut gate = page.gate();
    let problem = match decisions {
        None => "missing",
        Some(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => "empty",
        Some(_) => return gate,
    };
    let mut log = Page::new("decision-log.md".to_owned(), Some(b""));
    let message = format!("decision-log.md is {problem}");
    log.warn(0, message, "write down what was decided, and why");
    gate.findings.append(&mut log.findings);
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
        (plain(&name.replace('&', "")).replace(' ', "_"), status)
    })
}

/// A file that a gate reads.
struct Page<'t> {
    name: String,
    /// The text, empty if it cannot be read.
    text: &'t str,
    findings: Vec<GateFinding>,
}

impl<'t> Page<'t> {
    fn new(name: String, bytes: Option<&'t [u8]>) -> Self {
        let (problem, help, text) = match bytes.map(|bytes| (bytes.len(), str::from_utf8(bytes))) {
            None => ("is missing", "write it", ""),
            Some((TOO_MANY_BYTES.., _)) => ("has more than 256 KiB", "write less", ""),
            Some((_, Err(_))) => ("is not UTF-8", "write it again, as UTF-8", ""),
            Some((_, Ok(text))) => ("", "", text),
        };
        let mut page = Self {
            name,
            text: text.strip_prefix('\u{feff}').unwrap_or(text),
            findings: Vec::new(),
        };
        if !problem.is_empty() {
            page.block(0, format!("{} {problem}", page.name), help);
        }
        page
    }

    /// Returns the line of a byte.
    fn line(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    fn add(&mut self, blocking: bool, at: usize, message: &str, help: &'static str) {
        self.findings.push(GateFinding {
            blocking,
            file: self.name.clone(),
            line: self.line(at),
            message: text::one_line(message, 300),
            help,
        });
    }

    fn block(&mut self, at: usize, message: impl AsRef<str>, help: &'static str) {
        self.add(true, at, message.as_ref(), help);
    }

    fn warn(&mut self, at: usize, message: impl AsRef<str>, help: &'static str) {
        self.add(false, at, message.as_ref(), help);
    }

    fn gate(mut self) -> Gate {
        self.findings.sort_by_key(|one| one.line);
        Gate {
            findings: self.findings,
        }
    }

    fn check_round(&mut self) {
        let keys = frontmatter(self.text);
        let message = match keys.map(|keys| keys.get("round_number").and_then(Json::as_u64)) {
            Some(Some(1..)) => return,
            Some(_) => "the frontmatter has no `round_number`",
            None => "the file has no frontmatter that can be read",
        };
        let help =
            "begin the file with `---`, `round_number: 1` with the number of the round, and `---`";
        self.block(0, message, help);
    }

    fn check_questions(&mut self, questions: &[Question]) {
        if questions.is_empty() {
            let help = "write each question as `## Q-PREFIX001: title [CRITICAL]`, with its answers as `- [ ] …`";
            self.block(0, "the file has no question", help);
            return;
        }
        let mut ids = HashMap::new();
        for question in questions {
            if self.findings.len() >= MAX_FINDINGS {
                break;
            }
            let at = question.at;
            let id = text::shown(&question.id);
            if let Some(first) = ids.insert(question.id.as_str(), at) {
                let line = self.line(first);
                let message = format!("the question {id} is there twice, first in line {line}");
                self.block(at, message, "give this one an id of its own");
            }
            if question.boxes < MIN_BOXES {
                let boxes = question.boxes;
                let message = format!("the question {id} has {boxes} of {MIN_BOXES} boxes");
                self.block(
                    at,
                    message,
                    "write three answers or more, each as `- [ ] …`",
                );
            }
            for box_at in question.broken.iter().take(MAX_FINDINGS) {
                let message = format!("a box of the question {id} is broken");
                let help = "write `- [ ] …`, or `- [x] …` if it is chosen";
                self.block(*box_at, message, help);
            }
        }
        if !questions.iter().any(|question| question.is_critical) {
            let help =
                "mark the questions that must be answered: `## Q-PREFIX001: title [CRITICAL]`";
            self.warn(0, "no question is CRITICAL", help);
        }
        for section in REQUIRED_SECTIONS {
            let name = plain(section);
            if !questions.iter().any(|one| has_words(&one.words, &name)) {
                let help = "ask about it, unless nothing is open there";
                self.warn(0, format!("no question is about {section}"), help);
            }
        }
    }

    fn check_requirements(&mut self) {
        let outline = outline(self.text);
        for name in REQUIRED_SECTIONS {
            match find_section(&outline, name) {
                None => {
                    let help = "write its heading, and the section below it";
                    self.block(0, format!("PRD.md has no section {name}"), help);
                }
                Some((at, false)) => {
                    let message = format!("the section {name} has no text");
                    self.block(at, message, "write the section");
                }
                Some((_, true)) => {}
            }
        }

        let mut technical: Vec<&str> = TECHNICAL_WORDS.split_whitespace().collect();
        for (at, line, _) in lines(self.text, 0) {
            for word in line.split(|one: char| !one.is_alphanumeric()) {
                let before = technical.len();
                // Each word is reported once.
                technical.retain(|one| !one.eq_ignore_ascii_case(word));
                if technical.len() < before {
                    let message = format!("“{word}” is a technical word");
                    self.warn(at, message, "say what people can do with it");
                }
            }
        }
    }
}

/// A heading of a document.
struct Heading {
    at: usize,
    name: String,
    /// Whether there is text before the next heading of its level.
    has_text: bool,
}

/// Returns the byte of the first heading of a section, and whether there is text below one of them.
fn find_section(outline: &[Heading], name: &str) -> Option<(usize, bool)> {
    let name = plain(name);
    let named = |heading: &&Heading| has_words(&heading.name, &name);
    let first = outline.iter().find(named)?;
    let has_text = outline.iter().filter(named).any(|heading| heading.has_text);
    Some((first.at, has_text))
}

fn outline(text: &str) -> Vec<Heading> {
    let mut all: Vec<Heading> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, line, is_code) in lines(text, body_start(text)) {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if level > 0 && title.starts_with(' ') && !is_code {
            open.retain(|(above, _)| *above < level);
            open.push((level, all.len()));
            all.push(Heading {
                at,
                name: plain(title),
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
fn plain(text: &str) -> String {
    let text = text.replace('&', " and ").to_lowercase();
    let words = text.split(|one: char| !one.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether a plain text has these words in it.
fn has_words(text: &str, words: &str) -> bool {
    format!(" {text} ").contains(&format!(" {words} "))
}
