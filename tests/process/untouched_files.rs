//! Files that are not ours stay the same: a project without a loop, the home, and git.

use std::process::Command;

use serde_json::json;

use crate::support::{Project, Ran, tree, write};

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
        for (hook, mut event) in [
            ("stop", json!({"hook_event_name": "Stop"})),
            (
                "stop",
                json!({"hook_event_name": "SubagentStop", "agent_id": "a1"}),
            ),
            (
                "prompt",
                json!({"hook_event_name": "UserPromptSubmit", "prompt": "fix the build"}),
            ),
            (
                "prompt",
                json!({"hook_event_name": "UserPromptExpansion", "command_name": "other:plan", "command_args": "x",
                       "prompt": "/other:plan x"}),
            ),
            (
                "answer",
                json!({"hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "tool_response": answered}),
            ),
            (
                "session-start",
                json!({"hook_event_name": "SessionStart", "source": "startup"}),
            ),
            (
                "session-start",
                json!({"hook_event_name": "SessionStart", "source": "compact"}),
            ),
            (
                "pre-compact",
                json!({"hook_event_name": "PreCompact", "trigger": "auto"}),
            ),
            (
                "pre-tool-use",
                json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "/x"}}),
            ),
        ] {
            event["session_id"] = "s1".into();
            event["cwd"] = project.root.join("src").to_str().unwrap().into();
            project.hook(hook, event).exits(0);
            assert_eq!(files(), before, "{hook}");
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

fn git(project: &Project, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(arguments)
        .current_dir(&project.root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &project.home)
        .env("GIT_CONFIG_NOSYSTEM", "1");
    Ran::new(git.output().unwrap()).exits(0).out
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
    git(
        &project,
        &["config", "core.excludesFile", excludes.to_str().unwrap()],
    );
    git(&project, &["add", "-A"]);
    let tracked = git(&project, &["ls-files"]);
    let staged: String = tracked.lines().map(|file| format!("A  {file}\n")).collect();
    let is_clean = |what: &str| {
        let status = git(
            &project,
            &["status", "--porcelain", "--untracked-files=all"],
        );
        assert_eq!(status, staged, "{what}");
        git(&project, &["add", "-A"]);
        assert_eq!(git(&project, &["ls-files"]), tracked, "{what}");
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
