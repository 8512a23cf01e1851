//! Who calls: inside which session of a client, and whether a person stands behind the call.
//!
//! Claude Code sets CLAUDECODE and CLAUDE_CODE_SESSION_ID in the commands that its agent runs. A call without the first
//! is a person's; a call with it is the agent's, unless a person's own command left a ticket for it.

use crate::machine::Actor;

/// Set in every process that the client starts.
const INSIDE: &str = "CLAUDECODE";
/// The session's id there.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// What `session_id` holds while no session has taken the loop.
pub const UNKNOWN: &str = "unknown";

/// The caller of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whether the call comes from inside a client.
    pub inside: bool,
    /// The client's session.
    pub session: Option<String>,
}

impl Caller {
    /// What the environment says.
    pub fn from_env() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let inside = set(INSIDE).is_some();
        Self {
            inside,
            session: set(SESSION).filter(|session| inside && session != UNKNOWN),
        }
    }

    /// Who that makes the caller; `ticket`: a person's own command stands behind the call.
    pub fn actor(&self, ticket: bool) -> Actor {
        if self.inside && !ticket {
            Actor::Agent
        } else {
            Actor::Person
        }
    }
}
