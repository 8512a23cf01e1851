//! Colours on a terminal: what a person looks for first. Nothing that a program or an agent reads has any.

use std::io;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::Arg;
use clap::builder::PossibleValuesParser;
use clap::builder::styling::{AnsiColor, Style};

use strum::IntoEnumIterator as _;

use super::caller::Caller;
use crate::review::findings::Severity;

/// The flag.
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

/// Takes what the arguments say, before they are parsed: what is wrong with them is coloured or not, too.
pub(super) fn choose() {
    let words: Vec<_> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let given = words.iter().enumerate().find_map(|(at, word)| {
        let rest = word.strip_prefix("--")?.strip_prefix(FLAG)?;
        match rest {
            "" => words.get(at + 1).map(String::as_str),
            rest => rest.strip_prefix('='),
        }
    });
    match given {
        Some("always") => ColorChoice::Always.write_global(),
        Some("never") => ColorChoice::Never.write_global(),
        _ => {}
    }
}

/// Returns whether a stream is coloured. Variables of the environment alone colour no file and no pipe, and nothing inside a client is: an
/// agent reads there.
fn is_on(stream: &impl RawStream) -> bool {
    match ColorChoice::global() {
        ColorChoice::Auto => {
            let may_be = stream.is_terminal() && AutoStream::choice(stream) != ColorChoice::Never;
            may_be && !Caller::from_env().inside
        }
        choice => choice != ColorChoice::Never,
    }
}

/// Returns whether reports of errors are coloured.
pub(super) fn is_on_for_errors() -> bool {
    is_on(&io::stderr())
}

/// Says how a word is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Names what follows.
    Heading,
    /// As it should be.
    Good,
    /// It takes something away.
    Warning,
    /// It stops something.
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

/// Returns plain text for stdout with the first of this word in it coloured.
pub(super) fn toned(text: &str, word: &str, tone: Tone) -> String {
    if word.is_empty() || !is_on(&io::stdout()) {
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

/// Returns how a heading of Markdown is meant: a severity as such, a mark by what it says. Other lines are none.
pub(super) fn heading(line: &str) -> Option<Tone> {
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() || !heading.starts_with(' ') {
        return None;
    }
    Some(
        match Severity::iter().find(|one| one.to_string().eq_ignore_ascii_case(heading.trim())) {
            Some(severity) => severity.into(),
            None if line.ends_with('✓') => Tone::Good,
            None if line.ends_with('✗') => Tone::Bad,
            None => Tone::Heading,
        },
    )
}
