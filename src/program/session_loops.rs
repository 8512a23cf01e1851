//! The loops of a session, and which of them its stops drive.
//!
//! If a machine has many loops at once, that is the one that was changed or chosen (`use`) last.

use std::cmp::Reverse;

use super::caller::UNKNOWN;
use super::exit::with_help;
use super::incompatible;
use super::info::ProgramInfo;
use super::locate::{self, MAX_FOLDERS};
use super::surroundings::Surroundings;
use crate::hooks::Input;
use crate::store::{Active, Listed, LoopId, Store};
use crate::text;

/// The longest note about a loop that cannot be driven, in characters.
const MAX_PROBLEM_CHARS: usize = 700;

/// Finds the loop that a stop drives: the session's own, or else one that no session has.
///
/// # Errors
/// Returns a note for the user if a loop is there and cannot be driven.
pub(super) fn locate(
    info: &ProgramInfo,
    stores: &[Store],
    session: Option<&str>,
) -> Result<Option<(Store, LoopId)>, String> {
    let mut loops = locate::loops_in(stores);
    loops.retain(|(_, listed)| !listed.terminal);
    let found = drivable(info, loops.clone())
        .into_iter()
        .find(|(_, one)| is_unowned(one) || one.session.as_deref() == session);
    if let Some((store, listed)) = found {
        return Ok(Some((store, listed.id)));
    }
    if let Some(error) = stores.iter().find_map(Store::refusal) {
        return Err(text::note(&with_help(&error), MAX_PROBLEM_CHARS));
    }
    if let Some(problem) = loops.iter().find_map(|found| problem(info, found)) {
        return Err(problem);
    }
    if stores.len() == MAX_FOLDERS {
        return Err(format!(
            "{MAX_FOLDERS} state folders or more are above this one; only the nearest were searched"
        ));
    }
    if let Some((_, id)) = session.and_then(|session| archived(stores, session)) {
        return Err(format!("loop {id} {}", archived_note(info, &id)));
    }
    Ok(None)
}

/// Returns why a session's loop is in the archive, and the command that continues it.
pub(super) fn archived_note(info: &ProgramInfo, id: &LoopId) -> String {
    let resume = info.command(&format!("resume {id}"));
    format!("was archived because it was idle for too long. To continue it:{resume}")
}

/// Returns why an active loop cannot be driven.
fn problem(info: &ProgramInfo, (store, listed): &(Store, Listed)) -> Option<String> {
    let problem = text::one_line(listed.problem.as_deref()?, MAX_PROBLEM_CHARS);
    let path = text::shown(&listed.path);
    Some(if listed.left_alone {
        let help = incompatible::take_over(info, listed.id.as_str());
        format!("{problem}; {help}")
    } else if listed.phase.is_some() && !store.has_journal(&listed.id) {
        let import = incompatible::import(info, store.root(), &listed.path);
        format!("{path} was not started here, so no stop drives it. To continue it:{import}")
    } else if problem.starts_with(&path) {
        problem
    } else {
        format!("{path} cannot be used as a loop: {problem}")
    })
}

/// Returns the loops that a stop could drive, those that a session has before the others. If the machine has many loops at
/// once, the one that was changed last comes first.
pub(super) fn drivable(
    info: &ProgramInfo,
    mut loops: Vec<(Store, Listed)>,
) -> Vec<(Store, Listed)> {
    loops.retain(|(_, one)| one.problem.is_none() && !one.terminal);
    loops.sort_by_key(|(_, one)| {
        let newest = has_many(info).then_some(Reverse(one.modified));
        (is_unowned(one), newest)
    });
    loops
}

/// Returns the active loops of a session among these, first the one that its next stop drives.
pub(super) fn of_session(
    info: &ProgramInfo,
    loops: Vec<(Store, Listed)>,
    session: &str,
) -> Vec<(Store, LoopId)> {
    let loops = drivable(info, loops).into_iter();
    loops
        .filter(|(_, one)| !is_unowned(one) && one.session.as_deref() == Some(session))
        .map(|(store, listed)| (store, listed.id))
        .collect()
}

/// Returns the active loops of a session that a hook is called about, first the one that its next stop drives.
pub fn owned(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
    session: &str,
) -> Vec<(Store, LoopId)> {
    let loops = locate::loops_in(&surroundings.stores(info, input));
    of_session(info, loops, session)
}

/// Returns the archived loop of a session that is not over.
pub(super) fn archived(stores: &[Store], session: &str) -> Option<(Store, LoopId)> {
    stores.iter().find_map(|store| {
        let mut archived = store.archived().into_iter();
        let listed = archived
            .find(|one| one.session.as_deref() == Some(session) && one.problem.is_none())?;
        Some((store.clone(), listed.id))
    })
}

/// Returns whether a session may have several loops of a machine.
pub(super) fn has_many(info: &ProgramInfo) -> bool {
    info.state.active == Active::Many
}

/// Returns whether no session has taken a loop yet.
pub(super) fn is_unowned(listed: &Listed) -> bool {
    matches!(listed.session.as_deref(), None | Some("" | UNKNOWN))
}
