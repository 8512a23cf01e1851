//! Colours on a terminal. anstream removes them if stdout is not a terminal, or if `NO_COLOR` is set.

use anstream::ColorChoice;
use clap::builder::styling::{AnsiColor, Style};

use super::caller::Caller;
use crate::review::findings::Severity;

/// Turns colours off inside a client, because an agent reads the output there.
pub(super) fn disable_inside_client() {
    if Caller::from_env().inside {
        ColorChoice::Never.write_global();
    }
}

/// The meaning of a coloured word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A label or a heading.
    Heading,
    /// Correct.
    Good,
    /// Something to know about.
    Warning,
    /// Something that stops a loop.
    Bad,
}

impl From<Severity> for Tone {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::High => Self::Bad,
            Severity::Medium => Self::Warning,
            Severity::Low => Self::Heading,
        }
    }
}

/// Returns the text with the first occurrence of the word coloured.
pub(super) fn toned(text: &str, word: &str, tone: Tone) -> String {
    if word.is_empty() {
        return text.to_owned();
    }
    let style = match tone {
        Tone::Heading => Style::new().bold(),
        Tone::Good => AnsiColor::Green.on_default().bold(),
        Tone::Warning => AnsiColor::Yellow.on_default().bold(),
        Tone::Bad => AnsiColor::Red.on_default().bold(),
    };
    text.replacen(word, &format!("{style}{word}{style:#}"), 1)
}

/// Returns the tone of a Markdown heading, or `None` if the line is not a heading.
pub(super) fn heading(line: &str) -> Option<Tone> {
    let heading = line.trim_start_matches('#').strip_prefix(' ')?;
    let is_heading = |one: &Severity| one.to_string().eq_ignore_ascii_case(heading);
    let severity = Severity::ALL.into_iter().find(is_heading);
    line.starts_with('#')
        .then(|| severity.map_or(Tone::Heading, Tone::from))
}
