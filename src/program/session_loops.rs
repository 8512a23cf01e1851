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
use super::state_folders::MAX_FOLDERS;
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
    let mut drivable: Vec<(Store, Listed)> = Vec::new();
    let mut problems: Vec<String> = Vec::new();
    for store in stores {
        if let Some(error) = store.refusal() {
            problems.push(text::note(&with_help(&error), MAX_PROBLEM_CHARS));
            continue;
        }
        for listed in store.list_active() {
            if is_drivable(store, &listed) {
                let is_own = listed.session.as_deref() == session;
                if is_own || is_unowned(&listed) {
                    drivable.push((store.clone(), listed));
                }
            } else if !listed.terminal {
                problems.extend(problem(info, store, &listed));
            }
        }
    }
    order(info, session.unwrap_or_default(), &mut drivable);
    if let Some((store, listed)) = drivable.into_iter().next() {
        return Located::Loop(store, listed.id);
    }
    if stores.len() == MAX_FOLDERS {
        problems.push(format!(
            "{MAX_FOLDERS} state folders or more are above this one; only the nearest were searched"
        ));
    }
    let archived = || archived(stores, session?);
    match problems.into_iter().next() {
        Some(problem) => Located::Note(problem),
        None => archived().map_or(Located::Nothing, |(_, id)| {
            Located::Note(format!(
                "loop {id} was archived because it was idle for too long. To continue it:{}",
                info.command(&format!("resume {id}"))
            ))
        }),
    }
}

/// Returns why a loop that is not over cannot be driven, or `None` if it belongs to another project.
fn problem(info: &ProgramInfo, store: &Store, listed: &Listed) -> Option<String> {
    let problem = text::one_line(listed.problem.as_deref()?, MAX_PROBLEM_CHARS);
    if listed.left_alone {
        let help = incompatible::take_over(info, listed.id.as_str());
        let is_here = store.is_for(listed.root.as_deref());
        return is_here.then(|| format!("{problem}; {help}"));
    }
    let is_document = listed.phase.is_some();
    if is_document && !store.has_journal(&listed.id) {
        return Some(incompatible::foreign_document(
            info,
            store.root(),
            &listed.path,
        ));
    }
    let path = text::shown(&listed.path);
    Some(if problem.starts_with(&path) {
        problem
    } else {
        format!("{path} cannot be used as a loop: {problem}")
    })
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

/// Returns whether a stop could drive a loop.
pub(super) fn is_drivable(store: &Store, listed: &Listed) -> bool {
    listed.problem.is_none()
        && !listed.terminal
        && listed.ours
        && store.is_for(listed.root.as_deref())
}

/// Returns whether a session may have several loops of a machine.
pub(super) fn has_many(info: &ProgramInfo) -> bool {
    info.state.active == Active::Many
}

/// Returns whether no session has taken a loop yet.
pub(super) fn is_unowned(listed: &Listed) -> bool {
    matches!(listed.session.as_deref(), None | Some("" | UNKNOWN))
}

/// Returns the loop of a session that its next stop drives.
pub fn owned(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
    session: &str,
) -> Option<(Store, LoopId)> {
    all_owned(info, input, surroundings, session)
        .into_iter()
        .next()
}

/// Returns all loops of a session that are not over, first the one that its next stop drives.
pub(super) fn all_owned(
    info: &ProgramInfo,
    input: &Input,
    surroundings: &Surroundings,
    session: &str,
) -> Vec<(Store, LoopId)> {
    let mut owned = Vec::new();
    for store in surroundings.stores(info, input) {
        let mut listed = store.list_active();
        listed.retain(|one| {
            one.session.as_deref() == Some(session) && !is_unowned(one) && is_drivable(&store, one)
        });
        owned.extend(listed.into_iter().map(|listed| (store.clone(), listed)));
    }
    order(info, session, &mut owned);
    owned
        .into_iter()
        .map(|(store, listed)| (store, listed.id))
        .collect()
}

/// Sorts loops into the order in which the stops of a session would drive them: its own before those that no session has.
///
/// If the machine has many loops at once, the chosen one comes first, and the others follow as they were changed.
pub(super) fn order(info: &ProgramInfo, session: &str, loops: &mut [(Store, Listed)]) {
    if !has_many(info) {
        loops.sort_by_key(|(_, listed)| is_unowned(listed));
        return;
    }
    let home = StateHome::of_user(info.program);
    let chosen = home.folder().and_then(|home| Chosen::load(session, home));
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
}

/// Returns the loop that the stops of a session drive, out of the active ones.
pub(super) fn driven<'a>(
    info: &ProgramInfo,
    session: &str,
    active: &'a [(Store, Listed)],
) -> Option<&'a LoopId> {
    let mut own = active.to_vec();
    own.retain(|(_, listed)| {
        listed.session.as_deref() == Some(session)
            && !is_unowned(listed)
            && listed.problem.is_none()
    });
    order(info, session, &mut own);
    let (_, first) = own.into_iter().next()?;
    let mut ids = active.iter().map(|(_, listed)| &listed.id);
    ids.find(|id| **id == first.id)
}
