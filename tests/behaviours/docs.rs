//! docs/behaviours.md has each behaviour, and its examples work.

use std::fs;
use std::path::Path;

/// The rest of the machine of an example: fields, a mode, an end.
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

[phases.finished]
terminal = true

"#;

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/behaviours.md")).unwrap()
}

#[test]
fn every_example_is_a_valid_machine() {
    let document = document();
    let (intro, sections) = document.split_once("\n## require-file\n").unwrap();
    let (_, shared) = intro.split_once("```toml\n[[transitions.finish]]").unwrap();
    let (finish, remind) = shared.split_once("[[transitions.remind]]").unwrap();
    let remind = remind.split("```").next().unwrap_or(remind);
    let shared = [("finish", finish), ("remind", remind)];
    let blocks = sections.split("```toml\n[phases.drafting").skip(1);
    let examples: Vec<&str> = blocks
        .map(|rest| rest.split("```").next().unwrap_or(rest))
        .collect();
    assert_eq!(examples.len(), behaviours().len());
    for example in examples {
        let mut source = format!("{AROUND}[phases.drafting{example}");
        for (name, transition) in shared {
            let heading = format!("[[transitions.{name}]]");
            if example.contains(&format!("\"{name}\"")) && !example.contains(&heading) {
                source += &format!("\n{heading}{transition}");
            }
        }
        if let Err(found) = claudex_build::check_source("example.toml", &source) {
            panic!("{found}\n{source}");
        }
    }
    for name in behaviours() {
        assert!(document.contains(&format!("\n## {name}\n")), "{name}");
    }
}

/// Returns the names of all behaviours, which the message about an unknown one lists.
fn behaviours() -> Vec<String> {
    let source = "[phases.open]\non_stop = { unknown = {} }\n";
    let found = claudex_build::check_source("unknown.toml", source).unwrap_err();
    let help = found.list[0].help.clone().unwrap();
    help.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}
