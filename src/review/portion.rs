//! The portions of a document that is longer than a prompt may be: each is asked about by itself, and the findings are merged.

use std::ops::ControlFlow;

use pulldown_cmark::{Event as Markdown, Parser, Tag};
use serde::Serialize;

use super::findings::{Finding, Findings, Severity};
use super::reviewer::{Cause, CauseKind, Outcome, Request, Reviewer};
use crate::machine::message::MessageError;
use crate::process::output::Stream;
use crate::process::{Event, Watch};

/// Most bytes of a document that one prompt shows.
const MAX_PORTION_BYTES: usize = 256 * 1024;
/// Most portions of a document that one review asks about.
const MAX_PORTIONS: usize = 4;
/// The check of the finding that names the lines that were not reviewed. A reviewer's answer cannot name a check.
pub(crate) const UNREVIEWED: &str = "UNREVIEWED";

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

impl<'t> Portion<'t> {
    fn new(text: &'t str, first: usize) -> Self {
        Self {
            text,
            first,
            last: first + text.lines().count().saturating_sub(1),
        }
    }

    /// Turns the line of a finding, which counts from where the portion begins, into the document's. One beyond the portion's
    /// end is the document's already.
    fn place(&self, finding: &mut Finding, name: &str) {
        let is_of_document = finding.file.as_deref().is_none_or(|file| file == name);
        let lines = self.last - self.first + 1;
        if let Some(line) = finding.line.filter(|_| is_of_document)
            && usize::try_from(line).is_ok_and(|line| line <= lines)
        {
            let before = u32::try_from(self.first - 1).unwrap_or(u32::MAX);
            finding.line = Some(line.saturating_add(before));
        }
    }
}

/// A document with the prompts for its portions.
#[derive(Debug)]
pub(super) struct Portions<'t> {
    portions: Vec<Portion<'t>>,
    prompts: Vec<String>,
    /// The part of the document that no prompt shows.
    rest: Option<Portion<'t>>,
}

impl<'t> Portions<'t> {
    /// Splits a plain text and renders a prompt for each portion. A reviewer that reads the whole document by itself is asked once.
    ///
    /// # Errors
    /// Returns an error if the template does not render.
    pub(super) fn new(
        document: &'t str,
        reviewer: &dyn Reviewer,
        render: impl Fn(&Portion<'t>, bool) -> Result<String, MessageError>,
    ) -> Result<Self, MessageError> {
        let (mut portions, mut rest) = split(document);
        let is_whole = portions.len() == 1;
        let prompts = portions.iter().map(|portion| render(portion, is_whole));
        let mut prompts = prompts.collect::<Result<Vec<_>, _>>()?;
        if !reviewer.runs_a_program() || !prompts[0].contains(portions[0].text) {
            portions.truncate(1);
            prompts.truncate(1);
            rest = None;
        }
        Ok(Self {
            portions,
            prompts,
            rest,
        })
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

    /// Asks about each portion and merges the findings. The first portion without a verdict decides.
    pub(super) fn review(
        &self,
        reviewer: &dyn Reviewer,
        request: &Request<'_>,
        again: bool,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let mut findings: Vec<Finding> = Vec::new();
        findings.extend(self.rest.as_ref().map(|rest| unreviewed(rest, request.subject_name)));
        let of = self.portions.len();
        for (at, (portion, prompt)) in self.portions.iter().zip(&self.prompts).enumerate() {
            let Portion { first, last, .. } = portion;
            let line = format!("part {} of {of}: lines {first} to {last}", at + 1);
            let stream = Stream::Stderr;
            if of > 1 && watch(Event::Line { stream, text: &line }) == ControlFlow::Break(()) {
                return Outcome::CouldNotRun(Cause::new(CauseKind::Stopped, ""));
            }
            let request = Request { prompt, ..*request };
            match match again {
                true => reviewer.review_again(&request, watch),
                false => reviewer.review(&request, watch),
            } {
                Outcome::Clean => {}
                Outcome::Findings(found) => findings.extend(found.0.into_iter().map(|mut one| {
                    portion.place(&mut one, request.subject_name);
                    one
                })),
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
fn unreviewed(rest: &Portion<'_>, name: &str) -> Finding {
    let what = format!(
        "lines {} to {} of {name} were not reviewed: a review takes {MAX_PORTIONS} parts of 256 KiB at most",
        rest.first, rest.last
    );
    Finding {
        check: Some(UNREVIEWED.to_owned()),
        recommendation: Some("shorten it, or split it".to_owned()),
        ..Finding::new(Severity::High, what)
    }
}

/// Splits a text into portions, and returns what is left of it. A cut is made before a heading if one is near the end of its
/// portion and the rest does not become too long by it, else before a line.
fn split(text: &str) -> (Vec<Portion<'_>>, Option<Portion<'_>>) {
    let headings: Vec<usize> = match text.len() > MAX_PORTION_BYTES {
        true => headings(text),
        false => Vec::new(),
    };
    let (mut portions, mut at, mut line) = (Vec::new(), 0, 1);
    loop {
        let left = &text[at..];
        let most = left.floor_char_boundary(MAX_PORTION_BYTES);
        let end = if most == left.len() {
            most
        } else {
            let later = (MAX_PORTIONS - 1 - portions.len()) * MAX_PORTION_BYTES;
            let least = left.len().saturating_sub(later).max(MAX_PORTION_BYTES / 2);
            let heading = headings.iter().rfind(|heading| **heading <= at + most);
            let heading = heading.and_then(|heading| heading.checked_sub(at));
            let heading = heading.filter(|end| *end >= least);
            heading
                .or_else(|| left[..most].rfind('\n').map(|end| end + 1))
                .unwrap_or(most)
        };
        let portion = Portion::new(&left[..end], line);
        at += end;
        line += portion.text.matches('\n').count();
        portions.push(portion);
        if at == text.len() {
            return (portions, None);
        }
        if portions.len() == MAX_PORTIONS {
            return (portions, Some(Portion::new(&text[at..], line)));
        }
    }
}

/// Returns where the headings of a Markdown text begin.
fn headings(text: &str) -> Vec<usize> {
    let events = Parser::new(text).into_offset_iter();
    let heading = |(event, place): (Markdown<'_>, std::ops::Range<usize>)| {
        matches!(event, Markdown::Start(Tag::Heading { .. })).then_some(place.start)
    };
    events.filter_map(heading).collect()
}

#[cfg(test)]
mod tests;
