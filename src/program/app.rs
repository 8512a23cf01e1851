//! The machine of a program, behind [`App`], for code that does not know its types.

use std::any::Any;

use camino::Utf8PathBuf;
use clap::{ArgMatches, FromArgMatches as _};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use super::arguments::LoopArgs;
use crate::behaviours::Step;
use crate::behaviours::ask::Asked;
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Beginning, EdgeInfo, LoopHandle, Refusal, Refused};
use crate::review::Subject;
use crate::store::{LoopId, Store};

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
    pub(super) loop_args: LoopArgs,
}

impl Verb {
    pub(super) fn new(edge: &EdgeInfo, matches: &ArgMatches) -> clap::error::Result<Self> {
        let value = |name: &str| matches.get_one::<Json>(name).cloned().unwrap_or_default();
        let arguments = edge.args.iter();
        Ok(Self {
            transition: edge.transition,
            arguments: arguments
                .map(|argument| (argument.name.to_owned(), value(argument.name)))
                .collect(),
            rejecting: matches.try_get_one(REJECTING).ok().flatten().cloned(),
            loop_args: LoopArgs::from_arg_matches(matches)?,
        })
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
}
