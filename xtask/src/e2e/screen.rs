//! Screens that are kept as text, and compared loosely: what differs from run to run has a word in its place, and a line `[…]`
//! stands for any number of lines. It knows nothing of terminals.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use derive_more::{Display, Error};
use miette::Diagnostic;
use regex::Regex;

use super::scenario::Pattern;

/// In a kept screen: anything, within a line or for whole lines.
const ANYTHING: &str = "[…]";

/// A kept screen that cannot be used.
#[derive(Debug, Display, Error, Diagnostic)]
pub(super) enum ScreenError {
    /// It cannot be read.
    #[display("cannot read the kept screen {}", path.display())]
    #[diagnostic(
        code(xtask::screen::unread),
        help("--overwrite-screens writes it as it is seen now")
    )]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// It cannot be written.
    #[display("cannot write the kept screen {}", path.display())]
    #[diagnostic(code(xtask::screen::unwritten))]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// A file of `tests/e2e/screens`.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    path: PathBuf,
    /// Its lines, blank ones left out.
    lines: Vec<String>,
}

/// Texts of one run that stand for something: a path and the word for it. The longer one is looked for first.
pub(super) type Places<'a> = [(&'a str, &'a str)];

impl Kept {
    /// Returns where the screen lies: `NAME.AGE.txt`, where that client has one of its own, or `NAME.txt`.
    pub(super) fn place(folder: &Path, name: &str, age: &str) -> PathBuf {
        let own = folder.join(format!("{name}.{age}.txt"));
        if own.exists() {
            return own;
        }
        folder.join(format!("{name}.txt"))
    }

    /// Reads a kept screen.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self, ScreenError> {
        let path = path.to_owned();
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Self {
                lines: filled(&text),
                path,
            }),
            Err(source) => Err(ScreenError::Read { path, source }),
        }
    }

    /// Checks that the screen is the kept one.
    ///
    /// # Errors
    /// How it differs, to go on after "the screen": the kept lines with `-` before those that are missing, and with the
    /// screen's lines in their place, with `+`.
    pub(super) fn fits(&self, screen: &str, places: &Places<'_>) -> Result<(), String> {
        let seen = filled(&normalised(screen, places));
        // Without white space: where lines are broken depends on how long the run's paths are.
        if Pattern::from(bare(&self.lines)).is_whole(&bare(&seen)) {
            return Ok(());
        }
        Err(format!(
            "differs from {} (`-` kept and not seen, `+` seen and not kept):\n{}",
            self.path.display(),
            difference(&self.lines, &seen)
        ))
    }

    /// Writes the screen as it is seen now. A kept one that fits stays as it is, with its gaps; whether it was written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn overwrite(
        path: &Path,
        screen: &str,
        places: &Places<'_>,
    ) -> Result<bool, ScreenError> {
        if Self::read(path).is_ok_and(|kept| kept.fits(screen, places).is_ok()) {
            return Ok(false);
        }
        let write = || {
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            std::fs::write(path, normalised(screen, places))
        };
        write().map_err(|source| ScreenError::Write {
            path: path.to_owned(),
            source,
        })?;
        Ok(true)
    }
}

/// Returns the screen with a word in place of what differs from run to run: loop ids, session ids, paths, versions, times,
/// tokens, costs, the words of a client that waits. Indents stay, for the reader; a comparison does not look at them.
pub(super) fn normalised(screen: &str, places: &Places<'_>) -> String {
    let mut places: Vec<_> = places.iter().filter(|(path, _)| !path.is_empty()).collect();
    places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    let mut text = screen.to_owned();
    for (path, word) in places {
        let path = broken(path.chars().map(|it| match it {
            ' ' => r"\s+".to_owned(),
            it => regex::escape(&it.to_string()),
        }));
        let path =
            Regex::new(&path).expect("escaped characters and breaks are a regular expression");
        text = path.replace_all(&text, regex::NoExpand(word)).into_owned();
    }
    for (expression, word) in &*WORDS {
        if let Cow::Owned(replaced) = expression.replace_all(&text, *word) {
            text = replaced;
        }
    }
    let lines: Vec<_> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n") + "\n"
}

