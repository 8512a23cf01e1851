//! The notes that the hooks keep about the turns of a session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::seen::SessionRecord;

/// The number of stops in a row that wait for the same background task.
const MAX_WAITS: u32 = 3;

/// The notes about a session's turns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Turns {
    /// The number of stops in a row that have found each background task, by the task's id.
    waits: BTreeMap<String, u32>,
    /// Whether the newest prompt, or the newest block, has not been followed by a stop.
    is_open: bool,
    /// Whether the newest prompt is a command that only looks at the loop.
    only_looks: bool,
    /// Whether the newest turn that does more than look was interrupted.
    is_interrupted: bool,
}

/// The answer of a stop to the background tasks that its agent waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The loop goes on: no task is awaited, or one for too long.
    GoesOn,
    /// The stop waits.
    Waits,
    /// Enough stops have waited: the loop goes on, and says so this once.
    GivesUp,
}

impl Turns {
    /// Records a prompt. The turn before was interrupted if no stop has followed its prompt.
    pub fn begin(&mut self, only_looks: bool) {
        if !self.only_looks {
            self.is_interrupted = self.is_open;
        }
        self.is_open = true;
        self.only_looks = only_looks;
    }

    /// Records a stop, and whether it made the agent go on.
    pub fn end(&mut self, goes_on: bool) {
        self.is_open = goes_on;
    }

    /// Returns whether this turn only looks at the loop, after one that was interrupted.
    pub fn looks_after_interruption(&self) -> bool {
        self.only_looks && self.is_interrupted
    }

    /// Adds a stop that found these background tasks.
    pub fn wait(&mut self, tasks: &[&str]) -> Wait {
        let counted = |id: &&str| {
            let before = self.waits.get(*id).copied().unwrap_or_default();
            ((*id).to_owned(), before.saturating_add(1))
        };
        self.waits = tasks.iter().map(counted).collect();

        match self.waits.values().min() {
            Some(1..=MAX_WAITS) => Wait::Waits,
            Some(&count) if count == MAX_WAITS + 1 => Wait::GivesUp,
            _ => Wait::GoesOn,
        }
    }
}

impl SessionRecord for Turns {
    const PREFIX: &str = "turns-";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_after_interruption_is_known_until_another_prompt() {
        let mut turns = Turns::default();
        turns.begin(true);
        assert!(!turns.looks_after_interruption(), "nothing came before it");
        turns.end(false);

        // A prompt, a block, and Esc.
        turns.begin(false);
        turns.end(true);
        for _ in 0..2 {
            turns.begin(true);
            assert!(turns.looks_after_interruption());
            turns.end(false);
        }
        turns.begin(false);
        assert!(!turns.looks_after_interruption());
        turns.end(false);
        turns.begin(true);
        assert!(!turns.looks_after_interruption());
    }

    #[test]
    fn fourth_stop_for_the_same_task_gives_up_once() {
        let mut turns = Turns::default();
        let mut waits = |tasks: &[&str]| turns.wait(tasks);
        assert_eq!([(); 3].map(|()| waits(&["a"])), [Wait::Waits; 3]);
        assert_eq!(waits(&["a"]), Wait::GivesUp);
        assert_eq!(waits(&["a"]), Wait::GoesOn);

        // Another task has stops of its own, and a task that ended is forgotten.
        assert_eq!(waits(&["a", "b"]), Wait::Waits);
        assert_eq!(waits(&[]), Wait::GoesOn);
        assert_eq!(waits(&["a"]), Wait::Waits);
    }
}
