//! `import FILE`: continues a state document that the program did not write, at its phase.
//!
//! The loop keeps its id, its start time and, if it was in the state folder, its findings.

use camino::Utf8Path;

use super::app::Program;
use super::caller::Caller;
use super::exit::{CommandResult, Exit, Failure};
use super::{locate, loops, open_error, out, start};
use crate::machine::{Actor, Refusal};
use crate::store::{IdForm, LoopId, MAX_DOCUMENT_BYTES, Store};
use crate::{files, text};

/// Imports the document of a file, for a command. `convert` makes it one of this program.
///
/// # Errors
/// Returns an error if the caller is an agent, or if the document is unreadable or does not fit.
pub fn import(
    program: &Program,
    command: &str,
    file: &Utf8Path,
    convert: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, String>,
) -> CommandResult {
    let info = program.info;
    loops::check_person(info, command, None)?;
    let refused = |why: String, help: &str| {
        let message = format!("cannot import {}: {why}", text::printable(file));
        Failure::refuse(message, help)
    };
    let help = format!(
        "fix it, or name another state document, UTF-8 of at most {MAX_DOCUMENT_BYTES} bytes"
    );
    let unfit = |why: String| refused(why, &help);

    let here = loops::current_folder()?;
    let path = here.join(file).canonicalize_utf8();
    let read = path.and_then(|path| Ok((files::read(&path)?, path)));
    let (bytes, path) = read.map_err(|error| unfit(error.to_string()))?;
    let bytes = convert(bytes).map_err(unfit)?;

    let store = locate::for_start(info.state, &here);
    let named = id_in_path(&store, &path).or(path.file_stem());
    let named = named.unwrap_or_default();
    let id = match store.spec().ids {
        IdForm::Stamp => {
            let id = LoopId::parse(named, IdForm::Stamp).ok();
            id.filter(|id| is_free(&store, &path, id))
        }
        IdForm::Name => Some(LoopId::parse(named, IdForm::Name).map_err(|error| {
            refused(error, "the file’s name becomes the loop’s; rename the file")
        })?),
    };

    let settings = loops::settings(info, store.root(), None)?;
    let beginning = Caller::from_env().beginning(id);
    store.archive_stale(beginning.now.into(), settings.stale_after());
    let imported = program
        .app
        .import(&store, &bytes, path, beginning, Actor::Person);
    let held = imported.map_err(|error| match error {
        Refusal::Unfit(why) => unfit(why),
        error => open_error::start_failure(program, &store, error),
    })?;
    let raw = held.raw();
    loops::check_opened(info, raw, Actor::Person)?;
    start::enter(program, &*held, command);
    let id = raw.id();
    let phase = raw.phase_info().name;
    let state = text::escape_hidden(store.path_of(id));
    let line = format!("Loop {id} continues in phase {phase}. Its state: {state}");
    out::line(&line);
    Ok(Exit::Complete)
}

/// Returns whether no loop has this id but that of the document: a copy becomes a new loop.
fn is_free(store: &Store, path: &Utf8Path, id: &LoopId) -> bool {
    let there = store.path_of(id);
    there == path || there.symlink_metadata().is_err() && !store.has_journal(id)
}

/// Returns the id that a loop with its document at this path would have.
fn id_in_path<'p>(store: &Store, path: &'p Utf8Path) -> Option<&'p str> {
    let (before, after) = store.spec().file?.split_once("{id}")?;
    let path = path.strip_prefix(store.root()).ok()?.as_str();
    path.strip_prefix(before)?.strip_suffix(after)
}
