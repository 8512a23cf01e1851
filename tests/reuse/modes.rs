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
HELD
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
    let (succeeded, said) = project.agent(&["start", "new_way", "--from-prompt"]);
    assert!(succeeded, "{said}");
    assert_eq!(project.status("mode"), "new_way");
    let shown = project.run(&["status", "--json"], "");
    assert!(
        shown.contains("\"about\": \"a 'way' of $(its) own\""),
        "{shown}"
    );
}
