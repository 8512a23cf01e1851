//! The record of the stops that wait for background tasks of their session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::session_records::SessionRecord;

/// The number of stops in a row that wait for the same background task.
const MAX_WAITS: u32 = 3;

/// The number of stops in a row that found a background task of a session, by the task's id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits(BTreeMap<String, u32>);

/// The answer of a stop to the background tasks that its agent waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The loop continues: no task is awaited, or one for too long.
    GoesOn,
    /// The stop waits.
    Waits,
    /// Enough stops have waited: the loop continues, with one line about that.
    GivesUp,
}

impl Waits {
    /// Adds a stop that found these background tasks.
    pub fn count(&mut self, tasks: &[&str]) -> Wait {
        let counted = |id: &&str| {
            let before = self.0.get(*id).copied().unwrap_or_default();
            ((*id).to_owned(), before.saturating_add(1))
        };
        self.0 = tasks.iter().map(counted).collect();

        match self.0.values().min() {
            Some(1..=MAX_WAITS) => Wait::Waits,
            Some(&count) if count == MAX_WAITS + 1 => Wait::GivesUp,
            _ => Wait::GoesOn,
        }
    }
}

impl SessionRecord for Waits {
    const PREFIX: &str = "waits-";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_stop_for_the_same_task_gives_up_once() {
        let mut waits = Waits::default();
        let mut count = |tasks: &[&str]| waits.count(tasks);
        assert_eq!([(); 3].map(|()| count(&["a"])), [Wait::Waits; 3]);
        assert_eq!(count(&["a"]), Wait::GivesUp);
        assert_eq!(count(&["a"]), Wait::GoesOn);

        // Another task is counted from its first stop, and an ended task is dropped.
        assert_eq!(count(&["a", "b"]), Wait::Waits);
        assert_eq!(count(&[]), Wait::GoesOn);
        assert_eq!(count(&["a"]), Wait::Waits);
    }
}
