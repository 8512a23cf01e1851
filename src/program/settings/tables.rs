//! The contents of the user's file and of a project's, as serde reads them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::values::{
    AllowedLine, Argument, CommandTime, Label, Model, Name, ProgramName, Prompt, Time,
    VariableName, Whole,
};
use super::{MOST_MINUTES, MOST_ROUNDS};
use crate::machine::persona::Focus;
use crate::review::evidence::EvidencePolicy;
use crate::review::settings::ReviewerKind;

/// The rounds of a loop by the name of its mode.
pub(super) type RoundsTable = BTreeMap<Spanned<String>, Spanned<Whole<MOST_ROUNDS>>>;

/// The user's own configuration of the loops of all machines.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a table")]
pub(super) struct UserFile {
    /// The reviewer: `lint`, `codex`, `claude`, a name under `[reviewers]`, or `auto`.
    pub(super) reviewer: Option<Spanned<String>>,
    /// Reviewers by name. A table named `lint`, `codex` or `claude` adjusts that one; any other name adds one.
    pub(super) reviewers: BTreeMap<Spanned<Name>, ReviewerTable>,
    /// Commands that a machine's `run` may name.
    pub(super) commands: BTreeMap<Spanned<Name>, CommandTable>,
    /// Lines that may run to verify the work, such as `cargo test`. Each is compared as a whole.
    #[serde(rename = "allow_commands")]
    pub(super) allow_commands: Option<Spanned<Vec<AllowedLine>>>,
    /// How long and how often.
    pub(super) limits: LimitsTable,
    /// Whether a round counts without a review.
    pub(super) evidence: Option<Spanned<Evidence>>,
    /// Settings of one program, by its name, such as `claudex-loop`.
    pub(super) programs: BTreeMap<String, ProgramTable>,
}

/// The settings of one program. They go before those of the whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a table")]
pub(super) struct ProgramTable {
    /// The reviewer.
    pub(super) reviewer: Option<Spanned<String>>,
    /// Personas by name. A table of the name of one of the program's adjusts that one; any other name adds one.
    pub(super) personas: BTreeMap<Spanned<Name>, PersonaTable>,
    /// The rounds of a loop.
    pub(super) rounds: RoundsTable,
    /// How long and how often.
    pub(super) limits: LimitsTable,
    /// Whether a round counts without a review.
    pub(super) evidence: Option<Spanned<Evidence>>,
}

/// One reviewer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a table")]
pub(super) struct ReviewerTable {
    /// The kind. Needed for a name of your own.
    pub(super) kind: Option<Spanned<ReviewerKind>>,
    /// The program. A `command` needs one.
    pub(super) program: Option<Spanned<ProgramName>>,
    /// Arguments, passed as they are, without a shell.
    pub(super) arguments: Option<Spanned<Vec<Argument>>>,
    /// The model that the program is asked for.
    pub(super) model: Option<Spanned<Model>>,
    /// Names of environment variables that its process gets in addition to the usual ones.
    pub(super) environment: Option<Spanned<Vec<VariableName>>>,
    /// How long one review may take, such as `15m`.
    pub(super) timeout: Option<Spanned<Time>>,
    /// How long it may be silent.
    pub(super) idle_timeout: Option<Spanned<Time>>,
    /// A setting of earlier builds, which is ignored.
    pub(super) sandbox: Option<Spanned<IgnoredAny>>,
}

/// One persona.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a table")]
pub(super) struct PersonaTable {
    /// The label in titles and tables. By default its name.
    pub(super) label: Option<Spanned<Label>>,
    /// Who it is and what it looks at. Needed for a name of your own.
    pub(super) prompt: Option<Spanned<Prompt>>,
    /// Its place among the others; those of the program have 1, 2 and so on. By default after all that have one.
    pub(super) order: Option<Spanned<i64>>,
    /// What the built-in reviewer looks at in its round. By default `engineering`.
    pub(super) focus: Option<Spanned<Focus>>,
    /// `false` removes it.
    pub(super) enabled: Option<bool>,
}

/// One command.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, expecting = "a table")]
pub(super) struct CommandTable {
    /// The program.
    pub(super) program: Spanned<ProgramName>,
    /// Arguments, passed as they are, without a shell.
    pub(super) arguments: Option<Spanned<Vec<Argument>>>,
    /// Names of environment variables that its process gets in addition to the usual ones.
    pub(super) environment: Option<Spanned<Vec<VariableName>>>,
    /// How long it may take, such as `2m`: 50s by default, 9m at most. The Stop hook's own timeout must be longer.
    pub(super) timeout: Option<Spanned<CommandTime>>,
}

/// How long and how often.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a table")]
pub(super) struct LimitsTable {
    /// How long one review may take, such as `15m`.
    pub(super) timeout: Option<Spanned<Time>>,
    /// How long a reviewer may be silent, such as `5m`.
    pub(super) idle_timeout: Option<Spanned<Time>>,
    /// Failures of the reviewer in one round that end the loop.
    pub(super) max_failures: Option<Spanned<Whole<MOST_ROUNDS>>>,
    /// Minutes without a sign of life after which a loop is archived.
    pub(super) stale_minutes: Option<Spanned<Whole<MOST_MINUTES>>>,
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

/// The settings that a project may make.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", expecting = "a table")]
pub(super) struct ProjectFile {
    /// The rounds of a loop.
    pub(super) rounds: RoundsTable,
    /// How long and how often.
    pub(super) limits: LimitsTable,
}
