//! A generated machine as a program: what the command line and the hooks of any machine are generic over.

use std::fmt;

use clap::Subcommand;
use jiff::Timestamp;

use super::speaker::Speaker;
use super::stop::{Driver, noted};
use super::told;
use crate::drive::{Held, Step, words};
use crate::hook::decision::Decision;
use crate::hook::input::Input;
use crate::machine::begin::Beginning;
use crate::machine::raw::OpenError;
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Machine, Raw, Refused};
use crate::review::ReviewSpec;
use crate::store::{LoopId, StartError, Store, Value};

/// A machine with a command line. `claudex-build` writes the implementation; it is not for hands.
pub trait Program: Machine {
    /// A loop in any phase.
    type Any: Held;
    /// The transitions that an agent or a person may take, as subcommands.
    type Verb: Subcommand + fmt::Debug;
    /// The program's name: that of the binary that is compiled, else of its package.
    const NAME: &'static str;
    /// The package's version.
    const VERSION: &'static str;
    /// The text of the machine file.
    const SOURCE: &'static str;
    /// The fields that a start must be given.
    const REQUIRED: &'static [&'static str];

    /// Opens a loop.
    ///
    /// # Errors
    /// As [`Raw::open`].
    fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<Self::Any, OpenError>;

    /// Starts a loop.
    ///
    /// # Errors
    /// Another loop is active, or the store could not write.
    fn begin(
        mode: &'static ModeInfo,
        given: Vec<(&'static str, Value)>,
        store: &Store,
        how: Beginning,
        actor: Actor,
    ) -> Result<Self::Any, StartError>;

    /// The transition that a verb takes.
    fn transition(verb: &Self::Verb) -> &'static str;

    /// The loop that a verb is for; None: the one that is active.
    fn id(verb: &Self::Verb) -> Option<&str>;

    /// Whether a verb takes its loop from what a prompt hook stored.
    fn from_prompt(verb: &Self::Verb) -> bool;

    /// The verb of a transition that takes nothing but the loop.
    fn plain(transition: &str, id: String) -> Option<Self::Verb>;

    /// Takes a verb's transition.
    ///
    /// # Errors
    /// It was refused; the loop is handed back.
    fn run(verb: Self::Verb, held: Self::Any) -> Result<Self::Any, Refused<Self::Any>>;

    /// What a review looks at in the loop's phase, where the phase has one.
    fn review(held: &Self::Any) -> Option<&'static ReviewSpec>;
}

type Stopped<A> = Result<Step<A>, Refused<A>>;

/// The program of a machine: made by the `app` of its generated module, run by [`super::main`].
pub struct App<M: Program> {
    on_stop: Box<dyn Fn(M::Any) -> Stopped<M::Any>>,
}

impl<M: Program> fmt::Debug for App<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "App({})", M::NAME)
    }
}

impl<M: Program> App<M> {
    /// A program whose stops do this.
    pub fn new(on_stop: impl Fn(M::Any) -> Stopped<M::Any> + 'static) -> Self {
        Self {
            on_stop: Box::new(on_stop),
        }
    }

    /// Who speaks in its messages.
    pub const SPEAKER: Speaker = Speaker {
        name: M::NAME,
        program: M::NAME,
        plugin: None,
        state: M::TABLE.state,
        table: M::TABLE,
    };
}

impl<M: Program> Driver for App<M> {
    type Any = M::Any;

    fn speaker(&self) -> &Speaker {
        &Self::SPEAKER
    }

    fn open(&self, store: &Store, id: &LoopId) -> Result<M::Any, OpenError> {
        M::open(store, id, Actor::Hook)
    }

    fn leaves_alone(&self, input: &Input, _: &Raw) -> bool {
        // The work may be in a helper's hands. The client wakes the agent when the helper ends, and stops again then.
        input.has_running_subagent()
    }

    fn prepare(&mut self, _: &Store) -> Result<(), String> {
        Ok(())
    }

    fn step(&self, held: M::Any) -> Stopped<M::Any> {
        (self.on_stop)(held)
    }

    fn tell(&self, step: Step<M::Any>, _: Timestamp) -> Result<Decision, String> {
        let (held, edge) = match &step {
            Step::Over(_) => return Ok(Decision::Approve { note: None }),
            Step::Waits(held) => return Ok(noted(Self::SPEAKER.line(&words::waiting(held.raw())))),
            Step::Moved { now, edge } => (now, edge),
        };
        let (raw, table) = (held.raw(), M::TABLE);
        raw.store().log(&format!(
            "{} {}: {} -> {}",
            raw.id(),
            edge.transition,
            table.phases[edge.from].name,
            table.phases[edge.to].name,
        ));
        if edge.lets_turn_end(table) {
            told::clear(raw);
            return Ok(noted(told::ended(&Self::SPEAKER, raw)));
        }
        let words = words::of(raw, edge).map_err(|error| error.to_string())?;
        Ok(match words {
            None => Decision::Approve { note: None },
            Some(reason) => Decision::Block { reason, note: None },
        })
    }
}
