//! The lock that tells the prose version of the pipeline that someone is at work, and that of another program. The engine's own locks decide
//! who changes a pipeline; this one decides nothing.

use camino::Utf8Path;
use claudex_loop::Timestamp;
use claudex_loop::files::Folder;
use claudex_loop::store::MAX_BYTES;

/// Names the lock and the state document in `requirements`.
pub(crate) const LOCK: &str = ".requirements-lock";
pub(crate) const STATE: &str = ".requirements-state.local.md";
/// How long after its last activity a lock is stale, in seconds.
const STALE: i64 = 2 * 60 * 60;
/// The most bytes of a lock.
pub(crate) const MOST_BYTES: u64 = 4 * 1024;

/// Returns the last activity of a lock that is neither stale nor of the pipeline whose state lies here.
pub(crate) fn foreign_activity(root: &Utf8Path) -> Option<Timestamp> {
    let lock = read(root, LOCK, MOST_BYTES)?;
    let at = time(&lock, "last_activity")?;
    let state = read(root, STATE, MAX_BYTES as u64).filter(|state| state.contains("\nloop:"));
    let ours = state.and_then(|state| time(&state, "started"));
    let is_ours = ours.is_some() && time(&lock, "locked_at") == ours;
    (!is_ours && Timestamp::now().as_second() - at.as_second() < STALE).then_some(at)
}

/// Returns the time at a key.
fn time(document: &str, key: &str) -> Option<Timestamp> {
    let mut lines = document.lines();
    let value = lines.find_map(|line| line.trim_start().strip_prefix(key)?.strip_prefix(':'))?;
    value.trim().trim_matches('"').parse().ok()
}

/// Says that another program is at work here.
pub(crate) fn foreign(at: Timestamp) -> String {
    format!(
        "requirements/{LOCK} says that another program works on these requirements, the last time at {at:.0}."
    )
}

/// Says whose work is taken up, where its lock is not stale.
pub(crate) fn taken_over(root: &Utf8Path) -> Option<String> {
    foreign_activity(root).map(|at| format!("{} Its lock was taken over.", foreign(at)))
}

/// Removes the lock. One that stays is told with the next instruction.
pub(crate) fn remove(root: &Utf8Path) {
    let _ = Folder::open(root).and_then(|root| root.below("requirements")?.remove(LOCK));
}

/// Reads a file of `requirements`.
pub(crate) fn read(root: &Utf8Path, name: &str, most: u64) -> Option<String> {
    let folder = Folder::open(root).and_then(|root| root.below("requirements"));
    let bytes = folder.and_then(|folder| folder.read(name, most)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
