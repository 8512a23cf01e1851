//! A findings file for each review, in a place that machine.toml names: `reviews/plan-review-{n}.md`.
//!
//! `{n}` is the number after the highest that is there, so that no review writes over another one's file, or a person's.

use std::io::{self, Write as _};

use camino::Utf8PathBuf;

use crate::files::kill_point::kill_point;
use crate::files::{self, Folder};
use crate::machine::Raw;

/// The place of the number in a template.
pub(super) const NUMBER: &str = "{n}";

/// Returns the number that stands in a name between these.
pub(super) fn between(name: &str, before: &str, after: &str) -> Option<u64> {
    let digits = name.strip_prefix(before)?.strip_suffix(after)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| digits.parse().ok())?
}

/// Writes a text to the next free file that a template names, and returns its number and its path.
///
/// # Errors
/// The system refuses, or the folder is a link.
pub(super) fn write(raw: &Raw, template: &str, text: &str) -> io::Result<(u64, Utf8PathBuf)> {
    let (folder, name) = template.rsplit_once('/').unwrap_or((".", template));
    let (before, after) = name.split_once(NUMBER).unwrap_or((name, ""));
    let (before, after) = (raw.fill(before), raw.fill(after));
    let (folder, _) = files::make_all(&raw.root(), &raw.path(folder))?;
    write_in(&folder, &before, &after, text)
}

/// Writes a text to the next free file of a folder whose name is a number between these.
///
/// # Errors
/// The system refuses.
pub(super) fn write_in(
    folder: &Folder,
    before: &str,
    after: &str,
    text: &str,
) -> io::Result<(u64, Utf8PathBuf)> {
    let number = |name: &str| between(name, before, after);
    let names = folder.names()?;
    let highest = names.iter().filter_map(|name| number(name)).max();
    let mut next = highest.unwrap_or_default().saturating_add(1);
    loop {
        let name = format!("{before}{next}{after}");
        match folder.new_file(&name) {
            Ok(mut file) => {
                kill_point();
                file.write_all(text.as_bytes())?;
                return Ok((next, folder.path().join(name)));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && next < u64::MAX => {
                next += 1
            }
            Err(error) => return Err(error),
        }
    }
}
