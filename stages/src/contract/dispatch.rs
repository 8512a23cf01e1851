//! Which summary counts: what a program notes when it dispatches a stage, and what a summary is compared with.

use claudex_loop::text;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::findings::{Found, quoted};
use super::rule::Rule;
use super::stage::Stage;
use super::subject::Subject;
use super::value::Round;
use super::yaml::Value;

/// The digest of a file's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest(String);

impl Digest {
    /// Returns that of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(
            Sha256::digest(bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        )
    }

    /// Returns it in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What was noted when a stage was dispatched.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The stage.
    pub stage: Stage,
    /// The round.
    pub round: Round,
    /// The id that its summary may name.
    pub id: String,
    /// The summary file that lay there, if one did.
    pub before: Option<Digest>,
    /// The summaries that counted.
    pub counted: Vec<Digest>,
    /// Whether validation was skipped on the person's word. A decision is then CONDITIONAL, without a score.
    pub skip_validation: bool,
}

impl Dispatch {
    /// Finds bytes that were there before, or that counted.
    pub(crate) fn check_bytes(&self, bytes: &[u8], found: &mut Found) {
        let digest = Digest::of(bytes);
        if self.counted.contains(&digest) {
            let help = "go on with the next instruction, or have the stage write a new summary";
            found.error(
                Rule::TakenAlready,
                0..0,
                "this summary has counted already",
                help,
            );
        } else if self.before.as_ref() == Some(&digest) {
            let help = "have the coordinator write its summary anew";
            found.error(
                Rule::Stale,
                0..0,
                "the file is as it was when the stage was dispatched",
                help,
            );
        }
    }

    /// Finds a summary of another stage, dispatch or round.
    pub(crate) fn check(&self, subject: &Subject<'_>, found: &mut Found) {
        let (stage, number) = (self.stage, self.stage.number());
        if let Some(other) = subject.stage.filter(|other| *other != stage) {
            let place = ["stage_number", "stage"]
                .into_iter()
                .find_map(|key| subject.map.get(key));
            let span = place.map_or(subject.parts.open.clone(), |node| node.span.clone());
            let message = format!(
                "the summary is of stage {}, and stage {number} is open",
                other.number()
            );
            found.error(
                Rule::Foreign,
                span,
                message,
                format!("report the summary of stage {number}, {stage}"),
            );
        }
        let help = format!(
            "have the coordinator of this dispatch write it: `dispatch_id` is {}",
            text::shown(&self.id)
        );
        let Some(flags) = subject.flags else { return };
        if let Some(node) = flags.get("dispatch_id")
            && let Value::Text(id) = &node.value
            && *id != self.id
        {
            let message = format!("the summary is of the dispatch {}", quoted(id));
            found.error(Rule::Stale, node.span.clone(), message, &help);
        }
        if let Some(node) = flags.get("round_number")
            && let Value::Whole(round) = node.value
            && let Some(round) = u32::try_from(round).ok().and_then(Round::new)
            && round != self.round
        {
            let message = format!(
                "the summary is of round {}, and this is round {}",
                round.get(),
                self.round.get()
            );
            found.error(Rule::Stale, node.span.clone(), message, &help);
        }
    }
}
