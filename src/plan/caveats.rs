//! The caveats of a plan loop's summary, besides those of every loop with reviews.
//!
//! Whether the plan or the work tree changed after the last review is looked for when the summary
//! is made and when the loop is over, and noted in the journal, so that `status` has the same
//! caveat as the summary.

use std::time::{Duration, Instant};

use claudex_loop::program::rounds;
use claudex_loop::program::settings::Settings;
use claudex_loop::review::Digest;
use claudex_loop::review::personas::Personas;
use claudex_loop::review::runs::{self, Run, RunOutcome};
use claudex_loop::review::worktree::{CHANGED_SINCE_REVIEW, tree_id};
use claudex_loop::store::Entry;
use serde_json::json;

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase, reviews_changes};

/// The journal's note of a change since the last review.
const CHANGED: &str = "changed-since-review";
/// Time limit for git, since a stop waits for it.
const GIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns all caveats of a summary, each a sentence.
pub fn all(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let raw = held.raw();
    let Ok(journal) = raw.journal() else {
        return vec!["The journal cannot be read, so nothing confirms this summary.".to_owned()];
    };
    let mut caveats = rounds::caveats(raw, &journal);
    caveats.extend(of_plan_loop(held, settings));
    caveats
}

/// Returns the caveats that only a plan loop has.
pub fn of_plan_loop(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let journal = held.raw().journal().unwrap_or_default();
    let mut caveats = Vec::from_iter(noted_change(held, &journal));

    let runs = rounds::runs(held.raw());
    let last = runs.iter().rfind(|run| run.ended.is_some());
    if last.is_some_and(|last| counts_as_clean(held, last)) {
        let is_rejected = !rounds::rejections(&journal).is_empty();
        caveats.extend(unanswered(held, &runs, &settings.personas, is_rejected));
    }
    caveats
}

/// Returns whether a review found nothing, or its loop is marked as done.
fn counts_as_clean(held: &AnyLoop, run: &Run) -> bool {
    matches!(run.ended, Some(RunOutcome::Clean { .. }))
        || held.fields().decision_signal == DecisionSignal::NoMaterialFindings
}

/// Returns a sentence for each round whose material findings no later review has covered: the text
/// is the one that the last review saw, or no later round had the same persona.
fn unanswered(held: &AnyLoop, runs: &[Run], personas: &Personas, is_rejected: bool) -> Vec<String> {
    let verdicts: Vec<&Run> = runs.iter().filter(|run| run.digest().is_some()).collect();
    let Some(last) = verdicts.last() else {
        return Vec::new();
    };
    let (subject, has_changed) = match reviews_changes(held) {
        true => ("nothing was changed since", "the files were changed since"),
        false => ("the plan is unchanged since", "the plan was revised since"),
    };

    let mut caveats = Vec::new();
    for line in rounds::rounds(held.raw(), personas) {
        let run = verdicts.iter().rfind(|run| run.began.round == line.round);
        let counts = line.counts.filter(|counts| counts.material() > 0);
        let (Some(run), Some(counts)) = (run, counts) else {
            continue;
        };
        let found = format!("Round {} ({}) found {counts}", line.round, line.persona);
        let is_same_text = |run: &&&Run| run.began.subject == last.began.subject;
        let is_seen_again = verdicts
            .iter()
            .filter(is_same_text)
            .any(|later| later.began.persona == run.began.persona);
        if is_same_text(&run) {
            if !is_rejected {
                caveats.push(format!("{found}; {subject}, so they are open."));
            }
        } else if !is_seen_again {
            caveats.push(format!(
                "{found}; {has_changed}, and no later round looked from that point of view."
            ));
        }
    }
    caveats
}

/// Records a change since the last review, when the summary is made.
pub fn note_change_at_summary(held: &AnyLoop) {
    if has_changed(held) {
        note(held);
    }
}

/// Records a change that the summary does not mention, and returns the sentence about it, once the
/// loop is over.
pub fn note_change_at_end(held: &AnyLoop) -> Option<String> {
    let journal = held.raw().journal().unwrap_or_default();
    if held.phase() != Phase::Done || noted_change(held, &journal).is_some() || !has_changed(held) {
        return None;
    }
    note(held);
    Some(sentence(held))
}

/// Returns the sentence about a change that the journal notes, unless a later review covers it.
fn noted_change(held: &AnyLoop, journal: &[Entry]) -> Option<String> {
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
    let now = raw.read("{subject}").map(|bytes| Digest::of(&bytes));
    counts_as_clean(held, last) && now.ok().as_ref() != Some(&last.began.subject)
}

fn last_verdict(runs: &[Run]) -> Option<&Run> {
    runs.iter().rfind(|run| run.digest().is_some())
}

fn note(held: &AnyLoop) {
    let store = held.raw().store();
    let id = held.id();
    if let Err(error) = store.note(id, CHANGED, &json!({})) {
        store.log(&format!("{id} cannot note {CHANGED}: {error}"));
    }
}
