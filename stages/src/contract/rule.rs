//! The rules of the contract, the findings, and the reader that collects them.
//!
//! A coordinator wrote the file: control characters in it reach no terminal.

use camino::Utf8Path;
use claudex_loop::text;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use strum::{Display, VariantArray};

use super::words::words;
use super::yaml::find_place;
use super::{Dispatch, Keys};
use Lenient::{Corrected, Crash, Kept, Refused};

const MAX_FINDINGS: usize = 100;
const MAX_MESSAGE_CHARS: usize = 500;
const MAX_QUOTED_CHARS: usize = 60;

/// The answer of `report` to a broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
pub enum Lenient {
    /// A crash: no summary counts.
    #[strum(to_string = "a crash")]
    Crash,
    /// A summary that is ignored.
    #[strum(to_string = "refused")]
    Refused,
    /// The summary is taken with this correction.
    #[strum(to_string = "{0}")]
    Corrected(&'static str),
    /// The summary is taken as it is: the finding is only a warning.
    #[strum(to_string = "taken as it is")]
    Kept,
}

/// The rules: code, answer of a lenient reader, demand.
const RULES: &str = include_str!("rules.txt");

words! {
    "kebab-case" Rule "A rule of the contract, as `rules.txt` has it. Its code is its name in kebab case." {
        NoFrontmatter BadYaml DuplicateKey TooLarge NotUtf8 UnknownStatus MissingField BadType
        StageRange StageName CheckpointName Placeholder ArtifactOutside ArtifactMissing NoContext
        FlagStage FlagType FlagRange UnknownPause PauseStatus PauseStage NoBlockReason NoQuestion
        QuestionStray HeaderLength OptionCount OptionIncomplete OptionDuplicate UnknownAction
        ActionStage MapLabel NoNextAction NoDecision DecisionScore Stale Foreign TakenAlready
    }
}

impl Rule {
    /// Returns the demand of the rule, as a sentence without its full stop.
    pub fn text(self) -> &'static str {
        self.row().1
    }

    /// Returns the answer of a lenient reader.
    pub fn lenient(self) -> Lenient {
        match self.row().0 {
            "crash" => Crash,
            "refused" => Refused,
            correction => Corrected(correction),
        }
    }

    fn row(self) -> (&'static str, &'static str) {
        find_row(RULES, &self.to_string())
    }
}

/// Returns the other two cells of the row of a table that begins with a cell.
pub(crate) fn find_row(table: &'static str, cell: &str) -> (&'static str, &'static str) {
    let mut rows = table.lines().filter_map(|line| line.strip_prefix(cell));
    let row = rows.find_map(|row| row.strip_prefix(" | ")?.split_once(" | "));
    row.unwrap_or_default()
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Place {
    /// The beginning of a file.
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// Returns the place of a byte. A byte beyond the end is at the end.
    pub(super) fn from_byte(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        Self::from_line(&text[start..], before.len() - start, line)
    }

    /// Returns the place of a byte of a line.
    pub(super) fn from_line(text: &str, offset: usize, line: usize) -> Self {
        let column = text[..offset].chars().count() + 1;
        Self { line, column }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// The first character.
    pub start: Place,
    /// The expected and the actual text.
    pub message: String,
    /// The answer of a lenient reader.
    pub lenient: Lenient,
}

impl Finding {
    /// Returns whether the finding makes the summary invalid.
    pub fn is_error(&self) -> bool {
        self.lenient != Kept
    }

    /// Returns the finding as a line, such as `4:9: error[unknown-status]: …`.
    pub fn line(&self) -> String {
        self.line_as(self.is_error())
    }

    /// Returns the finding as a line, with the answer of a lenient reader.
    pub fn lenient_line(&self) -> String {
        let line = self.line_as(matches!(self.lenient, Crash | Refused));
        format!("{line}: {}", self.lenient)
    }

    fn line_as(&self, is_error: bool) -> String {
        let severity = if is_error { "error" } else { "warning" };
        let Place { line, column } = self.start;
        let rule = self.rule;
        let message = &self.message;
        format!("{line}:{column}: {severity}[{rule}]: {message}")
    }
}

/// A file that is read, with the facts that it is compared with.
#[derive(Default)]
pub(super) struct Reader<'r> {
    pub(super) project: Option<&'r Utf8Path>,
    pub(super) dispatch: Option<&'r Dispatch>,
    /// The frontmatter in which values are looked for.
    pub(super) yaml: String,
    /// The keys of the frontmatter.
    pub(super) keys: Keys,
    pub(super) findings: Vec<Finding>,
}

impl Reader<'_> {
    /// Adds a finding at a value, such as `/flags/round_number`. Returns its answer to replace it.
    pub(super) fn add(&mut self, rule: Rule, path: &str, detail: &str) -> &mut Lenient {
        // A file with many findings is not searched for each.
        let start = match self.findings.get(MAX_FINDINGS) {
            Some(finding) => finding.start,
            None => find_place(&self.yaml, path),
        };
        self.add_at(rule, start, detail)
    }

    /// Adds a finding at a place of the text.
    pub(super) fn add_at(&mut self, rule: Rule, start: Place, detail: &str) -> &mut Lenient {
        let semicolon = if detail.is_empty() { "" } else { "; " };
        let message = format!("{}{semicolon}{detail}", rule.text());
        let index = self.findings.len();
        self.findings.push(Finding {
            rule,
            start,
            message: text::one_line(&message, MAX_MESSAGE_CHARS),
            lenient: rule.lenient(),
        });
        &mut self.findings[index].lenient
    }

    /// Adds a finding without which there is no summary. Returns `None`.
    pub(super) fn fail<T>(&mut self, rule: Rule, start: Place, detail: &str) -> Option<T> {
        self.add_at(rule, start, detail);
        None
    }

    pub(super) fn flag(&self, name: &str) -> Option<&Json> {
        self.keys.get("flags")?.get(name)
    }

    /// Returns whether a flag was written, right or wrong. Null counts as missing.
    pub(super) fn has_flag(&self, name: &str) -> bool {
        self.flag(name).is_some_and(|value| !value.is_null())
    }

    pub(super) fn has(&self, lenient: Lenient) -> bool {
        self.findings.iter().any(|one| one.lenient == lenient)
    }

    /// Returns the first findings in the order of the file, at most 100.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        let is_other = |one: &Finding| one.rule != Rule::Placeholder;
        self.findings
            .sort_by_key(|one| (one.start.line, is_other(one), one.start, one.rule));
        // Parts are read twice. On a line with a placeholder only one finding is useful.
        self.findings.dedup_by(|one, before| {
            one == before || !is_other(before) && one.start.line == before.start.line
        });
        self.findings.truncate(MAX_FINDINGS);
        self.findings
    }
}

/// Returns a value of the file as a message quotes it.
pub(super) fn quote(value: &str) -> String {
    let line = text::one_line(&text::printable(value), MAX_QUOTED_CHARS);
    format!("`{}`", line.replace('`', "’"))
}
