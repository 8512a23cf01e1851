//! Taking up a document that the engine did not write, at the phase that it names.

use camino::Utf8PathBuf;
use serde_json::Value as Json;
use thiserror::Error;

use super::begin::{Beginning, plan};
use super::fields::{FieldError, convert};
use super::table::{FieldKind, ModeInfo};
use super::{Actor, Held, Machine};
use crate::store::{DocumentError, Import, StartError, Store};

/// The reason for which a document cannot be taken up.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The document is not of the machine's form.
    #[error("{0}")]
    Document(DocumentError),
    /// Another machine wrote it.
    #[error("it is a document of the machine {found}")]
    Machine {
        /// The other machine.
        found: String,
    },
    /// The document names no phase in which a loop can go on.
    #[error("its `{field}` is {found}, and a loop goes on in {known}")]
    Phase {
        /// The field that holds the phase.
        field: &'static str,
        /// The value.
        found: String,
        /// The phases that are not terminal.
        known: String,
    },
    /// A field does not fit the machine.
    #[error("{0}")]
    Field(FieldError),
    /// The start was refused.
    #[error(transparent)]
    Start(StartError),
}

crate::impl_diagnostic!(ImportError, |error| match error {
    ImportError::Start(error) => error.help().map(|help| help.to_string()),
    _ => None,
});

impl<M: Machine> Held<M> {
    /// Starts a loop from the bytes of the document `file`, a canonical path: at the phase that it names, with the values of its
    /// fields. Fields that it lacks have their initial values. Unknown keys stay.
    ///
    /// # Errors
    /// Returns an error if the document cannot be taken up. Nothing is changed then.
    pub fn import(
        store: &Store,
        bytes: &[u8],
        file: Utf8PathBuf,
        how: Beginning,
        actor: Actor,
    ) -> Result<Self, ImportError> {
        let table = M::TABLE;
        let held = &table.state.fields;
        let document = table.state.parse(bytes).map_err(ImportError::Document)?;
        if let Some(found) = document.text(held.machine)
            && found != table.state.machine
        {
            return Err(ImportError::Machine { found });
        }
        let named = document.text(held.phase);
        let phase = named.as_deref().and_then(|stored| table.stored(stored));
        let Some(phase) = phase.filter(|phase| !table.phases[*phase].terminal) else {
            let known = table.phases.iter().filter(|phase| !phase.terminal);
            return Err(ImportError::Phase {
                field: held.phase,
                found: named.map_or_else(|| "not there".to_owned(), |found| format!("“{found}”")),
                known: known
                    .map(|phase| phase.stored)
                    .collect::<Vec<_>>()
                    .join(", "),
            });
        };
        let mode = held.mode.and_then(|field| document.text(field));
        let is_named = |known: &&ModeInfo| Some(known.name) == mode.as_deref();
        let mode = table.modes.iter().find(is_named).unwrap_or(&table.modes[0]);
        let mut values = Vec::new();
        for field in table.fields {
            // A field that exists only in other phases is null.
            let value = document
                .get(field.name)
                .filter(|value| *value != Json::Null);
            if field.kind != FieldKind::Held
                && field.exists_in(phase)
                && let Some(value) = value
            {
                let value = convert(field, &value).map_err(ImportError::Field)?;
                values.push((field.name, value));
            }
        }
        let plan = plan(table, mode, phase, values, how, actor).map_err(ImportError::Start)?;
        let import = Import { document, file };
        let started = store.start_telling(plan, Some(import));
        let started = started.map_err(ImportError::Start)?;
        Ok(Self::started(store, started, actor))
    }
}
