//! Which loop a call is about: by id, or the active one of the folder that it is made from.
//!
//! The walk from a folder to the state folders above it is the store's; this file only says what it means for ours.

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};

use crate::plan::near;
use crate::plan::typestate::STATE;
use crate::store::{self, Listed, LoopId, Store};
use crate::text;

/// No loop that a call could be about.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum NotFound {
    /// The text is no id.
    #[display("`{text}` is not the id of a loop")]
    #[diagnostic(
        code(claudex::locate::id),
        help(
            "{}",
            near::help(near.as_deref(), "an id looks like 20261122-005333-0a1b2c; `claudex-loop list` shows them")
        )
    )]
    BadId {
        /// The text, on one line.
        text: String,
        /// The loop that was probably meant.
        near: Option<String>,
    },
    /// No such loop above this folder.
    #[display("there is no loop {id} in {from}")]
    #[diagnostic(
        code(claudex::locate::unknown),
        help("{}", near::help(near.as_deref(), "`claudex-loop list` shows the loops of this project"))
    )]
    NoLoop {
        /// The id.
        id: String,
        /// The loop that was probably meant.
        near: Option<String>,
        /// Where the search began.
        from: Utf8PathBuf,
    },
    /// No loop is active.
    #[display("no loop is active in {from}")]
    #[diagnostic(
        code(claudex::locate::none),
        help("those that are over: /claudex:history, in a terminal `claudex-loop list`")
    )]
    NoneActive {
        /// Where the search began.
        from: Utf8PathBuf,
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

/// What `CLAUDEX_STATE_DIR` says.
pub fn state_dir() -> Option<String> {
    STATE
        .folder_env
        .and_then(|name| std::env::var(name).ok())
        .filter(|value| !value.trim().is_empty())
}

/// The root of the project of a folder: that of the nearest state folder, else where a start would put one.
pub fn root(from: &Utf8Path) -> Utf8PathBuf {
    let store = stores(&[from]).into_iter().next();
    let store = store.unwrap_or_else(|| store::for_start(&STATE, from, state_dir().as_deref()));
    store.root().to_owned()
}

/// The state folders that exist above some folders, nearest first.
pub fn stores(starts: &[&Utf8Path]) -> Vec<Store> {
    store::folders(&STATE, starts, state_dir().as_deref())
}

/// The loops above a folder, newest first.
pub fn loops(from: &Utf8Path) -> Vec<(Store, Listed)> {
    let mut loops: Vec<_> = stores(&[from])
        .into_iter()
        .flat_map(|store| {
            store
                .list()
                .into_iter()
                .filter(|listed| store.is_for(listed.root.as_deref()))
                .map(|listed| (store.clone(), listed))
                .collect::<Vec<_>>()
        })
        .collect();
    loops.sort_by_key(|(_, listed)| std::cmp::Reverse(listed.modified));
    loops
}

/// The store that holds a loop.
///
/// # Errors
/// The text is no id, or no store above the folder has it.
pub fn by_id(from: &Utf8Path, text: &str) -> Result<(Store, LoopId), NotFound> {
    let id = LoopId::parse(text, STATE.ids).map_err(|_| NotFound::BadId {
        text: text::one_line(text, 60),
        near: near_id(from, text),
    })?;
    let holds = |store: &Store| {
        let folder = store.loop_folder(&id);
        store.path_of(&id).symlink_metadata().is_ok()
            || folder.is_dir()
            || store.swept().iter().any(|listed| listed.id == id)
    };
    match stores(&[from]).into_iter().find(holds) {
        Some(store) => Ok((store, id)),
        None => Err(NotFound::NoLoop {
            near: near_id(from, id.as_str()),
            id: id.to_string(),
            from: from.to_owned(),
        }),
    }
}

/// The loop above a folder whose id was probably meant.
pub fn near_id(from: &Utf8Path, given: &str) -> Option<String> {
    let mut known: Vec<LoopId> = Vec::new();
    for store in stores(&[from]) {
        let of_store = store.list().into_iter().chain(store.swept());
        known.extend(
            of_store
                .filter(|one| store.is_for(one.root.as_deref()))
                .map(|one| one.id),
        );
    }
    near::id(given, known.iter().map(LoopId::as_str)).map(str::to_owned)
}

/// The one active loop above a folder.
///
/// # Errors
/// There is none, or more than one.
pub fn active(from: &Utf8Path) -> Result<(Store, LoopId), NotFound> {
    let mut active: Vec<_> = loops(from)
        .into_iter()
        .filter(|(_, listed)| !listed.terminal && listed.problem.is_none())
        .collect();
    match active.len() {
        0 => Err(NotFound::NoneActive {
            from: from.to_owned(),
        }),
        1 => {
            let (store, listed) = active.remove(0);
            Ok((store, listed.id))
        }
        _ => {
            let ids: Vec<_> = active.iter().map(|(_, listed)| listed.id.to_string()).collect();
            Err(NotFound::Several { ids: ids.join(", ") })
        }
    }
}
