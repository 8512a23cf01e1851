//! Files as a program checks them: strictly, many at once; and leniently, the one that is reported. Both as text and as JSON.

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::{files, text};
use serde::Serialize;

use super::findings::{Finding, Findings, Place, Severity};
use super::rule::{Lenient, Rule};
use super::summary::Frontmatter;
use super::{Context, Outcome, Reading, read};

/// What was found in one file.
#[derive(Debug, Serialize)]
pub struct Validated {
    /// The file.
    pub file: Utf8PathBuf,
    /// Whether it has no error.
    pub valid: bool,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is wrong.
    #[serde(serialize_with = "list")]
    pub findings: Findings,
}

fn list<S: serde::Serializer>(findings: &Findings, serializer: S) -> Result<S::Ok, S::Error> {
    findings.list().serialize(serializer)
}

/// Checks summaries strictly, against the project that they are of.
pub fn validate(paths: &[Utf8PathBuf], project: &Utf8Path) -> Vec<Validated> {
    let context = Context {
        project: Some(project),
        dispatch: None,
    };
    let one = |path: &Utf8PathBuf| {
        let bytes = files::read(path);
        let error = bytes
            .as_ref()
            .err()
            .map(|error| format!("{}: {error}; name the file of a summary", text::shown(path)));
        let reading = read(bytes.as_deref().unwrap_or_default(), &context);
        let findings = reading.findings.named(path.as_str());
        Validated {
            file: path.clone(),
            valid: error.is_none() && !findings.has_error(),
            findings: if error.is_some() {
                Findings::none()
            } else {
                findings
            },
            error,
        }
    };
    paths.iter().map(one).collect()
}

impl Validated {
    /// Returns a line for each finding, or one that says that there is none.
    pub fn lines(&self) -> Vec<String> {
        let lines: Vec<String> = self
            .error
            .iter()
            .cloned()
            .chain(self.findings.lines())
            .collect();
        match lines.is_empty() {
            true => vec![format!("{}: valid", text::shown(&self.file))],
            false => lines,
        }
    }
}

/// What a lenient reader says of the file that is reported.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// `taken`, `crash` or `refused`.
    pub outcome: &'static str,
    /// The summary, as it was mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Frontmatter<'a>>,
    /// What the next stage is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<&'a str>,
    /// What is missing, or why it is a crash or refused.
    pub findings: Vec<Noted<'a>>,
}

/// A finding, and what was done about it.
#[derive(Debug, Serialize)]
pub struct Noted<'a> {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// What a lenient reader did.
    pub done: &'a str,
}

/// Returns what a lenient reader says of a reading: what it went on with is a warning.
pub fn report(reading: &Reading) -> Report<'_> {
    let (outcome, summary) = match &reading.outcome {
        Outcome::Taken(summary) => ("taken", Some(summary)),
        Outcome::Crash => ("crash", None),
        Outcome::Refused => ("refused", None),
    };
    let noted = |finding: &Finding| {
        let (severity, done) = match finding.rule.lenient() {
            // Without a score there is nothing to go on with.
            Lenient::Mended(_) if finding.rule == Rule::NoDecision && summary.is_none() => {
                (Severity::Error, "a crash")
            }
            Lenient::Mended(done) => (Severity::Warning, done),
            Lenient::Crash => (Severity::Error, "a crash"),
            Lenient::Refused => (Severity::Error, "refused"),
        };
        let mut finding = finding.clone();
        finding.severity = severity;
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
        let line = |Noted { finding, done }: &Noted<'_>| {
            let Place { line, column } = finding.start;
            let (severity, rule, message) = (finding.severity, finding.rule, &finding.message);
            format!("{line}:{column}: {severity}[{rule}]: {message}: {done}")
        };
        self.findings.iter().map(line).collect()
    }
}
