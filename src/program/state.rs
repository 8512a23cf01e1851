//! `state`: the commands of the plugin's `state-helpers.sh`, with the exit codes of the seed's.
//!
//! Any document without a `machine` field is edited under the lock `.lock` beside it. The phase of
//! our loop changes only by the generated verbs, and fields of the machine are refused.

use std::fmt::Display;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::app::Program;
use super::caller::Caller;
use super::exit::{CommandResult, Exit, Failure};
use super::info::ProgramInfo;
use super::locate::StateFolders;
use super::{archive, attempts, loops, out, rounds, verbs};
use crate::files::{self, Folder, Lock};
use crate::machine::Actor;
use crate::review::evidence::EvidencePolicy;
use crate::review::personas::{machine_personas, persona};
use crate::store::{
    Document, Form, LoopId, MAX_DOCUMENT_BYTES, OrIo as _, StateHome, StateSpec, Store, StoreError,
    is_field_name, parse_plain,
};

const CHANGES: [&str; 4] = ["write", "set", "move", "sweep"];

const MACHINE: &str = "machine";
const PHASE: &str = "phase";
const UPDATED: &str = "last_updated_at";
const EXTENSION: &str = "state";
const LOCK: &str = ".lock";
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a helper. One that prints a value, such as `get FILE FIELD`, exits 1 if it is missing.
pub(super) fn state(program: &Program, helper: &str, arguments: &[String]) -> CommandResult {
    if CHANGES.contains(&helper) {
        verbs::check_outside_reviewer("state")?;
    }
    let info = program.info;
    let here = loops::current_folder()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let value = match (helper, &arguments[..]) {
        ("new-id", []) => {
            let id = LoopId::new_stamp(Timestamp::now())
                .map_err(|error| failure(Exit::Internal, error))?;
            Some(id.to_string())
        }
        ("valid-id", [id]) => return Ok(LoopId::parse(id, info.state.ids).is_ok().into()),
        ("write", [file]) => {
            let file = here.join(file);
            if let Some(own) = OwnLoop::from_file(info, &file) {
                return Err(own.refuse("state write", "it would go past the machine’s transitions"));
            }
            let bytes = stdin()?;
            return Ok(change("write", &file, |_| Ok(Some(bytes)))?.into());
        }
        ("get", [file, field]) => read(info.state, &here.join(file))?.text(field),
        ("set", [file, field, value]) => return set(info, &here.join(file), field, value),
        ("move", [file, from, to]) => return move_phase(program, &here.join(file), from, to),
        ("sweep", []) => return archive::sweep(info),
        ("find", []) => StateFolders::find(info.state, vec![here])
            .stores
            .iter()
            .filter(|store| store.refusal().is_none())
            .find_map(|store| find_newest(store.folder()))
            .map(Utf8PathBuf::into_string),
        ("counts", [file]) => {
            let bytes = files::read(&here.join(file)).unwrap_or_default();
            Some(rounds::counts_of(&bytes).unwrap_or_default().to_string())
        }
        ("persona" | "persona-label", [round]) => {
            let wrong = |error| failure(Exit::Usage, format!("round {round}: {error}"));
            let persona = persona(machine_personas(info.table), round.parse().map_err(wrong)?);
            let prompt = persona.prompt.text.trim_end();
            let is_label = helper == "persona-label";
            Some(if is_label { persona.label } else { prompt }.to_owned())
        }
        _ => {
            let count = arguments.len();
            let problem = format!("cannot run ‘state {helper}’ with {count} arguments");
            let help = format!("to see the helpers:\n    {} state --help", info.program);
            return Err(Failure::with_help(Exit::Usage, problem, &help));
        }
    };
    if let Some(value) = &value {
        out::exact(value);
    }
    Ok(value.is_some().into())
}

fn failure(exit: Exit, problem: impl Display) -> Failure {
    Failure::with_help(exit, problem, "nothing was changed")
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let bytes: io::Result<Vec<u8>> = io::stdin().lock().bytes().collect();
    bytes.map_err(|error| failure(Exit::Usage, error))
}

/// A loop of this machine that a helper names by its file.
struct OwnLoop {
    store: Store,
    id: LoopId,
    actor: Actor,
}

impl OwnLoop {
    /// Returns the loop of a state file, or `None` if the file does not name this machine.
    fn from_file(info: &ProgramInfo, file: &Utf8Path) -> Option<Self> {
        let document = read(info.state, file).ok()?;
        if document.text(info.state.fields.machine)? != info.state.machine {
            return None;
        }
        let folder = file.parent()?;
        let root = document
            .text(info.state.fields.root)
            .map(Utf8PathBuf::from)
            .filter(|root| root.is_absolute())
            .unwrap_or_else(|| folder.to_owned());
        let home = StateHome::for_user(info.program);
        Some(Self {
            store: Store::at(folder.to_owned(), root, info.state, home),
            id: LoopId::parse(file.file_stem()?, info.state.ids).ok()?,
            actor: Caller::from_env().actor(),
        })
    }

    /// Records the refused attempt in the loop's journal, and returns the failure.
    fn refuse(&self, tried: &str, why: &str) -> Failure {
        attempts::note(&self.store, &self.id, self.actor, tried, why);
        failure(Exit::Refused, format!("loop {}: {why}", self.id))
    }
}

