//! Printing. All output is cleaned here, also quoted text. A closed pipe is no error; any other
//! failure is kept for the end of the program. anstream removes colours without a terminal, or if
//! `NO_COLOR` is set.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use anstream::ColorChoice;
use clap::builder::styling::{AnsiColor, Style};

use super::caller::Caller;
use crate::text;

/// The style of a label or a heading.
pub const HEADING: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// The first failure to write to stdout.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Keeps a failure to write to stdout. A reader that has closed its pipe wants no more.
pub(super) fn keep_failure(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = FAILURE.set(error);
    }
}

/// Returns the first failure to write to stdout, if there was one.
pub(super) fn failure() -> Option<&'static io::Error> {
    FAILURE.get()
}

/// Turns colours off inside a client, where an agent reads the output.
pub(super) fn disable_color_inside_client() {
    if Caller::from_env().inside {
        ColorChoice::Never.write_global();
    }
}

/// Prints lines on stdout. Paths stay exact, because people and agents copy them.
pub fn line(text: &str) {
    emphasize(text, "", HEADING);
}

/// Prints a line on stdout with the first occurrence of the word coloured.
pub fn emphasize(text: &str, word: &str, style: Style) {
    let mut text = text::strip_hidden(text);
    if !word.is_empty() {
        text = text.replacen(word, &format!("{style}{word}{style:#}"), 1);
    }
    keep_failure(writeln!(anstream::stdout().lock(), "{text}"));
}

/// Prints a value on stdout byte for byte, for a script, or cleaned for a terminal.
pub fn exact(value: &str) {
    if io::stdout().is_terminal() {
        return line(value);
    }
    keep_failure(writeln!(io::stdout().lock(), "{value}"));
}

/// Prints cleaned text on stdout without adding a line end: a file, or instructions for an agent.
pub fn text(text: &str) {
    let mut stdout = io::stdout().lock();
    keep_failure(stdout.write_all(text::strip_hidden(text).as_bytes()));
    keep_failure(stdout.flush());
}

/// Prints a note on stderr, in which nothing runs when it is pasted between a shell's quotes.
pub fn note(text: &str) {
    report(&text::pasteable(&text::strip_hidden(text)));
}

/// Prints a coloured report on stderr, whose quoted text is already clean.
pub(super) fn report(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", text.trim_end());
}

/// Prints a value as pretty JSON on stdout.
pub fn json(value: &impl serde::Serialize) {
    serialized(serde_json::to_string_pretty(value));
}

pub(super) fn serialized(json: serde_json::Result<String>) {
    match json {
        Ok(text) => line(&text::plain_json(&text)),
        Err(error) => note(&format!("cannot write JSON: {error}")),
    }
}
