//! Fitting text to a terminal: how wide it is, cutting a line, wrapping one below its label.
//!
//! Where stdout is no terminal nothing is cut or wrapped: whoever reads there looks for whole lines.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use unicode_width::UnicodeWidthStr;

use crate::text::COMMAND;

/// Narrower than this nothing can be laid out; what does not fit then breaks where the terminal breaks it.
const NARROWEST: usize = 30;

/// The columns of the terminal that stdout is; None: it is none.
pub fn columns() -> Option<usize> {
    columns_of(&std::io::stdout())
}

/// The columns of the terminal that a stream is.
pub(super) fn columns_of(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    // A terminal that does not know its size says 0.
    (size.ws_col > 0).then(|| usize::from(size.ws_col).max(NARROWEST))
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// As much of a line as fits, with `...` where something is left out.
pub fn cut(line: &str, columns: Option<usize>) -> String {
    let Some(most) = columns.filter(|most| width(line) > *most) else {
        return line.to_owned();
    };
    let mark = &"..."[..most.min(3)];
    let mut kept = String::new();
    for character in line.chars() {
        let mut longer = kept.clone();
        longer.push(character);
        if width(&longer) + mark.len() > most {
            break;
        }
        kept = longer;
    }
    kept.truncate(kept.trim_end().len());
    kept + mark
}

/// A label and its text, wrapped between words; what goes on stands below the text's beginning. A word that is wider
/// than the room is left whole: an id or a path that is cut in two is of no use. So is the line of a command.
pub fn wrap(label: &str, text: &str, columns: Option<usize>) -> Vec<String> {
    let below = " ".repeat(width(label));
    let lines = text.split('\n').enumerate().flat_map(|(at, line)| {
        let label = if at == 0 { label } else { &below };
        match columns.filter(|_| !line.starts_with(COMMAND)) {
            Some(columns) => wrapped(label, line, columns),
            None => vec![format!("{label}{line}")],
        }
    });
    lines.collect()
}

/// Lays out a line of text or of Markdown: what goes on stands below the beginning of its sentence or item. The line of a command is left
/// whole.
pub fn prose(line: &str, columns: Option<usize>) -> Vec<String> {
    if line.starts_with(COMMAND) {
        return vec![line.to_owned()];
    }
    let text = line.trim_start_matches(' ');
    let is_item = |mark: &str| {
        mark == "-"
            || mark
                .strip_suffix('.')
                .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let mark = text.split_once(' ').filter(|(mark, _)| is_item(mark));
    let indent = line.len() - text.len() + mark.map_or(0, |(mark, _)| mark.len() + 1);
    let (label, text) = line.split_at(indent);
    wrap(label, text, columns)
}

/// Lays out a line of an error's report: what goes on stands below the text behind the mark or the `help:` that it begins with, which may be
/// coloured. Where that stands below, a command is left whole; so is a line of a file that the report shows.
pub(super) fn report(line: &str, columns: Option<usize>) -> Vec<String> {
    let shown = anstream::adapter::strip_str(line).to_string();
    let begun = ["  × ", "  help: ", "        ", "    "];
    let text = begun.iter().find_map(|begun| shown.strip_prefix(begun));
    let Some(text) = text.filter(|text| line.ends_with(text) && !shown.contains(['│', '─']))
    else {
        return vec![line.to_owned()];
    };
    let mark = &line[..line.len() - text.len()];
    let label = &shown[..shown.len() - text.len()];
    let mut lines = wrap(label, text, columns);
    lines[0].replace_range(..label.len(), mark);
    lines
}

/// Splits a text where it may be broken: not within backquotes, and not in the path in which it ends, behind a colon or a full stop. A
/// slash command has a colon within.
fn pieces(text: &str) -> Vec<String> {
    let quotes = |word: &str| word.matches('`').count();
    let is_quoted = quotes(text).is_multiple_of(2);
    let mut pieces: Vec<String> = Vec::new();
    let (mut open, mut is_path) = (false, false);
    for word in text.split(' ') {
        let begins = word.starts_with('/')
            && !word.contains(':')
            && pieces.last().is_some_and(|last| last.ends_with([':', '.']));
        match pieces.last_mut().filter(|_| open || is_path) {
            Some(last) => last.extend([" ", word]),
            None => pieces.push(word.to_owned()),
        }
        is_path |= begins;
        open ^= is_quoted && !quotes(word).is_multiple_of(2);
    }
    pieces
}

fn wrapped(label: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = width(label);
    let mut lines = Vec::new();
    let mut line = label.to_owned();
    let mut is_empty = true;
    for word in &pieces(text) {
        if !is_empty && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_to_the_columns_that_it_takes() {
        assert_eq!(cut("short", Some(5)), "short");
        assert_eq!(cut("a long line", Some(8)), "a lon...");
        assert_eq!(cut("a long line", Some(10)), "a long...");
        assert_eq!(cut("a long line", None), "a long line");
        assert_eq!(cut("計画計画計画", Some(8)), "計画...");
        assert!(width(&cut("👩\u{200d}💻 mixed 計画 text", Some(9))) <= 9);
        assert_eq!(cut("abc", Some(2)), "..");
    }

    #[test]
    fn an_item_goes_on_below_its_text_and_neither_a_path_nor_what_is_quoted_is_broken() {
        let lines = |line: &str| prose(line, Some(30));
        assert_eq!(
            lines("  - line 7: nothing says how it is tested"),
            ["  - line 7: nothing says how", "    it is tested"]
        );
        assert_eq!(
            lines("1. Revise it: work through the findings")[1],
            "   findings"
        );
        assert_eq!(
            lines("high=1. Findings: /a b/c d/findings-round-1.md"),
            ["high=1. Findings:", "/a b/c d/findings-round-1.md"]
        );
        assert_eq!(
            lines("what happened, in full: `claudex-loop journal x` says"),
            ["what happened, in full:", "`claudex-loop journal x` says"]
        );
        assert_eq!(lines("one ` alone is no quote, and breaks").len(), 2);
        assert_eq!(
            lines("Give it up: /claudex:cancel 1 2 (or in a terminal)").len(),
            2
        );
        let command = "    claudex-loop run --resume 20261122-005333-0a1b2c";
        assert_eq!(lines(command), [command]);
        assert_eq!(prose("- as it is, however long it may be", None).len(), 1);
    }

    #[test]
    fn a_report_goes_on_below_its_text_and_keeps_commands_and_lines_of_files() {
        let lines = |line: &str| report(line, Some(30));
        assert_eq!(
            lines("  \u{1b}[31m×\u{1b}[0m the loop is held by another session"),
            [
                "  \u{1b}[31m×\u{1b}[0m the loop is held by",
                "    another session"
            ]
        );
        assert_eq!(
            lines("  help: list the loops, or go on with:"),
            ["  help: list the loops, or go", "        on with:"]
        );
        for whole in [
            "            claudex-loop resume 20261122-005333-0a1b2c",
            " 3 │ max_rounds = \"more than one may read in one line\"",
            "claudex::settings::a_code_that_is_longer",
        ] {
            assert_eq!(lines(whole), [whole]);
        }
    }

    #[test]
    fn a_text_is_wrapped_between_words_below_its_beginning() {
        assert_eq!(
            wrap(
                "next:      ",
                "run the review: claudex-loop review 20261122-005333-0a1b2c",
                Some(50)
            ),
            [
                "next:      run the review: claudex-loop review",
                "           20261122-005333-0a1b2c",
            ]
        );
        assert_eq!(
            wrap(
                "next: ",
                "end the turn, or:\n    claudex-loop cancel x",
                Some(30)
            ),
            ["next: end the turn, or:", "          claudex-loop cancel x"],
            "a command is not broken"
        );
        assert_eq!(wrap("n: ", "a:\n    b c", None), ["n: a:", "       b c"]);
        assert_eq!(wrap("a: ", "one two", None), ["a: one two"]);
        assert_eq!(wrap("a: ", "", Some(40)), ["a: "]);
        let long = "x".repeat(60);
        assert_eq!(
            wrap("a: ", &format!("b {long} c"), Some(40)).len(),
            3,
            "a long word is left whole"
        );
    }
}
