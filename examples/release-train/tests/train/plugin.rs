//! The plugin's hooks find the program and drive a train. No text for users names the engine.

use std::path::{Path, PathBuf};
use std::process::Command;

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::support::{Project, decision, feed, files};

const PROGRAM: &str = env!("CARGO_BIN_EXE_release-train");

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin")
}

/// The shells of this machine that may run hooks.
fn shells() -> impl Iterator<Item = &'static str> {
    let shells = ["/bin/sh", "/bin/dash", "/bin/bash"].into_iter();
    shells.filter(|shell| Path::new(shell).exists())
}

/// A hook of the plugin as the client runs it.
fn hook(project: &Project, shell: &str, name: &str, program: &str) -> Command {
    let mut command = project.folder.tool(shell);
    command.arg(plugin().join("hooks").join(name));
    command.env("RELEASE_TRAIN_BIN", program);
    command
}

#[test]
fn hooks_drive_a_train() {
    for shell in shells() {
        let project = Project::new();
        assert_eq!(
            project.approves(),
            "",
            "without a train there is nothing to say"
        );
        let state = project.folder.root().join(".release-train");
        assert!(!state.exists(), "and nothing is made");
        project.start("train", "1.4.0");
        let run = |script: &str, event: &str| {
            let input = project.event(event).to_string();
            feed(hook(&project, shell, script, PROGRAM), input.as_bytes())
        };
        has(
            &run("session-start-hook.sh", "SessionStart"),
            "release-train",
        );
        let (kind, said) = decision(&run("stop-hook.sh", "Stop"));
        assert_eq!(kind, "block", "{shell}");
        has(&said, "version 1.4.0");
        assert_eq!(project.phase(), "building");
        // Unrelated input.
        for script in ["answer-hook.sh", "prompt-hook.sh"] {
            assert_eq!(run(script, "Nothing"), "", "{shell}: {script}");
        }
    }
}

#[test]
fn printed_hooks_run_and_the_doctor_finds_them() {
    let project = Project::new();
    has(&project.done(&["doctor"]), "our plugin is not installed");

    // The program may be anywhere: its path is quoted for the hook's shell.
    let elsewhere = project.folder.root().join("it's $HOME here");
    std::fs::create_dir(&elsewhere).unwrap();
    let program = elsewhere.join("release-train");
    // Another process copies it: a child forked meanwhile would keep our own file busy.
    let copied = Command::new("cp")
        .args([Path::new(PROGRAM), &program])
        .status();
    assert!(copied.unwrap().success());
    let hooks = project.folder.tool(&program).arg("hooks").output();
    let printed = String::from_utf8(hooks.unwrap().stdout).unwrap();
    let settings: Value = serde_json::from_str(&printed).unwrap();
    project.write(".claude/settings.json", &printed);

    assert_eq!(
        settings["hooks"]["PostToolUse"][0]["matcher"],
        "AskUserQuestion"
    );
    project.start("train", "1.0");
    let line = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let mut shell = project.folder.tool("/bin/sh");
    shell.args(["-c", line]);
    let stop = feed(shell, project.event("Stop").to_string().as_bytes());
    assert_eq!(decision(&stop).0, "block");

    let checks: Vec<Value> = serde_json::from_str(&project.done(&["doctor", "--json"])).unwrap();
    let found = |name: &str| -> Vec<&Value> {
        let named = checks.iter().filter(|check| check["name"] == name);
        named.map(|check| &check["found"]).collect()
    };
    let settings = project.folder.root().join(".claude/settings.json");
    let by = format!("our Stop hook is called by {}", settings.display());
    assert_eq!(found("hooks"), [&json!(by)]);
    assert_eq!(found("run"), ["build runs test", "probe runs test"]);
}

/// Returns the output without the paths of the configuration and of the program.
fn without_places(project: &Project, arguments: &[&str]) -> String {
    let output = project.run(arguments);
    (output.out + &output.err)
        .replace(project.configuration().to_str().unwrap(), "")
        .replace(PROGRAM, "")
        .to_lowercase()
}

#[test]
fn no_command_names_the_engine() {
    let project = Project::new();
    let check = |line: &str| {
        let arguments: Vec<&str> = line.split(' ').collect();
        let text = without_places(&project, &arguments);
        assert!(!text.contains("claudex"), "{line}: {text}");
    };
    let help = project.done(&["--help"]);
    let (groups, _) = help.split_once("\nOptions:\n").unwrap();
    let commands: Vec<&str> = groups
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 15, "{help}");
    check("--help");
    commands
        .iter()
        .for_each(|command| check(&format!("{command} --help")));
    let all = |id: &str| {
        for line in [
            "status",
            "status --json",
            "list",
            "list --json",
            "journal",
            "journal ID",
            "personas",
            "review ID --reviewer lint",
            "review ID --follow",
            "review ID --reviewer nobody",
            "resume ID",
            "adopt ID",
            "resume no-such-loop",
            "approve ID",
            "sweep",
            "doctor",
            "config path",
            "config show",
            "hooks",
            "start train --what",
            "start train",
            "start nowhere 1.0",
            "plugin write plugin",
            "no-such-command",
        ] {
            check(&line.replace("ID", id));
        }
    };
    all("20261122-000000-000000");
    let id = project.start("train", "1.2.3");
    all(&id);
    check("start train 1.2.4");
    check(&format!("abort {id} --why rain"));
    all(&id);
    check("rollback --yes");

    // Neither does the plugin, except in the variable for reviewers and its authors.
    let written = files(&project.folder.root().join("plugin"));
    assert!(!written.is_empty());
    for (path, text) in written.into_iter().chain(files(&plugin())) {
        let text = text
            .to_lowercase()
            .replace("claudex_reviewer_child", "")
            .replace("the claudex-loop authors", "");
        assert!(!text.contains("claudex"), "{path:?}:\n{text}");
    }
    let protocol = format!("release-train protocol 1 ({})\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(project.done(&["--protocol"]), protocol);
}