/// Returns an expression of these one after the other, wherever the terminal breaks the line between them.
fn broken(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(r"(?:\n[ \t]*)?")
}

/// So many digits, or hexadecimal ones, in groups with `-` between.
fn digits(of: &str, groups: &[usize]) -> Vec<String> {
    let groups: Vec<_> = groups
        .iter()
        .map(|count| vec![of.to_owned(); *count])
        .collect();
    groups.join(&"-".to_owned())
}

/// What is replaced, in this order.
static WORDS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        // A loop, a session, a run.
        (
            &*format!(
                r"\b{}\b",
                broken(
                    [
                        digits(r"\d", &[8, 6]),
                        vec!["-".to_owned()],
                        digits("[0-9a-f]", &[6])
                    ]
                    .concat()
                )
            ),
            "[id]",
        ),
        (
            &*format!(r"\b{}\b", broken(digits("[0-9a-f]", &[8, 4, 4, 4, 12]))),
            "[session]",
        ),
        (r"\br\d+-[0-9a-f]{8}\b", "[run]"),
        (r"\bv?\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?\b", "[version]"),
        (r"\b\d{8}-\d{6}\b", "[when]"),
        (
            r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?",
            "[when]",
        ),
        // A client that works, and how it says that it has: `✻ Cogitating… (3s · ↑ 12 tokens)`, `✻ Brewed for 4s`.
        (
            r"(?m)^\s*[·✢✳✶✻✽*] \p{Lu}[\p{L}-]*(?: [\p{L}-]+)*…(?: \([^\n]*\))?",
            "[working]",
        ),
        (
            r"(?m)^\s*[·✢✳✶✻✽*] \p{Lu}[\p{L}-]* for \d[^\n]*",
            "[worked]",
        ),
        (r"(?:[↑↓] ?)?\b\d+(?:\.\d+)?k? tokens\b", "[tokens]"),
        (r"\$\d+\.\d+\b", "[cost]"),
        (
            r"\b(?:\d+(?:\.\d+)? ?(?:ms|s|m|h)\b ?)*\d+(?:\.\d+)? ?(?:ms|s|m|h)\b",
            "[time]",
        ),
        // Frames. How long a line is depends on the terminal, and which kind it is on the client.
        (r"(?m)^[\s│┃]*[─━═╌╭╮╰╯┌┐└┘├┤▔▁]{3,}[^\n]*?[\s│┃]*$", "────"),
        (r"[─━═╌]{3,}", "────"),
        (r"(?m)^\s*[│┃]\s|\s*[│┃]\s*$", ""),
        // Columns that are moved to the right edge.
        (r"(\S) {3,}", "$1  "),
    ]
    .into_iter()
    .map(|(expression, word)| (Regex::new(expression).expect("it is written above"), word))
    .collect()
});

/// Returns the lines that have something, each with one blank for all white space in a row and none at its ends.
fn filled(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect()
}

/// Returns whether one kept line is this line of the screen.
fn same(kept: &str, seen: &str) -> bool {
    kept == seen || (kept.contains(ANYTHING) && Pattern::from(kept).is_whole(seen))
}

/// Returns the lines in one, without white space.
fn bare(lines: &[String]) -> String {
    lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect()
}

