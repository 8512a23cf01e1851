//! The loops of a session, and which of them its stops drive.
//!
//! If a machine has many loops at once, that is the one that the user chose with `use`, or else the one that changed last. The
//! choice holds until that loop is over or another one is chosen. It is kept in the user's own folder ([`Chosen`]), because a
//! repository must not choose.

use std::cmp::Reverse;

use super::caller::UNKNOWN;
use super::exit::with_help;
use super::incompatible;
use super::info::ProgramInfo;
use super::locate::{self, MAX_FOLDERS};
use super::surroundings::Surroundings;
use crate::hooks::Input;
use crate::hooks::seen::{Chosen, SessionRecord as _};
use crate::store::{Active, Listed, LoopId, StateHome, Store};
use crate::text;

/// The longest note about a loop that cannot be driven, in characters.
const MAX_PROBLEM_CHARS: usize = 700;

/// The result of the search for the loop of a stop.
pub(super) enum Located {
    /// The loop that the stop drives.
    Loop(Store, LoopId),
    /// There is no loop to drive. The note tells the user why.
    Note(String),
    /// There is no loop.
    Nothing,
}

/// Finds the loop that a stop drives: the session's own, or else one that no session has.
pub(super) fn locate(info: &ProgramInfo, stores: &[Store], session: Option<&str>) -> Located {
    let mut loops = locate::loops_in(stores);
    loops.retain(|(_, listed)| !listed.terminal);
    let mut drivable = drivable(info, loops.clone(), session);
    drivable.retain(|(_, one)| is_unowned(one) || one.session.as_deref() == session);
    if let Some((store, listed)) = drivable.into_iter().next() {
        return Located::Loop(store, listed.id);
    }
    let refusal = stores.iter().find_map(Store::refusal);
    let refusal = refusal.map(|error| text::note(&with_help(&error), MAX_PROBLEM_CHARS));
    let problem = || loops.iter().find_map(|found| problem(info, found));
    let too_many = || {
        (stores.len() == MAX_FOLDERS).then(|| {
            format!("{MAX_FOLDERS} state folders or more are above this one; only the nearest were searched")
        })
    };
    let archived = || {
        let (_, id) = archived(stores, session?)?;
        let resume = info.command(&format!("resume {id}"));
        Some(format!(
            "loop {id} was archived because it was idle for too long. To continue it:{resume}"
        ))
    };
    let note = refusal.or_else(problem).or_else(too_many).or_else(archived);
    note.map_or(Located::Nothing, Located::Note)
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

/// Returns the loops that a stop could drive, in the order in which the stops of a session would: its own before those that no
/// session has.
///
/// If the machine has many loops at once, the chosen one comes first, and the others follow as they were changed.
pub(super) fn drivable(
    info: &ProgramInfo,
    mut loops: Vec<(Store, Listed)>,
    session: Option<&str>,
) -> Vec<(Store, Listed)> {
    loops.retain(|(_, one)| one.problem.is_none() && one.ours && !one.terminal);
    if !has_many(info) {
        loops.sort_by_key(|(_, listed)| is_unowned(listed));
        return loops;
    }
    let home = StateHome::of_user(info.program);
    let chosen = home
        .folder()
        .and_then(|home| Chosen::load(session.unwrap_or_default(), home));
    let is_chosen = |store: &Store, listed: &Listed| {
        chosen.as_ref().is_some_and(|chosen| {
            chosen.id == listed.id.as_str() && chosen.folder == store.folder()
        })
    };
    loops.sort_by_key(|(store, listed)| {
        (
            !is_chosen(store, listed),
            is_unowned(listed),
            Reverse(listed.modified),
        )
    });
    loops
}

/// Returns the active loops of a session, first the one that its next stop drives.
pub(super) fn own(
    info: &ProgramInfo,
    loops: Vec<(Store, Listed)>,
    session: &str,
) -> Vec<(Store, Listed)> {
    let mut own = drivable(info, loops, Some(session));
    own.retain(|(_, one)| !is_unowned(one) && one.session.as_deref() == Some(session));
    own
}

/// Returns the active loops of a session that a hook is called about, first the one that its next stop drives.
pub fn owned(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
    session: &str,
) -> Vec<(Store, LoopId)> {
    let loops = locate::loops_in(&surroundings.stores(info, input));
    let own = own(info, loops, session).into_iter();
    own.map(|(store, listed)| (store, listed.id)).collect()
}

/// Returns the archived loop of a session that is not over.
pub(super) fn archived(stores: &[Store], session: &str) -> Option<(Store, LoopId)> {
    let is_meant = |listed: &Listed| {
        listed.session.as_deref() == Some(session) && !listed.terminal && listed.problem.is_none()
    };
    stores.iter().find_map(|store| {
        let listed = store.archived().into_iter().find(is_meant)?;
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
