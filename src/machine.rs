//! Machines and their loops, from the engine, and the declarations of a machine file about reviews and questions.

pub mod facts;
pub mod permissions;
pub mod persona;
pub mod question;
pub mod review_spec;

// The macro of the same name is the engine's own, so the module cannot be named in a `use` of the crate's root.
pub use claudex_loop_engine::machine::*;
pub use facts::{LoopFacts, PhaseDeclaration, declared_personas};
pub use permissions::{EvidencePolicy, Permissions};

/// The const description of a machine.
pub mod table {
    pub use super::question::{Choice, Options, Question, Taker};
    pub use super::review_spec::{Blocking, ReviewSpec, Subject};
    pub use claudex_loop_engine::machine::table::*;
}
