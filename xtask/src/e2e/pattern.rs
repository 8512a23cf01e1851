//! A text to find in another one. `[…]` matches anything, also line ends.

use std::path::Path;

use regex::Regex;
use serde::{Deserialize, Serialize};

const GAP: &str = "[…]";

const FRAMES: &str = "─━═╌╭╮╰╯┌┐└┘├┤▔▁│┃";

/// A literal text with gaps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Pattern(pub(super) String);

impl Pattern {
    /// Returns the end of the first occurrence in `text`.
    pub(super) fn end_in(&self, text: &str) -> Option<usize> {
        if !self.0.contains(GAP) {
            return text.find(&self.0).map(|start| start + self.0.len());
        }
        compile(&self.body()).find(text).map(|found| found.end())
    }

    fn body(&self) -> String {
        let parts: Vec<_> = self.0.split(GAP).map(regex::escape).collect();
        parts.join("(?s:.*?)")
    }
}

/// Checks that `screen` matches the kept screen at `path`. White space and frames do not count,
/// because the lengths of lines depend on paths and on the terminal.
pub(super) fn compare_screen(path: &Path, screen: &str) -> Result<(), String> {
    let kept = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
    let whole = format!(r"\A{}\z", Pattern(without_frames(&kept)).body());
    if compile(&whole).is_match(&without_frames(screen)) {
        return Ok(());
    }
    Err(format!("differs from {}", path.display()))
}

fn without_frames(text: &str) -> String {
    let is_text = |it: &char| !it.is_whitespace() && !FRAMES.contains(*it);
    text.chars().filter(is_text).collect()
}

fn compile(source: &str) -> Regex {
    Regex::new(source).expect("escaped text and gaps are a valid expression")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_gap_matches_anything() {
        for (pattern, text, expected) in [
            ("a.b(", "xa.b(y", true),
            ("a.b", "axb", false),
            ("round 1 […]high=0", "round 1 of 3\nsaid: high=0", true),
            ("round 1 […]high=0", "high=0 round 1", false),
        ] {
            let is_in = Pattern(pattern.to_owned()).end_in(text).is_some();
            assert_eq!(is_in, expected, "{pattern}");
        }
    }

    #[test]
    fn screen_matches_despite_line_breaks_and_frames() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.txt");
        let screen = "╭── Claude ──╮\n│ loop 20261122-01\n  5415-0a1b2c   │\ntook 3.2s";
        fs_err::write(&path, "[…]\nloop […]\n\ntook\n[…]s\n").unwrap();
        compare_screen(&path, screen).unwrap();
        fs_err::write(&path, "[…]\ntook long\n").unwrap();
        compare_screen(&path, screen).unwrap_err();
    }
}
