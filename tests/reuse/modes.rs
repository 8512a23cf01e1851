//! A mode whose name is of two words, typed as the slash command that it is.

use serde_json::json;

use crate::project::Project;

const MACHINE: &str = r#"name = "ways"

[plugin]
name = "ways"

[modes.new_way]
start = "open"

[modes.old_way]
start = "open"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
mode     = { holds = "mode" }
about    = { type = "text", at_start = "required" }

[phases.open]
on_stop = { approve = {} }

[phases.closed]
terminal = true

[[transitions.close]]
from = "open"
to   = "closed"
by   = ["agent", "person"]
"#;

#[test]
fn what_is_typed_after_a_slash_command_of_two_words_starts_its_mode() {
    let project = Project::new("ways", MACHINE, &[], "");
    let prompt = json!({"session_id": "s", "cwd": project.root, "hook_event_name": "UserPromptSubmit", "prompt_id": "p",
                        "prompt": "/ways:new-way a 'way' of $(its) own"});
    project.run(&["hook", "prompt"], &prompt.to_string());
    let mut start = project.command(&["start", "new_way", "--from-prompt"]);
    let started = start
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "s")
        .output()
        .unwrap();
    assert!(started.status.success(), "{started:?}");
    assert_eq!(project.status("mode"), "new_way");
    let shown = project.run(&["status", "--json"], "");
    assert!(shown.contains("\"about\": \"a 'way' of $(its) own\""), "{shown}");
}
