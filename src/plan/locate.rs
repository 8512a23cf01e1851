//! Which loop a call is about, for the plan loop: its state folders, and how its program is called.

use camino::{Utf8Path, Utf8PathBuf};

use crate::app::locate as any;
pub use crate::app::locate::{NotFound, here};
use crate::app::speaker::Speaker;
use crate::plan::typestate::{STATE, TABLE};
use crate::store::{Listed, LoopId, Store};

/// The plan loop's program, as its messages name it.
pub const SPEAKER: Speaker = Speaker {
    name: "claudex",
    program: "claudex-loop",
    plugin: Some("claudex"),
    state: &STATE,
    table: &TABLE,
};

/// What `CLAUDEX_STATE_DIR` says.
pub fn state_dir() -> Option<String> {
    any::state_dir(&STATE)
}

/// Returns the store that a start in a folder would use.
pub fn for_start(from: &Utf8Path) -> Store {
    any::for_start(&STATE, from)
}

/// The root of the project of a folder: that of the nearest state folder, else where a start would put one.
pub fn root(from: &Utf8Path) -> Utf8PathBuf {
    let store = stores(&[from]).into_iter().next();
    let store = store.unwrap_or_else(|| for_start(from));
    store.root().to_owned()
}

/// The state folders that exist above some folders, nearest first.
pub fn stores(starts: &[&Utf8Path]) -> Vec<Store> {
    any::stores(&STATE, starts)
}

/// The loops above a folder, newest first.
pub fn loops(from: &Utf8Path) -> Vec<(Store, Listed)> {
    any::loops(&STATE, from)
}

/// The store that holds a loop.
///
/// # Errors
/// See [`any::by_id`].
pub fn by_id(from: &Utf8Path, text: &str) -> Result<(Store, LoopId), NotFound> {
    any::by_id(&SPEAKER, from, text)
}

/// The loop above a folder whose id was probably meant.
pub fn near_id(from: &Utf8Path, given: &str) -> Option<String> {
    any::near_id(&STATE, from, given)
}

/// The one active loop above a folder.
///
/// # Errors
/// See [`any::active`].
pub fn active(from: &Utf8Path) -> Result<(Store, LoopId), NotFound> {
    any::active(&SPEAKER, from)
}
