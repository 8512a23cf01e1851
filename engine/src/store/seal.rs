//! The seal that this user's key puts on each line of a journal.
//!
//! A line is `JSON`, a tab, and 32 hexadecimal digits: the first half of an HMAC-SHA256 over the project, the loop, the seal
//! of the line before, the byte at which the line begins, and the JSON. A line without this user's seal does not exist.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::entry::revision_in;
use super::id::LoopId;
use super::project::Project;
use crate::digest::hex;

const SEAL_DIGITS: usize = 32;
/// The bytes that are read of a journal's end at first. Two usual lines fit.
const FIRST_READ: u64 = 8 * 1024;

/// The key and the project that seal the journals of a state folder.
pub(super) struct Sealing {
    pub(super) key: String,
    pub(super) project: Project,
}

/// A line with this user's seal.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) json: Vec<u8>,
    pub(super) seal: String,
    /// The end of the line, in bytes.
    pub(super) end: u64,
}

/// The end of a journal.
pub(super) struct JournalEnd {
    /// The lines, oldest first, with `None` in the place of a line without this user's seal.
    lines: Vec<Option<Line>>,
    /// Whether this is the whole journal.
    pub(super) is_whole: bool,
}

/// The newest sealed line of a journal, and the newest change up to it as JSON.
pub(super) struct Last {
    pub(super) line: Line,
    pub(super) change: Vec<u8>,
}

impl Sealing {
    /// Returns the seal of a line that begins at the byte `at`, after a line with the seal `before`.
    pub(super) fn seal(&self, id: &LoopId, before: &str, at: u64, json: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes())
            .expect("HMAC takes a key of any length");
        for part in [self.project.as_str(), id.as_str(), before, &at.to_string()] {
            mac.update(part.as_bytes());
            mac.update(b"\0");
        }
        mac.update(json);
        let mut seal = hex(&mac.finalize().into_bytes());
        seal.truncate(SEAL_DIGITS);
        seal
    }

    /// Reads the end of a journal, at most its first `max_bytes`, until `find` finds something in it.
    pub(super) fn search_end<R>(
        &self,
        id: &LoopId,
        mut file: &File,
        max_bytes: u64,
        find: impl Fn(&JournalEnd) -> Option<R>,
    ) -> io::Result<Option<R>> {
        let length = file.metadata()?.len().min(max_bytes);
        let mut size = FIRST_READ;
        loop {
            let from = length.saturating_sub(size);
            let mut bytes = Vec::with_capacity(usize::try_from(length - from).unwrap_or_default());
            file.seek(SeekFrom::Start(from))?;
            file.take(length - from).read_to_end(&mut bytes)?;
            let found = find(&JournalEnd {
                lines: self.check_lines(id, from, &bytes),
                is_whole: from == 0,
            });
            if found.is_some() || from == 0 {
                return Ok(found);
            }
            size = size.saturating_mul(16);
        }
    }

    /// Checks the seals of whole lines. The bytes begin at `from`, which may be within a line.
    fn check_lines(&self, id: &LoopId, from: u64, bytes: &[u8]) -> Vec<Option<Line>> {
        // The seal of a line can be checked if the line before was read whole.
        let unchecked = if from == 0 { 0 } else { 2 };
        let mut before = "";
        let mut begin = 0;
        let mut lines = Vec::new();
        for (number, last) in memchr::memchr_iter(b'\n', bytes).enumerate() {
            let (json, seal) = split(&bytes[begin..=last]).unwrap_or_default();
            if number >= unchecked {
                let at = from + begin as u64;
                let is_ours = !seal.is_empty() && seal == self.seal(id, before, at, json);
                lines.push(is_ours.then(|| Line {
                    json: json.to_vec(),
                    seal: seal.to_owned(),
                    end: from + last as u64 + 1,
                }));
            }
            before = seal;
            begin = last + 1;
        }
        lines
    }
}

impl JournalEnd {
    /// Returns the newest sealed line, and the newest change with only sealed lines in between.
    pub(super) fn last(&self) -> Option<Last> {
        let mut newest = None;
        for line in self.lines.iter().rev() {
            let Some(line) = line else {
                newest = None;
                continue;
            };
            let newest = *newest.get_or_insert(line);
            if revision_in(&line.json).is_some() {
                return Some(Last {
                    line: newest.clone(),
                    change: line.json.clone(),
                });
            }
        }
        None
    }

    /// Returns the lines as JSON, oldest first, or `None` if one of them is not sealed.
    pub(super) fn entries(&self) -> Option<Vec<Vec<u8>>> {
        let lines = self.lines.iter();
        lines
            .map(|line| Some(line.as_ref()?.json.clone()))
            .collect()
    }
}

/// Splits a line, with its end, into JSON and seal.
fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let (json, seal) = line
        .strip_suffix(b"\n")?
        .split_last_chunk::<SEAL_DIGITS>()?;
    let json = json.strip_suffix(b"\t")?;
    Some((json, std::str::from_utf8(seal).ok()?))
}
