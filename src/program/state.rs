//! `state`: the commands that the plugin's `state-helpers.sh` calls, with the exit codes of the seed's functions.
//!
//! A file without a `machine` field is edited as the document that it is. On our loop the phase changes through the
//! generated verbs alone, and fields of the machine are refused.

use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::builder::Program;
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::state_file::PHASE;
use super::{archive, attempts, locate, loops, out, rounds, state_file, verbs};
use crate::files;
use crate::machine::Actor;
use crate::review::evidence::EvidencePolicy;
use crate::store::{LoopId, StateHome, Store, StoreError, parse_plain};

/// The longest value that is read from stdin, in bytes.
const MAX_STDIN_BYTES: u64 = 1024 * 1024;

/// The helpers that change a file.
const CHANGES: [&str; 4] = ["write", "set", "move", "sweep"];

/// Runs a helper. One that prints a value, such as `get FILE FIELD`, exits 1 if there is none.
pub(super) fn state(
    program: &Program,
    helper: &str,
    arguments: &[String],
) -> Result<Exit, Failure> {
    if CHANGES.contains(&helper) {
        verbs::outside_reviewer("state")?;
    }
    let info = program.info;
    let here = loops::here()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let value = match (helper, &arguments[..]) {
        ("new-id", []) => {
            let id = LoopId::new_stamp(Timestamp::now())
                .map_err(|error| failure(Exit::Internal, error))?;
            Some(id.to_string())
        }
        ("valid-id", [id]) => return Ok(LoopId::parse(id, info.state.ids).is_ok().into()),
        ("write", [file]) => return write(info, &here.join(file)),
        ("get", [file, field]) => {
            let document = state_file::read(info.state, &here.join(file));
            document.map_err(Failure::refusal)?.text(field)
        }
        ("set", [file, field, value]) => return set(info, &here.join(file), field, value),
        ("move", [file, from, to]) => return move_phase(program, &here.join(file), from, to),
        ("sweep", []) => return archive::sweep(info),
        ("find", []) => locate::stores(info.state, &[&here])
            .iter()
            .filter(|store| store.refusal().is_none())
            .find_map(|store| state_file::find_newest(store.folder()))
            .map(Utf8PathBuf::into_string),
        ("counts", [file]) => {
            let bytes = files::read(&here.join(file)).unwrap_or_default();
            Some(rounds::counts_of(&bytes).unwrap_or_default().to_string())
        }
        ("persona" | "persona-label", [round]) => {
            let round = round
                .parse()
                .map_err(|error| failure(Exit::Usage, format!("round {round}: {error}")))?;
            let settings = loops::settings_here(info)?;
            let persona = settings.personas.of_round(round);
            Some(match helper {
                "persona" => persona.prompt.clone(),
                _ => persona.label.clone(),
            })
        }
        _ => {
            let count = arguments.len();
            let problem = format!("cannot run ‘state {helper}’ with {count} arguments");
            return Err(failure(Exit::Usage, problem));
        }
    };
    if let Some(value) = &value {
        out::exact(value);
    }
    Ok(value.is_some().into())
}

fn failure(exit: Exit, problem: impl ToString) -> Failure {
    Failure::with_help(exit, problem.to_string(), "nothing was changed")
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut stdin = io::stdin().lock().take(MAX_STDIN_BYTES + 1);
    let read = stdin.read_to_end(&mut bytes);
    read.map_err(|error| failure(Exit::Usage, error))?;
    if bytes.len() as u64 > MAX_STDIN_BYTES {
        let problem = format!("stdin has more than {MAX_STDIN_BYTES} bytes");
        return Err(failure(Exit::Usage, problem));
    }
    Ok(bytes)
}

/// A loop of this machine that a helper names by its file.
struct OwnLoop {
    store: Store,
    id: LoopId,
    actor: Actor,
}

