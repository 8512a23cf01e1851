//! The machine of a program, for code that does not know its types: generated code implements [`App`].

use std::any::Any;

use camino::Utf8PathBuf;
use clap::ArgMatches;
use serde_json::Value as Json;

use super::arguments::LoopArgs;
use crate::behaviours::Step;
use crate::behaviours::ask::Asked;
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Beginning, LoopHandle, Refusal, Refused};
use crate::review::Subject;
use crate::store::{LoopId, Store};

/// A loop in any phase, whose type only its machine's crate knows.
pub type HeldLoop = Box<dyn LoopHandle>;

/// Returns a loop with its type. Panics if it is a loop of another type.
pub fn into_typed<A: LoopHandle>(held: HeldLoop) -> A {
    let held: Box<dyn Any> = held;
    *held.downcast().expect(ONE_MACHINE)
}

/// Hides the type of a loop.
pub fn into_untyped(held: impl LoopHandle) -> HeldLoop {
    Box::new(held)
}

/// The reason why the type of a loop and of a verb is known.
const ONE_MACHINE: &str = "a program has the loops and verbs of one machine";

/// A verb with its arguments, whose type only its machine's crate knows.
#[derive(Debug)]
pub struct ParsedVerb {
    /// The transition that it takes.
    pub(super) transition: &'static str,
    /// The arguments that name its loop.
    pub(super) loop_args: LoopArgs,
    verb: Box<dyn Any>,
}

impl ParsedVerb {
    /// Hides the type of a verb.
    pub fn new(transition: &'static str, loop_args: LoopArgs, verb: impl Any) -> Self {
        Self {
            transition,
            loop_args,
            verb: Box::new(verb),
        }
    }

    /// Returns the verb with its type. Panics if it is the type of another machine.
    pub fn typed<V: 'static>(&self) -> &V {
        self.verb.downcast_ref().expect(ONE_MACHINE)
    }

    /// Returns its name on the command line.
    pub(super) fn name(&self) -> String {
        self.transition.replace('_', "-")
    }
}

/// A machine with its stops. `claudex-build` writes the implementation.
pub trait App {
    /// Adds a subcommand for each transition that an agent or the user may take.
    fn add_verbs(&self, command: clap::Command) -> clap::Command;

    /// Parses a verb.
    fn parse(&self, matches: &ArgMatches) -> clap::error::Result<ParsedVerb>;

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

    /// Takes a verb's transition by the method of the loop's type, or returns the loop with the reason for which it refuses.
    fn take(&self, verb: ParsedVerb, held: HeldLoop) -> Result<HeldLoop, Refused<HeldLoop>>;

    /// Stops a loop, or returns it with the transition that was refused.
    fn stop(&self, held: HeldLoop) -> Result<Step<HeldLoop>, Refused<HeldLoop>>;

    /// Returns the question that the machine file leaves to Rust, or a sentence about why nothing can be asked.
    fn asks(&self, _: &dyn LoopHandle) -> Result<Option<Asked>, String> {
        Ok(None)
    }

    /// Returns the commands that verify the work, if the machine file leaves them to Rust, or a sentence about why they are not
    /// known. Each is the name of a `[commands.NAME]` of the user's configuration, or a line for `sh -c`.
    fn verifies(&self, _: &dyn LoopHandle) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Returns the subjects of a review, if the machine file leaves them to Rust, or a sentence about why they are not known.
    fn subjects(&self, _: &dyn LoopHandle) -> Result<Vec<Subject>, String> {
        Ok(Vec::new())
    }
}
