//! The gates after stages 3 and 5: the checks of the questions and of the requirements document.
//!
//! A finding that blocks becomes a question to the user, who is only notified of the others.

use std::collections::HashSet;

use claudex_loop::store::to_count;
use claudex_loop::text;
use serde_json::Value as Json;

use crate::contract::{Flags, Keys, MAX_BYTES, Section, find_row, frontmatter, sections};

/// The findings: code, severity, problem and fix.
const FINDINGS: &str = include_str!("gates.txt");
/// The sections that need questions and that requirements need.
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
/// The sections of the requirements that the gate does not need.
const OPTIONAL_SECTIONS: [&str; 2] = ["Executive Summary", "Screen Inventory"];
/// The technical words, which requirements avoid.
const TECHNICAL_WORDS: &str = "api apis backend codebase database databases docker endpoint endpoints \
    framework frontend graphql http json kubernetes microservice microservices middleware nosql sdk \
    sql webhook webhooks xml";
const MAX_MESSAGE_CHARS: usize = 300;
const MIN_BOXES: usize = 3;
/// The smallest share of the expected ThinkDeep calls without a finding, in per cent.
const MIN_DEPTH_PERCENT: f64 = 60.0;

/// The result of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    /// The header of the question about the findings.
    pub(crate) header: &'static str,
    file: String,
    /// The findings with which the pipeline may not continue: sentences with file and line.
    pub blocking: Vec<String>,
    /// The other findings.
    pub warnings: Vec<String>,
}

/// Checks the file of questions and the flags of stage 3.
pub fn after_questions(file: Option<&[u8]>, round: u32, flags: &Flags) -> Gate {
    let name = format!("requirements/working/QUESTIONS-{round:03}.md");
    let mut gate = Gate::new("Questions", name);
    if let Some(text) = gate.read(file) {
        gate.check_questions(text);
    }
    let depth = flags.depth();
    if let Some((expected, share)) = depth.filter(|(_, share)| *share < MIN_DEPTH_PERCENT) {
        gate.add(1, "shallow", &format!("{share:.0} % of the {expected}"));
    }
    gate
}

