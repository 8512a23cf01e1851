//! Which loop a call is about: by id, or the active one of the folder that it is made from.

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};

use super::info::ProgramInfo;
use super::{incompatible, suggest};
use crate::store::{IdForm, Listed, LoopId, StateSpec, Store};
use crate::text;

pub use super::state_folders::{for_start, stores};

/// No loop that a call could be about.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum NotFound {
    /// The text is no id.
    #[display("`{text}` is not the id of a loop")]
    #[diagnostic(code(claudex::locate::id), help("{help}"))]
    BadId {
        /// The text, on one line.
        text: String,
        /// The loop that was probably meant, and where to see them all.
        help: String,
    },
    /// No such loop above this folder.
    #[display("there is no loop {id} in {from}", from = crate::text::shown(from))]
    #[diagnostic(code(claudex::locate::unknown), help("{help}"))]
    NoLoop {
        /// The id.
        id: String,
        /// Where the search began.
        from: Utf8PathBuf,
        /// The loop that was probably meant, and where to see them all.
        help: String,
    },
    /// No loop is active.
    #[display("no loop is active in {from}", from = crate::text::shown(from))]
    #[diagnostic(code(claudex::locate::none), help("{help}"))]
    NoneActive {
        /// Where the search began.
        from: Utf8PathBuf,
        /// Where to see those that are over.
        help: String,
    },
    /// More than one is.
    #[display("more than one loop is active: {ids}")]
    #[diagnostic(code(claudex::locate::several), help("name one of them"))]
    Several {
        /// Their ids.
        ids: String,
    },
}

/// The folder that a call is made from.
///
/// # Errors
/// The working directory is gone, or its path is not UTF-8.
pub fn here() -> std::io::Result<Utf8PathBuf> {
    let path = std::env::current_dir()?;
    Utf8PathBuf::from_path_buf(path)
        .map_err(|path| std::io::Error::other(format!("the path {} is not UTF-8", path.display())))
}

/// Returns the root of the project of a folder: that of the nearest state folder, else where a start would put one.
pub fn root(state: &'static StateSpec, from: &Utf8Path) -> Utf8PathBuf {
    let nearest = stores(state, &[from]).into_iter().next();
    let store = nearest.unwrap_or_else(|| for_start(state, from));
    store.root().to_owned()
}

/// Every loop above a folder, newest first.
pub fn loops(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    of_stores(state, from, Store::list)
}

/// The loops above a folder that are not over, newest first; those that are over are not opened.
pub fn active_loops(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    of_stores(state, from, Store::list_active)
}

/// The loop above a folder that was over last.
pub fn last_over(state: &'static StateSpec, from: &Utf8Path) -> Option<(Store, Listed)> {
    let last = |store: &Store| store.last_over().into_iter().collect();
    of_stores(state, from, last).into_iter().next()
}

/// What a look at each state folder above a folder gives of this project, newest first.
pub(super) fn of_stores(
    state: &'static StateSpec,
    from: &Utf8Path,
    mut look: impl FnMut(&Store) -> Vec<Listed>,
) -> Vec<(Store, Listed)> {
    let mut loops = Vec::new();
    for store in stores(state, &[from]) {
        let listed = look(&store).into_iter();
        let ours = listed.filter(|listed| store.is_for(listed.root.as_deref()));
        loops.extend(ours.map(|listed| (store.clone(), listed)));
    }
    loops.sort_by_key(|(_, listed)| std::cmp::Reverse(listed.modified));
    loops
}

/// Returns the archived loops above a folder, each with the store on its folder.
pub fn archived(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    let mut found = Vec::new();
    for store in stores(state, &[from]) {
        for listed in store.archived() {
            if !store.is_for(listed.root.as_deref()) {
                continue;
            }
            found.push((store.archived_store(listed.id.as_str()), listed));
        }
    }
    found
}

/// The store that holds a loop.
///
/// # Errors
/// The text is no id, or no store above the folder has it.
pub fn by_id(info: &ProgramInfo, from: &Utf8Path, text: &str) -> Result<(Store, LoopId), NotFound> {
    let program = info.program;
    let id = LoopId::parse(text, info.state.ids).map_err(|_| {
        let shape = match info.state.ids {
            IdForm::Stamp => "an id looks like 20261122-005333-0a1b2c",
            IdForm::Name => "an id is 1 to 64 of A-Z, a-z, 0-9, _ and -",
        };
        let otherwise = format!("{shape}; `{program} list` shows them");
        NotFound::BadId {
            text: text::one_line(text, 60),
            help: suggest::help(near_id(info.state, from, text).as_deref(), &otherwise),
        }
    })?;
    let holds = |store: &Store| {
        let folder = store.loop_folder(&id);
        store.path_of(&id).symlink_metadata().is_ok() || folder.is_dir() || store.has_archived(&id)
    };
    match stores(info.state, &[from]).into_iter().find(holds) {
        Some(store) => Ok((store, id)),
        None => Err(NotFound::NoLoop {
            help: suggest::help(
                near_id(info.state, from, id.as_str()).as_deref(),
                &format!("`{program} list` shows the loops of this project"),
            ),
            id: id.to_string(),
            from: from.to_owned(),
        }),
    }
}

/// The loop above a folder whose id was probably meant.
pub fn near_id(state: &'static StateSpec, from: &Utf8Path, given: &str) -> Option<String> {
    let mut known: Vec<LoopId> = Vec::new();
    for store in stores(state, &[from]) {
        let of_store = store.list().into_iter().chain(store.archived());
        known.extend(
            of_store
                .filter(|one| store.is_for(one.root.as_deref()))
                .map(|one| one.id),
        );
    }
    suggest::id(given, known.iter().map(LoopId::as_str)).map(str::to_owned)
}

/// Says where loops are if none is active: one that is not the user's, an archived one, those that are over.
fn none_active(info: &ProgramInfo, from: &Utf8Path) -> String {
    let not_ours = active_loops(info.state, from)
        .into_iter()
        .find(|(store, listed)| listed.left_alone && store.has_journal(&listed.id));
    if let Some((_, listed)) = not_ours {
        let id = listed.id.as_str();
        let help = incompatible::take_over(info, id);
        return format!("loop {id} is there, but it is not yours; {help}");
    }
    match (archived(info.state, from).first(), info.plugin) {
        (Some((_, archived)), _) => format!(
            "loop {} is in the archive; {}",
            archived.id,
            incompatible::bring_back(info, archived.id.as_str())
        ),
        (None, Some(plugin)) => format!(
            "those that are over: /{plugin}:history, in a terminal `{} list`",
            info.program
        ),
        (None, None) => format!("those that are over: `{} list`", info.program),
    }
}

/// The one active loop above a folder.
///
/// # Errors
/// There is none, or more than one.
pub fn active(info: &ProgramInfo, from: &Utf8Path) -> Result<(Store, LoopId), NotFound> {
    let mut active: Vec<_> = active_loops(info.state, from)
        .into_iter()
        .filter(|(_, listed)| listed.problem.is_none())
        .collect();
    match active.len() {
        0 => Err(NotFound::NoneActive {
            from: from.to_owned(),
            help: none_active(info, from),
        }),
        1 => {
            let (store, listed) = active.remove(0);
            Ok((store, listed.id))
        }
        _ => {
            let ids: Vec<_> = active
                .iter()
                .map(|(_, listed)| listed.id.to_string())
                .collect();
            Err(NotFound::Several {
                ids: ids.join(", "),
            })
        }
    }
}