/// Both, line by line, by the longest common sequence.
fn difference(kept: &[String], seen: &[String]) -> String {
    // common[i][j]: how many lines kept[i..] and seen[j..] have in common.
    let mut common = vec![vec![0_usize; seen.len() + 1]; kept.len() + 1];
    for i in (0..kept.len()).rev() {
        for j in (0..seen.len()).rev() {
            common[i][j] = if kept[i] != ANYTHING && same(&kept[i], &seen[j]) {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut in_gap) = (0, 0, false);
    let mut text = String::new();
    let mut say = |sign: &str, line: &str| {
        text.push_str(sign);
        text.push_str(line);
        text.push('\n');
    };
    while i < kept.len() || j < seen.len() {
        let line = kept.get(i).map(String::as_str);
        if line == Some(ANYTHING) {
            say("  ", ANYTHING);
            in_gap = true;
            i += 1;
        } else if let (Some(line), Some(other)) = (line, seen.get(j))
            && same(line, other)
        {
            say("  ", other);
            in_gap = false;
            i += 1;
            j += 1;
        } else if i < kept.len() && (j == seen.len() || common[i + 1][j] >= common[i][j + 1]) {
            say("- ", line.unwrap_or_default());
            i += 1;
        } else {
            if !in_gap {
                say("+ ", &seen[j]);
            }
            j += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Kept {
        Kept {
            path: "tests/e2e/screens/it.txt".into(),
            lines: filled(text),
        }
    }

    fn fits(text: &str, screen: &str) -> bool {
        kept(text).fits(screen, &[]).is_ok()
    }

    #[test]
    fn the_same_lines_fit_whatever_the_blanks() {
        assert!(fits(
            "one two\n\n three\n",
            "  one     two\n\n\nthree   \n\n"
        ));
    }

    #[test]
    fn it_does_not_matter_where_a_line_is_broken() {
        assert!(fits("one two three\n", "one two\n   three\n"));
        assert!(fits(
            "in [project]/PLAN.md, so\n",
            "in\n  [project]/PL\n  AN.md, so\n"
        ));
        assert!(!fits("one two\n", "one\nthree two\n"));
    }

    #[test]
    fn every_line_is_looked_at() {
        assert!(!fits("one\nthree\n", "one\ntwo\nthree\n"));
        assert!(!fits("one\n", "one\ntwo\n"));
        assert!(!fits("two\n", "one\ntwo\n"));
        assert!(!fits("one\ntwo\n", "one\n"));
        assert!(!fits("", "one\n"));
        assert!(fits("", "\n"));
    }

    #[test]
    fn a_gap_takes_any_lines_or_none() {
        assert!(fits("one\n[…]\nthree\n", "one\ntwo\ntwo\nthree\n"));
        assert!(fits("one\n[…]\nthree\n", "one\nthree\n"));
        assert!(fits("[…]\ntwo\n[…]\n", "one\ntwo\nthree\n"));
        assert!(fits("[…]\n", ""));
        assert!(fits("one\n[…]\n", "one\n"));
    }

    #[test]
    fn what_looks_like_the_end_of_a_gap_may_be_in_it() {
        assert!(fits("[…]\ntwo\nthree\n", "two\nfour\ntwo\nthree\n"));
        assert!(fits(
            "one\n[…]\ntwo\n[…]\nfour\n",
            "one\ntwo\ntwo\nfour\nfour\n"
        ));
        assert!(!fits("[…]\ntwo\nthree\n", "two\nfour\nthree\n"));
    }

    #[test]
    fn the_order_counts() {
        assert!(!fits("[…]\none\n[…]\ntwo\n[…]\n", "two\none\n"));
    }

    #[test]
    fn a_gap_within_a_line_is_anything_at_all() {
        assert!(fits("round […] of 3: […]\n", "round 2 of 3: high=0\n"));
        assert!(fits("round […] of 3\n", "round 2\nof 3\n"));
        assert!(!fits("a […]\n", "b a c\n"));
        assert!(fits("a.c (x\n", "a.c (x\n"));
        assert!(!fits("a.c […]\n", "abc x\n"));
    }

    #[test]
    fn the_difference_names_what_is_missing_and_what_came_instead() {
        let error = kept("[…]\nbegin\nround 1 […]\nend\n")
            .fits("noise\nmore noise\nbegin\nround 2\nend\n", &[])
            .unwrap_err();
        let expected = "differs from tests/e2e/screens/it.txt (`-` kept and not seen, `+` seen and not kept):\n  \
                        […]\n  begin\n- round 1 […]\n+ round 2\n  end\n";
        assert_eq!(error, expected);
    }

    #[test]
    fn what_differs_from_run_to_run_has_a_word() {
        for (seen, word) in [
            ("loop 20261122-015415-0a1b2c waits", "loop [id] waits"),
            (
                "--resume 0b1c2d3e-0000-4000-8000-0123456789ab",
                "--resume [session]",
            ),
            (
                " ▐▛███▛█   Claude Code v2.1.330",
                " ▐▛███▛█  Claude Code [version]",
            ),
            ("codex 0.169.0", "codex [version]"),
            ("run-began r1-af79a7b6: round 1", "run-began [run]: round 1"),
            ("at 2026-11-22T01:54:15Z", "at [when]"),
            ("rolled-back/20261122-120303", "rolled-back/[when]"),
            (
                "✻ Cogitating… (3s · ↑ 12 tokens · esc to interrupt)",
                "[working]",
            ),
            ("  ✽ Reading files…", "[working]"),
            ("✻ Brewed for 1m 4s", "[worked]"),
            ("* item of a list", "* item of a list"),
            (
                "took 3.2s, then 15 ms, then 1h 2m 3s",
                "took [time], then [time], then [time]",
            ),
            ("↓ 1.2k tokens", "[tokens]"),
            ("Total cost: $0.0130", "Total cost: [cost]"),
            ("┃ quoted text   ┃", "quoted text"),
            ("│ > typed   │", "> typed"),
            ("╭──────── Claude ──╮", "────"),
            ("──────────", "────"),
            ("left          right", "left  right"),
            (
                "3 shells, 2 monitors, 40 meters",
                "3 shells, 2 monitors, 40 meters",
            ),
        ] {
            assert_eq!(normalised(seen, &[]), format!("{word}\n"), "{seen}");
        }
    }

    #[test]
    fn the_longest_place_is_named() {
        let places = [
            ("/tmp/x", "[home]"),
            ("/tmp/x/my project", "[project]"),
            ("", "[nothing]"),
        ];
        let text = normalised("/tmp/x/my project/PLAN.md and /tmp/x/.claude\n", &places);
        assert_eq!(text, "[project]/PLAN.md and [home]/.claude\n");
    }

    #[test]
    fn what_has_a_word_may_be_broken_by_the_terminal() {
        let places = [("/tmp/my project", "[project]")];
        for seen in [
            "of 20261122-01\n  5415-0a1b2c in /tmp/my proj\n     ect/x",
            "of\n20261122-015415-0a1b2c in /tmp/my\nproject/x",
        ] {
            let seen = normalised(seen, &places);
            assert_eq!(seen.replace('\n', " ").trim_end(), "of [id] in [project]/x");
        }
        let session = "0b1c2d3e-0000-4000-8\n000-0123456789ab";
        assert_eq!(normalised(session, &[]), "[session]\n");
    }

    #[test]
    fn what_is_normalised_is_the_same_when_it_is_normalised_again() {
        let screen =
            "╭──╮\n│ a    b 3s │\n╰──╯\n✻ Brewed for 4s\n  ● v1.2.3     20261122-015415-0a1b2c\n";
        let once = normalised(screen, &[]);
        assert_eq!(normalised(&once, &[]), once);
        assert!(fits(&once, screen));
    }

    #[test]
    fn overwriting_keeps_a_file_that_fits_and_its_gaps() {
        let folder = tempfile::tempdir().unwrap();
        let path = Kept::place(&folder.path().join("screens"), "it", "newest");
        assert!(Kept::read(&path).is_err());
        assert!(Kept::overwrite(&path, "took 3s\nall\n", &[]).unwrap());
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "took [time]\nall\n"
        );
        std::fs::write(&path, "[…]\nall\n").unwrap();
        assert!(!Kept::overwrite(&path, "took long\nall\n", &[]).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[…]\nall\n");
        assert!(Kept::overwrite(&path, "nothing\n", &[]).unwrap());
        Kept::read(&path).unwrap().fits("nothing", &[]).unwrap();
    }

    #[test]
    fn a_client_may_have_a_screen_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("it.oldest.txt"), "old\n").unwrap();
        assert_eq!(
            Kept::place(folder.path(), "it", "oldest"),
            folder.path().join("it.oldest.txt")
        );
        assert_eq!(
            Kept::place(folder.path(), "it", "newest"),
            folder.path().join("it.txt")
        );
    }
}
