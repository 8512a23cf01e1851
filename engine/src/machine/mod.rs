//! The runtime of generated machines: const tables, and the one way to move a loop.

use std::any::Any;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub mod edge;
mod evidence;
mod held;
mod raw;
mod refusal;
pub mod table;

pub use crate::store::Beginning;
pub use edge::{Edge, EdgeAt, EdgeInfo, Guard};
pub use evidence::{EvidenceRecord, Requirement};
pub use held::Held;
pub use raw::{Facts, Raw};
pub use refusal::{Refusal, Refused};
pub use table::{Actor, Message, Table};

/// A loop of any machine: a generated `AnyLoop`.
pub trait LoopHandle: Any + Debug {
    /// Returns the loop without its type.
    fn raw(&self) -> &Raw;
}

impl dyn LoopHandle {
    /// Returns the loop with its type. Panics if it has another one.
    pub fn typed<A: LoopHandle>(&self) -> &A {
        let held: &dyn Any = self;
        held.downcast_ref().expect(ONE_MACHINE)
    }

    /// Returns the loop with its type, to set data. Panics if it has another one.
    pub fn typed_mut<A: LoopHandle>(&mut self) -> &mut A {
        let held: &mut dyn Any = self;
        held.downcast_mut().expect(ONE_MACHINE)
    }
}

/// The reason why the type of a loop is known.
const ONE_MACHINE: &str = "a program has the loops of one machine";

/// A machine that `claudex-build` generated. The marker type of the generated module implements it.
pub trait Machine: Sized + Send + Sync + 'static {
    /// The phases.
    type Phase: Copy + Eq + Debug + Send + Sync + 'static;
    /// The fields of a loop, without those of the engine.
    type Fields: Clone + Debug + Default + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// A transition with its arguments.
    type Transition: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The declarations of `machine.toml`, without its types.
    const TABLE: &'static Table;
    /// The entries of all transitions, in the order of the file. The first open one is taken.
    const EDGES: &'static [Edge<Self>];

    /// Returns the name of a transition.
    fn name(transition: &Self::Transition) -> &'static str;
}
