//! The prompt of a reviewer that is a model: the phase's own template, else the engine's.
//!
//! A template has the variables of every message, and `round`, `persona` (its label), `who` (its prompt), `kind` (`document`
//! or `changes`), `earlier` (the findings of earlier rounds), `known` (theirs with their ids), `verified` (the results of the commands that
//! verify the work), `document`, `part` (its `first` and `last` line, if the prompt shows a part of a long document) and
//! `marker`. It may include the parts that the engine relies on: `review/answer.md`,
//! `review/earlier.md`, `review/verified.md` and `review/document.md`.

use camino::Utf8PathBuf;
use serde_json::{Map, Value as Json, json};

use super::chunk::{Chunk, Chunks};
use super::digest::Digest;
use super::findings::Finding;
use super::personas::Persona;
use super::reviewer::Reviewer;
use super::{evidence, finding_history, findings_file, subject};
use crate::machine::Raw;
use crate::machine::table::ReviewSpec;
use crate::message::facts;
use crate::message::{Message, MessageError, Render as _};
use crate::text;

/// The most findings files of earlier rounds in a prompt, the newest ones.
const MAX_EARLIER_FILES: usize = 20;
/// The most findings that a prompt names by their id.
const MAX_KNOWN_FINDINGS: usize = 60;
/// The longest field, in characters.
const MAX_FIELD_CHARS: usize = 1000;

/// The prompt of a phase that has no template.
const PROMPT: Message = message("review/prompt.md", include_str!("prompt/prompt.md"));
/// The parts that any prompt may include.
const PARTS: [Message; 4] = [
    message("review/answer.md", include_str!("prompt/answer.md")),
    message("review/earlier.md", include_str!("prompt/earlier.md")),
    message("review/verified.md", include_str!("prompt/verified.md")),
    message("review/document.md", include_str!("prompt/document.md")),
];

const fn message(name: &'static str, text: &'static str) -> Message {
    Message { name, text }
}

/// The content of a prompt.
#[derive(Debug)]
pub struct Prompt<'a> {
    /// The loop.
    pub raw: &'a Raw,
    /// The review of its phase.
    pub spec: &'a ReviewSpec,
    /// The persona.
    pub persona: &'a Persona,
    /// The program's own names for templates.
    pub context: Map<String, Json>,
    /// The findings files of earlier rounds, oldest first.
    pub earlier: Vec<Utf8PathBuf>,
    /// The results of the commands that verify the work; empty if there are none.
    pub verified: String,
    /// The findings of the commands that failed, which are added to any verdict.
    pub failed: Vec<Finding>,
}

impl Prompt<'_> {
    /// Splits a document, which must be plain text, into chunks with a prompt each.
    ///
    /// # Errors
    /// Returns an error if the template does not render.
    pub fn chunks<'t>(
        &self,
        document: &'t str,
        reviewer: &dyn Reviewer,
    ) -> Result<Chunks<'t>, MessageError> {
        Chunks::new(document, reviewer, |text, part| self.render(text, part))
    }

    fn render(&self, document: &str, part: Option<&Chunk<'_>>) -> Result<String, MessageError> {
        let kind = if subject::has_changes(self.raw, self.spec) {
            "changes"
        } else {
            "document"
        };
        // A marker that neither text can know beforehand cannot be closed by one.
        let salted = format!("{}{document}{}", self.raw.id(), self.verified);
        let own = json!({
            "round": self.raw.count(self.spec.round),
            "persona": self.persona.label,
            "who": self.persona.prompt,
            "kind": kind,
            "subject": subject::title(self.raw, self.spec),
            "earlier": self.findings(),
            "known": self.known(),
            "verified": text::plain(&self.verified),
            "document": document,
            "part": part,
            "marker": Digest::from_bytes(salted.as_bytes()).as_str()[..16],
        });
        let mut all = facts(self.raw, MAX_FIELD_CHARS);
        all.extend(self.context.clone());
        if let Json::Object(own) = own {
            all.extend(own);
        }
        let template = self.spec.prompt.unwrap_or(PROMPT);
        template.render_with(&PARTS, &all)
    }

    /// Returns the text of the newest findings files.
    fn findings(&self) -> String {
        let newest = self.earlier.len().saturating_sub(MAX_EARLIER_FILES);
        let store = self.raw.store();
        let read = |path: &Utf8PathBuf| store.read(path).and_then(crate::files::text).ok();
        let texts = self.earlier[newest..].iter().filter_map(read);
        let texts = texts.map(|findings| text::plain(&findings));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the latest findings of this loop, each with its id.
    fn known(&self) -> Vec<String> {
        let rounds = evidence::history(self.raw, self.spec).unwrap_or_default();
        let mut all = finding_history::standings(&rounds);
        let latest = all.split_off(all.len().saturating_sub(MAX_KNOWN_FINDINGS));
        let line = |one: &finding_history::FindingHistory| {
            let what = text::one_line(&one.what, 200);
            format!("{} ({}): {what}", one.id, one.severity)
        };
        latest.iter().map(line).collect()
    }
}

/// Returns the findings files of a loop's rounds before this one, the latest of them, oldest first.
pub fn earlier_files(raw: &Raw, spec: &ReviewSpec) -> Vec<Utf8PathBuf> {
    let round = raw.count(spec.round);
    (round.saturating_sub(MAX_EARLIER_FILES as u64).max(1)..round)
        .map(|round| findings_file::findings_path(raw.store(), raw.id(), round))
        .collect()
}
