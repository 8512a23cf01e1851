//! Who speaks to people: what a program's lines begin with, and what is typed to call it.

use crate::machine::Table;
use crate::store::StateSpec;
use crate::text::COMMAND;

/// A program as its own messages name it.
#[derive(Debug, Clone, Copy)]
pub struct Speaker {
    /// What its lines to people begin with.
    pub name: &'static str,
    /// What is typed in a terminal.
    pub program: &'static str,
    /// The plugin whose slash commands call it, where there is one.
    pub plugin: Option<&'static str>,
    /// Where its loops lie.
    pub state: &'static StateSpec,
    /// Its machine.
    pub table: &'static Table,
}

impl Speaker {
    /// A line for a person: `release-train: …`.
    pub fn line(&self, text: &str) -> String {
        format!("{}: {text}", self.name)
    }

    /// Returns how a command is called, in a client with the plugin and in a terminal: each on a line of its own, where nothing
    /// runs it that pastes the message. It stands at the end of a sentence.
    pub fn command(&self, words: &str) -> String {
        let typed = self.plugin.map(|plugin| format!("\n{COMMAND}/{plugin}:{words}"));
        let program = self.program;
        format!("{}\n{COMMAND}{program} {words}", typed.unwrap_or_default())
    }
}
