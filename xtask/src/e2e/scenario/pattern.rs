//! A text that is looked for in another one. `[…]` stands for anything, line ends too.

use regex::Regex;
use serde::Deserialize;

/// The sign for a gap.
const GAP: &str = "[…]";

/// A literal text with gaps.
#[derive(Debug, Clone, Deserialize, derive_more::Display, derive_more::From)]
#[serde(transparent)]
#[from(String, &str)]
pub(in crate::e2e) struct Pattern(String);

impl Pattern {
    /// Returns whether the pattern occurs in `text`.
    pub(in crate::e2e) fn is_in(&self, text: &str) -> bool {
        self.end_in(text).is_some()
    }

    /// Returns the end of the first occurrence in `text`.
    pub(in crate::e2e) fn end_in(&self, text: &str) -> Option<usize> {
        if !self.0.contains(GAP) {
            return text.find(&self.0).map(|start| start + self.0.len());
        }
        compile(&self.body()).find(text).map(|found| found.end())
    }

    /// Returns whether the pattern matches the whole of `text`.
    pub(in crate::e2e) fn is_whole(&self, text: &str) -> bool {
        compile(&format!(r"\A{}\z", self.body())).is_match(text.trim())
    }

    fn body(&self) -> String {
        let parts: Vec<_> = self.0.split(GAP).map(regex::escape).collect();
        parts.join("(?s:.*?)")
    }
}

fn compile(source: &str) -> Regex {
    Regex::new(source).expect("escaped text and gaps are a valid expression")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_gap_matches_anything() {
        assert!(Pattern::from("a.b(").is_in("xa.b(y"));
        assert!(!Pattern::from("a.b").is_in("axb"));
        assert!(Pattern::from("round 1 […]high=0").is_in("round 1 of 3\nsaid: high=0"));
        assert!(!Pattern::from("round 1 […]high=0").is_in("high=0 round 1"));
        assert!(Pattern::from("one […] three").is_whole("one two three\n"));
        assert!(!Pattern::from("one […] three").is_whole("zero one two three"));
    }
}
