//! This user's key and the seal that it puts on each line of a journal.
//!
//! A line is `JSON`, a tab, and 32 hexadecimal digits: the first half of an HMAC-SHA256 over the project, the loop, the seal
//! of the line before, the byte at which the line begins, and the JSON. A line without this user's seal does not exist.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::entry::revision_in;
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::project::Project;
use super::state_home::StateHome;
use crate::digest::{hex, random_hex};
use crate::files::{Folder, if_there, make_private, open_private};

/// The name of the key's file in the user's state folder.
const FILE: &str = "key";
/// The length of a key, in hexadecimal digits.
const KEY_DIGITS: usize = 64;
/// The length of a seal, in hexadecimal digits.
const SEAL_DIGITS: usize = 32;
/// The bytes that are read of a journal's end at first. Two usual lines fit.
const FIRST_READ: u64 = 8 * 1024;

/// A secret of this user, as hexadecimal digits. It is made on first use and never replaced.
#[derive(Clone)]
pub(super) struct Key(String);

/// The key and the project that seal the journals of a state folder.
#[derive(Clone)]
pub(super) struct Sealing {
    pub(super) key: Key,
    pub(super) project: Project,
}

impl Key {
    /// Reads the key. Returns `None` if this user has not started a loop yet.
    ///
    /// # Errors
    /// Returns an error if no variable names the user's state folder, or the key cannot be read.
    pub(super) fn read(home: &StateHome) -> Result<Option<Self>, StoreError> {
        let home = home.checked()?;
        let read = open_private(home, "").and_then(|folder| read_in(&folder));
        if_there(read).map_err(io_error("read your key,", &home.join(FILE)))
    }

    /// Reads the key, or makes it with mode 0600.
    ///
    /// # Errors
    /// Returns an error if no variable names the user's state folder, or the key cannot be read or written.
    pub(super) fn read_or_make(home: &StateHome) -> Result<Self, StoreError> {
        let home = home.checked()?;
        let made = || {
            let folder = make_private(home, "")?;
            if let Some(key) = if_there(read_in(&folder))? {
                return Ok(key);
            }
            let prepared = folder.prepare(random_hex::<{ KEY_DIGITS / 2 }>()?.as_bytes())?;
            prepared.sync()?;
            // Another process may be first. Then its key counts.
            prepared.rename_new(FILE)?;
            folder.sync()?;
            read_in(&folder)
        };
        made().map_err(io_error("write your key,", &home.join(FILE)))
    }
}

impl Sealing {
    /// Returns the seal of a line that begins at the byte `at`, after a line with the seal `before`.
    pub(super) fn seal(&self, id: &LoopId, before: &str, at: u64, json: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.0.as_bytes())
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
        find: impl Fn(&JournalEnd<'_>) -> Option<R>,
    ) -> io::Result<Option<R>> {
        let length = file.metadata()?.len().min(max_bytes);
        let mut size = FIRST_READ;
        loop {
            let from = length.saturating_sub(size);
            let mut bytes = Vec::with_capacity(usize::try_from(length - from).unwrap_or_default());
            file.seek(SeekFrom::Start(from))?;
            file.take(length - from).read_to_end(&mut bytes)?;
            let found = find(&JournalEnd {
                sealing: self,
                id,
                bytes: &bytes,
                from,
            });
            if found.is_some() || from == 0 {
                return Ok(found);
            }
            size = size.saturating_mul(16);
        }
    }
}

/// The end of a journal, which may begin within a line.
pub(super) struct JournalEnd<'b> {
    sealing: &'b Sealing,
    id: &'b LoopId,
    bytes: &'b [u8],
    /// The place of the first byte in the journal.
    from: u64,
}

/// A line as it is in the file, sealed or not.
#[derive(Clone, Copy)]
struct Line<'b> {
    begin: usize,
    end: usize,
    json: &'b [u8],
    seal: &'b str,
}

/// The newest sealed line of a journal, and the newest change up to it.
pub(super) struct Last {
    pub(super) seal: String,
    /// The end of the line, in bytes.
    pub(super) end: u64,
    /// The change, as JSON.
    pub(super) change: Vec<u8>,
}

impl<'b> JournalEnd<'b> {
    /// Returns the line that ends at a byte, or `None` if that is the first one.
    fn line_before(&self, end: usize) -> Option<Line<'b>> {
        let before = &self.bytes[..end.checked_sub(1)?];
        let begin = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let (json, seal) = split(&self.bytes[begin..end]).unwrap_or_default();
        Some(Line {
            begin,
            end,
            json,
            seal,
        })
    }

    /// Returns the lines whose seals can be checked, newest first: the line before was read whole.
    fn lines(&self) -> impl Iterator<Item = Line<'b>> {
        let mut line_ends = memchr::memchr_iter(b'\n', self.bytes);
        let first = match self.from {
            0 => 0,
            _ => line_ends.nth(1).map_or(self.bytes.len(), |at| at + 1),
        };
        let newest = self.line_before(self.bytes.len());
        let lines = std::iter::successors(newest, |line| self.line_before(line.begin));
        lines.take_while(move |line| line.begin >= first)
    }

    fn is_sealed(&self, line: &Line<'_>) -> bool {
        if line.seal.is_empty() {
            return false;
        }
        let before = self
            .line_before(line.begin)
            .map_or("", |before| before.seal);
        let at = self.from + line.begin as u64;
        line.seal == self.sealing.seal(self.id, before, at, line.json)
    }

    /// Returns the newest sealed line, and the newest change with only sealed lines in between.
    pub(super) fn last(&self) -> Option<Last> {
        let mut last = None;
        for line in self.lines() {
            if !self.is_sealed(&line) {
                last = None;
                continue;
            }
            let last = *last.get_or_insert(line);
            if revision_in(line.json).is_some() {
                return Some(Last {
                    seal: last.seal.to_owned(),
                    end: self.from + last.end as u64,
                    change: line.json.to_vec(),
                });
            }
        }
        None
    }

    /// Returns whether this is the whole journal.
    pub(super) fn is_whole(&self) -> bool {
        self.from == 0
    }

    /// Returns the lines as JSON, oldest first, or `None` if one of them is not sealed.
    pub(super) fn entries(&self) -> Option<Vec<Vec<u8>>> {
        let json = |line: Line<'_>| self.is_sealed(&line).then(|| line.json.to_vec());
        let mut entries = self.lines().map(json).collect::<Option<Vec<_>>>()?;
        entries.reverse();
        Some(entries)
    }
}

/// Splits a line, with its end, into JSON and seal.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let (json, seal) = line
        .strip_suffix(b"\n")?
        .split_last_chunk::<SEAL_DIGITS>()?;
    let seal = std::str::from_utf8(seal).ok()?;
    Some((json.strip_suffix(b"\t")?, seal))
}

fn read_in(folder: &Folder) -> io::Result<Key> {
    let text = String::from_utf8(folder.read(FILE, 1024)?).unwrap_or_default();
    let key = text.trim_end();
    if key.len() == KEY_DIGITS && key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Key(key.to_owned()));
    }
    let why = "it is not a key of 64 hexadecimal digits; remove it, then take your loops over with `adopt`";
    Err(io::Error::new(ErrorKind::InvalidData, why))
}
