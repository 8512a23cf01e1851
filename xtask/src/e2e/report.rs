//! What a run prints: a line as each scenario ends, then the failures.

use std::io::Write as _;

use super::play::Outcome;
use super::scenario::{Age, Scenario};

/// One scenario with one client.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) age: Age,
    /// The client's version.
    pub(super) version: &'a str,
}

impl Row<'_> {
    /// Returns the row's name, which is also the name of its folder.
    pub(super) fn label(&self) -> String {
        let age = format!("{:?}", self.age).to_lowercase();
        format!("{}-{age}", self.scenario.name)
    }
}

/// Prints a line about progress.
pub(super) fn print_note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints the line of a scenario that has ended.
pub(super) fn print_end(row: &Row<'_>, outcome: &Outcome, keep: bool) {
    let result = if outcome.result.is_ok() {
        "ok"
    } else {
        "FAILED"
    };
    let seconds = outcome.took.as_secs_f64();
    print_note(&format!("{result:<6} {seconds:>6.1} s  {}", row.label()));
    if keep {
        print_note(&format!("{:>17}{}", "", outcome.folder.display()));
    }
}

/// Prints the failures. Returns whether all scenarios passed.
pub(super) fn print_failures(rows: &[(Row<'_>, Outcome)]) -> bool {
    let mut text = String::new();
    let mut failed = 0;
    for (row, outcome) in rows {
        let Err(error) = &outcome.result else {
            continue;
        };
        failed += 1;
        let name = row.label();
        let doc = &row.scenario.doc;
        let conversation = outcome.conversation.render();
        let folder = outcome.folder.display();
        text += &format!("\n==== {name}\n{doc}\n\n{conversation}\n");
        text += &format!("-- error\n{error:#}\n-- folder: {folder}\n");
    }
    text += &format!("{} played, {failed} failed\n", rows.len());
    let _ = std::io::stdout().write_all(text.as_bytes());
    failed == 0
}
