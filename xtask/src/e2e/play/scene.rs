//! A scenario that is being played: its world, its sessions, and the words for templates.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use miette::miette;

use crate::e2e::agent::{Agent, Rule};
use crate::e2e::conversation::Conversation;
use crate::e2e::headless::{Headless, Printed};
use crate::e2e::home::{Home, OURS};
use crate::e2e::scenario::{self, Age, Scenario};
use crate::e2e::server::Server;
use crate::e2e::terminal::Terminal;
use crate::e2e::words::Words;

/// What all scenarios of a run share.
#[derive(Debug)]
pub(in crate::e2e) struct Stage {
    /// The repository.
    pub(in crate::e2e) root: PathBuf,
    /// The folder that the scenarios' folders are made in.
    pub(in crate::e2e) folder: PathBuf,
    pub(in crate::e2e) keep: bool,
    pub(in crate::e2e) overwrite_screens: bool,
    /// Where kept screens are drawn.
    pub(in crate::e2e) pictures: Option<PathBuf>,
}

/// One scenario that is being played.
pub(super) struct Play<'a> {
    pub(super) stage: &'a Stage,
    pub(super) scenario: &'a Scenario,
    /// Which of the clients plays it.
    pub(super) age: Age,
    pub(super) home: Home,
    pub(super) server: Server,
    pub(super) conversation: Arc<Conversation>,
    pub(super) deadline: Instant,
    pub(super) words: Words,
    pub(super) sessions: BTreeMap<String, Session>,
}

/// One conversation with a client.
#[derive(Default)]
pub(super) struct Session {
    /// The client's own id of it.
    pub(super) id: Option<String>,
    pub(super) running: Option<Headless>,
    pub(super) terminal: Option<Terminal>,
    /// What its clients printed that have ended.
    pub(super) printed: Vec<Printed>,
}

impl Stage {
    pub(super) fn suite(&self) -> PathBuf {
        self.root.join("tests/e2e")
    }
}

impl Play<'_> {
    /// Returns who plays a session's model: the scenario's rules first, then those of the agent.
    pub(super) fn cast(&mut self, session: &str, agent: Option<&str>) -> miette::Result<()> {
        if agent.is_none() && self.sessions.contains_key(session) {
            return Ok(());
        }
        let name = agent.unwrap_or(&self.scenario.agent);
        let mut rules: Vec<Rule> = self.scenario.rule.clone();
        rules.extend(scenario::agent(&self.stage.suite().join("agents"), name)?);
        self.server.cast(
            session,
            Agent::new(
                rules,
                self.words
                    .with([("session".to_owned(), session.to_owned())]),
            ),
        );
        Ok(())
    }

    pub(super) fn session(&mut self, name: &str) -> miette::Result<&mut Session> {
        self.sessions
            .get_mut(name)
            .ok_or_else(|| miette!("there is no session `{name}` yet"))
    }

    pub(super) fn printed(&self, session: Option<&str>) -> String {
        let mut text = String::new();
        for (name, it) in &self.sessions {
            if session.is_some_and(|session| session != name) {
                continue;
            }
            for printed in it
                .printed
                .iter()
                .cloned()
                .chain(it.running.as_ref().map(Headless::printed))
            {
                text.push_str(&printed.text());
            }
        }
        text
    }

    pub(super) fn words(&self) -> miette::Result<Words> {
        self.words_in("")
    }

    /// Returns the words for templates as things stand now: `id` is the newest loop's of that folder, `session_NAME` the
    /// client's id of a session.
    pub(super) fn words_in(&self, folder: &str) -> miette::Result<Words> {
        let mut words = self.words.clone();
        for (index, it) in self.home.loops(OURS[0], folder)?.into_iter().enumerate() {
            words.set("id", it.id.clone());
            words.set(&format!("id_{}", index + 1), it.id);
        }
        for (name, session) in &self.sessions {
            if let Some(id) = &session.id {
                words.set(&format!("session_{name}"), id.clone());
            }
        }
        Ok(words)
    }
}
