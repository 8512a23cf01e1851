//! What a reviewer opened, as far as the events of its client tell.
//!
//! That a review ran does not show that it read. Where the subject did not stand in the prompt, a reviewer that opened nothing of it has
//! given no verdict on it.

use std::cell::RefCell;

use camino::Utf8Path;

use super::Kind;
use super::subject::Part;
use crate::text;

/// Most files and commands that are kept.
const MOST: usize = 50;
/// Most characters of one.
const LONGEST: usize = 200;

/// What a reviewer opened: paths, patterns that it searched by, commands that it ran.
#[derive(Debug, Default)]
pub struct Opened(RefCell<Option<Vec<String>>>);

impl Opened {
    /// Says that the client tells what is opened, though it may be nothing.
    pub fn tells(&self) {
        self.0.borrow_mut().get_or_insert_with(Vec::new);
    }

    /// Takes what was opened.
    pub fn add(&self, what: &str) {
        let mut list = self.0.borrow_mut();
        let list = list.get_or_insert_with(Vec::new);
        let what = text::one_line(what, LONGEST);
        if !what.is_empty() && list.len() < MOST && !list.contains(&what) {
            list.push(what);
        }
    }

    /// Returns whether the client tells, and nothing of this subject was opened. Of changes, anything that was opened counts.
    pub(super) fn missed(&self, subject: &[Part]) -> bool {
        let list = self.0.borrow();
        list.as_ref().is_some_and(|list| {
            let of_part = |part: &Part| {
                let name = Utf8Path::new(&part.name).file_name().unwrap_or(&part.name);
                list.iter()
                    .any(|what| part.kind == Kind::Diff || what.contains(name))
            };
            !subject.iter().any(of_part)
        })
    }

    /// Returns all of it.
    pub(super) fn into_list(self) -> Vec<String> {
        self.0.into_inner().unwrap_or_default()
    }
}
