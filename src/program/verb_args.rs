//! The arguments that generated verbs share.

use clap::Args;

/// The arguments that name the loop of a verb.
#[derive(Debug, Clone, Default, Args)]
pub struct LoopArgs {
    /// The loop [default: the active one]
    #[arg(value_name = "LOOP")]
    pub id: Option<String>,
    /// Take the id from what the command's prompt hook stored.
    #[arg(long, hide = true, conflicts_with = "id")]
    pub from_prompt: bool,
}

impl LoopArgs {
    /// Names a loop by its id.
    pub fn with_id(id: impl Into<String>) -> Self {
        Self {
            id: Some(id.into()),
            from_prompt: false,
        }
    }
}

/// The argument of a verb whose evidence says that nothing is open.
#[derive(Debug, Clone, Default, Args)]
pub struct Rejecting {
    /// Why findings that are still open are rejected; the summary shows it.
    #[arg(
        id = "rejecting",
        long = "rejecting",
        value_name = "WHY",
        allow_hyphen_values = true
    )]
    pub why: Option<String>,
}
