//! What the model was sent and what it answered, in all sessions of one scenario, in the order in which it happened. Written by
//! the server, read by checks and by the report of a failure.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::agent::{Heard, Reply};

/// One request and its answer.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    /// Since the scenario began.
    pub(super) at: Duration,
    pub(super) heard: Heard,
    /// False for a request that is no turn of the conversation (a title, a summary).
    pub(super) turn: bool,
    pub(super) reply: Reply,
    /// Why there is no reply of a rule's: a template that cannot be rendered, a request that cannot be read.
    pub(super) failure: Option<String>,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Conversation {
    began: Instant,
    exchanges: Mutex<Vec<Exchange>>,
}

impl Conversation {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            exchanges: Mutex::new(Vec::new()),
        }
    }

    /// Since the scenario began.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn note(&self, exchange: Exchange) {
        self.lock().push(exchange);
    }

    /// Returns what was exchanged so far, of one session or of all.
    pub(super) fn of(&self, session: Option<&str>) -> Vec<Exchange> {
        let mut exchanges = self.lock().clone();
        exchanges
            .retain(|exchange| session.is_none_or(|session| exchange.heard.session == session));
        exchanges
    }

    /// Returns what went wrong first, if something did.
    pub(super) fn failure(&self) -> Option<String> {
        self.lock()
            .iter()
            .find_map(|exchange| exchange.failure.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Exchange>> {
        self.exchanges
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
