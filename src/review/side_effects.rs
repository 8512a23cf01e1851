//! Which files of the work tree change while a reviewer runs: a look before, a look after, and what is said of it.
//!
//! A reviewer is not to write. Whether it was the one who did cannot be seen, and is not claimed.

use super::reports;
use super::reviewer::Reviewer;
use super::worktree::before::Before;
use crate::store::Store;

/// Returns what is said of files that changed while a reviewer ran. Who changed them cannot be seen.
pub fn while_it_ran(changed: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut named = changed
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if changed.len() > SHOWN {
        named.push_str(&format!(" and {} more", changed.len() - SHOWN));
    }
    format!(
        "files of the work tree changed while the reviewer ran, by it or by something else: {named}"
    )
}

/// Most names of changed files that a run's record holds.
const NAMED: usize = 100;

/// A look at the work tree around a reviewer that is a program, and what is said where that fails.
#[derive(Default)]
pub(super) struct SideEffects {
    before: Option<Before>,
    /// What went wrong in looking, on one line; taken by whoever tells it.
    pub(super) problem: Option<String>,
}

impl SideEffects {
    /// Looks before the run.
    pub(super) fn before(store: &Store, reviewer: &dyn Reviewer) -> Self {
        if !reviewer.runs_a_program() {
            return Self::default();
        }
        match Before::look(store.root(), reports::ours(store, store.root())) {
            Ok(before) => Self {
                problem: before.is_cut().then(|| {
                    "not every change that the reviewer makes will be seen: there are more files than are looked at".to_owned()
                }),
                before: Some(before),
            },
            Err(error) => Self {
                before: None,
                problem: Some(format!(
                    "whether the reviewer changes files will not be seen: {error}"
                )),
            },
        }
    }

    /// Looks after it: the files that changed in between; those that git ignores are not seen.
    pub(super) fn after(&mut self) -> Vec<String> {
        let Some(before) = &mut self.before else {
            return Vec::new();
        };
        match before.changed() {
            Ok(mut changed) => {
                if changed.len() > NAMED {
                    let rest = changed.len() - NAMED;
                    changed.truncate(NAMED);
                    changed.push(format!("and {rest} more"));
                }
                changed
            }
            Err(error) => {
                self.problem = Some(format!(
                    "whether the reviewer changed files was not seen: {error}"
                ));
                Vec::new()
            }
        }
    }
}
