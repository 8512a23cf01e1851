//! Machines and their loops, from the engine, and the declarations of a machine file about reviews and questions.

mod declarations;
mod facts;

// The macro of the same name is the engine's own, so the module cannot be named in a `use` of the crate's root.
pub use claudex_loop_engine::machine::*;
pub use declarations::{Focus, PersonaInfo};
pub use facts::{EvidencePolicy, LoopFacts, Permissions, PhaseDeclaration, ProgramFacts};

/// The const description of a machine.
pub mod table {
    pub use super::declarations::{Choice, Question, ReviewSpec, Severity, Subject, Taker};
    pub use claudex_loop_engine::machine::table::*;
}
