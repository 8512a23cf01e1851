//! Files that the program writes beside the summaries: the reflection for a round, the digest of the rounds before it, and the lock that
//! tells the prose version that someone is at work. Each follows from the state, so one that is lost is written again.

use std::io;

use claudex_loop::files::Folder;
use claudex_loop::{Timestamp, text};
use serde_json::Value as Json;

use crate::contract::{Decision, Round, Stage};
use crate::digest::{Recorded, digest};
use crate::lock::{self, LOCK};
use crate::reflection::{self, Reflection};
use crate::state::{Keys, Pipeline, SUMMARIES};

/// The digest, from the project's root.
pub const DIGEST: &str = "requirements/.stage-summaries/rounds-digest.md";
/// The round from which on the digest stands for the summaries.
const DIGESTED: u32 = 4;

/// Returns whether the digest stands for the summaries of earlier rounds.
pub fn digest_is_due(pipeline: Pipeline<'_>) -> bool {
    pipeline.round().get() >= DIGESTED
}

/// Returns the reflection for the open stage: of stage 3, where the round before was not ready and the person did not choose another way.
pub fn reflection(pipeline: Pipeline<'_>) -> Option<Reflection> {
    let round = pipeline.round();
    let last =
        Round::new(round.get() - 1).filter(|_| pipeline.stage() == Stage::AnalysisQuestions)?;
    let decisions: Keys = pipeline.0.data("user_decisions");
    let other = decisions.get(&format!("stagnation_round_{}", last.get()));
    if other.and_then(|value| value.as_str()) == Some("another_way") {
        return None;
    }
    let kept = pipeline.kept();
    let validated = kept.get(&(last, Stage::ValidationGeneration))?;
    let was_not_ready = validated.flags.validation_decision == Some(Decision::NotReady);
    reflection::reflection(&kept, round).filter(|_| was_not_ready)
}

/// Says which dimensions are weak again and again.
pub fn blind_spots(pipeline: Pipeline<'_>) -> Option<String> {
    let spots = reflection(pipeline)?.blind_spots;
    let names: Vec<String> = spots.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Weak three times running, without a gain: {}.",
            names.join(", ")
        )
    })
}

/// Says that another program is at work beside the pipeline, where a lock of its own says so. It decides nothing.
pub fn foreign_lock(pipeline: Pipeline<'_>) -> Option<String> {
    let at = lock::foreign_activity(&pipeline.0.root())?;
    Some(format!(
        "{} Where it does, have one of the two end: give this pipeline up, or end that program and remove its lock.",
        lock::foreign(at)
    ))
}

/// Writes what is not there as it should be.
///
/// # Errors
/// A file cannot be written.
pub fn write(pipeline: Pipeline<'_>, is_over: bool) -> io::Result<()> {
    let root = Folder::open(&pipeline.0.root())?;
    let (requirements, folder) = (root.make("requirements")?, root.make(SUMMARIES)?);
    let put_in = |folder: &Folder, name: &str, text: String| match folder
        .read(name, text.len() as u64 + 1)
    {
        Ok(bytes) if bytes == text.as_bytes() => Ok(()),
        _ => folder.replace(name, text.as_bytes()),
    };
    let put = |name: &str, text: String| put_in(&folder, name, text);
    if lock::foreign_activity(&pipeline.0.root()).is_some() {
        // It stays: the person is told.
    } else if !is_over && pipeline.stage() <= Stage::Completion {
        let [at, last] = ["started", "updated"].map(|field| pipeline.0.text(field));
        let prd_mode: Json = pipeline.0.data("prd_mode");
        let prd_mode = prd_mode.as_str().unwrap_or("NEW");
        let lock = format!(
            "locked_at: {at}\nworkflow_mode: requirements\nprd_mode: {prd_mode}\nlast_activity: {last}\n"
        );
        put_in(&requirements, LOCK, lock)?;
    } else if requirements.has(LOCK) {
        requirements.remove(LOCK)?;
    }
    if let Some(reflection) = reflection(pipeline) {
        put(
            &format!("reflection-round-{}.md", pipeline.round().get()),
            reflection.text,
        )?;
    }
    if digest_is_due(pipeline) && !is_over {
        // The time of the dispatch, so that what is written again is the same.
        let at: Timestamp = pipeline.open_since().parse().unwrap_or_default();
        put(
            "rounds-digest.md",
            digest(&pipeline.kept(), pipeline.round(), &decisions(pipeline), at),
        )?;
    }
    Ok(())
}

/// Returns what persons decided, oldest first.
fn decisions(pipeline: Pipeline<'_>) -> Vec<Recorded> {
    let all: Keys = pipeline.0.data("user_decisions");
    let recorded = all.iter().filter_map(|(key, value)| {
        let (_, round) = key.split_once("_round_")?;
        let digits: String = round.chars().take_while(char::is_ascii_digit).collect();
        let value = value.as_str()?;
        let is_time = key.ends_with("_timestamp");
        let round = Round::new(digits.parse().ok()?)?;
        (!is_time).then(|| Recorded {
            key: key.clone(),
            value: text::one_line(value, 200),
            round,
        })
    });
    recorded.collect()
}
