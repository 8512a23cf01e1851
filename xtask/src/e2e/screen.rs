//! Kept screens. A kept screen has a word for what differs between runs, and `[…]` for anything.
//! Line breaks and white space do not count, since the lengths of paths differ.

use std::path::Path;
use std::sync::LazyLock;

use miette::IntoDiagnostic as _;
use regex::Regex;

use super::scenario::Pattern;

/// Checks that `screen` matches the kept screen at `path`.
pub(super) fn compare(path: &Path, screen: &str, places: &[(String, &str)]) -> Result<(), String> {
    let kept = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
    let screen = normalize(screen, places);
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    if Pattern::from(bare(&kept)).is_whole(&bare(&screen)) {
        return Ok(());
    }
    let path = path.display();
    Err(format!(
        "differs from {path} (--overwrite-screens writes it again)"
    ))
}

/// Writes the kept screen, unless the present one matches.
pub(super) fn overwrite(
    path: &Path,
    screen: &str,
    places: &[(String, &str)],
) -> miette::Result<()> {
    if compare(path, screen, places).is_ok() {
        return Ok(());
    }
    fs_err::write(path, normalize(screen, places)).into_diagnostic()
}

/// Replaces what differs between runs: the places, a path and its word each, and [`WORDS`].
fn normalize(screen: &str, places: &[(String, &str)]) -> String {
    let mut text = screen.to_owned();
    for (path, word) in places {
        let characters: Vec<_> = path
            .chars()
            .map(|it| regex::escape(&it.to_string()))
            .collect();
        let path = Regex::new(&broken(&characters)).expect("escaped text is a valid expression");
        text = path.replace_all(&text, *word).into_owned();
    }
    for (expression, word) in &*WORDS {
        text = expression.replace_all(&text, *word).into_owned();
    }
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let filled = lines.into_iter().filter(|line| !line.is_empty());
    filled.collect::<Vec<_>>().join("\n") + "\n"
}

/// Joins the parts of an expression, so that the terminal may break the line between them.
fn broken(parts: &[String]) -> String {
    parts.join(r"(?:\n[ \t]*)?")
}

/// Groups of hexadecimal digits with hyphens between them.
fn groups(lengths: &[usize]) -> String {
    let digits = |length: &usize| vec!["[0-9a-f]".to_owned(); *length];
    let groups: Vec<_> = lengths.iter().map(digits).collect();
    broken(&groups.join(&"-".to_owned()))
}

/// Expressions and their words, in the order in which they are replaced.
static WORDS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let id = groups(&[8, 6, 6]);
    [
        (id.as_str(), "[id]"),
        (r"\bv?\d+\.\d+\.\d+\b", "[version]"),
        // The client at work, and after it: `✻ Thinking… (3s)`, `✻ Brewed for 4s`.
        (
            r"(?m)^\s*[·✢✳✶✻✽*] \p{Lu}[\p{L} -]*…(?: \([^\n]*\))?",
            "[working]",
        ),
        (
            r"(?m)^\s*[·✢✳✶✻✽*] \p{Lu}[\p{L}-]* for \d[^\n]*",
            "[worked]",
        ),
        (r"(?:[↑↓] ?)?\b\d+(?:\.\d+)?k? tokens\b", "[tokens]"),
        (r"\b\d+(?:\.\d+)? ?(?:ms|s|m|h)\b", "[time]"),
        // Frames, whose length depends on the terminal.
        (r"(?m)^[\s│┃]*[─━═╌╭╮╰╯┌┐└┘├┤▔▁]{3,}[^\n]*?[\s│┃]*$", "────"),
        (r"(?m)^\s*[│┃]\s|\s*[│┃]\s*$", ""),
        // Columns at the right edge.
        (r"(\S) {3,}", "$1  "),
    ]
    .map(|(expression, word)| (Regex::new(expression).expect("it is written above"), word))
    .into()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_matches_despite_ids_times_paths_and_line_breaks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.txt");
        let places = [("/tmp/my project".to_owned(), "[project]")];
        let screen = "╭── Claude ──╮\n│ loop 20261122-01\n  5415-0a1b2c in /tmp/my pro\n  ject   │\n\
                      ✻ Brewed for 4s\ntook 3.2s";
        overwrite(&path, screen, &places).unwrap();
        let kept = fs_err::read_to_string(&path).unwrap();
        assert_eq!(
            kept,
            "────\nloop [id] in [project]\n[worked]\ntook [time]\n"
        );
        fs_err::write(&path, "[…]\ntook\n[time]\n").unwrap();
        compare(&path, screen, &places).unwrap();
        fs_err::write(&path, "[…]\ntook long\n").unwrap();
        compare(&path, screen, &places).unwrap_err();
    }
}
