//! This user's key and the seal that it puts on each line of a journal.
//!
//! A line is `JSON`, a tab, and 32 hexadecimal digits: the first half of an HMAC-SHA256 over the project, the loop, the seal
//! of the line before, the byte at which the line begins, and the JSON. A line without this user's seal does not exist.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::state_home::StateHome;
use crate::files::{Folder, if_there, make_private, open_private};

/// The name of the key's file in the user's state folder.
const FILE: &str = "key";
/// The length of a key, in bytes.
const KEY_BYTES: usize = 32;
/// The length of a seal, in hexadecimal digits.
const SEAL_DIGITS: usize = 32;

/// A secret of this user. It is made on first use and never replaced.
#[derive(Clone)]
pub(super) struct Key([u8; KEY_BYTES]);

impl Key {
    /// Reads the key. `None`: no loop was started by this user yet.
    ///
    /// # Errors
    /// No variable names the user's state folder, or the key cannot be read.
    pub(super) fn read(home: &StateHome) -> Result<Option<Self>, StoreError> {
        let home = home.checked()?;
        let read = || open_private(home, "").and_then(|folder| read_in(&folder));
        let found = if_there(read());
        let found = found.map_err(io_error("read your key,", &home.join(FILE)))?;
        Ok(found.flatten())
    }

    /// Reads the key, or makes it with mode 0600.
    ///
    /// # Errors
    /// As [`Key::read`], or the key cannot be written.
    pub(super) fn read_or_make(home: &StateHome) -> Result<Self, StoreError> {
        let home = home.checked()?;
        let made = || {
            let folder = make_private(home, "")?;
            if let Some(key) = read_in(&folder)? {
                return Ok(key);
            }
            let mut bytes = [0; KEY_BYTES];
            getrandom::fill(&mut bytes).map_err(io::Error::other)?;
            let prepared = folder.prepare(hex(&bytes).as_bytes())?;
            prepared.sync()?;
            // Another process may be first. Then its key counts.
            prepared.rename_new(FILE)?;
            folder.sync()?;
            read_in(&folder)?.ok_or_else(|| ErrorKind::NotFound.into())
        };
        made().map_err(io_error("write your key,", &home.join(FILE)))
    }

    /// Returns the seal of a line that begins at the byte `at`, after a line with the seal `before`.
    pub(super) fn seal(&self, chain: &Chain<'_>, before: &str, at: u64, json: &[u8]) -> String {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        for part in [chain.project, chain.id.as_str(), before, &at.to_string()] {
            mac.update(part.as_bytes());
            mac.update(b"\0");
        }
        mac.update(json);
        let mut seal = hex(&mac.finalize().into_bytes());
        seal.truncate(SEAL_DIGITS);
        seal
    }
}

/// The journal that a seal belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain<'c> {
    /// The random id of the state folder.
    pub(super) project: &'c str,
    /// The loop.
    pub(super) id: &'c LoopId,
}

/// Splits a line, with its end, into JSON and seal.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let (json, seal) = line
        .strip_suffix(b"\n")?
        .split_last_chunk::<SEAL_DIGITS>()?;
    let seal = std::str::from_utf8(seal).ok()?;
    Some((json.strip_suffix(b"\t")?, seal))
}

fn read_in(folder: &Folder) -> io::Result<Option<Key>> {
    let Some(text) = if_there(folder.read(FILE, 1024))? else {
        return Ok(None);
    };
    let damaged = || {
        let why = "it is not a key of 64 hexadecimal digits; remove it, then take your loops over with `adopt`";
        io::Error::new(ErrorKind::InvalidData, why)
    };
    let text = std::str::from_utf8(&text).map_err(|_| damaged())?;
    let mut key = [0; KEY_BYTES];
    let digits = text.trim_end().as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != KEY_BYTES || !rest.is_empty() {
        return Err(damaged());
    }
    for (byte, pair) in key.iter_mut().zip(pairs) {
        let pair = std::str::from_utf8(pair).map_err(|_| damaged())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| damaged())?;
    }
    Ok(Some(Key(key)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
