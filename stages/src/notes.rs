//! The digest of earlier rounds beside the summaries. It follows from the state, so a lost one is written again.

use std::io;

use claudex_loop::files::Folder;
use claudex_loop::{Timestamp, text};

use crate::digest::{Recorded, digest};
use crate::state::{Keys, Pipeline, SUMMARIES};

/// The digest, from the project's root.
pub(crate) const DIGEST: &str = "requirements/.stage-summaries/rounds-digest.md";
/// The name of the digest in its folder.
const DIGEST_NAME: &str = "rounds-digest.md";
/// The first round in which the digest stands for the summaries.
const FIRST_DIGESTED_ROUND: u32 = 4;

/// Returns whether the digest stands for the summaries of earlier rounds.
pub(crate) fn digest_is_due(pipeline: Pipeline<'_>) -> bool {
    pipeline.round() >= FIRST_DIGESTED_ROUND
}

/// Makes the folder of the summaries, and writes the digest if it is due and not there as it should be.
pub(crate) fn write(pipeline: Pipeline<'_>, is_over: bool) -> io::Result<()> {
    let folder = Folder::open(&pipeline.0.root())?.make(SUMMARIES)?;
    if is_over || !digest_is_due(pipeline) {
        return Ok(());
    }
    // The time of the dispatch, so that what is written again is the same.
    let at: Timestamp = pipeline.open_since().parse().unwrap_or_default();
    let text = digest(&pipeline.kept(), pipeline.round(), &decisions(pipeline), at);
    match folder.read(DIGEST_NAME, text.len() as u64 + 1) {
        Ok(bytes) if bytes == text.as_bytes() => Ok(()),
        _ => folder.replace(DIGEST_NAME, text.as_bytes()),
    }
}

/// Returns the user's decisions, oldest first.
fn decisions(pipeline: Pipeline<'_>) -> Vec<Recorded> {
    let all: Keys = pipeline.0.data("user_decisions");
    let recorded = all.into_iter().filter_map(|(key, value)| {
        let (_, round) = key.split_once("_round_")?;
        let round = round.split('_').next()?.parse().ok()?;
        let value = text::one_line(value.as_str()?, 200);
        Some(Recorded { key, value, round })
    });
    recorded
        .filter(|one| !one.key.ends_with("_timestamp"))
        .collect()
}
