//! The names that generated types use. Not for anyone else: they change whenever the generator does.

pub use crate::__extra as extra;
pub use crate::generated;
pub use crate::machine::Beginning;
pub use crate::machine::data::DataType;
pub use crate::machine::edge::{Edge, EdgeInfo, Guard, rules};
pub use crate::machine::fields::FieldError;
pub use crate::machine::held::{Header, Held, OpenError};
pub use crate::machine::import::ImportError;
pub use crate::machine::table::{
    ArgumentInfo, BehaviourInfo, Constant, FieldInfo, FieldKind, ModeInfo, PhaseInfo, Table,
};
pub use crate::machine::{
    Actor, EvidenceRecord, LoopHandle, Machine, Message, Raw, Refusal, Refused, Requirement,
};
pub use crate::store::{
    Active, Edit, Editable, Form, HeldFields, IdForm, LoopId, StartError, StateSpec, Store,
};
pub use crate::words;
pub use crate::words::word_of;
pub use camino::Utf8PathBuf;
pub use jiff::Timestamp;
pub use serde;
pub use serde_json::Value as Json;
