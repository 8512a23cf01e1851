//! Changes of the plan or the work tree after the last review.
//!
//! They are looked for when the summary is made and when the loop is over, and noted in the
//! journal, so that `status` has the same caveat as the summary.

use std::time::{Duration, Instant};

use serde_json::json;

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase, reviews_changes};
use claudex_loop::program::rounds;
use claudex_loop::review::Digest;
use claudex_loop::review::runs::{self, Run, RunOutcome};
use claudex_loop::review::worktree::{CHANGED_SINCE_REVIEW, tree_id};
use claudex_loop::store::Entry;

/// The journal's note of a change since the last review.
const CHANGED: &str = "changed-since-review";
/// Time limit for git, since a stop waits for it.
const GIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Records a change since the last review, when the summary is made.
pub fn at_summary(held: &AnyLoop) {
    if has_changed(held) {
        note(held);
    }
}

/// Records a change that the summary does not mention, and returns the sentence about it, once the
/// loop is over.
pub fn at_end(held: &AnyLoop) -> Option<String> {
    let journal = held.raw().journal().unwrap_or_default();
    if held.phase() != Phase::Done || noted(held, &journal).is_some() || !has_changed(held) {
        return None;
    }
    note(held);
    Some(sentence(held))
}

/// Returns the sentence about a change that the journal notes, unless a later review covers it.
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

/// Returns whether the work tree, or a plan that counts as clean, differs from what the last review
/// read. Returns `false` if that is unknown.
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
    if let Err(error) = store.note(id, CHANGED, &json!({})) {
        store.log(&format!("{id} cannot note {CHANGED}: {error}"));
    }
}
