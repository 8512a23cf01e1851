//! The contents of the user's file and of a project's, as serde reads them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::leaf::{At, Table, Time, Whole, Word};
use super::{MOST_MINUTES, MOST_ROUNDS};
use crate::machine::persona::Focus;
use crate::review::evidence::EvidencePolicy;
use crate::review::settings::ReviewerKind;

/// Your own configuration of the loops of all machines.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table"
)]
pub(super) struct UserFile {
    /// Who reviews: `lint`, `codex`, `claude`, a name under `[reviewers]`, or `auto`.
    pub(super) reviewer: Option<At<String>>,
    /// Reviewers by name. A table named `lint`, `codex` or `claude` adjusts that one; any other name adds one.
    pub(super) reviewers: BTreeMap<At<String>, Table<ReviewerTable>>,
    /// Commands that a machine's `run` may name. What runs is said here alone, never by a project.
    pub(super) commands: BTreeMap<At<String>, Table<CommandTable>>,
    /// Lines that may run to verify the work, such as `cargo test`. Each is compared as a whole.
    #[serde(rename = "allow_commands")]
    pub(super) allow_commands: Option<At<Vec<At<String>>>>,
    /// How long and how often.
    pub(super) limits: Table<LimitsTable>,
    /// Whether a round counts without a review.
    pub(super) evidence: Option<At<Evidence>>,
    /// What holds for one program, by its name, such as `claudex-loop`.
    pub(super) programs: BTreeMap<At<String>, Table<ProgramTable>>,
}

/// One program: what is said here goes before what the file says for all.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table"
)]
pub(super) struct ProgramTable {
    /// Who reviews.
    pub(super) reviewer: Option<At<String>>,
    /// Who reviews in which round. A table of the name of one of the program's adjusts that one; any other name adds one.
    pub(super) personas: BTreeMap<At<String>, Table<PersonaTable>>,
    /// How many rounds a loop has, by the name of its mode.
    pub(super) rounds: BTreeMap<At<String>, At<Whole<MOST_ROUNDS>>>,
    /// How long and how often.
    pub(super) limits: Table<LimitsTable>,
    /// Whether a round counts without a review.
    pub(super) evidence: Option<At<Evidence>>,
}

/// One reviewer.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table"
)]
pub(super) struct ReviewerTable {
    /// Which program speaks. Needed for a name of your own.
    pub(super) kind: Option<At<Word<ReviewerKind>>>,
    /// The program: a name that is looked up in PATH, or an absolute path. A `command` needs one.
    pub(super) program: Option<At<String>>,
    /// Arguments, passed as they are, without a shell.
    pub(super) arguments: Option<At<Vec<String>>>,
    /// The model that the program is asked for.
    pub(super) model: Option<At<String>>,
    /// Names of environment variables that its process gets besides the usual ones.
    pub(super) environment: Option<At<Vec<String>>>,
    /// How long one review may take, such as `15m`.
    pub(super) timeout: Option<At<Time>>,
    /// How long it may be silent.
    pub(super) idle_timeout: Option<At<Time>>,
}

/// One persona.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table"
)]
pub(super) struct PersonaTable {
    /// As titles and tables name it. By default its name.
    pub(super) label: Option<At<String>>,
    /// Who it is and what it looks at. Needed for a name of your own.
    pub(super) prompt: Option<At<String>>,
    /// Its place among the others; those of the program have 1, 2 and so on. By default after all that have one.
    pub(super) order: Option<At<i64>>,
    /// What the built-in reviewer looks at in its round. By default `engineering`.
    pub(super) focus: Option<At<Word<Focus>>>,
    /// `false` takes it out.
    pub(super) enabled: Option<At<bool>>,
}

/// One command.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table"
)]
pub(super) struct CommandTable {
    /// The program: a name that is looked up in PATH, or an absolute path.
    pub(super) program: Option<At<String>>,
    /// Arguments, passed as they are, without a shell.
    pub(super) arguments: Option<At<Vec<String>>>,
    /// Names of environment variables that its process gets besides the usual ones.
    pub(super) environment: Option<At<Vec<String>>>,
    /// How long it may take, such as `2m`: 50s where nothing is said, 9m at most. The Stop hook's own timeout must be longer.
    pub(super) timeout: Option<At<Time>>,
}

/// How long and how often.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table"
)]
pub(super) struct LimitsTable {
    /// How long one review may take, such as `15m`.
    pub(super) timeout: Option<At<Time>>,
    /// How long a reviewer may be silent, such as `5m`.
    pub(super) idle_timeout: Option<At<Time>>,
    /// Failures of the reviewer in one round that end the loop.
    pub(super) max_failures: Option<At<Whole<MOST_ROUNDS>>>,
    /// Minutes without a sign of life after which a loop is swept.
    pub(super) stale_minutes: Option<At<Whole<MOST_MINUTES>>>,
}

/// Whether a round counts without a review.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Evidence {
    /// It does not.
    Required,
    /// It does, and the summary says so.
    Optional,
}

impl From<Evidence> for EvidencePolicy {
    fn from(word: Evidence) -> Self {
        match word {
            Evidence::Required => Self::Required,
            Evidence::Optional => Self::Optional,
        }
    }
}

/// What a project chooses among what its user has.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table"
)]
pub(super) struct ProjectFile {
    /// Who reviews: a name that the user's configuration has, or `auto`.
    pub(super) reviewer: Option<At<String>>,
    /// Which of the user's personas review, in this order.
    pub(super) personas: Option<At<Vec<At<String>>>>,
}
