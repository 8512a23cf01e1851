//! What a summary is held against: what was reviewed is compared with what is there when the summary is made, and again when
//! the loop is over.
//!
//! Both results are notes in the journal, so that `status` says later what the summary said, whatever was edited since.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{AnyLoop, Phase, reviews_changes};
use claudex_loop::program::rounds;
use claudex_loop::review::changes::Compared;
use claudex_loop::review::{Digest, copy};
use claudex_loop::store::{Entry, LoopId, Store};
use claudex_loop::text;

/// The note of what a review of changes started from.
const STARTED: &str = "started-from";
/// The note of what was found when the summary was made.
const SUMMED_UP: &str = "summed-up";
/// The note of what differed from it at the end.
const ENDED: &str = "ended-otherwise";
/// How long git may take for the comparison, all together: a stop waits for it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Most caveats that one look gives.
const MOST: usize = 8;
/// Most characters of one of them.
const LONGEST: usize = 500;

/// What one look found.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Look {
    /// The digest of the plan; `None`: it cannot be read, or changes are reviewed.
    subject: Option<Digest>,
    /// What has to be said, each a sentence.
    caveats: Vec<String>,
}

/// Returns the note of what a review of changes starts from.
pub fn started(compared: &Compared) -> (&'static str, Json) {
    (STARTED, json!(compared))
}

/// Looks when the summary is made, and notes what has to be said in it.
pub fn at_summary(held: &AnyLoop) {
    let raw = held.raw();
    note(raw.store(), raw.id(), SUMMED_UP, &look(held));
}

/// Looks when the loop is over, and gives what the summary did not say; that is noted, too.
pub fn at_end(held: &AnyLoop) -> Vec<String> {
    if held.phase() != Phase::Done {
        return Vec::new();
    }
    let raw = held.raw();
    let journal = raw.journal().unwrap_or_default();
    let before: Look = last(&journal, SUMMED_UP).unwrap_or_default();
    let mut now = look(held);
    now.caveats.retain(|line| !before.caveats.contains(line));
    if !reviews_changes(held) && now.subject != before.subject {
        now.caveats.push(format!(
            "{} was changed after the summary was made; that change was not reviewed.",
            held.fields().subject()
        ));
    }
    if !now.caveats.is_empty() {
        note(raw.store(), raw.id(), ENDED, &now);
    }
    now.caveats
}

/// The caveats that a journal holds of a loop that sums up or is over.
pub fn noted(held: &AnyLoop, journal: &[Entry]) -> Vec<String> {
    if !matches!(held.phase(), Phase::Summarizing | Phase::Done) {
        return Vec::new();
    }
    let looks = [SUMMED_UP, ENDED].map(|name| last::<Look>(journal, name).unwrap_or_default());
    let caveats = looks.into_iter().flat_map(|look| look.caveats);
    caveats.map(|line| text::one_line(&line, LONGEST)).collect()
}

fn look(held: &AnyLoop) -> Look {
    if reviews_changes(held) {
        let mut caveats = of_changes(held);
        let more = caveats.len().saturating_sub(MOST);
        caveats.truncate(MOST);
        if more > 0 {
            caveats.push(format!("There are {more} more such notes."));
        }
        for line in &mut caveats {
            *line = text::one_line(line, LONGEST);
        }
        return Look {
            subject: None,
            caveats,
        };
    }
    let plan = held.raw().read("{subject}");
    Look {
        subject: plan.ok().map(|bytes| Digest::of(&bytes)),
        caveats: Vec::new(),
    }
}

/// What the last review of the changes did not show, and in which ways the work tree is another one by now.
fn of_changes(held: &AnyLoop) -> Vec<String> {
    let raw = held.raw();
    let runs = rounds::runs(raw);
    let mut verdicts = runs
        .iter()
        .filter(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()));
    let Some(first) = verdicts.next() else {
        return Vec::new();
    };
    let last_run = verdicts.next_back().unwrap_or(first);
    let Some(reviewed) = &last_run.began.compared else {
        return vec![
            "Where the reviewed changes came from was not noted, so nothing can be compared with them."
                .to_owned(),
        ];
    };
    let mut told = Vec::new();
    let copy = raw
        .read("{subject}")
        .and_then(claudex_loop::files::text)
        .ok();
    let copy = copy.filter(|copy| Digest::of(copy.as_bytes()) == last_run.began.subject);
    let inspect = |patience| copy::inspect(raw.store(), Instant::now() + patience);
    match raw.store().budget().wait(PATIENCE, inspect) {
        Ok(now) => told.extend(reviewed.differences(copy.as_deref(), &now)),
        Err(error) => told.push(format!(
            "The work tree could not be compared with what was reviewed: {error}."
        )),
    }
    let journal = raw.journal().unwrap_or_default();
    if let Some(started) = last::<Compared>(&journal, STARTED)
        && let Some(first) = &first.began.compared
    {
        told.extend(first.since_start(&started));
    }
    told.extend(reviewed.unseen.iter().cloned());
    told
}

/// Returns the last note of this name that can be read.
pub fn last<T: serde::de::DeserializeOwned>(journal: &[Entry], name: &str) -> Option<T> {
    journal.iter().rev().find_map(|entry| entry.noted(name))
}

fn note(store: &Store, id: &LoopId, name: &str, value: &impl Serialize) {
    // The turn ends all the same; the log says why a caveat may be missing.
    if let Err(error) = store.note(id, name, value) {
        store.log(&format!("{id} could not note {name}: {error}"));
    }
}
