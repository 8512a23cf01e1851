//! The machine of a program, for code that does not know its types.
//!
//! Generated code implements [`TypedApp`]. [`Typed`] makes the object-safe [`App`] of it and its stops, so no other module of the
//! program has a type parameter.

use std::any::Any;
use std::fmt;

use camino::Utf8PathBuf;
use clap::{ArgMatches, FromArgMatches as _, Subcommand};
use serde_json::Value as Json;

use super::arguments::LoopArgs;
use super::info::ProgramInfo;
use super::plugin::info::PluginInfo;
use crate::behaviours::Step;
use crate::behaviours::ask::Asked;
use crate::machine::import::ImportError;
use crate::machine::raw::OpenError;
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Beginning, Held, LoopHandle, Machine, Refused};
use crate::review::Subject;
use crate::store::{LoopId, StartError, Store};

/// A machine with a command line. `claudex-build` writes the implementation.
pub trait TypedApp: Machine {
    /// A loop in any phase.
    type Any: LoopHandle;
    /// The transitions that an agent or the user may take, as subcommands.
    type Verb: Subcommand + fmt::Debug + 'static;
    /// The package's version.
    const VERSION: &'static str;
    /// The fields that a start must be given.
    const REQUIRED: &'static [&'static str];
    /// The plugin, if the machine names one.
    const PLUGIN: Option<PluginInfo>;
    /// The program as the machine file names it.
    const INFO: &'static ProgramInfo = &ProgramInfo::new(Self::TABLE);

    /// Returns a loop with the type of its phase.
    fn wrap(held: Held<Self>) -> Self::Any;

    /// Returns the transition that a verb takes, and the arguments that name its loop.
    fn parts(verb: &Self::Verb) -> (&'static str, &LoopArgs);

    /// Returns the verb of a transition that takes nothing but the loop: no evidence, no arguments.
    fn plain(transition: &str, loop_args: LoopArgs) -> Option<Self::Verb>;

    /// Takes a verb's transition by the method of the loop's type.
    ///
    /// # Errors
    /// Returns the loop and the reason if the phase has no such transition, the evidence is missing, or the loop refuses.
    fn take(verb: Self::Verb, held: Self::Any) -> Result<Self::Any, Refused<Self::Any>>;

    /// Starts a loop from a document that the engine did not write, at the phase that it names.
    ///
    /// # Errors
    /// See [`ImportError`].
    fn import(
        store: &Store,
        bytes: &[u8],
        file: Utf8PathBuf,
        how: Beginning,
        actor: Actor,
    ) -> Result<Self::Any, ImportError> {
        Held::import(store, bytes, file, how, actor).map(Self::wrap)
    }
}

/// The stops of a machine. `claudex-build` implements it for every `OnStop`.
pub trait Stops<M: TypedApp> {
    /// Stops a loop.
    ///
    /// # Errors
    /// Returns an error if a transition is refused.
    fn stop(&self, held: M::Any) -> Result<Step<M::Any>, Refused<M::Any>>;

    /// Returns the question that the machine file leaves to Rust.
    ///
    /// # Errors
    /// Returns a sentence about why nothing can be asked.
    fn asks(&self, _: &M::Any) -> Result<Option<Asked>, String> {
        Ok(None)
    }

    /// Returns the commands that verify the work, if the machine file leaves them to Rust.
    ///
    /// Each is the name of a `[commands.NAME]` of the user's configuration, or a line for `sh -c`.
    ///
    /// # Errors
    /// Returns a sentence about why they are not known.
    fn verifies(&self, _: &M::Any) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Returns the subjects of a review, if the machine file leaves them to Rust.
    ///
    /// # Errors
    /// Returns a sentence about why they are not known.
    fn subjects(&self, _: &M::Any) -> Result<Vec<Subject>, String> {
        Ok(Vec::new())
    }
}

/// A loop in any phase, whose type only its machine's crate knows.
pub(super) type HeldLoop = Box<dyn LoopHandle>;

/// Returns a loop with its type.
pub(super) fn into_typed<A: LoopHandle>(held: HeldLoop) -> A {
    let held: Box<dyn Any> = held;
    *held.downcast().expect(ONE_MACHINE)
}

/// Hides the type of a loop.
pub(super) fn into_untyped(held: impl LoopHandle) -> HeldLoop {
    Box::new(held)
}

/// The reason why the type of a loop and of a verb is known.
const ONE_MACHINE: &str = "a program has the loops and verbs of one machine";

/// A verb with its arguments, whose type only its machine's crate knows.
pub struct ParsedVerb {
    /// The transition that it takes.
    pub(super) transition: &'static str,
    /// The arguments that name its loop.
    pub(super) loop_args: LoopArgs,
    verb: Box<dyn Any>,
}

