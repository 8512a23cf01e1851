//! The seal that this user's key puts on each line of a journal.
//!
//! A line is `JSON`, a tab and 32 hex digits: the first half of an HMAC-SHA256 over project, loop,
//! previous seal, byte offset of the line and JSON. A line without this user's seal is ignored.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::entry::Entry;
use super::id::LoopId;
use super::mark::MARKS;
use crate::digest::hex;
use crate::files::Folder;

const SEAL_DIGITS: usize = 32;
/// The bytes that are read of a journal's end at first. Two usual lines fit.
const FIRST_READ: u64 = 8 * 1024;

/// Seals the lines of the journals in a state folder, with the key and the project.
#[derive(Debug)]
pub(super) struct Sealer {
    pub(super) home: Folder,
    /// The folder in it with the marks, if it exists.
    pub(super) marks: Option<Folder>,
    /// The code of this user's key, of no text yet.
    mac: Hmac<Sha256>,
    pub(super) project: String,
    /// Whether the state home has the path of the state folder.
    pub(super) keeps_path: bool,
}

/// A line with this user's seal.
pub(super) struct Line {
    pub(super) entry: Entry,
    pub(super) seal: String,
    /// The end of the line, in bytes.
    pub(super) end: u64,
}

impl Sealer {
    pub(super) fn new(home: Folder, key: &str, project: String) -> Self {
        let mac = Hmac::new_from_slice(key.as_bytes()).expect("HMAC takes a key of any length");
        Self {
            marks: home.subfolder(MARKS).ok(),
            home,
            mac,
            project,
            keeps_path: false,
        }
    }

    /// Returns the seal of a line at the byte `at`, after a line with the seal `before`.
    pub(super) fn seal(&self, id: &LoopId, before: &str, at: u64, json: &[u8]) -> String {
        let mut mac = self.mac.clone();
        for part in [&*self.project, id.as_str(), before, &at.to_string()] {
            mac.update(part.as_bytes());
            mac.update(b"\0");
        }
        mac.update(json);
        let mut seal = hex(&mac.finalize().into_bytes());
        seal.truncate(SEAL_DIGITS);
        seal
    }

    /// Reads the last lines of a journal's first `length` bytes, at least since a revision, up to
    /// the last one with this user's seal. Returns `None` if a line before that has no seal.
    pub(super) fn read_lines(
        &self,
        id: &LoopId,
        mut file: &File,
        length: u64,
        since: u64,
    ) -> io::Result<Option<Vec<Line>>> {
        let mut size = FIRST_READ;
        loop {
            let from = length.saturating_sub(size);
            let mut bytes = Vec::with_capacity(usize::try_from(length - from).unwrap_or_default());
            file.seek(SeekFrom::Start(from))?;
            file.take(length - from).read_to_end(&mut bytes)?;
            match self.check_lines(id, from, &bytes, since) {
                Some((_, false)) if from > 0 => size = size.saturating_mul(16),
                checked => return Ok(checked.map(|(lines, _)| lines.into())),
            }
        }
    }

    /// Checks the seals of whole lines, from the last one back to revision `since`. Returns them in
    /// order, and whether it was found. The bytes begin at `from`, which may be within a line.
    fn check_lines(
        &self,
        id: &LoopId,
        from: u64,
        bytes: &[u8],
        since: u64,
    ) -> Option<(VecDeque<Line>, bool)> {
        let mut lines = VecDeque::new();
        // The seal of a line can be checked if the line before was read whole.
        let begins = std::iter::repeat_n(0, if from == 0 { 2 } else { 0 });
        let feeds = memchr::memrchr_iter(b'\n', bytes).map(|feed| feed + 1);
        let mut cuts = feeds.chain(begins);
        let mut end = cuts.next().unwrap_or_default();
        let mut begin = cuts.next().unwrap_or_default();
        for before in cuts {
            let (_, seal_before) = split(&bytes[before..begin]).unwrap_or_default();
            let (json, seal) = split(&bytes[begin..end]).unwrap_or_default();
            let at = from + begin as u64;
            let is_ours = !seal.is_empty() && seal == self.seal(id, seal_before, at, json);
            let entry = is_ours.then(|| serde_json::from_slice::<Entry>(json).ok());
            if let Some(entry) = entry.flatten() {
                let change = entry.change();
                let is_enough = change.is_some_and(|change| change.revision <= since);
                let seal = seal.to_owned();
                let end = from + end as u64;
                lines.push_front(Line { entry, seal, end });
                if is_enough {
                    return Some((lines, true));
                }
            } else if !lines.is_empty() {
                return None;
            }
            (end, begin) = (begin, before);
        }
        Some((lines, false))
    }
}

/// Splits a line, with its end, into JSON and seal.
fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let (json, seal) = line
        .strip_suffix(b"\n")?
        .split_last_chunk::<SEAL_DIGITS>()?;
    Some((json.strip_suffix(b"\t")?, std::str::from_utf8(seal).ok()?))
}
