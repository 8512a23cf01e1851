//! Processes of a run that was cut off: the process that waited for them was killed, and they live on.
//!
//! A run is two notes in the journal, `<kind>-began` and `<kind>-ended`, each with the run's id. Where the second is missing and the run
//! lock is free, nobody waits for the run any more, and whoever changes the loop next ends what is left of it.

use std::time::Duration;

use serde::Deserialize;

use super::entry::Entry;
use super::id::LoopId;
use super::store::Store;
use crate::process::orphans;

/// Bounds the time that such a process has between TERM and KILL. A stop waits for it.
const GRACE: Duration = Duration::from_millis(500);

/// Returns what the processes of a run have in their environment. No other run of any loop has it.
pub fn run_mark(id: &LoopId, run: &str) -> String {
    format!("{id}/{run}")
}

impl Store {
    /// Ends the processes of a loop's last run, where that was cut off. Gives how many there were; what cannot be read tells of none.
    pub fn end_orphans(&self, id: &LoopId) -> usize {
        self.end_orphans_of(id, &self.journal(id).unwrap_or_default())
    }

    /// Ends the same, as the loop's journal tells.
    pub(crate) fn end_orphans_of(&self, id: &LoopId, journal: &[Entry]) -> usize {
        // In this order: a run that began since holds the lock, and is not in what was read.
        match cut_off(journal) {
            Some(run) if !self.is_running(id) => self.end_run(id, &run),
            _ => 0,
        }
    }

    /// Ends the same for whoever holds the run lock.
    pub(crate) fn end_orphans_held(&self, id: &LoopId, journal: &[Entry]) -> usize {
        cut_off(journal).map_or(0, |run| self.end_run(id, &run))
    }

    fn end_run(&self, id: &LoopId, run: &str) -> usize {
        self.scratch().sweep();
        let end = |grace| orphans::end(&run_mark(id, run), grace);
        let ended = self.budget().wait(GRACE, end);
        if ended > 0 {
            self.log(&format!(
                "{id}: ended what run {run} had left running ({ended})"
            ));
        }
        ended
    }
}

/// Returns the last run that began, unless it ended.
fn cut_off(journal: &[Entry]) -> Option<String> {
    let at = journal
        .iter()
        .rposition(|entry| run_of(entry, "-began").is_some())?;
    let began = run_of(&journal[at], "-began")?;
    let ended = journal[at..]
        .iter()
        .any(|entry| run_of(entry, "-ended").as_ref() == Some(&began));
    (!ended).then_some(began)
}

fn run_of(entry: &Entry, kind: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Run {
        run: String,
    }
    match entry {
        Entry::Note(note) if note.note.ends_with(kind) => note.data.read().map(|Run { run }| run),
        _ => None,
    }
}
