//! Machines and their loops, from the engine, with declarations about reviews and questions.

mod declarations;
mod facts;

// The engine has a macro of this name, so no `use` of the crate's root can name the module.
pub use claudex_loop_engine::machine::*;
pub use declarations::{Focus, PersonaInfo};
pub use facts::{EvidencePolicy, LoopFacts, Permissions, PhaseDeclaration, ProgramFacts};

/// The const description of a machine.
pub mod table {
    pub use super::declarations::{Choice, Question, ReviewSpec, Severity, Subject, Taker};
    pub use claudex_loop_engine::machine::table::*;
}
