//! A loop's journal in words: changes with their reasons, runs with their outcomes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::machine::Table;
use crate::program::change_text::purpose;
use crate::program::info::ProgramInfo;
use crate::program::rounds;
use crate::review::findings::Counts;
use crate::review::runs::{self, Run, RunOutcome};
use crate::store::{ChangeEntry, Entry, LoopId, Store};
use crate::text;

/// The longest reason that is shown, in characters.
const MAX_REASON_CHARS: usize = 300;

/// A loop's journal, with the runs and findings that it names.
#[derive(Debug)]
pub(in crate::program) struct Past {
    pub(in crate::program) entries: Arc<Vec<Entry>>,
    pub(in crate::program) runs: Vec<Run>,
    /// The findings of each run, by its id.
    counts: BTreeMap<String, Counts>,
}

impl Past {
    /// Reads the runs and findings of a journal.
    pub(in crate::program) fn of(store: &Store, id: &LoopId, entries: Arc<Vec<Entry>>) -> Self {
        let runs = runs::read(&entries);
        let counts = runs.iter().filter_map(|run| {
            let counts = rounds::counts_of_run(store, id, run)?;
            Some((run.began.run.clone(), counts))
        });
        Self {
            counts: counts.collect(),
            entries,
            runs,
        }
    }

    /// Returns the last change but for `bind`, after which the same stop decides.
    pub(in crate::program) fn last_decision(&self) -> Option<&ChangeEntry> {
        let mut changes = self.entries.iter().rev().filter_map(Entry::change);
        changes.find(|change| change.what != "bind")
    }

    /// Returns the reason of a change: the outcome of its run, the argument, else the purpose of the transition.
    pub(in crate::program) fn why(&self, table: &'static Table, change: &ChangeEntry) -> String {
        let mut reasons = Vec::new();
        // The transition's purpose names the outcome of a command.
        if let Some(run) = change.run.as_ref().filter(|run| !run.starts_with("c-")) {
            let known = self.runs.iter().find(|known| known.began.run == *run);
            let outcome = known.map(|run| self.outcome(run));
            let outcome = outcome.unwrap_or("which the journal does not tell of".to_owned());
            reasons.push(format!("for run {}: {outcome}", text::one_line(run, 60)));
        }
        if let Some(record) = rounds::record(change) {
            if record.waived {
                reasons.push(format!(
                    "round {} was not reviewed ({}=optional)",
                    record.round,
                    ProgramInfo::of(table).variable("EVIDENCE")
                ));
            }
            if let Some(why) = &record.rejecting {
                reasons.push(format!(
                    "rejecting what is open: {}",
                    text::one_line(why, MAX_REASON_CHARS)
                ));
            }
        }
        if change.what == "bring-back" {
            reasons.push("it was in the archive".to_owned());
        }
        if reasons.is_empty() {
            reasons.extend(purpose(table, change));
        }
        reasons.join("; ")
    }

    /// Returns the outcome of a run in words.
    pub(in crate::program) fn outcome(&self, run: &Run) -> String {
        match &run.ended {
            None => "not ended, or cut off".to_owned(),
            Some(RunOutcome::Clean { .. }) => "no substantive findings".to_owned(),
            Some(RunOutcome::Findings { .. }) => match self.counts.get(&run.began.run) {
                Some(counts) => counts.to_string(),
                None => "findings, whose file cannot be read now".to_owned(),
            },
            Some(RunOutcome::CouldNotRun { cause }) => format!("could not run: {cause}"),
            Some(RunOutcome::Unreadable { cause }) => format!("unreadable: {cause}"),
        }
    }
}
