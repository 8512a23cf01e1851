//! The answers of `validate`, which is strict, and of `report`, which is lenient, as text and as JSON.

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::{files, text};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::finding::{Finding, Findings, Place, Severity};
use super::rule::Lenient;
use super::{Context, Dispatch, Outcome, Reading, read};

/// The answer of `validate` for one file.
#[derive(Debug, Serialize)]
pub struct Validated {
    /// The file.
    pub file: Utf8PathBuf,
    /// Whether the file can be read and has no error.
    pub valid: bool,
    /// The reason why the file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The findings.
    #[serde(serialize_with = "serialize_list")]
    pub findings: Findings,
}

fn serialize_list<S: Serializer>(findings: &Findings, serializer: S) -> Result<S::Ok, S::Error> {
    findings.list().serialize(serializer)
}

/// Checks summaries strictly, with the artifacts of a project and the dispatch that a file answers, if any.
pub fn validate<'p, 'd>(
    paths: impl IntoIterator<Item = &'p Utf8PathBuf>,
    project: &Utf8Path,
    dispatch: impl Fn(&Utf8Path) -> Option<&'d Dispatch>,
) -> Vec<Validated> {
    let one = |path: &Utf8PathBuf| {
        let context = Context {
            project: Some(project),
            dispatch: dispatch(path),
        };
        let (findings, error) = match files::read(path) {
            Ok(bytes) => (read(&bytes, &context).findings, None),
            Err(error) => {
                let error = format!("{}: {error}; name the file of a summary", text::shown(path));
                (Findings::default(), Some(error))
            }
        };
        Validated {
            file: path.clone(),
            valid: error.is_none() && !findings.has_error(),
            error,
            findings,
        }
    };
    paths.into_iter().map(one).collect()
}

impl Validated {
    /// Returns a line for each finding, or one that says that the file is valid.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.findings.lines(self.file.as_str());
        lines.extend(self.error.clone());
        if lines.is_empty() {
            lines.push(format!("{}: valid", text::shown(&self.file)));
        }
        lines
    }
}

/// The answer of `report`.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// `taken`, `crash` or `refused`.
    pub outcome: &'static str,
    /// The summary as a lenient reader takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Json>,
    /// The text for the next stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<&'a str>,
    /// The findings.
    pub findings: Vec<Noted>,
}

/// A finding, and what a lenient reader did about it.
#[derive(Debug, Serialize)]
pub struct Noted {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// What a lenient reader did.
    pub done: &'static str,
}

/// Returns the answer of a lenient reader, to whom a broken rule is a warning if it goes on.
pub fn report(reading: &Reading) -> Report<'_> {
    let (outcome, summary) = match &reading.outcome {
        Outcome::Taken(summary) => ("taken", Some(summary)),
        Outcome::Crash => ("crash", None),
        Outcome::Refused => ("refused", None),
    };
    let noted = |finding: &Finding| {
        let (severity, done) = match finding.lenient {
            Lenient::Mended(done) => (Severity::Warning, done),
            Lenient::Crash => (Severity::Error, "a crash"),
            Lenient::Refused => (Severity::Error, "refused"),
        };
        let finding = Finding {
            severity,
            ..finding.clone()
        };
        Noted { finding, done }
    };
    Report {
        outcome,
        summary: summary.map(|summary| summary.frontmatter()),
        context: summary.and_then(|summary| summary.context.as_deref()),
        findings: reading.findings.list().iter().map(noted).collect(),
    }
}

impl Report<'_> {
    /// Returns a line for each finding, with what was done about it.
    pub fn lines(&self) -> Vec<String> {
        let line = |Noted { finding, done }: &Noted| {
            let Place { line, column } = finding.start;
            let (severity, rule, message) = (finding.severity, finding.rule, &finding.message);
            format!("{line}:{column}: {severity}[{rule}]: {message}: {done}")
        };
        self.findings.iter().map(line).collect()
    }
}
