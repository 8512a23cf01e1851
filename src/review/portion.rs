//! The portions of a document that is longer than a prompt may be: each is asked about by itself, and the findings are merged.

use serde::Serialize;

use super::findings::{Finding, Findings, Severity};
use super::reviewer::{Outcome, Request, Reviewer};
use crate::message::MessageError;

/// Most bytes of a document that one prompt shows.
const MAX_PORTION_BYTES: usize = 256 * 1024;
/// Most portions of a document that one review asks about.
const MAX_PORTIONS: usize = 4;
/// The check of the finding that names the lines that were not reviewed, as the built-in reviewer calls it. An answer cannot
/// name a check.
pub(crate) const UNREVIEWED: &str = "PLAN-LONG";

/// A portion of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Portion<'t> {
    /// Its text.
    #[serde(skip)]
    pub text: &'t str,
    /// Its first line in the document, from 1.
    pub first: usize,
    /// Its last line in the document.
    pub last: usize,
}

/// The portions of a document, each with its prompt but for the last one of a document that is too long.
#[derive(Debug)]
pub struct Portions<'t> {
    portions: Vec<Portion<'t>>,
    prompts: Vec<String>,
}

impl<'t> Portions<'t> {
    /// Splits a plain text and renders the prompts, each from its text and, if there are several, its portion. A reviewer that
    /// reads the whole document by itself is asked once.
    ///
    /// # Errors
    /// Returns an error if the template does not render.
    pub(super) fn new(
        document: &'t str,
        reviewer: &dyn Reviewer,
        render: impl Fn(&str, Option<&Portion<'t>>) -> Result<String, MessageError>,
    ) -> Result<Self, MessageError> {
        let mut portions = split(document);
        let is_part = portions.len() > 1;
        let prompts = (portions.iter().take(MAX_PORTIONS))
            .map(|portion| render(portion.text, is_part.then_some(portion)));
        let mut prompts = prompts.collect::<Result<Vec<_>, _>>()?;
        if !reviewer.runs_a_program() || !prompts[0].contains(portions[0].text) {
            portions.truncate(1);
            prompts.truncate(1);
        }
        Ok(Self { portions, prompts })
    }

    /// Returns the prompts as one text, for people.
    pub(super) fn prompts(&self) -> String {
        self.prompts.join("\n")
    }

    /// Returns whether each prompt shows its portion.
    pub(super) fn are_shown(&self) -> bool {
        let mut pairs = self.portions.iter().zip(&self.prompts);
        pairs.all(|(portion, prompt)| prompt.contains(portion.text))
    }

    /// Asks about each portion and merges the findings, with lines of the whole document. The first portion without a verdict
    /// decides.
    pub fn review(
        &self,
        request: &Request<'_>,
        ask: &mut dyn FnMut(&Request<'_>) -> Outcome,
    ) -> Outcome {
        let name = request.subject_name;
        let rest = self.portions.get(MAX_PORTIONS);
        let mut findings: Vec<Finding> = rest
            .map(|rest| unreviewed(rest, name))
            .into_iter()
            .collect();
        for (portion, prompt) in self.portions.iter().zip(&self.prompts) {
            match ask(&Request { prompt, ..*request }) {
                Outcome::Clean => {}
                Outcome::Findings(mut found) => {
                    for finding in &mut found.0 {
                        if finding.file.as_deref().is_none_or(|file| file == name) {
                            let before = u32::try_from(portion.first - 1).unwrap_or(u32::MAX);
                            finding.line = finding.line.map(|line| line.saturating_add(before));
                        }
                    }
                    found.0.retain(|finding| !findings.contains(finding));
                    findings.append(&mut found.0);
                }
                failed => return failed,
            }
        }
        match findings.is_empty() {
            true => Outcome::Clean,
            false => Outcome::Findings(Findings(findings)),
        }
    }
}

/// Returns the finding that names the lines that no prompt showed.
fn unreviewed(Portion { first, last, .. }: &Portion<'_>, name: &str) -> Finding {
    let what = format!(
        "lines {first} to {last} of {name} were not reviewed: a review takes {MAX_PORTIONS} parts of 256 KiB at most"
    );
    Finding {
        check: Some(UNREVIEWED.to_owned()),
        recommendation: Some("shorten it, or split it".to_owned()),
        ..Finding::new(Severity::Medium, what)
    }
}

/// Splits a text into portions, and one more with all that is beyond [`MAX_PORTIONS`]. A cut is made before a heading if one is
/// near the end of its portion and the rest does not become too long by it, else before a line.
fn split(text: &str) -> Vec<Portion<'_>> {
    let (mut portions, mut left, mut first) = (Vec::new(), text, 1);
    loop {
        let most = left.floor_char_boundary(MAX_PORTION_BYTES);
        let later = (MAX_PORTIONS - 1).saturating_sub(portions.len()) * MAX_PORTION_BYTES;
        let least = left.len().saturating_sub(later).max(MAX_PORTION_BYTES / 2);
        let before = |start: &str| left[..most].rfind(start).map(|at| at + 1);
        let end = match most == left.len() || portions.len() == MAX_PORTIONS {
            true => left.len(),
            false => (before("\n#").filter(|end| *end >= least))
                .or_else(|| before("\n"))
                .unwrap_or(most),
        };
        let (text, rest) = left.split_at(end);
        portions.push(Portion {
            text,
            first,
            last: first + text.lines().count().saturating_sub(1),
        });
        if rest.is_empty() {
            return portions;
        }
        first += text.matches('\n').count();
        left = rest;
    }
}

#[cfg(test)]
mod tests;
