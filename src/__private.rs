//! What generated code calls. Not for anyone else: it changes whenever the generator does.

pub use crate::behaviours::ask::Asked;
pub use crate::behaviours::observe::{
    self, AnnounceSeen, ApproveSeen, AskSeen, RequireFileSeen, ReviewSeen, RunSeen, VerifySeen,
    WaitForSeen,
};
pub use crate::behaviours::verify::{self, Verified};
pub use crate::behaviours::{LoopHandle, Step, attempt, or_else, settle};
pub use crate::generated;
pub use crate::machine::begin::Beginning;
pub use crate::machine::data::DataType;
pub use crate::machine::edge::{Edge, EdgeAt, EdgeInfo, Guard, Rules, rules, stored_edges};
pub use crate::machine::fields::FieldError;
pub use crate::machine::held::{Header, Held};
pub use crate::machine::import::ImportError;
pub use crate::machine::message::Message;
pub use crate::machine::persona::{Focus, PersonaInfo};
pub use crate::machine::raw::OpenError;
pub use crate::machine::table::{
    ArgumentInfo, BehaviourInfo, Choice, Constant, FieldInfo, FieldKind, ModeInfo, Options,
    PhaseInfo, Question, Table, Taker,
};
pub use crate::machine::{Actor, EvidenceRecord, Machine, Raw, Refusal, Refused, Requirement};
pub use crate::review::{Blocking, ReviewSpec, Reviewed, Settled, Subject, evidence, subject};
pub use crate::store::{
    Active, Edit, Editable, Form, HeldFields, IdForm, LoopId, StartError, StateSpec, Store,
    StoredEdge, Value,
};
pub use camino::Utf8PathBuf;

#[cfg(feature = "program")]
pub use crate::program;
#[cfg(feature = "program")]
pub use clap;
pub use jiff::Timestamp;
pub use serde;
pub use strum;

/// Reads one of some words of a command line.
#[cfg(feature = "program")]
pub fn word_parser<T>(
    words: &'static [&'static str],
) -> impl clap::builder::TypedValueParser<Value = T>
where
    T: std::str::FromStr + Clone + Send + Sync + 'static,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(words).try_map(|word| word.parse::<T>())
}

/// What evidence says to an edge.
pub fn record_of(evidence: &Reviewed) -> &EvidenceRecord {
    evidence.record()
}

/// The refusal of a transition in a phase that has no edge for it.
pub fn undeclared<L: LoopHandle>(held: L, transition: &'static str) -> Refused<L> {
    let table = held.raw().table();
    let phase = table.phases[held.raw().phase()].name.to_owned();
    let legal = table.legal_in(transition).join(", ");
    Refused::new(
        held,
        Refusal::Undeclared {
            transition,
            phase,
            legal,
        },
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_that_macros_name_is_the_crates_own() {
        assert_eq!(crate::__version!(), env!("CARGO_PKG_VERSION"));
    }
}
