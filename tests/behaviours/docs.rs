//! docs/behaviours.md says what the catalogue says, and what it shows works.

use std::fs;
use std::path::Path;

use claudex_build::catalogue::{CATALOGUE, markdown};

/// The rest of a machine around an example: fields, a mode, an end.
const AROUND: &str = r#"name = "example"

[modes.usual]
start = "drafting"

[fields]
phase     = { holds = "phase" }
id        = { holds = "id" }
root      = { holds = "root" }
session   = { holds = "session" }
revision  = { holds = "revision" }
machine   = { holds = "machine" }
plan      = { type = "path", initial = "PLAN.md" }
version   = { type = "text" }
round     = { type = "count", initial = 1 }
reminders = { type = "count" }
failures  = { type = "count" }
approved  = { type = "flag" }

[phases.finished]
terminal = true

"#;

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/behaviours.md")).unwrap()
}

#[test]
fn the_sections_of_the_document_are_those_of_the_catalogue() {
    let (document, markdown) = (document(), markdown());
    let stale = markdown
        .lines()
        .find(|line| !document.lines().any(|other| other == *line));
    assert!(
        document.contains(&markdown),
        "docs/behaviours.md is stale (first line that it does not have: {stale:?}); put this between its two comments:\n{markdown}"
    );
}

#[test]
fn every_example_is_a_machine_without_a_finding() {
    for entry in CATALOGUE {
        let source = format!("{AROUND}{}", entry.example);
        if let Err(found) = claudex_build::check_source("example.toml", &source) {
            panic!("the example of {}: {found}", entry.name);
        }
        assert!(entry.example.contains(entry.name), "{}", entry.name);
    }
}

#[test]
fn the_behaviour_of_ones_own_that_is_shown_is_the_one_that_is_built_here() {
    let shown = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/behaviours/crate/src/own_stop.rs"),
    );
    let shown = shown.unwrap();
    assert!(
        document().contains(&format!("```rust\n{shown}```\n")),
        "docs/behaviours.md shows another text than\n{shown}"
    );
}
