//! The findings of a round on disk: `findings-round-N.md` for people, and its findings JSON for the loop.
//!
//! The findings JSON is what evidence is checked against: the journal keeps its digest, so that neither of the two can be edited
//! into a better verdict. Both lie in the loop's folder, replaced atomically.

use std::io;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::review::findings::Findings;
use crate::review::{Digest, findings_file};
use crate::store::{LoopId, Store};

/// Holds what stands in the findings JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingsJson {
    /// The format's version: 1.
    pub version: u32,
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_id: String,
    /// The run.
    pub run: String,
    /// The round, from 1.
    pub round: u64,
    /// The reviewer's name.
    pub reviewer: String,
    /// The persona's label.
    pub persona: String,
    /// The digest of what was reviewed.
    pub subject: Digest,
    /// `clean` or `findings`.
    pub verdict: String,
    /// What was found.
    pub findings: Findings,
    /// Files of the work tree that changed while the reviewer ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

/// `<id>/findings-round-N.md`
pub fn findings_path(store: &Store, id: &LoopId, round: u64) -> Utf8PathBuf {
    store.loop_folder(id).join(format!("findings-round-{round}.md"))
}

/// `<id>/findings-round-N.json`
pub fn json_path(store: &Store, id: &LoopId, round: u64) -> Utf8PathBuf {
    store.loop_folder(id).join(format!("findings-round-{round}.json"))
}

impl FindingsJson {
    /// Writes both files and returns the findings JSON's digest.
    ///
    /// # Errors
    /// A file cannot be written; the findings JSON is written last, so a failure leaves no findings JSON without its findings.
    pub(crate) fn write(&self, store: &Store, id: &LoopId) -> io::Result<Digest> {
        let round = u32::try_from(self.round).unwrap_or(u32::MAX);
        store.replace(
            &findings_path(store, id, self.round),
            findings_file::render(round, &self.findings).as_bytes(),
        )?;
        let mut json = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        json.push(b'\n');
        store.replace(&json_path(store, id, self.round), &json)?;
        Ok(Digest::of(&json))
    }

    /// Reads a round's findings JSON, if it is the one with this digest. None: it is missing, was edited or cannot be read.
    ///
    /// # Errors
    /// It is there and the system refuses to read it.
    pub fn read(store: &Store, id: &LoopId, round: u64, digest: &Digest) -> io::Result<Option<Self>> {
        match store.read(&json_path(store, id, round)) {
            Ok(bytes) if Digest::of(&bytes) == *digest => Ok(serde_json::from_slice(&bytes).ok()),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
