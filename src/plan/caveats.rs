//! The caveats of a plan loop's summary, in addition to those of every loop with reviews.
//!
//! A change of the plan or the work tree after the last review is noted in the journal at the
//! summary and at the end, so that `status` has the same caveat as the summary.

use std::time::{Duration, Instant};

use claudex_loop::digest::sha256;
use claudex_loop::program::rounds;
use claudex_loop::review::findings::Severity;
use claudex_loop::review::runs::{self, Run};
use claudex_loop::review::worktree::{CHANGED_SINCE_REVIEW, tree_id};
use claudex_loop::text;
use serde_json::{Value, json};

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase, report, reviews_changes};

const CHANGED: &str = "changed-since-review";
/// The time limit for git, since a stop waits for it.
const GIT_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) fn all(held: &AnyLoop) -> Vec<String> {
    let mut caveats = rounds::caveats(held.raw());
    caveats.extend(plan_caveats(held));
    caveats
}

/// Returns a plan loop's own caveats, such as changes after the review and files that it left out.
pub(super) fn plan_caveats(held: &AnyLoop) -> Vec<String> {
    let raw = held.raw();
    let mut caveats = Vec::from_iter(noted_change(held));
    let unchanged = if reviews_changes(raw) {
        caveats.extend(report::left_out(held));
        "nothing was changed"
    } else {
        "the plan is unchanged"
    };
    let verdicts = runs::verdicts(rounds::runs(raw));
    let last = verdicts.values().next_back();
    let Some(clean) = last.filter(|run| counts_as_clean(held, run) && !rounds::has_rejected(raw))
    else {
        return caveats;
    };
    for (round, run) in &verdicts {
        let counts = run.counts().unwrap_or_default();
        if counts.at_least(Severity::Medium) > 0 && run.began.subject == clean.began.subject {
            let persona = text::one_line(&run.began.persona, 100);
            caveats.push(format!(
                "Round {round} ({persona}) found {counts}; {unchanged} since, so they are open."
            ));
        }
    }
    caveats
}

/// Returns whether a review found nothing, or its loop is marked as done.
fn counts_as_clean(held: &AnyLoop, run: &Run) -> bool {
    run.verdict() == Some(&[])
        || held.fields().decision_signal == DecisionSignal::NoMaterialFindings
}

/// Records a change since the last review once the loop has a summary, and returns its sentence.
pub(super) fn note_change(held: &AnyLoop) -> Option<String> {
    let raw = held.raw();
    if !is_closing(held) || noted_change(held).is_some() || !has_changed(held) {
        return None;
    }
    if let Err(error) = raw.note(CHANGED, &json!({})) {
        let line = format!("{} cannot note {CHANGED}: {error}", raw.id());
        raw.store().log(&line);
    }
    Some(change_sentence(held))
}

/// Returns the sentence about a change that the journal notes, unless a later review covers it.
fn noted_change(held: &AnyLoop) -> Option<String> {
    let journal = held.raw().journal().unwrap_or_default();
    let at = journal
        .iter()
        .rposition(|entry| entry.note_data::<Value>(CHANGED).is_some())?;
    let mut later_runs = runs::read(&journal[at..]).into_iter();
    let is_covered = later_runs.any(|run| run.verdict().is_some());
    (is_closing(held) && !is_covered).then(|| change_sentence(held))
}

pub(super) fn is_closing(held: &AnyLoop) -> bool {
    matches!(held.phase(), Phase::Summarizing | Phase::Done)
}

fn change_sentence(held: &AnyLoop) -> String {
    if reviews_changes(held.raw()) {
        CHANGED_SINCE_REVIEW.to_owned()
    } else {
        format!("{} changed since it was reviewed.", held.fields().subject)
    }
}

/// Returns whether the work tree, or a plan that counts as clean, is known to have changed.
fn has_changed(held: &AnyLoop) -> bool {
    let raw = held.raw();
    let mut runs = rounds::runs(raw).into_iter();
    let Some(last) = runs.rfind(|run| run.verdict().is_some()) else {
        return false;
    };
    if reviews_changes(raw) {
        let now = tree_id(raw.store(), Some(Instant::now() + GIT_TIMEOUT));
        return now.is_some() && last.began.tree.is_some() && now != last.began.tree;
    }
    let now = raw.read("{subject}").ok().map(sha256);
    counts_as_clean(held, &last) && now.as_ref() != Some(&last.began.subject)
}
