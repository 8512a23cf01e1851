//! A program, and its machine behind [`App`], for code that does not know the machine's types.

use std::any::Any;

use camino::Utf8PathBuf;
use clap::ArgMatches;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use super::extension::{Extension, Variables};
use super::info::{PluginInfo, ProgramInfo};
use super::out;
use super::settings::Settings;
use crate::behaviours::ask::{self, Asked};
use crate::behaviours::{Step, loop_message, verify};
use crate::machine::table::{Message, ModeInfo};
use crate::machine::{Actor, Beginning, EdgeInfo, LoopFacts as _, LoopHandle, Refusal, Refused};
use crate::review::{Subject, subject};
use crate::store::{LoopId, Store};

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

    /// Does the work of the phase that a loop has entered: for one that is over, removes the files
    /// beside its document. Returns sentences for the user.
    ///
    /// # Errors
    /// Returns an error if the extension's work failed. The transition stays.
    pub fn enter(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String> {
        let raw = held.raw();
        if raw.phase_info().terminal
            && let Err(error) = raw.store().clear(raw.id())
        {
            raw.store().log(&format!("{} clean-up: {error}", raw.id()));
        }
        self.extension.on_enter(held)
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
        let mut variables = self.extension.context(held);
        if let Some(asked) = self.question(held)? {
            let question = loop_message::question_context(raw, &asked);
            variables.insert("question".to_owned(), question);
        }
        variables.extend(more);
        loop_message::render(raw, message, variables).map_err(|error| error.to_string())
    }

    /// Prints a message about a loop, below other lines unless it `is_first`.
    pub fn print(
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
}

/// A loop in any phase, whose type only its machine's crate knows.
pub type HeldLoop = Box<dyn LoopHandle>;

/// Returns a loop with its type. Panics if it is a loop of another type.
pub fn into_typed<A: LoopHandle>(held: HeldLoop) -> A {
    let held: Box<dyn Any> = held;
    *held
        .downcast()
        .expect("a program has the loops of one machine")
}

/// Hides the type of a loop.
pub fn into_untyped(held: impl LoopHandle) -> HeldLoop {
    Box::new(held)
}

/// The argument by which a verb rejects findings that are open.
pub(super) const REJECTING: &str = "rejecting";

/// A verb of the machine, with its arguments.
#[derive(Debug)]
pub struct Verb {
    pub(super) transition: &'static str,
    /// The arguments of the transition. One that was left out is null.
    arguments: Map<String, Json>,
    /// The reason for which findings that are still open are rejected.
    pub rejecting: Option<String>,
    /// The loop that was named.
    pub(super) id: Option<String>,
}

impl Verb {
    pub(super) fn new(edge: &EdgeInfo, matches: &ArgMatches) -> Self {
        let value = |name: &str| matches.get_one::<Json>(name).cloned().unwrap_or_default();
        let arguments = edge.args.iter();
        Self {
            transition: edge.transition,
            arguments: arguments
                .map(|argument| (argument.name.to_owned(), value(argument.name)))
                .collect(),
            rejecting: matches.try_get_one(REJECTING).ok().flatten().cloned(),
            id: matches.get_one("id").cloned(),
        }
    }

    /// Returns its transition: a generated `Transition`. Panics if it is that of another machine.
    pub fn typed<T: DeserializeOwned>(&self) -> T {
        let transition = if self.arguments.is_empty() {
            json!(self.transition)
        } else {
            json!({ self.transition: self.arguments })
        };
        serde_json::from_value(transition).expect("a program has the verbs of one machine")
    }
}

/// A machine with its stops. `claudex-build` writes the implementation.
pub trait App {
    /// Starts a loop.
    fn begin(
        &self,
        store: &Store,
        mode: &'static ModeInfo,
        fields: Vec<(&'static str, Json)>,
        how: Beginning,
        actor: Actor,
    ) -> Result<HeldLoop, Refusal>;

    /// Starts a loop from a document that the engine did not write, at the phase that it names.
    fn import(
        &self,
        store: &Store,
        bytes: &[u8],
        file: Utf8PathBuf,
        how: Beginning,
        actor: Actor,
    ) -> Result<HeldLoop, Refusal>;

    /// Opens a loop.
    fn open(&self, store: &Store, id: &LoopId, actor: Actor) -> Result<HeldLoop, Refusal>;

    /// Takes a verb's transition, or returns the loop with the reason for the refusal.
    fn take(&self, verb: Verb, held: HeldLoop) -> Result<HeldLoop, Refused<HeldLoop>>;

    /// Stops a loop, or returns it with the transition that was refused.
    fn stop(&self, held: HeldLoop) -> Result<Step<HeldLoop>, Refused<HeldLoop>>;

    /// Returns the question that is left to Rust, or why nothing can be asked.
    fn asks(&self, _: &dyn LoopHandle) -> Result<Option<Asked>, String> {
        Ok(None)
    }

    /// Returns the verification commands that are left to Rust, or why they are not known. Each is
    /// the name of a `[commands.NAME]` in the user's configuration, or a line for `sh -c`.
    fn verifies(&self, _: &dyn LoopHandle) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Returns the subjects of a review that are left to Rust, or why they are not known.
    fn subjects(&self, _: &dyn LoopHandle) -> Result<Vec<Subject>, String> {
        Ok(Vec::new())
    }

    /// Returns the rules of this machine that a loop breaks, each a sentence.
    fn violations(&self, _: &dyn LoopHandle) -> Vec<String> {
        Vec::new()
    }
}
