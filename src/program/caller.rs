//! The caller of a command: its session, and whether it is the user or an agent.
//!
//! Claude Code sets CLAUDECODE and CLAUDE_CODE_SESSION_ID in its agent's commands. A call with one
//! of them is the agent's, unless the user's slash command left a ticket for it. This prevents
//! mistakes. It does not stop an agent that clears its environment on purpose.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::machine::{Actor, Beginning};
use crate::process::environment::GUARD;
use crate::store::LoopId;

/// The variable in every process that the client starts.
const INSIDE: &str = "CLAUDECODE";
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// The session of a loop that no session has taken.
pub const UNKNOWN: &str = "unknown";
/// The session of a loop that one command runs from start to end. No hook takes it over.
pub const RUN: &str = "run";

/// Whether this call has taken the ticket of the user's slash command.
static HAS_TICKET: AtomicBool = AtomicBool::new(false);

pub(super) fn note_ticket() {
    HAS_TICKET.store(true, Ordering::Relaxed);
}

/// Returns whether one of our reviewers or drafters makes the call.
pub(super) fn is_in_reviewer() -> bool {
    std::env::var_os(GUARD).is_some()
}

/// The caller of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whether the call comes from inside a client.
    pub inside: bool,
    /// The client's session.
    pub session: Option<String>,
    /// Whether the user typed it as a slash command.
    pub is_slash_command: bool,
}

impl Caller {
    /// Reads the environment, and whether the call had a ticket.
    pub fn from_env() -> Self {
        let set = |name| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        };
        let session = set(SESSION).filter(|session| session != UNKNOWN);
        Self {
            inside: set(INSIDE).is_some() || session.is_some(),
            session,
            is_slash_command: HAS_TICKET.load(Ordering::Relaxed),
        }
    }

    /// Returns the actor.
    pub fn actor(&self) -> Actor {
        if self.inside && !self.is_slash_command {
            Actor::Agent
        } else {
            Actor::Person
        }
    }

    /// Returns the beginning of a loop in the caller's session, now.
    pub fn beginning(&self, id: Option<LoopId>) -> Beginning {
        Beginning {
            id,
            ..Beginning::now(self.session.as_deref().unwrap_or(UNKNOWN))
        }
    }
}
