//! Taking up a document that the engine did not write, at the phase that it names.

use std::fmt;

use camino::Utf8PathBuf;
use miette::Diagnostic;
use serde_json::Value as Json;

use super::begin::{Beginning, plan};
use super::fields::{FieldError, convert};
use super::table::{FieldKind, ModeInfo};
use super::{Actor, Machine, Raw};
use crate::store::{DocumentError, Import, StartError, Store};

/// The reason for which a document cannot be taken up.
#[derive(Debug)]
pub enum ImportError {
    /// The document is not of the machine's form.
    Document(DocumentError),
    /// Another machine wrote it.
    Machine {
        /// The other machine.
        found: String,
    },
    /// The document names no phase in which a loop can go on.
    Phase {
        /// The field that holds the phase.
        field: &'static str,
        /// Its value.
        found: String,
        /// The phases that are not terminal.
        known: String,
    },
    /// A field is not what the machine says it is.
    Field(FieldError),
    /// The start was refused.
    Start(StartError),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(error) => error.fmt(f),
            Self::Machine { found } => write!(f, "it is a document of the machine {found}"),
            Self::Phase {
                field,
                found,
                known,
            } => write!(f, "its `{field}` is {found}, and a loop goes on in {known}"),
            Self::Field(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ImportError {}

impl Diagnostic for ImportError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let code = match self {
            Self::Start(error) => return error.code(),
            Self::Document(_) => "claudex::import::document",
            Self::Machine { .. } => "claudex::import::machine",
            Self::Phase { .. } => "claudex::import::phase",
            Self::Field(_) => "claudex::import::field",
        };
        Some(Box::new(code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Start(error) => error.help(),
            _ => None,
        }
    }
}

/// Starts a loop from the bytes of a document that lies in `file`, by its canonical path: at the phase that it names, with the values of
/// its fields, and the machine's initial ones of those that it lacks. Keys that no field names stay.
///
/// # Errors
/// [`ImportError`]; nothing is changed then.
pub fn import<M: Machine>(
    store: &Store,
    bytes: &[u8],
    file: Utf8PathBuf,
    how: Beginning,
    actor: Actor,
) -> Result<Raw, ImportError> {
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
    let mut given = Vec::new();
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
            given.push((field.name, value));
        }
    }
    let plan = plan(table, mode, phase, given, how, actor).map_err(ImportError::Start)?;
    let import = Import { document, file };
    let started = store.start_telling(plan, Some(import));
    let started = started.map_err(ImportError::Start)?;
    Ok(Raw::started(store, started, table, actor))
}
