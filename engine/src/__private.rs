//! The names that generated types use. They change with the generator and are not public API.

pub use crate::__extra as extra;
pub use crate::machine::edge::{Edge, EdgeInfo, Guard, edges};
pub use crate::machine::table::{
    ArgumentInfo, BehaviourInfo, FieldInfo, FieldKind, ModeInfo, PhaseInfo, Table,
};
pub use crate::machine::{
    Actor, Beginning, EvidenceRecord, Held, LoopHandle, Machine, Message, Raw, Refusal, Refused,
    Requirement,
};
pub use crate::store::{
    Active, EngineFields, Form, IdForm, LoopId, StateSpec, Store, default_data, is_data,
};
pub use crate::words;
pub use crate::words::word_of;
pub use camino::Utf8PathBuf;
pub use jiff::Timestamp;
pub use serde;
pub use serde_json::Value as Json;
