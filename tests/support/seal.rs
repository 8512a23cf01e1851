//! Journals of another version of a program: changed, and sealed again with the user's key.

use std::path::Path;
use std::{fs, io};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The length of a seal, which is written in hexadecimal digits.
const SEAL_BYTES: usize = 16;

/// Changes each line of the journal and seals it with the user's key. Keeps the document.
///
/// `folder` is the state folder, and `home` the program's folder in the user's state home.
///
/// # Errors
/// Returns an error if a file cannot be read or the journal cannot be written.
pub(crate) fn rewrite_journal(
    folder: &Path,
    home: &Path,
    id: &str,
    edit: impl Fn(&str) -> String,
) -> io::Result<()> {
    let key = fs::read_to_string(home.join("key"))?;
    let key =
        Hmac::<Sha256>::new_from_slice(key.trim_end().as_bytes()).map_err(io::Error::other)?;
    let project_file = fs::read_to_string(folder.join("project"))?;
    let project = project_file.trim_end();
    let path = folder.join(id).join("journal.jsonl");

    let mut journal = String::new();
    let mut seal = String::new();
    for line in fs::read_to_string(&path)?.lines() {
        let json = edit(line.split('\t').next().unwrap_or_default());
        let place = format!("{project}\0{id}\0{seal}\0{}\0{json}", journal.len());
        let mac = key.clone().chain_update(place).finalize();
        let bytes = &mac.into_bytes()[..SEAL_BYTES];
        seal = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        journal += &format!("{json}\t{seal}\n");
    }
    fs::write(path, journal)?;
    // The user's mark has the length of the journal.
    let mark = home.join(format!("marks/{project}-{id}"));
    if mark.exists() {
        fs::remove_file(mark)
    } else {
        Ok(())
    }
}
