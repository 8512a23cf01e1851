//! A loop in hand, with its fields, and the one way to move it.

use std::fmt;

use camino::Utf8PathBuf;
use serde_json::Value as Json;
use thiserror::Error;

use super::begin::{Beginning, plan};
use super::edge::step;
use super::fields::{self, FieldError};
use super::table::ModeInfo;
use super::{Actor, EvidenceRecord, Machine, Raw, Refused};
use crate::store::{LoopId, StartError, Started, Store, StoreError};

/// A loop as the store handed it out, with its fields. Generated types wrap it: they know its phase at compile time.
pub struct Held<M: Machine> {
    pub(super) raw: Raw,
    // Boxed, because every refusal hands the loop back.
    fields: Box<M::Fields>,
}

/// The part of a loop that the engine keeps, regardless of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The loop.
    pub id: LoopId,
    /// The absolute path of the folder that it belongs to.
    pub root: Utf8PathBuf,
    /// The session that owns it, or `unknown`.
    pub session: String,
    /// The mode that it was started in, if the machine keeps it.
    pub mode: Option<String>,
    /// The time of the start, ISO 8601 in UTC, if the machine keeps it.
    pub started: Option<String>,
    /// The time of the last change, ISO 8601 in UTC, if the machine keeps it.
    pub updated: Option<String>,
    /// The number of changes in the journal.
    pub revision: u64,
    /// The revision with which the visit of the phase began.
    pub visit: Option<u64>,
    /// The number of the findings file of the last review that a change rests on.
    pub findings: Option<u64>,
    /// The last run of the visit that a change rests on.
    pub run: Option<String>,
}

/// The reason for which a loop cannot be opened as one of this machine.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The store could not hand it out.
    #[error(transparent)]
    Store(StoreError),
    /// The phase is none of the machine's.
    #[error("loop {id}: {machine} has no phase `{found}`, only {known}")]
    Phase {
        /// The loop.
        id: String,
        /// The phase that it is in.
        found: String,
        /// The machine.
        machine: &'static str,
        /// The machine's phases.
        known: String,
    },
    /// A field is not of its kind.
    #[error("loop {id}: {problem}")]
    Field {
        /// The loop.
        id: String,
        /// The field, its value, and the expected type.
        problem: FieldError,
    },
}

crate::impl_diagnostic!(OpenError, |error| match error {
    OpenError::Store(error) => error.help().map(|help| help.to_string()),
    OpenError::Phase { id, .. } | OpenError::Field { id, .. } => {
        Some(format!(
            "the last good values are in its journal: `journal {id}`"
        ))
    }
});

impl<M: Machine> fmt::Debug for Held<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = M::TABLE.phases[self.raw.phase()].name;
        write!(f, "{}({phase})", self.raw.id())
    }
}

impl<M: Machine> Held<M> {
    /// Opens a loop: repairs the traces of a crash, checks the phase and every field.
    ///
    /// # Errors
    /// Returns an error if the loop is not there, belongs to another machine, or has values that the machine does not know.
    pub fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<Self, OpenError> {
        let opened = store.open(id).map_err(OpenError::Store)?;
        let table = M::TABLE;
        let Some(phase) = table.stored(opened.record.phase()) else {
            let known: Vec<_> = table.phases.iter().map(|phase| phase.stored).collect();
            return Err(OpenError::Phase {
                id: id.to_string(),
                found: opened.record.phase().to_owned(),
                machine: table.name,
                known: known.join(", "),
            });
        };
        let fields = fields::read::<M>(table, &opened.record, phase);
        let fields = fields.map_err(|problem| OpenError::Field {
            id: id.to_string(),
            problem,
        })?;
        let mut raw = Raw::new(store.clone(), opened.record, table, phase, actor);
        raw.0.repairs = opened.repairs;
        Ok(Self {
            raw,
            fields: Box::new(fields),
        })
    }

    /// Starts a loop in the first phase of a mode, with some of its fields.
    ///
    /// # Errors
    /// Returns an error if the mode is not for that actor, another loop is active, or the store cannot write. Nothing is left
    /// behind.
    pub fn begin(
        store: &Store,
        mode: &'static ModeInfo,
        values: Vec<(&'static str, Json)>,
        how: Beginning,
        actor: Actor,
    ) -> Result<Self, StartError> {
        let plan = plan(M::TABLE, mode, mode.start, values, how, actor)?;
        let started = store.start_telling(plan, None)?;
        Ok(Self::started(store, started, actor))
    }

    /// Wraps a loop that was just started. The start has checked its values.
    pub(super) fn started(store: &Store, started: Started, actor: Actor) -> Self {
        let Started { record, archived } = started;
        let phase = M::TABLE.stored(record.phase()).unwrap_or_default();
        let fields = fields::read::<M>(M::TABLE, &record, phase).unwrap_or_default();
        let mut raw = Raw::new(store.clone(), record, M::TABLE, phase, actor);
        raw.0.archived = archived;
        Self {
            raw,
            fields: Box::new(fields),
        }
    }

    /// Returns the loop without its type.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// Returns the machine's fields.
    pub fn fields(&self) -> &M::Fields {
        &self.fields
    }

    /// Returns the engine's part.
    pub fn header(&self) -> Header {
        let record = self.raw.record();
        let keys = &M::TABLE.state.fields;
        let text = |key: Option<&str>| key.and_then(|key| record.text(key));
        Header {
            id: self.raw.id().clone(),
            root: self.raw.root(),
            session: record.session().unwrap_or_default(),
            mode: text(keys.mode),
            started: text(keys.started),
            updated: text(keys.updated),
            revision: record.revision(),
            visit: record.visit(),
            findings: keys.findings.and_then(|key| record.count(key)),
            run: text(keys.run).filter(|run| !run.is_empty()),
        }
    }

    /// Sets the run that the next change counts.
    #[must_use]
    pub fn noting(mut self, run: Option<String>) -> Self {
        self.raw.0.run = run;
        self
    }

    /// Takes a transition: finds the edge that is open, checks the actor and the requirements, and commits by
    /// compare-and-swap.
    ///
    /// # Errors
    /// See [`super::Refusal`]. The loop is handed back.
    pub fn take(
        self,
        transition: &M::Transition,
        evidence: Option<&EvidenceRecord>,
    ) -> Result<Self, Refused<Self>> {
        let (edge, after) = match step::<M>(self.raw.phase(), &self.fields, transition) {
            Ok(step) => step,
            Err(refusal) => return Err(Refused::new(self, refusal)),
        };
        // serde writes a transition with arguments as `{"more":{"rounds":2}}`.
        let json = serde_json::to_value(transition).unwrap_or_default();
        let args = json.get(edge.transition).cloned();
        let before = fields::to_map(&*self.fields);
        let mut edits = fields::to_map(&after);
        edits.retain(|name, value| before.get(name) != Some(value));
        let raw = match self.raw.commit(edge, args, edits, evidence) {
            Ok(raw) => raw,
            Err(refused) => {
                let fields = self.fields;
                return Err(refused.map(|raw| Self { raw, fields }));
            }
        };
        // Data that Rust set is in the document only.
        let fields = fields::read::<M>(M::TABLE, raw.record(), raw.phase()).unwrap_or(after);
        Ok(Self {
            raw,
            fields: Box::new(fields),
        })
    }
}
