//! What is said of `[plugin]`, and which slash commands a machine has.

#[macro_use]
mod support;

/// A machine without a fault, whose plugin says something of each kind of command.
const TRAIN: &str = r#"
name = "train"

[plugin]
name  = "the-train"
files = ["scripts/a.sh", "scripts/b.sh"]

[plugin.commands.local]
doc  = "Start at home"
text = "commands/local.md"

[plugin.commands.history]
arguments = "[id]"

[plugin.commands.abort]

[modes.local]
start = "standing"
[modes.express]
start = "standing"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }

[phases.standing]
[phases.done]
terminal = true

[[transitions.wave]]
from = "standing"
to   = "done"
by   = ["person"]

[[transitions.abort]]
from = "standing"
to   = "done"
by   = ["agent", "person"]

[[transitions.sing]]
from = "standing"
to   = "done"
by   = ["agent"]

[[transitions.brake]]
from = "standing"
to   = "done"
by   = ["agent", "person"]
"#;

fn said(edits: &[(&str, &str)]) -> String {
    support::found(&support::edited(TRAIN, edits))
}

fn commands(edits: &[(&str, &str)]) -> String {
    let source = support::edited(TRAIN, edits);
    let machine = claudex_build::check_source("m.toml", &source).unwrap();
    let commands = machine.slash_commands();
    let names: Vec<&str> = commands.iter().map(|command| command.name).collect();
    names.join(" ")
}

#[test]
fn each_mode_and_each_transition_of_a_person_is_a_command_and_an_agents_only_where_it_is_named() {
    assert_eq!(
        commands(&[]),
        "local express status history resume adopt rollback doctor wave abort"
    );
    assert_eq!(
        commands(&[("[plugin.commands.abort]\n", "")]),
        "local express status history resume adopt rollback doctor wave"
    );
    assert_eq!(
        commands(&[
            ("[modes.express]\nstart = \"standing\"\n", ""),
            ("[plugin.commands.local]", "[plugin.commands.start]"),
        ]),
        "start status history resume adopt rollback doctor wave abort"
    );
}

cases! {
    a_plugin_without_a_fault: [] says "nothing";
    a_plugin_without_a_name: ["name  = \"the-train\"\n" => ""] says r#"m.toml:4:2: [plugin] has no `name` (add `name = "release-train"`)"#;
    a_plugin_with_an_empty_list_of_files: ["[\"scripts/a.sh\", \"scripts/b.sh\"]" => "[]"] says "m.toml:6:9: `files` is an empty list (name something, or leave the key out)";
    a_file_that_stands_there_twice: ["scripts/b.sh" => "scripts/a.sh"] says "m.toml:6:26: `scripts/a.sh` stands in `files` twice (leave one of them out)";
    a_file_that_leads_elsewhere: ["scripts/b.sh" => "../b.sh"] says r#"m.toml:6:26: `files` cannot be "../b.sh" (it is a relative path without .., with / between its parts)"#;
    a_text_that_leads_elsewhere: ["commands/local.md" => "/etc/local.md"] says r#"m.toml:10:8: `text` cannot be "/etc/local.md" (it is a relative path without .., with / between its parts)"#;
    a_command_with_an_unknown_key: ["arguments = " => "argument = "] says "m.toml:13:1: unknown key `argument` in a slash command (did you mean `arguments`?)";
    a_command_that_nothing_has: ["[plugin.commands.abort]" => "[plugin.commands.aboard]"] says "m.toml:15:18: no slash command is named `aboard` (did you mean `abort`?)";
    a_command_of_an_agents_own_transition: ["[plugin.commands.abort]" => "[plugin.commands.sing]"] says "m.toml:15:18: no slash command is named `sing` (there are `local`, `express`, `status`, `history`, `resume`, `adopt`, `rollback`, `doctor`, `wave`, `abort` and `brake`)";
    a_mode_named_as_a_command_of_the_engine: ["[modes.express]" => "[modes.status]"] says "m.toml:19:8: the slash command `status` would be this mode’s and that of the engine (rename one of them)";
    a_mode_named_as_a_transition: ["[modes.express]" => "[modes.wave]"] says "m.toml:19:8: the slash command `wave` would be this mode’s and that of the transition (rename one of them)";
}
