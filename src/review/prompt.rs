//! The prompt of a reviewer that is a model: the phase's own template, else the engine's.
//!
//! A template has the variables of every message, and `round`, `persona` (its label), `who` (its
//! prompt), `kind` (`document` or `changes`), `earlier` (earlier findings), `known` (those with
//! ids), `verified` (results of commands), `document` and `marker`. It may include the engine's
//! parts `review/answer.md`, `review/earlier.md`, `review/verified.md` and `review/document.md`.

use camino::Utf8PathBuf;
use minijinja::Environment;
use serde_json::{Map, Value as Json, json};

use super::finding_history::{self, FindingHistory};
use super::findings::Finding;
use super::runs::Run;
use super::{findings_file, subject};
use crate::digest::sha256;
use crate::machine::table::ReviewSpec;
use crate::machine::{PersonaInfo, Raw};
use crate::message::{Message, MessageError, facts, render_in};
use crate::{template, text};

/// The most earlier rounds in a prompt, which are the newest ones.
const MAX_EARLIER_ROUNDS: usize = 20;
const MAX_FIELD_CHARS: usize = 1000;

/// The prompt of a phase without a template.
const PROMPT: Message = template!("prompt/prompt.md");
/// The parts that any prompt may include, each with its name.
const PARTS: [(&str, &str); 4] = [
    ("review/answer.md", include_str!("prompt/answer.md")),
    ("review/earlier.md", include_str!("prompt/earlier.md")),
    ("review/verified.md", include_str!("prompt/verified.md")),
    ("review/document.md", include_str!("prompt/document.md")),
];

/// The content of a prompt.
#[derive(Debug)]
pub struct Prompt<'a> {
    /// The loop.
    pub raw: &'a Raw,
    /// The review of its phase.
    pub spec: &'a ReviewSpec,
    /// The persona.
    pub persona: &'static PersonaInfo,
    /// The program's own names for templates.
    pub context: Map<String, Json>,
    /// The findings files from before this loop, oldest first.
    pub earlier: Vec<Utf8PathBuf>,
    /// The results of the verification commands, or an empty text.
    pub verified: String,
    /// The findings of failed verification commands, which are added to any verdict.
    pub failed: Vec<Finding>,
}

impl Prompt<'_> {
    /// Renders the prompt about a plain text. `rounds` are the earlier verdicts that count.
    ///
    /// # Errors
    /// Returns an error if the template does not render.
    pub fn render(&self, document: &str, rounds: &[Run]) -> Result<String, MessageError> {
        let kind = if subject::has_changes(self.raw, self.spec) {
            "changes"
        } else {
            "document"
        };
        // Neither text can contain a marker that it cannot know beforehand.
        let salted = format!("{}{document}{}", self.raw.id(), self.verified);
        let context = json!({
            "round": self.raw.count(self.spec.round),
            "is_numbered": self.spec.is_numbered(),
            "persona": self.persona.label,
            "who": self.persona.prompt.text.trim_end(),
            "kind": kind,
            "subject": subject::title(self.raw, self.spec),
            "earlier": self.earlier_findings(rounds),
            "known": known_findings(rounds),
            "verified": text::strip_hidden(&self.verified),
            "document": document,
            "marker": sha256(salted)[..16],
        });
        let mut all = facts(self.raw, MAX_FIELD_CHARS);
        all.extend(self.context.clone());
        if let Json::Object(context) = context {
            all.extend(context);
        }
        let template = self.spec.prompt.unwrap_or(PROMPT);
        let add_parts = |environment: &mut Environment<'static>| {
            let mut parts = PARTS.into_iter();
            parts.try_for_each(|(name, text)| environment.add_template(name, text))
        };
        render_in(template, add_parts, &all)
    }

    /// Returns the text of the newest findings, those of this loop last.
    fn earlier_findings(&self, rounds: &[Run]) -> String {
        let store = self.raw.store();
        let paths = self.earlier.iter();
        let files = paths.filter_map(|path| store.read(path).and_then(crate::files::text).ok());
        let this = self.raw.count(self.spec.round);
        let before = rounds.iter().filter(|run| run.began.round < this);
        let of_this_loop =
            before.filter_map(|run| Some(findings_file::render(run.began.round, run.verdict()?)));
        let all: Vec<String> = files
            .chain(of_this_loop)
            .map(|text| text::strip_hidden(&text))
            .collect();
        all[all.len().saturating_sub(MAX_EARLIER_ROUNDS)..].join("\n")
    }
}

/// Returns the findings of a loop, each with its id.
fn known_findings(rounds: &[Run]) -> Vec<String> {
    let all = finding_history::standings(rounds).into_iter();
    let lines = all.map(|FindingHistory { finding, .. }| {
        let id = finding.id.as_deref().unwrap_or_default();
        let problem = text::one_line(&finding.what, 200);
        format!("{id} ({}): {problem}", finding.severity)
    });
    lines.collect()
}
