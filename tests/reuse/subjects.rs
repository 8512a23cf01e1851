//! What a machine's Rust has reviewed, and what else it puts into the prompt: the subject is read by it alone, and the evidence is bound to that.

use std::fs;

use crate::project::Project;

const MACHINE: &str = r#"name = "ledger"
messages = "messages"
context = ["rule"]

[modes.ledger]
start = "checking"

[fields]
HELD
round    = { type = "count", initial = 1 }

[phases.checking.on_stop.review]
subject  = ["{program}", "NOTES.md"]
round    = "round"
prompt   = "prompt.md"
clean    = "finish"
findings = "again"
failed   = "leave"

[phases.done]
terminal = true

[[transitions.finish]]
from     = "checking"
to       = "done"
requires = "settled"

[[transitions.again]]
from     = "checking"
to       = "same"
when     = "round < 9"
set      = { round = "round + 1" }
requires = "reviewed"

[[transitions.leave]]
from = "checking"
to   = "done"
"#;

const MAIN: &str = r##"#![deny(warnings)]
use std::process::ExitCode;

use claudex_loop::Timestamp;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{Extension, Variables};
use claudex_loop::review::Subject;

claudex_loop::machine!(ledger);
use ledger::{AnyLoop, OnStop};

struct Ledger;

/// The first row that is open: `open FILE: what it is for`.
impl OnStop for Ledger {
    fn subjects(&self, held: &AnyLoop) -> Result<Vec<Subject>, String> {
        let table = held.raw().read("TABLE").map_err(|error| format!("TABLE: {error}"))?;
        let table = String::from_utf8_lossy(&table);
        let mut rows = table.lines().filter_map(|row| row.strip_prefix("open ")?.split_once(": "));
        let Some((file, what)) = rows.next() else {
            return Ok(Vec::new());
        };
        let row = Subject::Text { name: "its row".to_owned(), text: what.to_owned() };
        Ok(vec![row, Subject::File(file.to_owned())])
    }
}

impl Extension<ledger::Ledger> for Ledger {
    fn context(&self, held: &AnyLoop, _: &Settings, _: Timestamp) -> Variables {
        let rule = format!("Round {}: sums have two digits.", held.raw().count("round"));
        [("rule".to_owned(), rule.into())].into_iter().collect()
    }
}

fn main() -> ExitCode {
    ledger::extended_program(Ledger, Ledger).main()
}
"##;

const CONFIGURATION: &str = r#"reviewer = "fine"

[reviewers.fine]
kind      = "command"
program   = "/bin/sh"
arguments = ["-c", "cat > TOLD; printf '# Findings\n\nNo substantive findings.\n'"]
"#;

const PROMPT: &str = "Read {{ subject }}. {% if part %}From line {{ part.first }}. {% endif %}{{ rule }}\n{{ document }}";

/// Rows of the table, one of which is open.
const TABLE: &str = "done rent.md: the rent\nopen tea.md: the tea\nopen ink.md: the ink\n";

fn project() -> Project {
    let project = Project::with_main(
        "ledger",
        MACHINE,
        &[("prompt.md", PROMPT)],
        CONFIGURATION,
        MAIN,
    );
    project.write("TABLE", TABLE);
    project.write("tea.md", "Tea: 3.50\n");
    project.run(&["start"], "");
    project
}

#[test]
fn what_the_program_gives_is_what_is_reviewed_and_what_counts() {
    let project = project();
    project.run(&["review"], "");
    let told = fs::read_to_string(project.root.join("TOLD")).unwrap();
    assert_eq!(
        told,
        "Read its row, tea.md. Round 1: sums have two digits.\n\
         === its row ===\nthe tea\n=== tea.md ===\nTea: 3.50\n"
    );
    // The row and the file are what was reviewed.
    for (file, before, after) in [
        ("TABLE", TABLE, TABLE.replace("the tea", "the good tea")),
        ("TABLE", TABLE, TABLE.replace("open tea", "done tea")),
        ("tea.md", "Tea: 3.50\n", "Tea: 3.05\n".to_owned()),
    ] {
        project.write(file, &after);
        assert_eq!(project.stop(), "checking", "{after}");
        project.write(file, before);
        project.run(&["review"], "");
    }
    // The rest of the table is not.
    project.write("TABLE", &TABLE.replace("the ink", "black ink"));
    assert_eq!(project.stop(), "done");
}

#[test]
fn why_nothing_can_be_reviewed_is_said() {
    let project = project();
    fs::remove_file(project.root.join("TABLE")).unwrap();
    for (table, why) in [
        (None, "TABLE: "),
        (
            Some("open ../tea.md: the tea\n"),
            "../tea.md is no path below the loop’s root",
        ),
        (
            Some("open /tea.md: the tea\n"),
            "/tea.md is no path below the loop’s root",
        ),
        (
            Some("done tea.md: the tea\n"),
            "nothing that the program gives is there",
        ),
    ] {
        if let Some(table) = table {
            project.write("TABLE", table);
        }
        let (succeeded, said) = project.try_run(&["review"], "");
        assert!(!succeeded && said.contains(why), "{said}");
        let said = project.stop_saying();
        assert_eq!(said["decision"], "approve", "{said}");
        assert_eq!(project.status("phase"), "checking");
    }
    assert!(!project.root.join("TOLD").exists());
}