/// Sets a field to a boolean, a decimal number or a text. `-` reads the value from stdin.
fn set(info: &'static ProgramInfo, file: &Utf8Path, field: &str, text: &str) -> CommandResult {
    let value = parse_plain(&if text == "-" {
        String::from_utf8(stdin()?).map_err(|error| failure(Exit::Usage, error))?
    } else {
        text.to_owned()
    });
    let Some(own) = OwnLoop::from_file(info, file) else {
        return Ok(edit(file, None, field, &value)?.into());
    };
    let settings = loops::settings(info, own.store.root(), None)?;
    let is_optional = settings.permissions(own.actor).evidence == EvidencePolicy::Optional;
    let by = own.actor.to_string();
    let set = own.store.set_field(&own.id, field, value, &by, is_optional);
    if let Err(StoreError::Io { source, .. }) = &set
        && source.kind() == ErrorKind::InvalidInput
    {
        own.refuse(&format!("state set {field}"), &source.to_string());
    }
    set.map_err(Failure::refusal)?;
    Ok(Exit::Complete)
}

/// Changes the phase if it is `from`; on our loop by an open transition that needs no evidence.
fn move_phase(program: &Program, file: &Utf8Path, from: &str, to: &str) -> CommandResult {
    let info = program.info;
    let Some(own) = OwnLoop::from_file(info, file) else {
        return Ok(edit(file, Some(from), PHASE, &to.into())?.into());
    };
    let held = loops::open(program, &own.store, &own.id, own.actor)?;
    if held.raw().record().phase() != from {
        return Ok(Exit::Refused);
    }
    let phases = info.table.phases;
    let mut edges = info.table.edges().filter(|edge| {
        let leads = phases[edge.from].name == from && phases[edge.to].name == to;
        leads && from != to && edge.requires.is_none()
    });
    let parsed = edges.find_map(|edge| verbs::parse(info.table, edge.transition, vec![]).ok());
    let verb = parsed.ok_or_else(|| {
        let why = format!("shell helpers cannot take it from {from} to {to}");
        own.refuse(&format!("state move {from} {to}"), &why)
    })?;
    verbs::take(program, verb, held)?;
    Ok(Exit::Complete)
}

/// Reads a document in the machine's format if it has its extension, else in that of scripts.
fn read(spec: &StateSpec, path: &Utf8Path) -> Result<Document, Failure> {
    with_folder("read", path, |folder, name| {
        let bytes = folder.read(name, MAX_DOCUMENT_BYTES as u64)?;
        if path.extension() == Some(spec.extension) {
            spec.parse(&bytes)
        } else {
            Document::parse(Form::Lines, &[], &bytes)
        }
    })
}

/// Sets a field and `last_updated_at`, if the phase is `from` or any. Returns whether it was set.
fn edit(path: &Utf8Path, from: Option<&str>, field: &str, value: &Json) -> Result<bool, Failure> {
    change("change", path, |document| {
        let mut document = document?;
        if from.is_some() && document.text(PHASE).as_deref() != from {
            return Ok(None);
        }
        if !is_field_name(field) {
            let why = format!("`{}` cannot name a field", field.escape_debug());
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        document.set(UPDATED, &format!("{:.0}", Timestamp::now()).into());
        document.set(field, value);
        let bytes = document.to_bytes();
        Document::parse(Form::Lines, &[], &bytes)?;
        Ok(Some(bytes))
    })
}

/// Changes a file that names no machine, under its folder's lock. A reader sees the old file or the
/// new one. `change` returns the new bytes, or `None`. Returns whether the file was written.
fn change(
    doing: &'static str,
    path: &Utf8Path,
    change: impl FnOnce(io::Result<Document>) -> io::Result<Option<Vec<u8>>>,
) -> Result<bool, Failure> {
    with_folder(doing, path, |folder, name| {
        let _lock = Lock::take(folder, LOCK, LOCK_TIMEOUT)?.ok_or_else(|| {
            let why = format!("another process has locked {}", folder.path().join(LOCK));
            io::Error::new(ErrorKind::TimedOut, why)
        })?;
        let read = folder.read(name, MAX_DOCUMENT_BYTES as u64);
        // A symlink is not replaced.
        if let Err(error) = &read
            && error.kind() == ErrorKind::InvalidInput
        {
            return read.map(|_| false);
        }
        let document = read.and_then(|bytes| Document::parse(Form::Lines, &[], &bytes));
        let machine = document.as_ref().ok().and_then(|found| found.text(MACHINE));
        if let Some(machine) = machine {
            let why = format!("only the machine `{machine}` changes it");
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let Some(bytes) = change(document)? else {
            return Ok(false);
        };
        folder.replace(name, &bytes)?;
        Ok(true)
    })
}

/// Works on a file in its folder. Symlinks to the folder are followed.
fn with_folder<T>(
    doing: &'static str,
    path: &Utf8Path,
    work: impl FnOnce(&Folder, &str) -> io::Result<T>,
) -> Result<T, Failure> {
    let folder = Folder::open(path.parent().unwrap_or(path));
    let done = folder.and_then(|folder| work(&folder, path.file_name().unwrap_or_default()));
    done.or_io(doing, path).map_err(Failure::refusal)
}

/// Returns a folder's newest state file by time of modification and name.
fn find_newest(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let names = Folder::open(folder).ok()?.list().ok()?.into_iter();
    let files = names.filter_map(|(name, found)| {
        let path = folder.join(name);
        let fits = found.kind.is_file() && path.extension() == Some(EXTENSION);
        fits.then_some((found.modified, path))
    });
    files.max().map(|(_, path)| path)
}

#[cfg(test)]
mod tests;
