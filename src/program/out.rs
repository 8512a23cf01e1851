//! Printing: all output leaves here, and is made plain here, whatever it quotes. A reader that went away
//! (`claudex-loop list | head -1`) is no error of ours.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use super::color::{self, Tone};
use super::screen;
use crate::text;

/// Prints a line on stdout. Its paths stay exact: people and agents copy them.
pub fn line(text: &str) {
    print(&text::plain(text));
}

/// Prints a line on stdout, on a terminal with the first of this word in it coloured.
pub fn toned(text: &str, word: &str, tone: Tone) {
    print(&color::toned(&text::plain(text), word, tone));
}

/// Prints text for a person on stdout, on a terminal broken between words where it ends. This part stays whole: a path with a space in it.
pub fn prose(text: &str, whole: &str) {
    let columns = screen::columns();
    let joined = whole.replace(' ', NO_BREAK);
    for line in text::plain(text).lines() {
        let line = match whole.contains(' ') {
            true => Cow::Owned(line.replace(whole, &joined)),
            false => Cow::Borrowed(line),
        };
        for line in screen::prose(&line, columns) {
            print(&line.replace(&joined, whole));
        }
    }
}

/// Stands for a space at which a line is not broken.
const NO_BREAK: &str = "\u{a0}";

/// Prints Markdown for a person on stdout, on a terminal with its headings coloured and broken between words; fenced lines stay whole.
pub fn markdown(text: &str) {
    let columns = screen::columns();
    let mut is_fenced = false;
    for line in text::plain(text).lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        match color::heading(line).filter(|_| !is_fenced) {
            _ if is_fence || is_fenced => print(line),
            tone => {
                for part in screen::prose(line, columns) {
                    print(
                        &tone.map_or_else(|| part.clone(), |tone| color::toned(&part, &part, tone)),
                    );
                }
            }
        }
    }
}

fn print(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// Prints a value on stdout byte for byte, for a script that reads it; a terminal gets it plain.
pub fn exact(value: &str) {
    let mut stdout = io::stdout().lock();
    let _ = match stdout.is_terminal() {
        true => writeln!(stdout, "{}", text::plain(value)),
        false => writeln!(stdout, "{value}"),
    };
}

/// Prints text on stdout as it is but plain, without a line end of its own: a file, or what an agent is to do.
pub fn text(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text::plain(text).as_bytes());
    let _ = stdout.flush();
}

/// Prints a note on stderr, so that nothing in it runs when it is pasted between a shell's quotes.
pub fn note(text: &str) {
    let _ = writeln!(
        io::stderr().lock(),
        "{}",
        text::pasteable(&text::plain(text))
    );
}

/// Prints a report on stderr, on a terminal broken between words where it ends. It may be coloured, so what it quotes was made plain before.
pub(super) fn report(text: &str) {
    let columns = screen::columns_of(&io::stderr());
    for line in text.trim_end().lines() {
        for line in screen::report(line, columns) {
            let _ = writeln!(io::stderr().lock(), "{line}");
        }
    }
}

/// A value as pretty JSON on stdout.
pub fn json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&text::plain_json(&text)),
        Err(error) => note(&format!("could not write JSON: {error}")),
    }
}

/// Values as JSON on stdout, one a line.
pub fn json_lines(values: &[impl serde::Serialize]) {
    for value in values {
        match serde_json::to_string(value) {
            Ok(text) => print(&text::plain_json(&text)),
            Err(error) => note(&format!("an entry cannot be written as JSON: {error}")),
        }
    }
}
