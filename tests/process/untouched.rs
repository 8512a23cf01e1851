//! What is not ours stays as it is: a project that never started a loop, the person's home, and git.

use std::path::Path;
use std::process::Command;

use crate::support::{Project, Ran, feed, tree, write};
use serde_json::json;

/// Everything that looks, asks, or is called without a person's having started anything.
const LOOKS: [&[&str]; 16] = [
    &["status"],
    &["status", "--json"],
    &["list"],
    &["journal"],
    &["personas"],
    &["doctor"],
    &["doctor", "--json"],
    &["config", "path"],
    &["config", "show"],
    &["config", "check"],
    &["machine", "show"],
    &["sweep"],
    &["rollback", "--yes"],
    &["cancel"],
    &["resume"],
    &["adopt"],
];

#[test]
fn a_project_that_never_starts_a_loop_is_left_byte_for_byte_as_it_was() {
    for project in [Project::new(), Project::without_git()] {
        write(&project.root.join("src/main.rs"), "fn main() {}\n");
        let before = (tree(&project.root), tree(&project.home));
        for look in LOOKS {
            project.run(look);
            assert_eq!(
                (tree(&project.root), tree(&project.home)),
                before,
                "{look:?}"
            );
        }
        for (hook, event) in [
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
                json!({"hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "tool_response": {
                       "questions": [{"question": "q", "header": "Scope"}], "answers": {"q": "a"}}}),
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
            let mut event = event;
            event["session_id"] = "s1".into();
            event["cwd"] = project.root.join("src").to_str().unwrap().into();
            feed(
                project.command(&["hook", hook]),
                event.to_string().as_bytes(),
            )
            .exits(0);
            assert_eq!(
                (tree(&project.root), tree(&project.home)),
                before,
                "{hook} {event}"
            );
        }
    }
}

/// What a person typed is kept in their own state folder, and nowhere else.
#[test]
fn a_command_that_was_typed_is_kept_in_the_persons_state_folder_alone() {
    let project = Project::new();
    let before = tree(&project.root);
    project.type_line("s1", "/claudex:plan move the queue");
    assert_eq!(tree(&project.root), before);
    let files: Vec<_> = tree(&project.home)
        .into_iter()
        .filter(|(_, bytes)| bytes.is_some())
        .map(|(path, _)| path)
        .collect();
    let own = project.home.join("state/claudex-loop");
    assert!(
        !files.is_empty() && files.iter().all(|file| file.starts_with(&own)),
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
    Ran::of(git.output().unwrap()).exits(0).out
}

/// Files that tell git to ignore nothing of what we write.
fn unignore(project: &Project) {
    // The plan itself is the person's, who may want it in git.
    let everything = "!*\n!**/*\n!.claude/\n!.claude/claudex/\n!.claude/claudex/**\n!/.claude/claudex/*.state\n/PLAN.md\n";
    let excludes = project.home.join("excludes");
    write(&excludes, everything);
    write(&project.root.join(".gitignore"), everything);
    write(&project.root.join(".claude/.gitignore"), everything);
    write(&project.root.join(".git/info/exclude"), everything);
    git(
        project,
        &["config", "core.excludesFile", excludes.to_str().unwrap()],
    );
}

#[test]
fn git_sees_nothing_of_a_loop_whatever_else_is_told_to_it() {
    let project = Project::new();
    unignore(&project);
    git(&project, &["add", "-A"]);
    let tracked = git(&project, &["ls-files"]);
    let clean = |what: &str| {
        assert_eq!(
            git(
                &project,
                &["status", "--porcelain", "--untracked-files=all"]
            ),
            staged(&tracked),
            "{what}"
        );
        git(&project, &["add", "-A"]);
        assert_eq!(git(&project, &["ls-files"]), tracked, "{what}");
    };
    let first = project.start(&[]);
    clean("a start");
    project.plan("# Plan\n");
    project.fire().blocked();
    clean("a round");
    project.review(&first, "fake-findings").exits(0);
    clean("findings");
    project.edit(&first, "round: 1", "round: 2");
    project.fire();
    clean("a replaced document");
    project.run(&["cancel", &first]).exits(0);
    let second = project.start(&[]);
    crate::support::age(
        &project.state_path(&second),
        std::time::Duration::from_hours(3),
    );
    project.run(&["sweep"]).exits(0).says(&second);
    clean("a sweep");
    project.run(&["rollback", "--yes"]).exits(0);
    clean("a rollback");
}

/// The lines of `git status` for files that are staged and not committed.
fn staged(tracked: &str) -> String {
    tracked.lines().map(|file| format!("A  {file}\n")).collect()
}

#[test]
fn an_ignore_file_that_a_crash_left_empty_is_written_again() {
    let project = Project::new();
    let ignore = project.folder().join(".gitignore");
    write(&ignore, "");
    project.start(&[]);
    assert_eq!(std::fs::read_to_string(&ignore).unwrap(), "*\n");
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
    // One that a person wrote is theirs.
    let project = Project::new();
    let ignore = project.folder().join(".gitignore");
    write(&ignore, "*\n!README.md\n");
    project.start(&[]);
    assert_eq!(std::fs::read_to_string(&ignore).unwrap(), "*\n!README.md\n");
    assert!(Path::new(&ignore).is_file());
}
