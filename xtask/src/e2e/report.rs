//! What a run came to: a line as each scenario ends, a table of all, and for each failure its reason and its conversation.

use std::io::Write as _;

use comfy_table::{Table, presets};

use super::play::Outcome;
use super::scenario::{Age, Scenario};
use super::words::told;

/// One scenario with one client.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) age: Age,
    /// The client's version.
    pub(super) version: &'a str,
}

impl Row<'_> {
    /// Its name in lines and as a folder's.
    pub(super) fn label(&self) -> String {
        format!("{}-{}", self.scenario.name, self.age)
    }
}

/// Prints a line about what goes on.
pub(super) fn note(line: &str) {
    // A closed stderr is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints the line of a scenario that has ended.
pub(super) fn ended(row: &Row<'_>, outcome: &Outcome) {
    let word = if outcome.result.is_ok() {
        "ok  "
    } else {
        "FAIL"
    };
    note(&format!(
        "{word}  {:<60} {:>5.1} s",
        row.label(),
        outcome.took.as_secs_f64()
    ));
}

/// Prints the failures and the table. Whether all went well.
pub(super) fn all(rows: &[(Row<'_>, Outcome)], keep: bool) -> bool {
    let mut text = String::new();
    for (row, outcome) in rows {
        if let Err(error) = &outcome.result {
            text.push_str(&format!(
                "\n==== {} (Claude Code {})\n{}\n\n{}\n-- why\n{}\n-- its folder: {}\n",
                row.label(),
                row.version,
                row.scenario.doc,
                super::story::of(&outcome.conversation),
                told(error),
                outcome.folder.display(),
            ));
        } else if keep {
            text.push_str(&format!("{}: {}\n", row.label(), outcome.folder.display()));
        }
    }
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["scenario", "Claude Code", "took", "result"]);
    for (row, outcome) in rows {
        table.add_row([
            row.scenario.name.as_str(),
            row.version,
            &format!("{:.1} s", outcome.took.as_secs_f64()),
            if outcome.result.is_ok() {
                "ok"
            } else {
                "FAILED"
            },
        ]);
    }
    let failed = rows
        .iter()
        .filter(|(_, outcome)| outcome.result.is_err())
        .count();
    text.push_str(&format!(
        "\n{table}\n{} played, {failed} failed\n",
        rows.len()
    ));
    // A closed stdout is no reason to panic; the exit status tells the rest.
    let _ = std::io::stdout().write_all(text.as_bytes());
    failed == 0
}
