//! What tasks.md and the task files are read with: lines for offsets, words for statuses, the marks of a merge.

use super::Problem;

/// Finds the line of an offset.
pub(super) struct Lines {
    /// Where each line ends, so that a large file costs no more than its size.
    ends: Vec<usize>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at);
        Self {
            ends: ends.collect(),
        }
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn at(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end < offset) + 1
    }
}

/// Refuses a file in which a merge left its marks: what is between them is not meant as it stands.
pub(super) fn without_marks(file: &str, text: &str) -> Result<(), Vec<Problem>> {
    let is_mark = |line: &str| {
        ["<<<<<<<", ">>>>>>>"].iter().any(|mark| {
            line.strip_prefix(mark)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    };
    let marked: Vec<Problem> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_mark(line))
        .map(|(at, _)| {
            Problem::new(
                file,
                Some(at + 1),
                "a merge left its mark here; resolve the conflict",
            )
        })
        .collect();
    if marked.is_empty() {
        Ok(())
    } else {
        Err(marked)
    }
}

/// Declares an enum of words as they stand in the files.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// The words.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Reads a word, letter by letter.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Returns the word.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}
pub(super) use words;

/// Says that a word is none of those that are known.
pub(super) fn unknown(what: &str, found: &str, known: &[&str]) -> String {
    let known = known.join(", ");
    match found {
        "" => format!("{what} is missing; write one of {known}"),
        _ => {
            let found = claudex_loop::text::one_line(&claudex_loop::text::shown(found), 60);
            format!("{what} is “{found}”; write one of {known}")
        }
    }
}
