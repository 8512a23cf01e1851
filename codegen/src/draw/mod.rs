//! Pictures of a machine's graph: what is drawn is decided here once, how it is written is each format's own file.
//!
//! Pure and deterministic: the same machine is the same text, byte for byte. Knows a machine's model and no Rust.

mod dot;
mod layout;
mod mermaid;
mod picture;
mod svg;

use crate::model::Machine;
use picture::Picture;

/// A language that diagrams are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A Mermaid flowchart, which Markdown viewers draw.
    Mermaid,
    /// Graphviz's language.
    Dot,
    /// A picture of its own, laid out, readable on light and on dark ground.
    Svg,
}

impl Format {
    /// Every format, with the word that a command line takes for it.
    pub const ALL: [(&'static str, Format); 3] = [
        ("mermaid", Format::Mermaid),
        ("dot", Format::Dot),
        ("svg", Format::Svg),
    ];
}

/// Draws a machine that passed its checks. With `hits`, how often each edge was taken, by its place in
/// [`Machine::edges`] (absent: never): edges that were taken carry their number, the others are red and listed.
pub fn draw(machine: &Machine, format: Format, hits: Option<&[u64]>) -> String {
    let picture = Picture::new(machine, hits);
    match format {
        Format::Mermaid => mermaid::write(&picture),
        Format::Dot => dot::write(&picture),
        Format::Svg => svg::write(&picture),
    }
}

/// "1 edge", "2 edges".
fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
