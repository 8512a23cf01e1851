//! Journals as another version of a program would have written them: their text changed, and sealed again by the user.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::project::remove;

/// The length of a seal, in hexadecimal digits.
const SEAL_DIGITS: usize = 32;

/// Changes each line of a loop's journal, and seals it again with the user's key. The document stays as it is.
///
/// `folder` is the state folder, and `home` the program's folder in the user's state home.
///
/// # Errors
/// Returns an error if the journal, the key or the project's id cannot be read, or the journal cannot be written.
pub fn rewrite_journal(
    folder: &Path,
    home: &Path,
    id: &str,
    edit: impl Fn(&str) -> String,
) -> io::Result<()> {
    let key = fs::read_to_string(home.join("key"))?;
    let project = fs::read_to_string(folder.join("project"))?;
    let path = folder.join(id).join("journal.jsonl");

    let mut journal = String::new();
    let mut before = String::new();
    for line in fs::read_to_string(&path)?.lines() {
        let json = edit(line.split('\t').next().unwrap_or_default());
        let mut mac =
            Hmac::<Sha256>::new_from_slice(key.trim_end().as_bytes()).map_err(io::Error::other)?;
        let at = journal.len().to_string();
        for part in [project.trim_end(), id, &before, &at] {
            mac.update(part.as_bytes());
            mac.update(b"\0");
        }
        mac.update(json.as_bytes());
        let mut seal = String::new();
        for byte in mac.finalize().into_bytes() {
            let _ = write!(seal, "{byte:02x}");
        }
        seal.truncate(SEAL_DIGITS);
        journal += &format!("{json}\t{seal}\n");
        before = seal;
    }
    fs::write(path, journal)?;
    // The user's mark says how long the journal was.
    remove(&home.join(format!("marks/{}-{id}", project.trim_end())))
}
