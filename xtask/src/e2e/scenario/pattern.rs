//! A text that is looked for in another: literal, but for `[…]`, which stands for anything at all, line ends too. It is the
//! sign that README.md's examples use for what they leave out.

use regex::Regex;
use serde::Deserialize;

/// What is left out.
const ANYTHING: &str = "[…]";

/// A text with gaps.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, derive_more::Display, derive_more::From)]
#[serde(transparent)]
#[from(String, &str)]
pub(in crate::e2e) struct Pattern(String);

impl Pattern {
    /// The same pattern with other text in it: what its template was rendered to.
    pub(in crate::e2e) fn rendered(
        &self,
        render: impl FnOnce(&str) -> miette::Result<String>,
    ) -> miette::Result<Self> {
        render(&self.0).map(Self)
    }

    /// Returns whether the text is somewhere in `text`.
    pub(in crate::e2e) fn is_in(&self, text: &str) -> bool {
        self.end_in(text).is_some()
    }

    /// Returns where the first place of the text ends in `text`.
    pub(in crate::e2e) fn end_in(&self, text: &str) -> Option<usize> {
        if !self.0.contains(ANYTHING) {
            return text.find(&self.0).map(|start| start + self.0.len());
        }
        self.regex("").find(text).map(|found| found.end())
    }

    /// Returns whether the text is the whole of `text`, the white space at both ends apart.
    pub(in crate::e2e) fn is_whole(&self, text: &str) -> bool {
        self.regex("whole").is_match(text.trim())
    }

    fn regex(&self, whole: &str) -> Regex {
        let parts: Vec<_> = self.0.split(ANYTHING).map(regex::escape).collect();
        let body = parts.join("(?s:.*?)");
        let source = if whole.is_empty() {
            body
        } else {
            format!(r"\A{body}\z")
        };
        Regex::new(&source).expect("escaped text and gaps are a regular expression")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern(text.to_owned())
    }

    #[test]
    fn a_text_is_literal() {
        assert!(pattern("a.b(").is_in("xa.b(y"));
        assert!(!pattern("a.b").is_in("axb"));
    }

    #[test]
    fn a_gap_is_anything_over_line_ends() {
        assert!(pattern("round 1 […]high=0").is_in("round 1 of 3\nsaid: high=0"));
        assert!(!pattern("round 1 […]high=0").is_in("high=0 round 1"));
    }

    #[test]
    fn a_whole_text_leaves_nothing_over() {
        assert!(pattern("one […] three").is_whole("one two three\n"));
        assert!(!pattern("one […] three").is_whole("zero one two three"));
        assert!(!pattern("one").is_whole("one two"));
    }
}
