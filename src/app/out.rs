//! Printing. A reader that went away (`claudex-loop list | head -1`) is no error of ours.

use std::io::{self, Write};

/// A line on stdout.
pub fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Text on stdout as it is.
pub fn text(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes());
    let _ = stdout.flush();
}

/// A line on stderr.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A report on stderr.
pub fn error_text(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}

/// A value as pretty JSON on stdout.
pub fn json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(&text),
        Err(error) => note(&format!("could not write JSON: {error}")),
    }
}

/// Values as JSON on stdout, one a line.
pub fn json_lines(values: &[impl serde::Serialize]) {
    for value in values {
        match serde_json::to_string(value) {
            Ok(text) => line(&text),
            Err(error) => note(&format!("an entry cannot be written as JSON: {error}")),
        }
    }
}
