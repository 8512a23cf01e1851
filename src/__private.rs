//! The names that generated code uses. They are not public API and change with the generator.

pub use crate::__extra as extra;
pub use crate::behaviours::ask::Asked;
pub use crate::behaviours::observe::{self, ReviewState, RunState};
pub use crate::behaviours::{Step, decide, try_in_turn, verify};
pub use crate::machine::table::{Choice, Question, ReviewSpec, Severity, Subject, Taker};
pub use crate::machine::{Focus, LoopFacts, PersonaInfo, PhaseDeclaration};
pub use crate::review::{Reviewed, Settled, evidence, subject};
pub use claudex_loop_engine::__include;
pub use claudex_loop_engine::__private::*;

#[cfg(feature = "program")]
pub use crate::program;

/// Returns the evidence record for an edge.
pub fn record_of(evidence: &Reviewed) -> &EvidenceRecord {
    evidence.record()
}

/// Returns the refusal of a verb without an edge in the loop's phase.
pub fn undeclared<L: LoopHandle>(held: L, transition: &'static str) -> Refused<L> {
    let refusal = held
        .raw()
        .table()
        .undeclared(transition, held.raw().phase());
    Refused::new(held, refusal)
}