/// Checks the requirements document and the decision log of stage 5.
pub fn after_validation(requirements: Option<&[u8]>, decisions: Option<&[u8]>) -> Gate {
    let mut gate = Gate::new("PRD", "requirements/PRD.md".to_owned());
    if let Some(text) = gate.read(requirements) {
        gate.check_requirements(text);
    }
    let problem = match decisions {
        None => "missing",
        Some(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => "empty",
        Some(_) => return gate,
    };
    gate.file = "requirements/decision-log.md".to_owned();
    gate.add(1, "no-log", problem);
    gate
}

/// Returns each section's status by its key: COMPLETE, PLACEHOLDER (only a heading) or MISSING.
pub(crate) fn section_statuses(requirements: &[u8]) -> Keys {
    let text = String::from_utf8_lossy(requirements);
    let sections = sections(&text, usize::MAX);
    let all = REQUIRED_SECTIONS.into_iter().chain(OPTIONAL_SECTIONS);
    let statuses = all.map(|name| {
        let status = match find_section(&sections, name) {
            None => "MISSING",
            Some((_, true)) => "COMPLETE",
            Some((_, false)) => "PLACEHOLDER",
        };
        let key = words(&name.replace('&', "")).replace(' ', "_");
        (key, Json::from(status))
    });
    statuses.collect()
}

impl Gate {
    fn new(header: &'static str, file: String) -> Self {
        Self {
            header,
            file,
            ..Self::default()
        }
    }

    /// Returns whether the pipeline may continue.
    pub fn is_open(&self) -> bool {
        self.blocking.is_empty()
    }

    /// Returns all findings. Blocking ones come first.
    pub(crate) fn lines(&self) -> Vec<String> {
        [&*self.blocking, &*self.warnings].concat()
    }

    /// Adds a finding of `gates.txt` at a line.
    fn add(&mut self, line: usize, code: &str, subject: &str) {
        let (severity, text) = find_row(FINDINGS, code);
        let message = text::one_line(&text.replace("{}", subject), MAX_MESSAGE_CHARS);
        let list = match severity {
            "blocks" => &mut self.blocking,
            _ => &mut self.warnings,
        };
        list.push(format!("{}:{line}: {message}.", self.file));
    }

    /// Returns the text of the file, or blocks if it cannot be read.
    fn read<'t>(&mut self, file: Option<&'t [u8]>) -> Option<&'t str> {
        let code = match file.map(str::from_utf8) {
            None => "missing",
            Some(_) if file.is_some_and(|bytes| bytes.len() > MAX_BYTES) => "too-large",
            Some(Err(_)) => "not-utf8",
            Some(Ok(text)) => return Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
        };
        self.add(1, code, "");
        None
    }

    fn check_questions(&mut self, text: &str) {
        let keys = frontmatter(text);
        match keys.map(|keys| keys.get("round_number").and_then(to_count)) {
            Some(Some(1..)) => {}
            Some(_) => self.add(1, "no-round", ""),
            None => self.add(1, "no-frontmatter", ""),
        }
        let mut ids = HashSet::new();
        let mut is_any_critical = false;
        // The headings, and the lines of the questions.
        let mut all_words = String::new();
        for section in sections(text, 2) {
            all_words += &format!(" {} ", words(section.heading));
            if section.level < 2 || !section.heading.starts_with("Q-") {
                continue;
            }
            is_any_critical |= section.heading.contains("[CRITICAL]");
            all_words.extend(section.lines().map(|(_, line)| words(line) + " "));
            let id = section.heading.split([':', ' ']).next().unwrap_or_default();
            let name = format!("the question {}", text::printable(id));
            self.check_question(&section, &name, ids.insert(id));
        }
        if ids.is_empty() {
            return self.add(1, "no-question", "");
        }
        if !is_any_critical {
            self.add(1, "not-critical", "");
        }
        for section in REQUIRED_SECTIONS {
            if !has_words(&all_words, &words(section)) {
                self.add(1, "not-asked", section);
            }
        }
    }

    fn check_question(&mut self, question: &Section<'_>, name: &str, is_new: bool) {
        if !is_new {
            self.add(question.line, "same-id", name);
        }
        let lines = question.lines();
        let boxes = lines.filter_map(|(number, line)| Some((number, is_whole_box(line)?)));
        let (whole, broken): (Vec<_>, Vec<_>) = boxes.partition(|(_, is_whole)| *is_whole);
        if whole.len() < MIN_BOXES {
            let count = format!("{name} has {}", whole.len());
            self.add(question.line, "few-boxes", &count);
        }
        if let Some((line, _)) = broken.first() {
            self.add(*line, "broken-box", name);
        }
    }

    fn check_requirements(&mut self, text: &str) {
        let sections = sections(text, usize::MAX);
        for name in REQUIRED_SECTIONS {
            match find_section(&sections, name) {
                None => self.add(1, "no-section", name),
                Some((line, false)) => self.add(line, "empty-section", name),
                Some((_, true)) => {}
            }
        }
        let mut technical: HashSet<&str> = TECHNICAL_WORDS.split_whitespace().collect();
        for (line, number) in text.lines().zip(1..) {
            for word in line.split(|one: char| !one.is_alphanumeric()) {
                // Each word is reported once.
                if technical.remove(&*word.to_ascii_lowercase()) {
                    self.add(number, "technical-word", word);
                }
            }
        }
    }
}

/// Returns the line of the first heading with this name, and whether text follows one of them.
fn find_section(sections: &[Section<'_>], name: &str) -> Option<(usize, bool)> {
    let name = words(name);
    let is_text = |line: &str| {
        let text = line.trim();
        !text.is_empty() && !text.starts_with("<!--")
    };
    let mut first = None;
    let mut has_text = false;
    // The level of the heading above the sections.
    let mut level = usize::MAX;
    for section in sections {
        if has_words(&words(section.heading), &name) {
            first = first.or(Some(section.line));
            level = section.level;
        } else if section.level <= level {
            level = usize::MAX;
        }
        has_text |= level != usize::MAX && section.body.lines().any(is_text);
    }
    first.map(|line| (line, has_text))
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

/// Returns whether a line's box is whole, such as `- [ ] a`, or broken, such as `- []`, `- [y]` and
/// `-[ ]`. Returns `None` if the line has no box.
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
