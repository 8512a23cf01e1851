//! A findings file for each review, in a place that machine.toml names: `reviews/plan-review-{n}.md`.
//!
//! `{n}` is the number after the highest that is there, so that no review writes over another one's file, or a person's.

use std::io::{self, Write as _};

use camino::Utf8PathBuf;

use super::subject::fits;
use crate::files;
use crate::machine::Raw;

/// The place of the number in a template.
const NUMBER: &str = "{n}";

/// Writes a text to the next free file that a template names, and returns its number and its path.
///
/// # Errors
/// The system refuses, or the folder is a link.
pub(super) fn write(raw: &Raw, template: &str, text: &str) -> io::Result<(u64, Utf8PathBuf)> {
    let (folder, name) = template.rsplit_once('/').unwrap_or((".", template));
    let pieces: Vec<String> = name.split(NUMBER).map(|piece| raw.fill(piece)).collect();
    let (before, after) = (
        pieces.first().map_or("", String::as_str),
        pieces.last().map_or("", String::as_str),
    );
    let (folder, _) = files::make_all(&raw.root(), &raw.path(folder))?;
    let number = |name: &str| {
        let digits = name.strip_prefix(before)?.strip_suffix(after)?;
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse::<u64>().ok())?
    };
    let taken = folder.names(|name| fits(name, &pieces))?;
    let highest = taken
        .iter()
        .filter_map(|name| number(name))
        .max()
        .unwrap_or_default();
    let mut next = highest + 1;
    loop {
        let name = format!("{before}{next}{after}");
        match folder.new_file(&name) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok((next, folder.path().join(name)));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => next += 1,
            Err(error) => return Err(error),
        }
    }
}
