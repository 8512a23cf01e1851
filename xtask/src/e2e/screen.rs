//! Kept screens. `[…]` in one stands for anything. White space and frames do not count, since the lengths of lines depend on
//! paths and on the terminal.

use std::path::Path;

use super::scenario::Pattern;

/// The characters of frames.
const FRAMES: &str = "─━═╌╭╮╰╯┌┐└┘├┤▔▁│┃";

/// Checks that `screen` matches the kept screen at `path`.
pub(super) fn compare(path: &Path, screen: &str) -> Result<(), String> {
    let kept = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
    if Pattern::from(bare(&kept)).is_whole(&bare(screen)) {
        return Ok(());
    }
    Err(format!("differs from {}", path.display()))
}

fn bare(text: &str) -> String {
    let is_text = |it: &char| !it.is_whitespace() && !FRAMES.contains(*it);
    text.chars().filter(is_text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_matches_despite_line_breaks_and_frames() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.txt");
        let screen = "╭── Claude ──╮\n│ loop 20261122-01\n  5415-0a1b2c   │\ntook 3.2s";
        fs_err::write(&path, "[…]\nloop […]\n\ntook\n[…]s\n").unwrap();
        compare(&path, screen).unwrap();
        fs_err::write(&path, "[…]\ntook long\n").unwrap();
        compare(&path, screen).unwrap_err();
    }
}
