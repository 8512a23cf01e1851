//! Whether what was reviewed is still the same when the summary is made, and again when the loop is over.
//!
//! The answer is a note in the journal, so that `status` says later what the summary said.

use std::time::{Duration, Instant};

use serde_json::json;

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase, reviews_changes};
use claudex_loop::program::rounds;
use claudex_loop::review::Digest;
use claudex_loop::review::runs::{self, Run, RunOutcome};
use claudex_loop::review::worktree::{CHANGED_SINCE_REVIEW, tree_id};
use claudex_loop::store::Entry;

/// The note that something changed since its last review.
const CHANGED: &str = "changed-since-review";
/// How long git may take to read the work tree: a stop waits for it.
const GIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Notes, when the summary is made, that something changed since its last review.
pub fn at_summary(held: &AnyLoop) {
    if has_changed(held) {
        note(held);
    }
}

/// Returns the sentence about a change that the summary does not mention, once the loop is over.
pub fn at_end(held: &AnyLoop) -> Option<String> {
    let journal = held.raw().journal().unwrap_or_default();
    if held.phase() != Phase::Done || noted(held, &journal).is_some() || !has_changed(held) {
        return None;
    }
    note(held);
    Some(sentence(held))
}

/// Returns the sentence about a change since the last review, if the journal has a note of one.
pub fn noted(held: &AnyLoop, journal: &[Entry]) -> Option<String> {
    let is_closing = matches!(held.phase(), Phase::Summarizing | Phase::Done);
    let changed = |entry: &Entry| entry.noted::<serde_json::Value>(CHANGED).is_some();
    let at = journal.iter().rposition(changed)?;
    let reviewed_again = last_verdict(&runs::read(&journal[at..])).is_some();
    (is_closing && !reviewed_again).then(|| sentence(held))
}

fn sentence(held: &AnyLoop) -> String {
    match reviews_changes(held) {
        true => CHANGED_SINCE_REVIEW.to_owned(),
        false => format!("{} changed since it was reviewed.", held.fields().subject),
    }
}

/// Returns whether the work tree has another tree id than the last review had before it, or whether a plan that counts as
/// clean has another digest. What is not known has not changed.
fn has_changed(held: &AnyLoop) -> bool {
    let raw = held.raw();
    let runs = rounds::runs(raw);
    let Some(last) = last_verdict(&runs) else {
        return false;
    };
    if reviews_changes(held) {
        let tree = |timeout| tree_id(raw.store(), Some(Instant::now() + timeout));
        let now = raw.store().budget().wait(GIT_TIMEOUT, tree);
        return now.is_some() && last.began.tree.is_some() && now != last.began.tree;
    }
    let is_clean = matches!(last.ended, Some(RunOutcome::Clean { .. }))
        || held.fields().decision_signal == DecisionSignal::NoMaterialFindings;
    let now = raw.read("{subject}").map(|bytes| Digest::of(&bytes));
    is_clean && now.ok().as_ref() != Some(&last.began.subject)
}

fn last_verdict(runs: &[Run]) -> Option<&Run> {
    runs.iter()
        .rfind(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()))
}

fn note(held: &AnyLoop) {
    let (store, id) = (held.raw().store(), held.id());
    // The turn ends all the same; the log says why the sentence may be missing.
    if let Err(error) = store.note(id, CHANGED, &json!({})) {
        store.log(&format!("{id} could not note {CHANGED}: {error}"));
    }
}
