//! The machine of a program, for code that does not know its types.
//!
//! Generated code implements [`TypedApp`]. [`Typed`] makes the object-safe [`App`] of it, its stops and its extension, so no
//! other module of the program has a type parameter.

use std::any::Any;
use std::fmt;

use camino::Utf8PathBuf;
use clap::{ArgMatches, FromArgMatches as _, Subcommand};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::exit::Failure;
use super::extension::NextAction;
use super::extension::{Extension, NotTaken, Variables};
use super::extension::{StartFields, StartRequest};
use super::info::ProgramInfo;
use super::plugin::info::PluginInfo;
use super::settings::Settings;
use super::surroundings::Surroundings;
use super::verb_args::LoopArgs;
use crate::behaviours::Step;
use crate::behaviours::ask::Asked;
use crate::hooks::{HookOutput, Input};
use crate::machine::held::OpenError;
use crate::machine::import::ImportError;
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

    /// Returns the transition that a verb takes.
    fn transition(verb: &Self::Verb) -> &'static str {
        Self::parts(verb).0
    }

    /// Opens a loop.
    ///
    /// # Errors
    /// See [`OpenError`].
    fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<Self::Any, OpenError> {
        Held::open(store, id, actor).map(Self::wrap)
    }

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

fn as_typed<A: LoopHandle>(held: &dyn LoopHandle) -> &A {
    let held: &dyn Any = held;
    held.downcast_ref().expect(ONE_MACHINE)
}

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
pub(super) struct ParsedVerb {
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

    fn as_typed<V: 'static>(&self) -> &V {
        self.verb.downcast_ref().expect(ONE_MACHINE)
    }

    /// Returns its name on the command line.
    pub(super) fn name(&self) -> String {
        self.transition.replace('_', "-")
    }
}

/// A machine with its stops and its extension, for code that knows none of its types.
///
/// The methods without documentation are those of [`TypedApp`], [`Stops`] and [`Extension`].
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

    /// Takes a verb's transition, with the data that the extension sets with it.
    fn take(&self, verb: ParsedVerb, held: HeldLoop) -> Result<HeldLoop, NotTaken<HeldLoop>>;

    fn stop(&self, held: HeldLoop) -> Result<Step<HeldLoop>, Refused<HeldLoop>>;

    fn asks(&self, held: &dyn LoopHandle) -> Result<Option<Asked>, String>;

    fn verifies(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String>;

    fn subjects(&self, held: &dyn LoopHandle) -> Result<Vec<Subject>, String>;

    fn arguments(&self, command: clap::Command) -> clap::Command;

    fn start(&self, request: StartRequest<'_>) -> Result<StartFields, Failure>;

    fn context(&self, held: &dyn LoopHandle, settings: &Settings, now: Timestamp) -> Variables;

    fn earlier_findings(&self, held: &dyn LoopHandle) -> Vec<Utf8PathBuf>;

    fn entered(&self, held: &dyn LoopHandle, settings: &Settings) -> Result<Vec<String>, String>;

    fn reviewed(&self, held: &dyn LoopHandle) -> Vec<String>;

    fn answered(&self, input: &Input, surroundings: &Surroundings) -> Option<HookOutput>;

    fn refusal_help(&self, held: &dyn LoopHandle, transition: &str) -> Option<String>;

    fn start_instead(&self, held: &dyn LoopHandle, verb: &ParsedVerb) -> Option<Vec<String>>;

    fn caveats(&self, held: &dyn LoopHandle, settings: &Settings) -> Vec<String>;

    fn status(&self, held: &dyn LoopHandle) -> Vec<(&'static str, String)>;

    fn status_line(&self, held: &dyn LoopHandle) -> Option<String>;

    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction>;
}

/// The [`App`] of a machine.
pub(super) struct Typed<M: TypedApp> {
    pub(super) stops: Box<dyn Stops<M>>,
    pub(super) extension: Box<dyn Extension<M>>,
}

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
        Held::begin(store, mode, fields, how, actor)
            .map(M::wrap)
            .map(into_untyped)
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
        M::open(store, id, actor).map(into_untyped)
    }

    fn take(&self, verb: ParsedVerb, held: HeldLoop) -> Result<HeldLoop, NotTaken<HeldLoop>> {
        let mut held: M::Any = into_typed(held);
        self.extension.before_take(&mut held, verb.as_typed())?;
        let verb = verb.verb.downcast().expect(ONE_MACHINE);
        let taken = M::take(*verb, held);
        taken
            .map(into_untyped)
            .map_err(|refused| NotTaken::Refused(refused.map(into_untyped)))
    }

    fn stop(&self, held: HeldLoop) -> Result<Step<HeldLoop>, Refused<HeldLoop>> {
        let stopped = self.stops.stop(into_typed(held));
        stopped
            .map(|step| step.map(into_untyped))
            .map_err(|refused| refused.map(into_untyped))
    }

    fn asks(&self, held: &dyn LoopHandle) -> Result<Option<Asked>, String> {
        self.stops.asks(as_typed(held))
    }

    fn verifies(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String> {
        self.stops.verifies(as_typed(held))
    }

    fn subjects(&self, held: &dyn LoopHandle) -> Result<Vec<Subject>, String> {
        self.stops.subjects(as_typed(held))
    }

    fn arguments(&self, command: clap::Command) -> clap::Command {
        self.extension.arguments(command)
    }

    fn start(&self, request: StartRequest<'_>) -> Result<StartFields, Failure> {
        self.extension.start(request)
    }

    fn context(&self, held: &dyn LoopHandle, settings: &Settings, now: Timestamp) -> Variables {
        self.extension.context(as_typed(held), settings, now)
    }

    fn earlier_findings(&self, held: &dyn LoopHandle) -> Vec<Utf8PathBuf> {
        self.extension.earlier_findings(as_typed(held))
    }

    fn entered(&self, held: &dyn LoopHandle, settings: &Settings) -> Result<Vec<String>, String> {
        self.extension.entered(as_typed(held), settings)
    }

    fn reviewed(&self, held: &dyn LoopHandle) -> Vec<String> {
        self.extension.reviewed(as_typed(held))
    }

    fn answered(&self, input: &Input, surroundings: &Surroundings) -> Option<HookOutput> {
        self.extension.answered(input, surroundings)
    }

    fn refusal_help(&self, held: &dyn LoopHandle, transition: &str) -> Option<String> {
        self.extension.refusal_help(as_typed(held), transition)
    }

    fn start_instead(&self, held: &dyn LoopHandle, verb: &ParsedVerb) -> Option<Vec<String>> {
        self.extension
            .start_instead(as_typed(held), verb.as_typed())
    }

    fn caveats(&self, held: &dyn LoopHandle, settings: &Settings) -> Vec<String> {
        self.extension.caveats(as_typed(held), settings)
    }

    fn status(&self, held: &dyn LoopHandle) -> Vec<(&'static str, String)> {
        self.extension.status(as_typed(held))
    }

    fn status_line(&self, held: &dyn LoopHandle) -> Option<String> {
        self.extension.status_line(as_typed(held))
    }

    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction> {
        self.extension.next_action(as_typed(held))
    }
}
