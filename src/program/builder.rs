//! The program of a machine, from its generated module and its crate.

use jiff::Timestamp;

use super::app::App;
use super::extension::{Extension, Variables};
use super::info::{PluginInfo, ProgramInfo};
use super::out;
use super::settings::Settings;
use crate::behaviours::ask::{self, Asked};
use crate::behaviours::{loop_message, verify};
use crate::machine::table::Message;
use crate::machine::{Actor, LoopFacts as _, LoopHandle};
use crate::review::subject;

/// The protocol of plugin and program. A plugin's launcher asks for it.
pub(super) const PROTOCOL: &str = "1";

/// The program of a machine, made by the generated function `program` and run by [`Program::main`].
pub struct Program {
    /// The names of the program.
    pub info: &'static ProgramInfo,
    /// The package's version.
    pub version: &'static str,
    /// The plugin of Claude Code that calls it.
    pub plugin: Option<PluginInfo>,
    /// The machine's types.
    pub app: Box<dyn App>,
    /// The parts that the machine's crate adds.
    pub extension: Box<dyn Extension>,
}

impl Program {
    /// Returns the answer to `--protocol` after the program's name: `protocol 1 (0.1.0)`.
    pub(super) fn protocol(&self) -> String {
        format!("protocol {PROTOCOL} ({})", self.version)
    }

    /// Sets a loop's facts: permissions, verification commands, subjects of the review.
    pub fn prepare(&self, held: &dyn LoopHandle, settings: &Settings, actor: Actor) {
        let raw = held.raw();
        let permissions = &raw.program_facts().permissions;
        let _ = permissions.set(settings.permissions(actor));
        verify::set_commands(raw, || self.app.verifies(held));
        subject::set_subjects(raw, || self.app.subjects(held));
    }

    pub(super) fn question(&self, held: &dyn LoopHandle) -> Result<Option<Asked>, String> {
        ask::question(held.raw(), self.app.asks(held)?)
    }

    /// Renders a message about a loop, with the program's own variables and `more`.
    ///
    /// # Errors
    /// Returns an error if the template or the loop's question cannot be rendered.
    pub fn render(
        &self,
        held: &dyn LoopHandle,
        message: Option<Message>,
        more: Variables,
    ) -> Result<Option<String>, String> {
        let raw = held.raw();
        let mut variables = self.extension.context(held, Timestamp::now());
        if let Some(asked) = self.question(held)? {
            let question = loop_message::question(raw, &asked);
            variables.insert("question".to_owned(), question);
        }
        variables.extend(more);
        loop_message::render(raw, message, variables).map_err(|error| error.to_string())
    }

    /// Prints a message about a loop, below other lines unless it `is_first`.
    pub(super) fn print(
        &self,
        held: &dyn LoopHandle,
        message: Option<Message>,
        more: Variables,
        is_first: bool,
    ) {
        let gap = if is_first { "" } else { "\n" };
        match self.render(held, message, more) {
            Ok(Some(text)) => out::text(&format!("{gap}{}\n", text.trim())),
            Ok(None) => {}
            Err(problem) => out::note(&self.info.line(&problem)),
        }
    }

    /// Names the program's own commands that start a loop and import a document.
    #[must_use]
    pub fn with_commands(mut self, begin: Option<&'static str>, take_up: &'static str) -> Self {
        // The names live as long as the program.
        self.info = Box::leak(Box::new(ProgramInfo {
            begin,
            take_up: Some(take_up),
            ..*self.info
        }));
        self
    }
}
