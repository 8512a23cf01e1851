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
use super::state_home::Project;
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
pub(super) struct Line {
    pub(super) json: Vec<u8>,
    pub(super) seal: String,
    /// The end of the line, in bytes.
    pub(super) end: u64,
}

impl Sealing {
    /// Returns the seal of a line that begins at the byte `at`, after a line with the seal `before`.
    pub(super) fn seal(&self, id: &LoopId, before: &str, at: u64, json: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes())
            .expect("HMAC takes a key of any length");
        for part in [&*self.project.0, id.as_str(), before, &at.to_string()] {
            mac.update(part.as_bytes());
            mac.update(b"\0");
        }
        mac.update(json);
        let mut seal = hex(&mac.finalize().into_bytes());
        seal.truncate(SEAL_DIGITS);
        seal
    }

    /// Reads the last lines of the first `max_bytes` of a journal: all of them, or those of an end that is enough. `None` is in
    /// the place of a line without this user's seal.
    pub(super) fn last_lines(
        &self,
        id: &LoopId,
        mut file: &File,
        max_bytes: u64,
        is_enough: impl Fn(&[Option<Line>]) -> bool,
    ) -> io::Result<Vec<Option<Line>>> {
        let length = file.metadata()?.len().min(max_bytes);
        let mut size = FIRST_READ;
        loop {
            let from = length.saturating_sub(size);
            let mut bytes = Vec::with_capacity(usize::try_from(length - from).unwrap_or_default());
            file.seek(SeekFrom::Start(from))?;
            file.take(length - from).read_to_end(&mut bytes)?;
            let lines = self.check_lines(id, from, &bytes);
            if from == 0 || is_enough(&lines) {
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

/// Returns the newest sealed line, and the newest change with only sealed lines in between.
pub(super) fn newest(lines: &[Option<Line>]) -> Option<(&Line, &Line)> {
    let mut newest = None;
    for line in lines.iter().rev() {
        newest = line.as_ref().map(|line| newest.unwrap_or(line));
        if let (Some(newest), Some(line)) = (newest, line)
            && revision_in(&line.json).is_some()
        {
            return Some((newest, line));
        }
    }
    None
}

/// Splits a line, with its end, into JSON and seal.
fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let (json, seal) = line
        .strip_suffix(b"\n")?
        .split_last_chunk::<SEAL_DIGITS>()?;
    let json = json.strip_suffix(b"\t")?;
    Some((json, std::str::from_utf8(seal).ok()?))
}
