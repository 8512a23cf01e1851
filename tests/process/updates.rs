//! An update of the plugin or the program during a loop: the plugin's folder moves, and one of the
//! two is older than the other for a while.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{Project, Ran, Stop, executable, feed, has, id_of, lacks, program, tree};

/// A part of the plugin's folder name in the client's cache, which has one for each version.
const CACHE: &str = "plügins (cache)";

/// Copies the plugin into such a folder.
fn plugin(project: &Project, version: u32) -> PathBuf {
    let root = project.home.join(format!("{CACHE} {version}"));
    let from = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin");
    let copied = Command::new("cp").arg("-R").arg(from).arg(&root).status();
    assert!(copied.unwrap().success());
    root
}

/// Runs a plugin's hook script as the client does.
fn hook(project: &Project, plugin: &Path, script: &str) -> Ran {
    let path = plugin.join("hooks").join(script);
    let mut command = project.shell("/bin/sh", &[path.to_str().unwrap()]);
    command.env("CLAUDE_PLUGIN_ROOT", plugin);
    let name = match script {
        "stop-hook.sh" => "Stop",
        "session-start-hook.sh" => "SessionStart",
        "prompt-hook.sh" => "UserPromptSubmit",
        _ => "PostToolUse",
    };
    let event = json!({"session_id": "s1", "cwd": project.root, "hook_event_name": name, "source": "resume"});
    feed(command, event.to_string().as_bytes())
}

#[track_caller]
fn stop(project: &Project, plugin: &Path) -> Stop {
    Stop::read(&hook(project, plugin, "stop-hook.sh"))
}

#[test]
fn plugins_folder_may_move_in_mid_loop() {
    let project = Project::new();
    let mut current = plugin(&project, 0);
    let mut version = 0;
    // As the client does it: the new version exists, and the old one is removed.
    let mut update = |current: &mut PathBuf| {
        version += 1;
        let next = plugin(&project, version);
        std::fs::remove_dir_all(&*current).unwrap();
        *current = next;
    };
    let mut lines = Vec::new();
    let start = current.join("scripts/start-loop.sh");
    let start = [
        start.to_str().unwrap(),
        "plan",
        "--rounds",
        "2",
        "Move the queue",
    ];
    let started = Ran::new(project.shell("sh", &start).output().unwrap()).exits(0);
    let id = id_of(&started);
    lines.push(started.out);
    update(&mut current);
    project.plan("# Plan\n");
    lines.push(stop(&project, &current).blocked());
    for round in 1..=2 {
        update(&mut current);
        // The line in the block before the update.
        let runner = project.runner(&id);
        let runner = [runner.to_str().unwrap(), "--reviewer", "fake-findings"];
        lines.push(
            Ran::new(project.shell("sh", &runner).output().unwrap())
                .exits(0)
                .out,
        );
        update(&mut current);
        let begun = hook(&project, &current, "session-start-hook.sh")
            .exits(0)
            .out;
        has(&begun, &id);
        lines.push(begun);
        project.plan(format!("# Plan\n\n## Changelog\n\n- {round}\n"));
        lines.push(stop(&project, &current).blocked());
    }
    update(&mut current);
    has(&stop(&project, &current).approved(), "is done");

    // No lasting file, and no printed line, names a folder of the plugin.
    let files = tree(&project.root)
        .into_iter()
        .filter_map(|(_, bytes)| bytes);
    lines.extend(files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    lines.iter().for_each(|text| lacks(text, CACHE));
}

/// Returns a project whose program answers to `--protocol` and has the verbs of an older version.
fn with_older_program(project: Project, protocol: u32) -> Project {
    let file = project.home.join("older/claudex-loop");
    let real = program();
    let real = shlex::try_quote(real.to_str().unwrap()).unwrap();
    let script = format!(
        "case \"$*\" in\n--protocol*) echo 'claudex-loop protocol {protocol} (0.0.9)' ;;\nesac\n\
         case \"$*\" in\n--protocol) exit ;;\n--protocol=*) [ {protocol} = 1 ] || exit 1; shift ;;\nesac\n\
         case \"$*\" in\n'hook session-start') echo \"error: unrecognized subcommand 'session-start'\" >&2; echo usage; exit 2 ;;\n\
         *) exec {real} \"$@\" ;;\nesac"
    );
    executable(&file, &script);
    project.with("CLAUDEX_LOOP_BIN", file.to_str().unwrap())
}

/// Checks that a hook prints nothing.
#[track_caller]
fn is_silent(project: &Project, plugin: &Path, script: &str) {
    let ran = hook(project, plugin, script).exits(0);
    assert_eq!(ran.out + &ran.err, "", "{script}");
}

#[test]
fn program_without_the_new_hook_drives_on() {
    let project = with_older_program(Project::new(), 1);
    let plugin = plugin(&project, 1);
    let id = project.start(&[]);
    stop(&project, &plugin).blocked();
    is_silent(&project, &plugin, "session-start-hook.sh");
    project.plan("# Plan\n");
    stop(&project, &plugin).blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn program_of_other_protocol_is_named_by_stops() {
    let project = Project::new();
    let plugin = plugin(&project, 1);
    let id = project.start(&[]);
    let project = with_older_program(project, 7);
    has(&stop(&project, &plugin).approved(), "another version");
    for script in ["session-start-hook.sh", "prompt-hook.sh", "answer-hook.sh"] {
        is_silent(&project, &plugin, script);
    }
    assert_eq!(project.changes(&id), ["start"], "the loop is as it was");
    // A reviewer's process looks for no program.
    let project = project.with("CLAUDEX_REVIEWER_CHILD", "1");
    is_silent(&project, &plugin, "session-start-hook.sh");
}