impl ParsedVerb {
    fn new<M: TypedApp>(verb: M::Verb) -> Self {
        let (transition, loop_args) = M::parts(&verb);
        Self {
            transition,
            loop_args: loop_args.clone(),
            verb: Box::new(verb),
        }
    }

    /// Returns the verb with its type.
    ///
    /// # Panics
    /// Panics if it is the type of another machine.
    pub fn typed<V: 'static>(&self) -> &V {
        self.verb.downcast_ref().expect(ONE_MACHINE)
    }

    /// Returns its name on the command line.
    pub(super) fn name(&self) -> String {
        self.transition.replace('_', "-")
    }
}

/// A machine with its stops, for code that knows none of its types. The methods are those of [`TypedApp`] and [`Stops`].
pub(super) trait App {
    /// Adds a subcommand for each verb.
    fn add_verbs(&self, command: clap::Command) -> clap::Command;

    /// Parses a verb.
    fn parse(&self, matches: &ArgMatches) -> clap::error::Result<ParsedVerb>;

    fn plain(&self, transition: &str, id: &LoopId) -> Option<ParsedVerb>;

    fn begin(
        &self,
        store: &Store,
        mode: &'static ModeInfo,
        fields: Vec<(&'static str, Json)>,
        how: Beginning,
        actor: Actor,
    ) -> Result<HeldLoop, StartError>;

    fn import(
        &self,
        store: &Store,
        bytes: &[u8],
        file: Utf8PathBuf,
        how: Beginning,
        actor: Actor,
    ) -> Result<HeldLoop, ImportError>;

    fn open(&self, store: &Store, id: &LoopId, actor: Actor) -> Result<HeldLoop, OpenError>;

    fn take(&self, verb: ParsedVerb, held: HeldLoop) -> Result<HeldLoop, Refused<HeldLoop>>;

    fn stop(&self, held: HeldLoop) -> Result<Step<HeldLoop>, Refused<HeldLoop>>;

    fn asks(&self, held: &dyn LoopHandle) -> Result<Option<Asked>, String>;

    fn verifies(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String>;

    fn subjects(&self, held: &dyn LoopHandle) -> Result<Vec<Subject>, String>;
}

/// The [`App`] of a machine.
pub(super) struct Typed<M: TypedApp>(pub(super) Box<dyn Stops<M>>);

impl<M: TypedApp> App for Typed<M> {
    fn add_verbs(&self, command: clap::Command) -> clap::Command {
        M::Verb::augment_subcommands(command)
    }

    fn parse(&self, matches: &ArgMatches) -> clap::error::Result<ParsedVerb> {
        M::Verb::from_arg_matches(matches).map(ParsedVerb::new::<M>)
    }

    fn plain(&self, transition: &str, id: &LoopId) -> Option<ParsedVerb> {
        M::plain(transition, LoopArgs::with_id(id.as_str())).map(ParsedVerb::new::<M>)
    }

    fn begin(
        &self,
        store: &Store,
        mode: &'static ModeInfo,
        fields: Vec<(&'static str, Json)>,
        how: Beginning,
        actor: Actor,
    ) -> Result<HeldLoop, StartError> {
        Held::begin(store, mode, fields, how, actor).map(untyped::<M>)
    }

    fn import(
        &self,
        store: &Store,
        bytes: &[u8],
        file: Utf8PathBuf,
        how: Beginning,
        actor: Actor,
    ) -> Result<HeldLoop, ImportError> {
        M::import(store, bytes, file, how, actor).map(into_untyped)
    }

    fn open(&self, store: &Store, id: &LoopId, actor: Actor) -> Result<HeldLoop, OpenError> {
        Held::open(store, id, actor).map(untyped::<M>)
    }

    fn take(&self, verb: ParsedVerb, held: HeldLoop) -> Result<HeldLoop, Refused<HeldLoop>> {
        let verb = verb.verb.downcast().expect(ONE_MACHINE);
        M::take(*verb, into_typed(held))
            .map(into_untyped)
            .map_err(|refused| refused.map(into_untyped))
    }

    fn stop(&self, held: HeldLoop) -> Result<Step<HeldLoop>, Refused<HeldLoop>> {
        self.0
            .stop(into_typed(held))
            .map(|step| step.map(into_untyped))
            .map_err(|refused| refused.map(into_untyped))
    }

    fn asks(&self, held: &dyn LoopHandle) -> Result<Option<Asked>, String> {
        self.0.asks(held.typed())
    }

    fn verifies(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String> {
        self.0.verifies(held.typed())
    }

    fn subjects(&self, held: &dyn LoopHandle) -> Result<Vec<Subject>, String> {
        self.0.subjects(held.typed())
    }
}

fn untyped<M: TypedApp>(held: Held<M>) -> HeldLoop {
    into_untyped(M::wrap(held))
}
