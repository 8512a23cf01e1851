//! Taking up a document that the engine did not write, at the phase that it names.

use camino::Utf8PathBuf;

use super::begin::{Beginning, plan};
use super::fields::{FieldError, checked};
use super::table::FieldKind;
use super::{Actor, Machine, Raw};
use crate::store::{DocumentError, Import, StartError, Store, Value};

/// Why a document cannot be taken up.
#[derive(
    Debug, derive_more::Display, derive_more::Error, derive_more::From, miette::Diagnostic,
)]
pub enum ImportError {
    /// It is not of the machine's form.
    #[diagnostic(transparent)]
    Document(DocumentError),
    /// Another machine wrote it.
    #[display("it is a document of the machine {found}")]
    #[diagnostic(code(claudex::import::machine))]
    #[from(skip)]
    Machine {
        /// That machine.
        found: String,
    },
    /// It names no phase in which a loop can go on.
    #[display("its `{field}` is {found}, and a loop goes on in {known}")]
    #[diagnostic(code(claudex::import::phase))]
    #[from(skip)]
    Phase {
        /// The field that holds the phase.
        field: &'static str,
        /// What it says.
        found: String,
        /// The phases that are not terminal.
        known: String,
    },
    /// A field is not what the machine says it is.
    #[diagnostic(code(claudex::import::field))]
    Field(FieldError),
    /// The start was refused.
    #[diagnostic(transparent)]
    Start(StartError),
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
    let document = table.state.parse(bytes)?;
    let text = |field: &str| {
        document
            .get(field)
            .map(|value| value.to_plain().into_owned())
    };
    if let Some(found) = text(held.machine).filter(|found| found != table.state.machine) {
        return Err(ImportError::Machine { found });
    }
    let named = text(held.phase);
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
    let mode = held.mode.and_then(text);
    let is_it = |known: &&super::table::ModeInfo| Some(known.name) == mode.as_deref();
    let mode = table.modes.iter().find(is_it).unwrap_or(&table.modes[0]);
    let fields = table.fields.iter();
    let given = fields.filter(|field| field.kind != FieldKind::Held && field.exists_in(phase));
    // What is null is as if it were not there: fields of some phases only are, in the others.
    let given = given.filter_map(|field| Some((field, document.get(field.name)?)));
    let given = given.filter(|(_, value)| !matches!(value, Value::Null));
    let given = given.map(|(field, value)| Ok((field.name, checked(field, value)?)));
    let given = given.collect::<Result<_, FieldError>>()?;
    let plan = plan::<M>(mode, phase, given, how, actor)?;
    Ok(Raw::import::<M>(
        store,
        plan,
        Import { document, file },
        actor,
    )?)
}
