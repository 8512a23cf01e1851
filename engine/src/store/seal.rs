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
use crate::digest::hex;
use crate::files::Folder;

const SEAL_DIGITS: usize = 32;
/// The bytes that are read of a journal's end at first. Two usual lines fit.
const FIRST_READ: u64 = 8 * 1024;

/// The key and the project that seal the journals of a state folder.
pub(super) struct Sealing {
    /// The state home.
    pub(super) home: Folder,
    pub(super) key: String,
    pub(super) project: String,
}

/// A line with this user's seal.
pub(super) struct Line {
    pub(super) json: Vec<u8>,
    /// The revision of the change, or `None` if it is a note.
    pub(super) revision: Option<u64>,
    pub(super) seal: String,
    /// The end of the line, in bytes.
    pub(super) end: u64,
}

impl Sealing {
    /// Returns the seal of a line that begins at the byte `at`, after a line with the seal `before`.
    pub(super) fn seal(&self, id: &LoopId, before: &str, at: u64, json: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes())
            .expect("HMAC takes a key of any length");
        for part in [&*self.project, id.as_str(), before, &at.to_string()] {
            mac.update(part.as_bytes());
            mac.update(b"\0");
        }
        mac.update(json);
        let mut seal = hex(&mac.finalize().into_bytes());
        seal.truncate(SEAL_DIGITS);
        seal
    }

    /// Reads the last lines of the first `length` bytes of a journal, at least those since a revision. `None` is in the place of
    /// a line without this user's seal. The last lines are sealed, with a change among them: what is behind does not exist.
    pub(super) fn lines(
        &self,
        id: &LoopId,
        mut file: &File,
        length: u64,
        since: u64,
    ) -> io::Result<Vec<Option<Line>>> {
        let mut size = FIRST_READ;
        loop {
            let from = length.saturating_sub(size);
            let mut bytes = Vec::with_capacity(usize::try_from(length - from).unwrap_or_default());
            file.seek(SeekFrom::Start(from))?;
            file.take(length - from).read_to_end(&mut bytes)?;
            let mut lines = self.check_lines(id, from, &bytes);
            let oldest = lines.iter().flatten().find_map(|line| line.revision);
            if from == 0 || oldest.is_some_and(|revision| revision <= since) {
                while !lines.is_empty() && newest_change(&lines).is_none() {
                    lines.pop();
                }
                return Ok(lines);
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
                    revision: revision_in(json),
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

/// Returns the newest change that only sealed lines follow.
pub(super) fn newest_change(lines: &[Option<Line>]) -> Option<&Line> {
    let mut sealed = lines.iter().rev().map_while(Option::as_ref);
    sealed.find(|line| line.revision.is_some())
}

/// Splits a line, with its end, into JSON and seal.
fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let (json, seal) = line
        .strip_suffix(b"\n")?
        .split_last_chunk::<SEAL_DIGITS>()?;
    let json = json.strip_suffix(b"\t")?;
    Some((json, std::str::from_utf8(seal).ok()?))
}
