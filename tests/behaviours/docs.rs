//! docs/behaviours.md has each behaviour of the catalogue, and its examples work.

use std::fs;
use std::path::Path;

use claudex_build::catalogue::CATALOGUE;

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
fn every_example_is_a_valid_machine() {
    let document = document();
    let (_, sections) = document.split_once("\n## require-file\n").unwrap();
    let blocks = sections.split("```toml\n[phases.drafting").skip(1);
    let examples: Vec<&str> = blocks
        .map(|rest| rest.split("```").next().unwrap_or(rest))
        .collect();
    assert_eq!(examples.len(), CATALOGUE.len());
    for example in examples {
        let source = format!("{AROUND}[phases.drafting{example}");
        if let Err(found) = claudex_build::check_source("example.toml", &source) {
            panic!("{found}\n{source}");
        }
    }
    for entry in CATALOGUE {
        let heading = format!("\n## {}\n", entry.name);
        assert!(document.contains(&heading), "{}", entry.name);
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
