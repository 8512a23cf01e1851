//! The Summary Contract: the rules of a coordinator's summary file, and what a lenient reader makes of a broken rule.
//!
//! [`read`] reports every broken rule as a [`Finding`], with its place and what to write instead,
//! and gives a lenient reader an [`Outcome`]. A strict reader takes a file without an error.
//!
//! A summary is YAML between two lines `---`, and Markdown with the section `## Context for Next Stage`:
//!
//! ```
//! use stages::contract::{Context, Stage, read};
//!
//! let file = "---\nstage: setup\nstage_number: 1\nstatus: completed\ncheckpoint: SETUP\nartifacts_written: []\n\
//!     summary: All is there\nflags:\n  round_number: 1\n  pal_available: maybe\n---\n\n## Context for Next Stage\nNothing yet.\n";
//! let reading = read(file.as_bytes(), &Context::default());
//! let [finding] = &*reading.findings.list else { panic!("one finding") };
//! assert_eq!((finding.rule.code(), finding.start.line, finding.start.column), ("flag-type", 10, 18));
//! let summary = reading.summary().expect("a lenient reader takes it");
//! assert_eq!((summary.stage, summary.flags.pal_available), (Stage::Setup, None));
//! ```

mod dispatch;
mod file;
mod finding;
mod flags;
mod flow;
mod keys;
mod question;
mod rule;
mod stage;
mod summary;
mod words;
mod yaml;

pub use dispatch::{Digest, Dispatch};
pub use file::MAX_BYTES;
pub use finding::{Finding, Findings, Place, Severity};
pub use flags::Flags;
pub use question::{ActionMap, Question, QuestionOption};
pub use rule::{Lenient, Rule};
pub use stage::Stage;
pub use summary::Summary;
pub use words::{
    AnalysisMode, Decision, Dimension, NextAction, PauseType, PrdMode, ResearchMethod, Status,
};

pub(crate) use file::lines;
pub(crate) use yaml::{body_start, frontmatter};

use camino::Utf8Path;
use serde_json::{Map as JsonMap, Value as Json};

use finding::Collector;

/// The circumstances of a summary. Rules without their circumstance are not checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The root of the project, for the artifacts.
    pub project: Option<&'a Utf8Path>,
    /// The open dispatch.
    pub dispatch: Option<&'a Dispatch>,
}

/// A file that was read.
#[derive(Debug)]
pub struct Reading {
    /// The broken rules. A strict reader takes a file without an error.
    pub findings: Findings,
    /// The outcome for a lenient reader.
    pub outcome: Outcome,
}

impl Reading {
    /// Returns the summary that a lenient reader takes.
    pub fn summary(self) -> Option<Summary> {
        match self.outcome {
            Outcome::Taken(summary) => Some(*summary),
            Outcome::Crash | Outcome::Refused => None,
        }
    }
}

/// The outcome for a lenient reader.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The summary, corrected if a rule is broken.
    Taken(Box<Summary>),
    /// The same as no summary.
    Crash,
    /// A summary that does not count, and changes nothing.
    Refused,
}

/// Reads the bytes of a summary file.
pub fn read(bytes: &[u8], context: &Context<'_>) -> Reading {
    let mut found = Collector::default();
    if let Some(dispatch) = context.dispatch {
        dispatch.check_bytes(bytes, &mut found);
    }
    let text = file::read(bytes, &mut found);
    let summary = text.and_then(|text| read_summary(text, context, &mut found));
    let outcome = match summary {
        _ if found.is_other => Outcome::Refused,
        Some(summary) if !found.is_crash && !found.is_refused => Outcome::Taken(Box::new(summary)),
        Some(_) if !found.is_crash => Outcome::Refused,
        _ => Outcome::Crash,
    };
    Reading {
        findings: found.finish(),
        outcome,
    }
}

/// Reads a text. Returns `None` if its stage or status is unknown.
fn read_summary(text: &str, context: &Context<'_>, found: &mut Collector) -> Option<Summary> {
    let (yaml, body) = file::split(text, found)?;
    let next_context = file::context(text, body, found);
    let keys = yaml::read(&text[yaml], found)?;

    let stage = keys::check_stage(&keys, found);
    let stage = stage.or(context.dispatch.map(|dispatch| dispatch.stage));
    let status = keys::check_status(&keys, found);
    let artifacts = keys::check_artifacts(&keys, context.project, found);
    let summary: Option<String> = keys::require(&keys, "summary", "text", found);
    let written: Option<JsonMap<String, Json>> = keys::require(&keys, "flags", "a map", found);
    let written = &written.unwrap_or_default();
    let flags = Flags::read(written, stage, found);
    let stage = stage?;
    if let Some(dispatch) = context.dispatch {
        dispatch.check(stage, &flags, found);
    }

    let mut summary = Summary {
        stage,
        status: status?,
        artifacts,
        summary: summary.unwrap_or_default(),
        flags,
        context: next_context,
    };
    flow::check_pause(&mut summary, written, found);
    flow::check_reason(&mut summary, written, found);
    flow::check_question(&mut summary, written, found);
    flow::check_next(&mut summary, written, found);
    flow::check_decision(&mut summary, written, context.dispatch, found);
    Some(summary)
}
