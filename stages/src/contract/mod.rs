//! The Summary Contract: the rules of a summary file, and the corrections of a lenient reader.
//!
//! [`read`] returns a [`Finding`] for every broken rule, with its place and the right text, and the
//! corrected summary. A strict reader takes only a file without an error.
//!
//! A summary is YAML between two lines `---`, then Markdown with `## Context for Next Stage` in any
//! case and level. A line or a code fence around a summary breaks no rule.

mod check;
mod file;
mod flags;
mod question;
mod rule;
mod words;
mod yaml;

pub use flags::Flags;
pub use question::{ActionMap, Question, QuestionOption};
pub use rule::{Finding, Lenient, Place, Rule};
pub use words::{
    AnalysisMode, Decision, Dimension, NextAction, PauseType, PrdMode, ResearchMethod, Stage,
    Status,
};

pub use claudex_loop::digest::sha256;
pub(crate) use file::{Section, body_start, sections};
pub(crate) use flags::{problem_of, unquote};
pub(crate) use rule::find_row;
pub(crate) use yaml::frontmatter;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value as Json, json};

use rule::Reader;

/// Keys with their values.
pub type Keys = serde_json::Map<String, Json>;

/// The most bytes of a summary.
pub const MAX_BYTES: usize = 256 * 1024;

/// A file that was read.
#[derive(Debug)]
pub struct Reading {
    /// The broken rules in the order of the file, at most 100.
    pub findings: Vec<Finding>,
    /// The summary that a lenient reader takes, corrected if a rule is broken.
    pub summary: Option<Summary>,
    /// Whether the file is ignored. Any other file without a summary counts as a crash.
    pub is_refused: bool,
}

impl Reading {
    /// Returns whether a strict reader takes the file.
    pub fn is_valid(&self) -> bool {
        !self.findings.iter().any(Finding::is_error)
    }

    /// Returns a line for each finding, with the answer of a lenient reader.
    pub fn lenient_lines(&self) -> Vec<String> {
        self.findings.iter().map(Finding::lenient_line).collect()
    }
}

/// Reads a summary file. `project` and `dispatch` add checks of its paths and ids.
pub fn read(bytes: &[u8], project: Option<&Utf8Path>, dispatch: Option<&Dispatch>) -> Reading {
    let mut reader = Reader {
        project,
        dispatch,
        ..Reader::default()
    };
    let known = dispatch.and_then(|dispatch| dispatch.known.get(&sha256(bytes)));
    if let Some(rule) = known {
        reader.add_at(*rule, Place::START, "the file was there before");
    }
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let summary = match str::from_utf8(text) {
        _ if bytes.len() > MAX_BYTES => reader.fail(Rule::TooLarge, Place::START, ""),
        Ok(text) => reader.read(&file::unwrap(text)),
        Err(error) => {
            let place = Place::from_byte(&String::from_utf8_lossy(text), error.valid_up_to());
            reader.fail(Rule::NotUtf8, place, "")
        }
    };
    let is_crash = reader.has(Lenient::Crash);
    let is_refused = reader.has(Lenient::Refused);
    Reading {
        findings: reader.finish(),
        summary: summary.filter(|_| !is_crash && !is_refused),
        is_refused,
    }
}

/// The report of a coordinator.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The stage.
    pub stage: Stage,
    /// The end of the stage.
    pub status: Status,
    /// The written files, relative to the project.
    pub artifacts: Vec<Utf8PathBuf>,
    /// The course of the stage, in one or two sentences.
    pub summary: String,
    /// The flags.
    pub flags: Flags,
    /// The text below `## Context for Next Stage`, or `None` if there is no such section.
    pub context: Option<String>,
}

impl Summary {
    /// Creates a summary without artifacts and flags.
    pub fn new(stage: Stage, status: Status, summary: &str) -> Self {
        Self {
            stage,
            status,
            artifacts: Vec::new(),
            summary: summary.to_owned(),
            flags: Flags::default(),
            context: Some(String::new()),
        }
    }

    /// Returns the text of the summary's file.
    pub fn to_text(&self) -> String {
        let frontmatter = json!({
            "stage": self.stage.to_string(),
            "stage_number": self.stage.number(),
            "status": self.status,
            "checkpoint": self.stage.checkpoint(),
            "artifacts_written": self.artifacts,
            "summary": self.summary,
            "flags": self.flags,
        });
        let yaml = serde_yaml::to_string(&frontmatter).unwrap_or_default();
        let context = self.context.as_deref().unwrap_or_default();
        let text = format!("---\n{yaml}---\n\n## Context for Next Stage\n{context}");
        text.trim_end().to_owned() + "\n"
    }
}

/// The facts recorded when a stage was dispatched.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The stage.
    pub stage: Stage,
    /// The round.
    pub round: u32,
    /// The id that the summary may name.
    pub id: String,
    /// The digests of earlier summaries, with the rule that such a file breaks.
    pub known: BTreeMap<String, Rule>,
    /// Whether the user skipped validation. A decision is then CONDITIONAL, without a score.
    pub skip_validation: bool,
}
