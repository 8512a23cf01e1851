//! `state`: what the plugin's `state-helpers.sh` calls, with the exit codes of the seed's functions.
//!
//! A file without a `machine` field is edited as the document that it is. On a loop of ours the phase changes through the
//! generated verbs alone, and what the machine owns is refused.

use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::app::{App, Program};
use super::arguments::State;
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::extension::NotTaken;
use super::info::ProgramInfo;
use super::verb_args::LoopArgs;
use super::{attempts, incompatible, locate, loops, messages, out, rounds, state_file, sweep};
use crate::machine::LoopHandle;
use crate::review::evidence::EvidencePolicy;
use crate::review::findings::Counts;
use crate::store::{Form, LoopId, StateHome, Store, StoreError, parse_plain};
use crate::text;

/// The longest value that comes on stdin, in bytes.
const LONGEST: u64 = 1024 * 1024;

fn refused(error: impl miette::Diagnostic) -> Failure {
    Failure::new(Exit::Refused, error)
}

fn yes_or_no(yes: bool) -> Exit {
    if yes { Exit::Complete } else { Exit::Refused }
}

/// Whether a helper changes a file.
pub(super) fn changes(command: &State) -> bool {
    match command {
        State::Write { .. }
        | State::Set { .. }
        | State::Move { .. }
        | State::LockWrite { .. }
        | State::Sweep => true,
        State::NewId
        | State::ValidId { .. }
        | State::Get { .. }
        | State::LockActive { .. }
        | State::Find
        | State::Counts { .. }
        | State::Persona { .. }
        | State::PersonaLabel { .. } => false,
    }
}

/// Runs a helper.
pub(super) fn state<M: App>(program: &Program<M>, command: State) -> Result<Exit, Failure> {
    let info = program.info;
    match command {
        State::NewId => {
            let id = LoopId::new_stamp(Timestamp::now()).map_err(|error| {
                Failure::plain(
                    Exit::Internal,
                    "claudex::state::id",
                    error.to_string(),
                    "the system gave no random bytes",
                )
            })?;
            out::line(id.as_str());
            Ok(Exit::Complete)
        }
        State::ValidId { id } => Ok(yes_or_no(LoopId::parse(&id, info.state.ids).is_ok())),
        State::Write { file } => {
            if let Some((store, id)) = ours(info, &file) {
                let failure = owned(info, &file, "writing it whole");
                noted(
                    &store,
                    &id,
                    "state write",
                    "it would go past the machine’s transitions",
                );
                return Err(failure);
            }
            state_file::replace(&absolute(&file)?, &stdin()?).map_err(refused)?;
            Ok(Exit::Complete)
        }
        State::Get { file, field } => {
            match field_of(info, &absolute(&file)?, &field).map_err(refused)? {
                Some(value) => {
                    out::exact(&value);
                    Ok(Exit::Complete)
                }
                None => Ok(Exit::Refused),
            }
        }
        State::Set { file, field, value } => {
            let value = if value == "-" { text(stdin()?)? } else { value };
            set(info, &file, &field, &value)
        }
        State::Move { file, from, to } => move_phase(program, &file, &from, &to),
        State::LockWrite { file, pid } => {
            let pid = pid.unwrap_or_else(std::os::unix::process::parent_id);
            state_file::write_pid(&absolute(&file)?, pid).map_err(|error| {
                Failure::plain(
                    Exit::Refused,
                    "claudex::state::lock",
                    format!("{}: {error}", text::shown(&file)),
                    "see whether its folder exists",
                )
            })?;
            Ok(Exit::Complete)
        }
        State::LockActive { file } => {
            Ok(yes_or_no(state_file::has_live_process(&absolute(&file)?)))
        }
        State::Sweep => {
            let stale_after = loops::settings_here(info)?.stale_after();
            sweep::sweep(info, stale_after, false)?;
            Ok(Exit::Complete)
        }
        State::Find => {
            let here = loops::here()?;
            let newest = locate::stores(info.state, &[&here])
                .iter()
                .filter(|store| store.refusal().is_none())
                .find_map(|store| state_file::find_newest(store.folder()));
            match newest {
                Some(path) => {
                    out::exact(path.as_str());
                    Ok(Exit::Complete)
                }
                None => Ok(Exit::Refused),
            }
        }
        State::Counts { file } => {
            let counts = match crate::files::read(&file) {
                Ok(bytes) => rounds::counts_of(&bytes).unwrap_or_default(),
                Err(_) => Counts::default(),
            };
            out::line(&counts.to_string());
            Ok(Exit::Complete)
        }
        State::Persona { round } => {
            out::exact(&loops::settings_here(info)?.personas.of_round(round).prompt);
            Ok(Exit::Complete)
        }
        State::PersonaLabel { round } => {
            out::exact(&loops::settings_here(info)?.personas.of_round(round).label);
            Ok(Exit::Complete)
        }
    }
}

fn absolute(file: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    Ok(if file.is_absolute() {
        file.to_owned()
    } else {
        loops::here()?.join(file)
    })
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes);
    let problem = match read {
        Ok(_) if bytes.len() as u64 <= LONGEST => return Ok(bytes),
        Ok(_) => format!("more than {LONGEST} bytes came on stdin"),
        Err(error) => format!("could not read stdin: {error}"),
    };
    Err(Failure::plain(
        Exit::Usage,
        "claudex::state::stdin",
        problem,
        "nothing was changed",
    ))
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| {
        Failure::plain(
            Exit::Usage,
            "claudex::state::utf8",
            "the value is not UTF-8".to_owned(),
            "nothing was changed",
        )
    })
}