impl OwnLoop {
    /// Returns the loop whose state a file is, or `None` if the file does not name this machine.
    fn from_file(info: &ProgramInfo, file: &Utf8Path) -> Option<Self> {
        let document = state_file::read(info.state, file).ok()?;
        if document.text(info.state.fields.machine)? != info.state.machine {
            return None;
        }
        let folder = file.parent()?;
        let root = document
            .text(info.state.fields.root)
            .map(Utf8PathBuf::from)
            .filter(|root| root.is_absolute())
            .unwrap_or_else(|| folder.to_owned());
        let home = StateHome::of_user(info.program);
        Some(Self {
            store: Store::at(folder.to_owned(), root, info.state, home),
            id: LoopId::parse(file.file_stem()?, info.state.ids).ok()?,
            actor: Caller::from_env().actor(false),
        })
    }

    /// Records in the loop's journal the refused attempt of a helper, and returns the failure.
    fn refuse(&self, tried: &str, why: &str) -> Failure {
        attempts::note(&self.store, &self.id, self.actor, tried, why);
        failure(Exit::Refused, format!("loop {}: {why}", self.id))
    }
}

fn write(info: &ProgramInfo, file: &Utf8Path) -> Result<Exit, Failure> {
    if let Some(own) = OwnLoop::from_file(info, file) {
        let why = "it would go past the machine’s transitions";
        return Err(own.refuse("state write", why));
    }
    state_file::replace(file, &stdin()?).map_err(Failure::refusal)?;
    Ok(Exit::Complete)
}

/// Sets a field: `true`, `false` and decimal numbers are written as such, anything else as text. `-` reads the value from stdin.
fn set(
    info: &'static ProgramInfo,
    file: &Utf8Path,
    field: &str,
    text: &str,
) -> Result<Exit, Failure> {
    let value = parse_plain(&if text == "-" {
        String::from_utf8(stdin()?).map_err(|error| failure(Exit::Usage, error))?
    } else {
        text.to_owned()
    });
    let Some(own) = OwnLoop::from_file(info, file) else {
        let is_set = state_file::edit(file, None, field, &value);
        return Ok(is_set.map_err(Failure::refusal)?.into());
    };
    let settings = loops::settings(info, own.store.root(), None)?;
    let is_optional = settings.permissions(own.actor).evidence == EvidencePolicy::Optional;
    let by = own.actor.to_string();
    let set = own.store.set_field(&own.id, field, value, &by, is_optional);
    if let Err(StoreError::Io { source, .. }) = &set
        && source.kind() == io::ErrorKind::InvalidInput
    {
        own.refuse(&format!("state set {field}"), &source.to_string());
    }
    set.map_err(Failure::refusal)?;
    Ok(Exit::Complete)
}

/// Compare-and-swap of the phase. On our loop: by the transition that the machine declares between the two phases,
/// if it needs no evidence and is open to the caller.
fn move_phase(program: &Program, file: &Utf8Path, from: &str, to: &str) -> Result<Exit, Failure> {
    let info = program.info;
    let Some(own) = OwnLoop::from_file(info, file) else {
        let is_set = state_file::edit(file, Some(from), PHASE, &to.into());
        return Ok(is_set.map_err(Failure::refusal)?.into());
    };
    let held = loops::check_open(info, program.app.open(&own.store, &own.id, own.actor))?;
    if held.raw().record().phase() != from {
        return Ok(Exit::Refused);
    }
    let stored = |phase: usize| info.table.phases[phase].stored;
    let edges: Vec<_> = info
        .table
        .edges()
        .filter(|edge| from != to && stored(edge.from) == from && stored(edge.to) == to)
        .collect();
    let verb = edges
        .iter()
        .filter(|edge| edge.requires.is_none())
        .find_map(|edge| verbs::parse(program, edge.transition, Vec::new(), &own.id).ok())
        .ok_or_else(|| {
            let why = match edges.last() {
                Some(edge) => {
                    let name = edge.transition;
                    format!("shell helpers cannot take ‘{name}’ from {from} to {to}")
                }
                None => format!("the machine declares no transition from {from} to {to}"),
            };
            own.refuse(&format!("state move {from} {to}"), &why)
        })?;
    let settings = loops::settings(info, own.store.root(), None)?;
    verbs::take(program, verb, held, &settings)?;
    Ok(Exit::Complete)
}
