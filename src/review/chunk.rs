//! The chunks of a document that is longer than a prompt may be: each has its own prompt, and the findings are merged.

use serde::Serialize;

use super::findings::{Finding, Findings, Severity, UNREVIEWED};
use super::reviewer::{Cause, Request, Reviewer};
use crate::message::MessageError;

/// Most bytes of a document that one prompt shows.
const MAX_CHUNK_BYTES: usize = 256 * 1024;
/// Most chunks of a document that one review asks about.
const MAX_CHUNKS: usize = 4;

/// A chunk of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Chunk<'t> {
    /// The text.
    #[serde(skip)]
    pub text: &'t str,
    /// The first line in the document, from 1.
    pub first: usize,
    /// The last line in the document.
    pub last: usize,
}

/// The chunks of a document, each with its prompt but for the last one of a document that is too long.
#[derive(Debug)]
pub struct Chunks<'t> {
    chunks: Vec<Chunk<'t>>,
    prompts: Vec<String>,
}

impl<'t> Chunks<'t> {
    /// Splits a plain text and renders the prompts, each from its text and, if there are several, its chunk. A reviewer that
    /// reads the whole document by itself is asked once.
    pub(super) fn new(
        document: &'t str,
        reviewer: &dyn Reviewer,
        render: impl Fn(&str, Option<&Chunk<'t>>) -> Result<String, MessageError>,
    ) -> Result<Self, MessageError> {
        let mut chunks = split(document);
        let is_part = chunks.len() > 1;
        let prompts = (chunks.iter().take(MAX_CHUNKS))
            .map(|chunk| render(chunk.text, is_part.then_some(chunk)));
        let mut prompts = prompts.collect::<Result<Vec<_>, _>>()?;
        if !reviewer.runs_a_program() || !prompts[0].contains(chunks[0].text) {
            chunks.truncate(1);
            prompts.truncate(1);
        }
        Ok(Self { chunks, prompts })
    }

    /// Returns the prompts as one text, for people.
    pub(super) fn prompts(&self) -> String {
        self.prompts.join("\n")
    }

    /// Returns whether each prompt shows its chunk.
    fn are_shown(&self) -> bool {
        let mut pairs = self.chunks.iter().zip(&self.prompts);
        pairs.all(|(chunk, prompt)| prompt.contains(chunk.text))
    }

    /// Asks about each chunk and merges the findings, with lines of the whole document.
    ///
    /// # Errors
    /// Returns the reason of the first chunk without a verdict, or if the reviewer neither saw nor opened the subject.
    pub fn review(
        &self,
        request: &Request<'_>,
        ask: &mut dyn FnMut(&Request<'_>) -> Result<Findings, Cause>,
    ) -> Result<Findings, Cause> {
        let name = request.subject_name;
        let unreviewed = self.chunks.get(MAX_CHUNKS);
        let mut findings: Vec<Finding> = unreviewed
            .map(|chunk| unreviewed_lines(chunk, name))
            .into_iter()
            .collect();
        for (chunk, prompt) in self.chunks.iter().zip(&self.prompts) {
            let mut found = ask(&Request { prompt, ..*request })?.0;
            let before = u32::try_from(chunk.first - 1).unwrap_or(u32::MAX);
            let is_here =
                |finding: &&mut Finding| finding.file.as_deref().is_none_or(|file| file == name);
            for finding in found.iter_mut().filter(is_here) {
                finding.line = finding.line.map(|line| line.saturating_add(before));
            }
            found.retain(|finding| !findings.contains(finding));
            findings.append(&mut found);
        }
        if !self.are_shown() && request.trace.has_missed(request.parts) {
            let problem = format!("it was given without opening {name}");
            return Err(Cause::not_a_verdict(&problem));
        }
        Ok(Findings(findings))
    }
}

/// Returns the finding that names the lines that no prompt showed.
fn unreviewed_lines(Chunk { first, last, .. }: &Chunk<'_>, name: &str) -> Finding {
    let problem = format!(
        "lines {first} to {last} of {name} were not reviewed: a review takes {MAX_CHUNKS} parts of 256 KiB at most"
    );
    Finding {
        check: Some(UNREVIEWED.to_owned()),
        recommendation: Some("shorten it, or split it".to_owned()),
        ..Finding::new(Severity::Medium, problem)
    }
}

/// Splits a text at headings, or else at line ends, into chunks, and one more with all that is beyond [`MAX_CHUNKS`].
fn split(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut left = text;
    let mut first = 1;
    loop {
        let most = left.floor_char_boundary(MAX_CHUNK_BYTES);
        let is_last = most == left.len() || chunks.len() == MAX_CHUNKS;
        let heading = left[..most].rfind("\n#").filter(|at| *at > most / 2);
        let line_end = heading.or(left[..most].rfind('\n'));
        let end = if is_last {
            left.len()
        } else {
            line_end.map_or(most, |at| at + 1)
        };
        let (text, rest) = left.split_at(end);
        chunks.push(Chunk {
            text,
            first,
            last: first + text.lines().count().saturating_sub(1),
        });
        if rest.is_empty() {
            return chunks;
        }
        first += text.matches('\n').count();
        left = rest;
    }
}

#[cfg(test)]
mod tests;