/// Returns a field of a file: as the machine reads it where the extension is the machine's, else as scripts write it.
fn field_of(
    info: &ProgramInfo,
    file: &Utf8Path,
    field: &str,
) -> Result<Option<String>, StoreError> {
    match file.extension() == Some(info.state.extension) {
        true => state_file::read_field(file, field, |bytes| info.state.parse(bytes)),
        false => state_file::read_field(file, field, |bytes| Form::Lines.parse(bytes)),
    }
}

/// The store and the id of a file that is a loop of ours.
fn ours(info: &ProgramInfo, file: &Utf8Path) -> Option<(Store, LoopId)> {
    let file = absolute(file).ok()?;
    if field_of(info, &file, info.state.fields.machine)
        .ok()
        .flatten()?
        != info.state.machine
    {
        return None;
    }
    let id = LoopId::parse(file.file_stem()?, info.state.ids).ok()?;
    let folder = file.parent()?;
    let root = field_of(info, &file, info.state.fields.root)
        .ok()
        .flatten()
        .map(Utf8PathBuf::from);
    let root = root
        .filter(|root| root.is_absolute())
        .unwrap_or_else(|| folder.to_owned());
    Some((
        Store::at(
            folder.to_owned(),
            root,
            info.state,
            StateHome::of_user(info.program),
        ),
        id,
    ))
}

fn owned(info: &ProgramInfo, file: &Utf8Path, what: &str) -> Failure {
    Failure::plain(
        Exit::Refused,
        "claudex::state::owned",
        format!(
            "{} is a loop of the `{}` machine: {what} would go past its transitions",
            text::shown(file),
            info.state.machine
        ),
        &format!(
            "use the verbs, which `{} --help` lists; nothing was changed",
            info.program
        ),
    )
}

/// Notes in a loop's journal what a helper was refused.
fn noted(store: &Store, id: &LoopId, tried: &str, why: &str) {
    attempts::note(store, id, Caller::from_env().actor(false), tried, why);
}

fn set(
    info: &'static ProgramInfo,
    file: &Utf8Path,
    field: &str,
    value: &str,
) -> Result<Exit, Failure> {
    if let Some((store, id)) = ours(info, file) {
        let actor = Caller::from_env().actor(false);
        let settings = loops::settings(info, store.root(), None)?;
        let optional = settings.permissions(actor).evidence == EvidencePolicy::Optional;
        let set = store.set_field(&id, field, parse_plain(value), &actor.to_string(), optional);
        if let Err(StoreError::Io { source, .. }) = &set
            && source.kind() == io::ErrorKind::InvalidInput
        {
            let tried = format!("state set {field}");
            noted(&store, &id, &tried, &source.to_string());
        }
        set.map_err(refused)?;
    } else {
        state_file::set_field(&absolute(file)?, field, value).map_err(refused)?;
    }
    Ok(Exit::Complete)
}

/// Compare-and-swap of the phase. On a loop of ours: by the transition that the machine declares between the two phases,
/// if it needs no evidence and is open to whoever calls.
fn move_phase<M: App>(
    program: &Program<M>,
    file: &Utf8Path,
    from: &str,
    to: &str,
) -> Result<Exit, Failure> {
    let (info, table) = (program.info, M::TABLE);
    let Some((store, id)) = ours(info, file) else {
        return Ok(yes_or_no(
            state_file::set_phase(&absolute(file)?, from, to).map_err(refused)?,
        ));
    };
    let actor = Caller::from_env().actor(false);
    let held = M::open(&store, &id, actor).map_err(|error| incompatible::failure(info, error))?;
    loops::own_session(info, held.raw(), actor)?;
    if held.raw().record().phase() != from {
        return Ok(Exit::Refused);
    }
    let declared = table.edges().filter(|edge| {
        table.phases[edge.from].stored == from
            && table.phases[edge.to].stored == to
            && edge.from != edge.to
    });
    let mut why = format!("the machine declares no transition from {from} to {to}");
    let mut verb = None;
    for edge in declared {
        let plain = M::plain(edge.transition, LoopArgs::with_id(id.as_str()));
        if plain.is_some() && edge.requires.is_none() {
            verb = plain;
        } else {
            why = format!(
                "‘{}’ leads from {from} to {to}, and it is not open to a helper",
                edge.transition
            );
        }
    }
    let refused = |why: String| {
        noted(&store, &id, &format!("state move {from} {to}"), &why);
        Failure::plain(
            Exit::Refused,
            "claudex::state::move",
            format!("loop {id}: {why}"),
            "nothing was changed",
        )
    };
    let verb = verb.ok_or_else(|| refused(why))?;
    let settings = loops::settings(info, store.root(), None)?;
    let now = program.run(verb, held).map_err(|why| match why {
        NotTaken::Refused(error) => refused(error.to_string()),
        NotTaken::Failed(failure) => failure,
    })?;
    let phase = messages::phase(now.raw());
    store.log(&format!("{id} moved by {actor}: {from} -> {}", phase.name));
    messages::clear(now.raw());
    program
        .extension
        .entered(&now, &settings)
        .map_err(|problem| {
            Failure::plain(
                Exit::Internal,
                "claudex::state::entered",
                problem,
                "the phase was changed all the same",
            )
        })?;
    Ok(Exit::Complete)
}
