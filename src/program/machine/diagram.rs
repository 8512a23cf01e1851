//! `machine diagram`: the graph, in a language that diagrams are written in.

use camino::Utf8PathBuf;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use claudex_build::Format;

use super::{Own, Subject};
use crate::program::exit::{Exit, Failure};
use crate::program::out;

/// `machine diagram`
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A machine file; - is stdin [default: this program's own]
    file: Option<Utf8PathBuf>,
    /// mermaid for Markdown, dot for Graphviz, svg for a picture
    #[arg(long, default_value = "mermaid", value_parser = PossibleValuesParser::new(words()).try_map(|word| named(&word)))]
    format: Format,
}

fn words() -> Vec<&'static str> {
    Format::ALL.iter().map(|(word, _)| *word).collect()
}

/// The format that a word stands for.
fn named(word: &str) -> Result<Format, &'static str> {
    let found = Format::ALL.iter().find(|(known, _)| *known == word);
    found.map(|(_, format)| *format).ok_or("not a format")
}

pub(super) fn run(arguments: &Arguments, own: &Own) -> Result<Exit, Failure> {
    let subject = Subject::load(arguments.file.as_deref(), own)?;
    out::text(&claudex_build::draw(
        &subject.machine,
        arguments.format,
        None,
    ));
    Ok(Exit::Complete)
}
