//! Colours on a terminal. anstream removes them if stdout is not a terminal, or if `NO_COLOR` is set.

use anstream::ColorChoice;
use clap::builder::PossibleValuesParser;
use clap::builder::styling::{AnsiColor, Style};
use clap::{Arg, ArgMatches};

use super::caller::Caller;
use crate::review::findings::Severity;

/// Id and long name of the flag.
const FLAG: &str = "color";

/// Returns the flag, which every command takes.
pub(super) fn flag() -> Arg {
    Arg::new(FLAG)
        .long(FLAG)
        .value_name("WHEN")
        .value_parser(PossibleValuesParser::new(["auto", "always", "never"]))
        .hide_possible_values(true)
        .global(true)
        .help("Colours: auto, always or never [default: auto]")
}

/// Turns colours off inside a client, because an agent reads the output there.
pub(super) fn disable_inside_client() {
    if Caller::from_env().inside {
        ColorChoice::Never.write_global();
    }
}

/// Applies the value of the flag, if it was given.
pub(super) fn apply(matches: &ArgMatches) {
    match matches.get_one::<String>(FLAG).map(String::as_str) {
        Some("always") => ColorChoice::Always.write_global(),
        Some("never") => ColorChoice::Never.write_global(),
        _ => {}
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
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() || !heading.starts_with(' ') {
        return None;
    }
    let is_heading = |one: &Severity| one.to_string().eq_ignore_ascii_case(heading.trim());
    let severity = Severity::ALL.into_iter().find(is_heading);
    Some(severity.map_or(Tone::Heading, Tone::from))
}
