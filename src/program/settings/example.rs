//! The example of a user's file that the documentation shows, and the same with nothing switched on.

use crate::program::info::ProgramInfo;

/// A whole file with every table, as docs/configuration.md shows it.
pub const EXAMPLE: &str = include_str!("example.toml");

/// The example with every setting in it commented out by a bare `#`: to start a file of one's own from.
pub fn example_to_edit(info: &ProgramInfo) -> String {
    let mut text = String::new();
    for line in EXAMPLE.replace("claudex-loop", info.program).lines() {
        if !line.is_empty() && !line.starts_with('#') {
            text.push('#');
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}
