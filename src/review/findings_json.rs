//! The findings of a round on disk: `findings-round-N.md` for people, and its findings JSON for the loop.
//!
//! The findings JSON is what evidence is checked against: the journal keeps its digest, so that neither of the two can be edited
//! into a better verdict. Both lie in the loop's folder. Where another review of the same round follows (another phase reviews, too,
//! or the rounds began anew), those before are kept as `findings-RUN.md` and `findings-RUN.json`.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::files::if_there;
use crate::review::answer::MAX_FINDINGS;
use crate::review::findings::Findings;
use crate::review::runs::{Run, RunOutcome};
use crate::review::{Digest, findings_file};
use crate::store::{LoopId, Store};

/// The most findings of a run: those of several answers, and those of failed commands. A file with more was forged.
const MAX_FINDINGS_PER_RUN: usize = 5 * MAX_FINDINGS;

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
}

/// `findings-round-N.md`
pub(crate) fn findings_name(round: u64) -> String {
    format!("findings-round-{round}.md")
}

/// `<id>/findings-round-N.md`
pub fn findings_path(store: &Store, id: &LoopId, round: u64) -> Utf8PathBuf {
    store.loop_folder(id).join(findings_name(round))
}

/// `<id>/findings-round-N.json`
pub fn json_path(store: &Store, id: &LoopId, round: u64) -> Utf8PathBuf {
    store
        .loop_folder(id)
        .join(format!("findings-round-{round}.json"))
}

/// Returns where the findings of a run are kept once another run of the same round has its own.
fn kept(store: &Store, id: &LoopId, run: &str, extension: &str) -> Utf8PathBuf {
    store
        .loop_folder(id)
        .join(format!("findings-{run}.{extension}"))
}

/// Returns whether a run's id can be part of a file's name. It stands in the journal, which anyone can write.
pub(super) fn is_name(run: &str) -> bool {
    run.len() <= 60
        && run
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Keeps what a run found where the next one of the same round will not replace it. What is not that run's is left.
///
/// # Errors
/// The system refuses.
pub(crate) fn keep(store: &Store, id: &LoopId, run: &Run) -> io::Result<()> {
    let Some(digest) = run
        .ended
        .as_ref()
        .and_then(RunOutcome::digest)
        .filter(|_| is_name(&run.began.run))
    else {
        return Ok(());
    };
    if FindingsJson::read(store, id, run.began.round, digest)?.is_none() {
        return Ok(());
    }
    let folder = store.open_loop_folder(id)?;
    for (from, extension) in [
        (findings_path(store, id, run.began.round), "md"),
        (json_path(store, id, run.began.round), "json"),
    ] {
        let to = kept(store, id, &run.began.run, extension);
        let names = from.file_name().zip(to.file_name());
        if let Some((from, to)) = names {
            if_there(folder.rename(from, &folder, to))?;
        }
    }
    Ok(())
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
    pub fn read(
        store: &Store,
        id: &LoopId,
        round: u64,
        digest: &Digest,
    ) -> io::Result<Option<Self>> {
        Self::at(store, &json_path(store, id, round), digest)
    }

    /// Reads the findings JSON of a run, where it is the one with the run's digest.
    ///
    /// # Errors
    /// See [`FindingsJson::read`].
    pub fn of_run(store: &Store, id: &LoopId, run: &Run) -> io::Result<Option<Self>> {
        let Some(digest) = run.ended.as_ref().and_then(RunOutcome::digest) else {
            return Ok(None);
        };
        match Self::read(store, id, run.began.round, digest)? {
            None if is_name(&run.began.run) => {
                Self::at(store, &kept(store, id, &run.began.run, "json"), digest)
            }
            found => Ok(found),
        }
    }

    fn at(store: &Store, path: &Utf8Path, digest: &Digest) -> io::Result<Option<Self>> {
        let bytes = if_there(store.read(path))?;
        let bytes = bytes.filter(|bytes| Digest::of(bytes) == *digest);
        let found = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Ok(found.filter(|found| found.findings.0.len() <= MAX_FINDINGS_PER_RUN))
    }
}
