//! The session that a client is about to compact. A compaction may give the session a new id, and no input of its
//! SessionStart hook names the old one, so the PreCompact hook keeps it, by the client's process.

use std::io;

use camino::Utf8Path;

use super::seen::{load, save};

/// The variable with the client's process id. The plugin's hooks set it for clients that do not.
const CLIENT: &str = "CLAUDE_PID";

/// Keeps the session that this hook's client is about to compact, below the user's state home. Does nothing if the client
/// is not known.
///
/// # Errors
/// Returns an error if the folder is not safely the user's, or the system refuses.
pub fn keep(session: &str, home: &Utf8Path) -> io::Result<()> {
    match file() {
        Some(file) => save(&file, &session, home),
        None => Ok(()),
    }
}

/// Returns the session that this hook's client compacted last.
pub fn session(home: &Utf8Path) -> Option<String> {
    load(&file()?, home)
}

fn file() -> Option<String> {
    let client: u32 = std::env::var(CLIENT).ok()?.parse().ok()?;
    Some(format!("client-{client}.json"))
}
