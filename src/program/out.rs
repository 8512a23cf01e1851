//! Printing. All output leaves here and is cleaned here, also the text that it quotes. It is no error if the
//! reader goes away (`claudex-loop list | head -1`).

use std::io::{self, IsTerminal, Write};

use super::color::{self, Tone};
use crate::text;

/// Prints lines on stdout. Their paths stay exact: people and agents copy them.
pub fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", text::plain(text));
}

/// Prints a line on stdout with the first occurrence of the word coloured.
pub fn toned(text: &str, word: &str, tone: Tone) {
    print_styled(&color::toned(&text::plain(text), word, tone));
}

/// Prints Markdown on stdout with its headings coloured.
pub fn markdown(text: &str) {
    let mut is_fenced = false;
    for line in text::plain(text).lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        match color::heading(line).filter(|_| !is_fenced) {
            Some(tone) => print_styled(&color::toned(line, line, tone)),
            None => print_styled(line),
        }
    }
}

fn print_styled(line: &str) {
    let _ = writeln!(anstream::stdout().lock(), "{line}");
}

/// Prints a value on stdout byte for byte, for a script that reads it; a terminal gets it cleaned.
pub fn exact(value: &str) {
    let mut stdout = io::stdout().lock();
    let _ = if stdout.is_terminal() {
        writeln!(stdout, "{}", text::plain(value))
    } else {
        writeln!(stdout, "{value}")
    };
}

/// Prints cleaned text on stdout without adding a line end: a file, or instructions for an agent.
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

/// Prints a coloured report on stderr. The caller has cleaned quoted text.
pub(super) fn report(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", text.trim_end());
}

/// Prints a value as pretty JSON on stdout.
pub fn json(value: &impl serde::Serialize) {
    print_json(serde_json::to_string_pretty(value));
}

/// Prints values as JSON on stdout, one a line.
pub fn json_lines(values: &[impl serde::Serialize]) {
    values
        .iter()
        .for_each(|value| print_json(serde_json::to_string(value)));
}

fn print_json(json: serde_json::Result<String>) {
    match json {
        Ok(text) => line(&text::plain_json(&text)),
        Err(error) => note(&format!("cannot write JSON: {error}")),
    }
}

/// Returns the lines of a table, with columns as wide as their cells. The first row is the heading.
pub(super) fn table(rows: &[Vec<String>]) -> Vec<String> {
    let mut lines = vec![String::new(); rows.len()];
    for column in 0..rows.first().map_or(0, Vec::len) {
        let width = rows.iter().map(|row| row[column].chars().count()).max();
        let width = width.unwrap_or_default();
        for (line, row) in lines.iter_mut().zip(rows) {
            *line += &format!("{:<width$}  ", row[column]);
        }
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}
