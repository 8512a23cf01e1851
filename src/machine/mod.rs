//! What every generated machine is: const tables of phases and edges, and the one way from a held loop to the next.
//!
//! `claudex-build` turns a `machine.toml` into types; this room is what those types stand on. It knows no phase by
//! name, nothing of reviews beyond the records that are evidence, and nothing of hooks or command lines.
//!
//! - [`message`]: templates; `facts`: what a loop knows of itself, for them to name.
//! - [`table`]: the const description of a machine, as `machine.toml` declared it.
//! - [`guard`]: guards and updates, evaluated over a state document.
//! - [`persona`]: who reviews.
//! - [`raw`]: a loop without its type: what was read from disk, and by whom.
//! - [`begin`]: how it starts; [`import`]: how it starts from a document of others; `commit`: the one way on.
//! - [`data`]: what a field of the program's own types holds.
//! - [`refusal`]: why a transition did not happen, with the loop handed back.
//! - [`evidence_record`]: what evidence says when it is shown to an edge.

pub mod begin;
mod commit;
pub mod data;
pub mod evidence_record;
pub(crate) mod facts;
pub mod guard;
pub mod import;
pub mod message;
pub mod permissions;
pub mod persona;
pub mod raw;
pub mod refusal;
pub mod table;

pub use evidence_record::{EvidenceRecord, Requirement};
pub(crate) use facts::facts;
pub use permissions::Permissions;
pub use raw::Raw;
pub use refusal::{Refusal, Refused, Snapshot};
pub use table::{Actor, Table};

/// A machine that `claudex-build` generated. The marker type of the generated module implements it.
pub trait Machine: Sized + 'static {
    /// Everything that `machine.toml` declares.
    const TABLE: &'static Table;
}
