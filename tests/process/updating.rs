//! An update of the plugin, or of the program, in the middle of a loop: the plugin's folder moves, and for a while one of the two
//! is older than the other.

use std::path::{Path, PathBuf};

use crate::support::{Project, Ran, Stop, executable, feed, tree};
use serde_json::json;

/// A copy of the plugin in a folder of this name, as the client's cache has one per version.
fn plugin(project: &Project, name: &str) -> PathBuf {
    let root = project.home.join("plügins (cache)").join(name);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin"), &root);
    root
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, target) = {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_owned();
            (path, to.join(name))
        };
        match path.is_dir() {
            true => copy(&path, &target),
            false => _ = std::fs::copy(&path, &target).unwrap(),
        }
    }
}

/// A hook's script of a plugin, as the client calls it.
fn hook(project: &Project, plugin: &Path, script: &str, event: &serde_json::Value) -> Ran {
    let script = plugin.join("hooks").join(script);
    let mut command = project.shell("/bin/sh", &[script.to_str().unwrap()]);
    command.env("CLAUDE_PLUGIN_ROOT", plugin);
    feed(command, event.to_string().as_bytes())
}

fn event(project: &Project, name: &str) -> serde_json::Value {
    json!({"session_id": "s1", "cwd": project.root, "hook_event_name": name, "source": "resume"})
}

fn stop(project: &Project, plugin: &Path) -> Stop {
    Stop::read(&hook(
        project,
        plugin,
        "stop-hook.sh",
        &event(project, "Stop"),
    ))
}

#[test]
fn the_plugins_folder_can_move_at_any_point_of_a_loop() {
    let project = Project::new();
    let mut current = plugin(&project, "0.0.0");
    let mut version = 0;
    let mut said = Vec::new();
    // As the client does it: the new version is there, and the old one is gone.
    let mut update = |current: &mut PathBuf| {
        version += 1;
        let next = plugin(&project, &format!("0.0.{version}"));
        std::fs::remove_dir_all(&*current).unwrap();
        *current = next;
    };
    let script = current.join("scripts/start-loop.sh");
    let started = project.shell(
        "sh",
        &[
            script.to_str().unwrap(),
            "plan",
            "--rounds",
            "2",
            "Move the queue",
        ],
    );
    let started = Ran::of({ started }.output().unwrap()).exits(0);
    let id = crate::support::id_of(&started);
    said.push(started.out);
    update(&mut current);
    project.plan("# Plan\n");
    said.push(stop(&project, &current).blocked());
    for round in 1..=2 {
        update(&mut current);
        // The line that the block before the update named.
        let runner = project.folder().join(format!("{id}-runner.sh"));
        let review = project.shell(
            "sh",
            &[runner.to_str().unwrap(), "--reviewer", "fake-findings"],
        );
        said.push(Ran::of({ review }.output().unwrap()).exits(0).out);
        update(&mut current);
        let begun = hook(
            &project,
            &current,
            "session-start-hook.sh",
            &event(&project, "SessionStart"),
        )
        .exits(0);
        assert!(begun.out.contains(&id), "{begun:?}");
        said.push(begun.out);
        project.plan(format!("# Plan\n\n## Changelog\n\n- {round}\n"));
        said.push(stop(&project, &current).blocked());
    }
    update(&mut current);
    let over = stop(&project, &current).approved();
    assert!(over.contains("is done"), "{over}");
    assert_eq!(project.field(&id, "phase"), "done");

    // Nothing that lasts, and nothing that was said, names a folder of the plugin's.
    let names = "plügins (cache)";
    for text in &said {
        assert!(!text.contains(names), "{text}");
    }
    for (path, bytes) in tree(&project.root) {
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        assert!(!text.contains(names), "{} has it", path.display());
    }
}

/// A program that answers to `--protocol`, and knows the verbs of an older version.
fn older(project: &Project, protocol: u32) -> PathBuf {
    let file = project.home.join("older/claudex-loop");
    let real = assert_cmd::cargo::cargo_bin!("claudex-loop");
    let script = format!(
        "case \"$*\" in\n--protocol*) echo 'claudex-loop protocol {protocol} (0.0.9)' ;;\nesac\n\
         case \"$*\" in\n--protocol) exit ;;\n--protocol=*) [ {protocol} = 1 ] || exit 1; shift ;;\nesac\n\
         case \"$*\" in\n'hook session-start') echo \"error: unrecognized subcommand 'session-start'\" >&2; echo usage; exit 2 ;;\n\
         *) exec {} \"$@\" ;;\nesac",
        shlex::try_quote(real.to_str().unwrap()).unwrap()
    );
    executable(&file, &script);
    file
}

#[test]
fn a_program_that_does_not_know_the_new_hook_says_nothing_and_drives_on() {
    let project = Project::new();
    let plugin = plugin(&project, "1.0.0");
    let file = older(&project, 1);
    let project = project.with("CLAUDEX_LOOP_BIN", file.to_str().unwrap());
    let id = project.start(&[]);
    stop(&project, &plugin).blocked();
    let begun = hook(
        &project,
        &plugin,
        "session-start-hook.sh",
        &event(&project, "SessionStart"),
    );
    assert_eq!(
        (begun.code, begun.out.as_str(), begun.err.as_str()),
        (0, "", "")
    );
    project.plan("# Plan\n");
    stop(&project, &plugin).blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn a_program_of_another_protocol_is_named_by_the_stop_hook_alone() {
    let project = Project::new();
    let plugin = plugin(&project, "1.0.0");
    let id = project.start(&[]);
    let file = older(&project, 7);
    let project = project.with("CLAUDEX_LOOP_BIN", file.to_str().unwrap());
    assert!(
        stop(&project, &plugin)
            .approved()
            .contains("another version")
    );
    for (script, name) in [
        ("session-start-hook.sh", "SessionStart"),
        ("prompt-hook.sh", "UserPromptSubmit"),
        ("answer-hook.sh", "PostToolUse"),
    ] {
        let ran = hook(&project, &plugin, script, &event(&project, name));
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (0, "", ""),
            "{script}"
        );
    }
    assert_eq!(project.changes(&id), ["start"], "the loop is as it was");
}

#[test]
fn in_a_reviewers_process_the_new_hook_is_silent_before_any_program_is_looked_for() {
    let (project, _) = Project::reviewing(&[]);
    let plugin = plugin(&project, "1.0.0");
    let project = project.with("CLAUDEX_REVIEWER_CHILD", "1");
    let ran = hook(
        &project,
        &plugin,
        "session-start-hook.sh",
        &event(&project, "SessionStart"),
    );
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}
