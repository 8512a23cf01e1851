//! The digest of earlier rounds beside the summaries. It follows from the state, so a lost one is written again.

use std::io;

use claudex_loop::files::Folder;
use claudex_loop::{Timestamp, text};

use crate::digest::{Recorded, digest};
use crate::state::{Keys, Pipeline, SUMMARIES};

/// The digest, from the project's root.
pub const DIGEST: &str = "requirements/.stage-summaries/rounds-digest.md";
/// The name of the digest in its folder.
const DIGEST_NAME: &str = "rounds-digest.md";
/// The first round in which the digest stands for the summaries.
const FIRST_DIGESTED_ROUND: u32 = 4;

/// Returns whether the digest stands for the summaries of earlier rounds.
pub fn digest_is_due(pipeline: Pipeline<'_>) -> bool {
    pipeline.round() >= FIRST_DIGESTED_ROUND
}

/// Writes the digest if it is due and not there as it should be.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(pipeline: Pipeline<'_>, is_over: bool) -> io::Result<()> {
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
    let recorded = all.iter().filter_map(|(key, value)| {
        let (_, round) = key.split_once("_round_")?;
        let digits: String = round.chars().take_while(char::is_ascii_digit).collect();
        let value = value.as_str()?;
        let is_time = key.ends_with("_timestamp");
        let round = digits.parse().ok()?;
        (!is_time).then(|| Recorded {
            key: key.clone(),
            value: text::one_line(value, 200),
            round,
        })
    });
    recorded.collect()
}
