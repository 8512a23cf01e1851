//! The findings of a round on disk: `findings-round-N.md` for people, and its findings JSON for the loop.
//!
//! Evidence is checked against the findings JSON: the journal keeps its digest, so that an edit cannot improve a verdict. If
//! another run of the same round follows, the earlier files are kept as `findings-RUN.md` and `findings-RUN.json`.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::files::if_there;
use crate::machine::Raw;
use crate::review::digest::Digest;
use crate::review::findings::Findings;
use crate::review::findings_file;
pub use crate::review::findings_file::{findings_name, findings_path};
use crate::review::runs::{self, Run, RunBegin};
use crate::store::{LoopId, Store};

/// The content of the findings JSON: a round that was reviewed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingsJson {
    /// The format's version: 1.
    pub version: u32,
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_id: String,
    /// The run.
    #[serde(flatten)]
    pub began: RunBegin,
    /// `clean` or `findings`.
    pub verdict: String,
    /// The findings.
    pub findings: Findings,
}

/// Returns the path of a round's findings JSON in the loop's folder.
pub fn json_path(store: &Store, id: &LoopId, round: u64) -> Utf8PathBuf {
    store
        .loop_folder(id)
        .join(format!("findings-round-{round}.json"))
}

/// Writes the two files of a run and returns the digest of the findings JSON. The files of an earlier run of the same round are
/// renamed first, and the findings JSON is written last.
pub(super) fn write(raw: &Raw, began: &RunBegin, findings: &Findings) -> io::Result<Digest> {
    let store = raw.store();
    let id = raw.id();
    let runs = runs::read(&raw.journal().map_err(io::Error::other)?);
    let has_verdict = |run: &&Run| run.began.round == began.round && run.digest().is_some();
    if let Some(earlier) = runs.iter().rfind(has_verdict)
        && FindingsJson::at(store, &json_path(store, id, began.round), earlier)?.is_some()
    {
        let folder = store.open_loop_folder(id)?;
        for extension in ["md", "json"] {
            let from = format!("findings-round-{}.{extension}", began.round);
            let to = format!("findings-{}.{extension}", earlier.began.run);
            if_there(folder.rename(&from, &folder, &to))?;
        }
    }
    let round = u32::try_from(began.round).unwrap_or(u32::MAX);
    let text = findings_file::render(round, findings);
    store.replace(&findings_path(store, id, began.round), text.as_bytes())?;
    let verdict = if findings.is_empty() {
        "clean"
    } else {
        "findings"
    };
    let content = FindingsJson {
        version: 1,
        loop_id: id.to_string(),
        began: began.clone(),
        verdict: verdict.to_owned(),
        findings: findings.clone(),
    };
    let mut json = serde_json::to_vec_pretty(&content).map_err(io::Error::other)?;
    json.push(b'\n');
    store.replace(&json_path(store, id, began.round), &json)?;
    Ok(Digest::from_bytes(&json))
}

impl FindingsJson {
    /// Reads the findings JSON of a run. Returns `None` if it is missing, has another digest or is not valid.
    ///
    /// # Errors
    /// Returns an error if the system refuses to read it.
    pub fn of_run(store: &Store, id: &LoopId, run: &Run) -> io::Result<Option<Self>> {
        let kept = format!("findings-{}.json", run.began.run);
        match Self::at(store, &json_path(store, id, run.began.round), run)? {
            None => Self::at(store, &store.loop_folder(id).join(kept), run),
            found => Ok(found),
        }
    }

    fn at(store: &Store, path: &Utf8Path, run: &Run) -> io::Result<Option<Self>> {
        let Some(digest) = run.digest() else {
            return Ok(None);
        };
        let bytes = if_there(store.read(path))?;
        let bytes = bytes.filter(|bytes| Digest::from_bytes(bytes) == *digest);
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}
