//! What a program checks before every stop: all that it finds stands in one block, as often as the machine says, and then the turn ends.

use serde_json::json;

use crate::project::Project;

const MACHINE: &str = r#"name = "tidy"
before_stop = ["mend"]

[modes.tidy]
start = "writing"

[fields]
HELD
mended   = { type = "count" }

[phases.writing]
on_stop = { require-file = { path = "TEXT.md", written = "finish" } }

[phases.done]
terminal = true

[[transitions.mend]]
from    = "*"
to      = "same"
when    = "mended < 2"
set     = { mended = "mended + 1" }
message = "mend.md"

[[transitions.finish]]
from = "writing"
to   = "done"

[[transitions.leave]]
from = "writing"
to   = "done"
by   = ["person"]
"#;

const MAIN: &str = r#"use tidy::{AnyLoop, OnStop};

#[derive(Debug, Clone, Copy)]
struct Tidy;

impl OnStop for Tidy {
    fn violations(&self, held: &AnyLoop) -> Vec<String> {
        let stray = |name: &&str| held.raw().root().join(name).exists();
        let names = ["a.tmp", "b.tmp"].into_iter().filter(stray);
        names.map(|name| format!("{name} is in the way.")).collect()
    }
}

claudex_loop::main!(tidy, Tidy);
"#;

const MEND: &str = "Mend this:\n{% for one in violations %}- {{ one }}\n{% endfor %}";

#[test]
fn what_the_program_finds_comes_before_what_the_phase_says() {
    let project = Project::with_main("tidy", MACHINE, &[("../mend.md", MEND)], "", MAIN);
    project.run(&["start"], "");
    for name in ["TEXT.md", "a.tmp", "b.tmp"] {
        project.write(name, "Text.\n");
    }
    let found = "Mend this:\n- a.tmp is in the way.\n- b.tmp is in the way.\n";
    for _ in 0..2 {
        let said = project.stop_saying();
        assert_eq!(
            (&said["decision"], &said["reason"]),
            (&json!("block"), &json!(found))
        );
    }
    // The machine has said how often: then the turn ends, and the person reads what is wrong.
    let said = project.stop_saying();
    assert_eq!(said["decision"], "approve");
    let told = said["systemMessage"].as_str().unwrap();
    assert!(
        told.contains(": a.tmp is in the way; b.tmp is in the way."),
        "{told}"
    );
    assert_eq!(project.status("phase"), "writing");
    for name in ["a.tmp", "b.tmp"] {
        std::fs::remove_file(project.root.join(name)).unwrap();
    }
    project.stop_saying();
    assert!(project.run(&["list"], "").contains("done"));
}
