//! The Summary Contract: what a coordinator's summary file is, each rule with its code, and what is read where one is broken.
//!
//! [`read`] looks at the bytes of a file once. It finds everything that is wrong, each [`Finding`] with its [`Rule`], line and column
//! and with what to write instead, and says what a lenient reader goes on with: an [`Outcome`]. A strict one, [`validate`], asks for a
//! file without an error.
//!
//! A summary is YAML between two lines `---`, and Markdown with the section `## Context for Next Stage`:
//!
//! ```
//! use stages::contract::{Context, Outcome, Stage, read};
//!
//! let file = "---\nstage: setup\nstage_number: 1\nstatus: completed\ncheckpoint: SETUP\nartifacts_written: []\n\
//!     summary: All is there\nflags:\n  round_number: 1\n  pal_available: maybe\n---\n\n## Context for Next Stage\nNothing yet.\n";
//! let reading = read(file.as_bytes(), &Context::default());
//! let [finding] = reading.findings.list() else { panic!("one finding") };
//! assert_eq!((finding.rule.code(), finding.start.line, finding.start.column), ("flag-type", 10, 18));
//! let Outcome::Taken(summary) = reading.outcome else { panic!("it is taken") };
//! assert_eq!((summary.stage, summary.flags.pal_available), (Stage::Setup, None));
//! ```
//!
//! # Architecture
//!
//! | file | subject |
//! |---|---|
//! | `rule` | the rules, as a table |
//! | `stage`, `words` | the seven stages, and the closed lists of words |
//! | `file` | fences, body, and the section for the next stage |
//! | `yaml`, `scalar` | YAML with places |
//! | `value`, `question`, `flags` | the flags and their types |
//! | `summary` | a summary, and how it is written |
//! | `subject` | the seven keys, and which stage it is |
//! | `artifacts`, `check`, `dispatch` | the rules that look at more than one value |
//! | `findings` | what is wrong, and how it is shown |
//! | `validate` | files as a program checks them |

mod artifacts;
mod check;
mod dispatch;
mod file;
mod findings;
mod flags;
mod question;
mod rule;
mod scalar;
mod stage;
mod subject;
mod summary;
mod validate;
mod value;
mod words;
mod yaml;

pub use dispatch::{Digest, Dispatch};
pub use file::MOST_BYTES;
pub use findings::{Finding, Findings, Place, Severity};
pub use flags::Flags;
pub use question::{ActionMap, LONGEST_HEADER, Question, QuestionOption};
pub use rule::{Lenient, Rule};
pub use stage::Stage;
pub use summary::Summary;
pub use validate::{Noted, Report, Validated, report, validate};
pub use value::{Count, DimensionScores, Grade, Members, Percent, Rate, Round, Score, Whole};
pub use words::{
    AnalysisMode, Decision, Dimension, NextAction, PauseType, PrdMode, ResearchMethod, Status,
};

use camino::Utf8Path;

use check::Mended;
use findings::Found;
use subject::Subject;
use yaml::Value;

/// What a summary is compared with; what is not given is not looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The root of the project, for the artifacts.
    pub project: Option<&'a Utf8Path>,
    /// The dispatch that it is to answer.
    pub dispatch: Option<&'a Dispatch>,
}

/// What was read of a file.
#[derive(Debug)]
pub struct Reading {
    /// What is wrong. A strict reader takes the file if there is no error.
    pub findings: Findings,
    /// What a lenient reader goes on with.
    pub outcome: Outcome,
}

/// What a lenient reader goes on with.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The summary, mended where a rule is broken.
    Taken(Box<Summary>),
    /// There is nothing to go on with: it is as if there were no summary.
    Crash,
    /// It does not count, and nothing changes.
    Refused,
}

/// Reads the bytes of a summary file.
pub fn read(bytes: &[u8], context: &Context<'_>) -> Reading {
    let mut found = Found::default();
    if let Some(dispatch) = context.dispatch {
        dispatch.check_bytes(bytes, &mut found);
    }
    let text = file::text_of(bytes, &mut found);
    let summary = text.and_then(|text| summary(text, context, &mut found));
    let refused = |rule: Rule| matches!(rule, Rule::Stale | Rule::Foreign | Rule::TakenAlready);
    let outcome = if found.has(refused) {
        Outcome::Refused
    } else if found.has(|rule| rule.lenient() == Lenient::Crash) {
        Outcome::Crash
    } else if found.has(|rule| rule.lenient() == Lenient::Refused) {
        Outcome::Refused
    } else {
        summary.map_or(Outcome::Crash, |summary| Outcome::Taken(Box::new(summary)))
    };
    let lossy = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]);
    let shown = lossy.strip_prefix('\u{feff}').unwrap_or(&lossy);
    Reading {
        findings: found.finish(text.unwrap_or(shown)),
        outcome,
    }
}

/// Reads a text, and returns what there is to go on with.
fn summary(text: &str, context: &Context<'_>, found: &mut Found) -> Option<Summary> {
    let parts = file::parts(text, found)?;
    let context_text = file::context(text, &parts, found);
    let root = yaml::read(text, parts.yaml.clone(), found)?;
    let Some(map) = root.map() else {
        let message = format!(
            "the frontmatter is {}, and not keys with values",
            root.kind()
        );
        found.error(
            Rule::BadYaml,
            root.span.clone(),
            message,
            "write the seven keys, each as `key: value`",
        );
        return None;
    };
    let mut subject = Subject::of(map, &parts, found);
    let status = subject.status(found);
    let listed = subject.field(
        "artifacts_written",
        "a list of paths (`[]` for none)",
        found,
        Value::list,
    );
    let artifacts = listed.map(|(items, _)| artifacts::read(items, context.project, found));
    let told = subject.field("summary", "text", found, Value::text);
    subject.flags = subject
        .field("flags", "a map (`{}` for none)", found, Value::map)
        .map(|(map, _)| map);
    if let Some(dispatch) = context.dispatch {
        dispatch.check(&subject, found);
    }
    let mut flags = subject
        .flags
        .map(|map| Flags::read(map, found))
        .unwrap_or_default();
    let stage = subject
        .stage
        .or(context.dispatch.map(|dispatch| dispatch.stage))?;
    if let Some(map) = subject.flags {
        flags.check_stage(stage == Stage::AnalysisQuestions, map, found);
    }
    let told = told.map_or_else(String::new, |(told, _)| told.to_owned());
    let mut mended_status = status.unwrap_or(Status::Completed);
    let mut mended = Mended {
        stage,
        status: &mut mended_status,
        summary: &told,
        flags: &mut flags,
    };
    let is_crash = if status.is_some() {
        mended.check_pause(&subject, found);
        mended.check_question(&subject, found);
        mended.check_next(&subject, context.dispatch, found)
    } else {
        true
    };
    (!is_crash).then_some(Summary {
        stage,
        status: mended_status,
        artifacts: artifacts.unwrap_or_default(),
        summary: told,
        flags,
        context: context_text,
    })
}

/// Returns the frontmatter of any Markdown file, where it can be read: its keys, as JSON.
pub(crate) fn frontmatter_of(text: &str) -> Option<serde_json::Map<String, serde_json::Value>> {
    let mut found = Found::default();
    let parts = file::parts(text, &mut found)?;
    let root = yaml::read(text, parts.yaml, &mut found)?;
    match root.json() {
        serde_json::Value::Object(keys) => Some(keys),
        _ => None,
    }
}
