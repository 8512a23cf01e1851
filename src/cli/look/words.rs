//! What a plan loop's journal says, in words: a change with its reason, a run with its outcome.

use std::collections::BTreeMap;

use claudex_loop::app::words::purpose;
use claudex_loop::machine::Claim;
use claudex_loop::plan::summary;
use claudex_loop::plan::typestate::TABLE;
use claudex_loop::review::findings::Counts;
use claudex_loop::review::runs::{self, How, Run};
use claudex_loop::review::twin;
use claudex_loop::store::{ChangeEntry, Entry, LoopId, Store};
use claudex_loop::text;

/// Longest reason that is shown, in characters.
const REASON: usize = 300;

/// What the words about one loop are made from: its journal, with the runs and findings that it speaks of.
pub(crate) struct Told {
    pub(crate) entries: Vec<Entry>,
    pub(crate) runs: Vec<Run>,
    counts: BTreeMap<u64, Counts>,
}

impl Told {
    /// What stands behind a journal.
    pub(crate) fn of(store: &Store, id: &LoopId, entries: Vec<Entry>) -> Self {
        let runs = runs::read(&entries);
        let counts = runs
            .iter()
            .filter_map(|run| {
                let round = run.began.round;
                let file = store.read(&twin::findings_path(store, id, round)).ok()?;
                Some((round, summary::counts_of(&file)?))
            })
            .collect();
        Self {
            entries,
            runs,
            counts,
        }
    }

    /// The last change that someone decided on. That a session took the loop is none: the stop that does it decides next.
    pub(crate) fn last_decision(&self) -> Option<&ChangeEntry> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Change(change) if change.what != "bind" => Some(change),
            _ => None,
        })
    }

    /// Why a change was made: what its run came to, what was argued, else what the transition is for.
    pub(crate) fn why(&self, change: &ChangeEntry) -> String {
        let mut reasons = Vec::new();
        if let Some(run) = &change.run {
            let came_to = self
                .runs
                .iter()
                .find(|known| known.began.run == *run)
                .map_or_else(
                    || "which the journal does not tell of".to_owned(),
                    |run| self.outcome(run),
                );
            reasons.push(format!("for run {}: {came_to}", text::one_line(run, 60)));
        }
        if let Some(claim) = claim(change) {
            if claim.is_waived() {
                reasons.push(format!(
                    "round {} was not reviewed (CLAUDEX_EVIDENCE=optional)",
                    claim.round()
                ));
            }
            if let Some(why) = claim.rejecting() {
                reasons.push(format!("rejecting what is open: {}", text::one_line(why, REASON)));
            }
        }
        if reasons.is_empty() {
            reasons.extend(purpose(&TABLE, change));
        }
        reasons.join("; ")
    }

    /// What a run came to.
    pub(crate) fn outcome(&self, run: &Run) -> String {
        match &run.ended {
            None => "not ended, or cut off".to_owned(),
            Some(How::Clean { .. }) => "no substantive findings".to_owned(),
            Some(How::Findings { .. }) => match self.counts.get(&run.began.round) {
                Some(counts) => counts.to_string(),
                None => "findings, whose file cannot be read now".to_owned(),
            },
            Some(How::CouldNotRun { cause }) => format!("could not run: {cause}"),
            Some(How::Unreadable { cause }) => format!("unreadable: {cause}"),
        }
    }
}

fn claim(change: &ChangeEntry) -> Option<Claim> {
    serde_json::from_value(change.evidence.clone()?).ok()
}
