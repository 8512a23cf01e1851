//! The extension of a program: the parts that a machine's crate adds in Rust.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use clap::ArgMatches;
use serde_json::{Map, Value as Json};

use super::app::{Program, Verb};
use super::exit::{CommandResult, Failure};
use crate::hooks::{HookOutput, Input};
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Beginning, LoopHandle};
use crate::store::Store;

/// Variables of a template by their names.
pub type Variables = Map<String, Json>;

/// The parts of a program that its machine's crate writes in Rust. The defaults add nothing.
///
/// `held.typed()` is the typed loop, `AnyLoop`, and `verb.typed()` the generated `Transition`.
#[expect(unused_variables, reason = "the defaults ignore their arguments")]
pub trait Extension {
    /// Returns the program's own commands. One replaces the common command of the same name.
    fn commands(&self) -> Vec<clap::Command> {
        Vec::new()
    }

    /// Runs a command that only this program has. Returns `None` for a common command.
    fn run(&self, program: &Program, name: &str, arguments: &ArgMatches) -> Option<CommandResult> {
        None
    }

    /// Changes the command line: adds flags to `start`, or limits an argument of a verb.
    fn arguments(&self, command: clap::Command) -> clap::Command {
        command
    }

    /// Sets fields of a start from its own flags or from the project.
    ///
    /// # Errors
    /// Returns an error if the loop must not start.
    fn start(&self, start: &mut StartRequest<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns the program's own template variables, which `context` of the machine file lists.
    fn context(&self, held: &dyn LoopHandle) -> Variables {
        Variables::new()
    }

    /// Returns the findings files of earlier loops that a reviewer sees first, oldest first.
    fn earlier_findings(&self, held: &dyn LoopHandle) -> Vec<Utf8PathBuf> {
        Vec::new()
    }

    /// Does the work of an entered phase. Returns sentences for the user if the loop is over.
    ///
    /// # Errors
    /// Returns an error if the work failed. The transition stays.
    fn on_enter(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Does the work after a review with a verdict. Returns lines to print below the findings.
    fn after_review(&self, held: &dyn LoopHandle) -> Vec<String> {
        Vec::new()
    }

    /// Sets data of fields before a verb or an answer takes its transition, or refuses it.
    fn before_take(&self, held: &mut dyn LoopHandle, verb: &Verb) -> Result<(), Failure> {
        Ok(())
    }

    /// Handles answers to questions that no phase asks. Returns `None` for a phase's answers.
    fn on_answer(&self, input: &Input) -> Option<HookOutput> {
        None
    }

    /// Returns the help of a refused transition, or of an `answer` if nothing is asked.
    fn refusal_help(&self, held: &dyn LoopHandle, transition: &str) -> Option<String> {
        None
    }

    /// Returns the arguments of a start that replaces a verb, such as more rounds after the end.
    fn start_instead(&self, held: &dyn LoopHandle, verb: &Verb) -> Option<Vec<String>> {
        None
    }

    /// Returns the caveats of a loop for `status` and `report`, each a sentence, the outcome first.
    fn caveats(&self, held: &dyn LoopHandle) -> Vec<String> {
        Vec::new()
    }

    /// Returns the lines that only this program's `status` has, each with a name.
    fn status(&self, held: &dyn LoopHandle) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns the place of a loop that `statusline` shows instead of its phase and round.
    fn status_line(&self, held: &dyn LoopHandle) -> Option<String> {
        None
    }

    /// Returns the next action, or `None` if the machine file has it.
    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction> {
        None
    }
}

/// The next action in a loop, as parts of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextAction {
    /// The actor and the work that the loop waits for.
    pub waits_for: String,
    /// The next step. A command line is on its own line.
    pub next: String,
    /// Whether the user has to choose one of its commands: `resume` alone does not continue.
    pub is_choice: bool,
}

impl NextAction {
    /// Makes a next action.
    pub fn new(waits_for: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            waits_for: waits_for.into(),
            next: next.into(),
            is_choice: false,
        }
    }
}

/// A start, to which an extension adds fields.
#[derive(Debug)]
pub struct StartRequest<'a> {
    /// The mode.
    pub mode: &'static ModeInfo,
    /// The fields that have a value.
    pub fields: BTreeMap<&'static str, Json>,
    /// All arguments, including the program's own flags.
    pub arguments: &'a ArgMatches,
    /// The folder that the start was called from.
    pub here: &'a Utf8Path,
    /// The store of the loop.
    pub store: &'a Store,
    /// The time, the session, and the id if it was chosen.
    pub beginning: Beginning,
    /// The actor.
    pub actor: Actor,
}

impl StartRequest<'_> {
    /// Sets a field. Null keeps its start value.
    pub fn set(&mut self, field: &'static str, value: impl Into<Json>) {
        self.fields.insert(field, value.into());
    }

    /// Returns the text of a field.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.as_str()
    }

    /// Returns whether a flag of a field or of the program was set.
    pub fn flag(&self, name: &str) -> bool {
        let is_set = matches!(self.arguments.try_get_one(name), Ok(Some(true)));
        is_set || self.fields.get(name).is_some_and(|value| *value == true)
    }
}

/// A program that consists of its machine file alone.
impl Extension for () {}
