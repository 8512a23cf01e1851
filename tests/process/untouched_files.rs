//! Files that are not ours stay the same: a project without a loop, the home, and git.

use serde_json::json;

use crate::support::{Project, tree, write};

/// Commands that only read, ask, or run before a user has started anything.
const LOOKS: [&str; 14] = [
    "status",
    "status --json",
    "list",
    "journal",
    "personas",
    "doctor",
    "config path",
    "config show",
    "machine diagram",
    "sweep",
    "rollback --yes",
    "cancel",
    "resume",
    "adopt",
];

#[test]
fn project_without_a_loop_stays_byte_for_byte() {
    for project in [Project::new(), Project::without_git()] {
        write(&project.root.join("src/main.rs"), "fn main() {}\n");
        let files = || (tree(&project.root), tree(&project.home));
        let before = files();
        for look in LOOKS {
            project.run(look);
            assert_eq!(files(), before, "{look:?}");
        }
        let answered =
            json!({"questions": [{"question": "q", "header": "Scope"}], "answers": {"q": "a"}});
        let answer = json!({"tool_name": "AskUserQuestion", "tool_response": answered});
        let other =
            json!({"command_name": "other:plan", "command_args": "x", "prompt": "/other:plan x"});
        let write = json!({"tool_name": "Write", "tool_input": {"file_path": "/x"}});
        for (hook, name, mut event) in [
            ("stop", "Stop", json!({})),
            ("stop", "SubagentStop", json!({"agent_id": "a1"})),
            ("prompt", "UserPromptSubmit", json!({"prompt": "fix it"})),
            ("prompt", "UserPromptExpansion", other),
            ("answer", "PostToolUse", answer),
            (
                "session-start",
                "SessionStart",
                json!({"source": "startup"}),
            ),
            (
                "session-start",
                "SessionStart",
                json!({"source": "compact"}),
            ),
            ("pre-compact", "PreCompact", json!({"trigger": "auto"})),
            ("pre-tool-use", "PreToolUse", write),
        ] {
            event["hook_event_name"] = name.into();
            event["session_id"] = "s1".into();
            event["cwd"] = project.root.join("src").to_str().unwrap().into();
            project.hook(hook, event).exits(0);
            assert_eq!(files(), before, "{hook}: {name}");
        }
    }
}

#[test]
fn typed_command_is_kept_in_the_users_folder() {
    let project = Project::new();
    let before = tree(&project.root);
    project.type_line("s1", "/claudex:plan move the queue");
    assert_eq!(tree(&project.root), before);
    let mut files = tree(&project.home);
    files.retain(|(_, bytes)| bytes.is_some());
    let state_home = project.state_home();
    assert!(
        !files.is_empty() && files.iter().all(|(file, _)| file.starts_with(&state_home)),
        "{files:?}"
    );
}

#[test]
fn git_sees_nothing_of_a_loop() {
    let project = Project::new();
    // Every file that could include it in git. The plan is the user's, who may want it there.
    let everything = "!*\n!**/*\n!.claude/\n!.claude/claudex/\n!.claude/claudex/**\n!/.claude/claudex/*.state\n/PLAN.md\n";
    let excludes = project.home.join("excludes");
    write(&excludes, everything);
    for file in [".gitignore", ".claude/.gitignore", ".git/info/exclude"] {
        write(&project.root.join(file), everything);
    }
    project.git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
    project.git(&["add", "-A"]);
    let tracked = project.git(&["ls-files"]);
    let staged: String = tracked.lines().map(|file| format!("A  {file}\n")).collect();
    let is_clean = |what: &str| {
        let status = project.git(&["status", "--porcelain", "--untracked-files=all"]);
        assert_eq!(status, staged, "{what}");
        project.git(&["add", "-A"]);
        assert_eq!(project.git(&["ls-files"]), tracked, "{what}");
    };
    let first = project.start(&[]);
    is_clean("a start");
    project.plan("# Plan\n");
    project.fire().blocked();
    is_clean("a round");
    project.review(&first, "fake-findings").exits(0);
    is_clean("findings");
    project.edit(&first, "round: 1", "round: 2");
    project.fire();
    is_clean("a replaced document");
    project.run(&format!("cancel {first}")).exits(0);
    let second = project.start(&[]);
    project.sweep(&second);
    is_clean("a sweep");
    project.run("rollback --yes").exits(0);
    is_clean("a rollback");
}

#[test]
fn ignore_file_of_the_user_is_kept() {
    // A crash left an empty one.
    for (before, after) in [("", "*\n"), ("*\n!README.md\n", "*\n!README.md\n")] {
        let project = Project::new();
        let ignore = project.folder().join(".gitignore");
        write(&ignore, before);
        project.start(&[]);
        assert_eq!(std::fs::read_to_string(&ignore).unwrap(), after);
    }
}
