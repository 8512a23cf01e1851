//! The plugin: what is committed is what the program writes, and its hooks find the program and drive a train.

use std::path::{Path, PathBuf};
use std::process::Command;

use claudex_testkit::has;
use serde_json::json;

use crate::support::{SESSION, Yard, decision, feed};
use crate::trees;

const PROGRAM: &str = env!("CARGO_BIN_EXE_release-train");

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin")
}

#[test]
fn nothing_in_the_plugin_is_named_after_the_engine_but_the_guard_of_its_reviewers() {
    for (path, (_, text)) in trees::files(&plugin()) {
        let named = text.to_lowercase().replace("claudex_reviewer_child", "");
        let named = named.replace("the claudex-loop authors", "");
        assert!(!named.contains("claudex"), "{path}:\n{text}");
    }
}

/// A hook as the client runs it, by one of the shells that `sh` can be.
fn hook(yard: &Yard, shell: &str, name: &str, program: &str, input: &serde_json::Value) -> String {
    let mut command = Command::new(shell);
    command.arg(plugin().join("hooks").join(name));
    yard.place(&mut command);
    command.env("RELEASE_TRAIN_BIN", program);
    feed(command, input.to_string().as_bytes())
}

/// The shells of this machine that hooks may meet.
fn shells() -> Vec<&'static str> {
    let mut shells = vec!["/bin/sh", "/bin/dash", "/bin/bash"];
    shells.retain(|shell| Path::new(shell).exists());
    shells
}

#[test]
fn the_hooks_drive_a_train() {
    for shell in shells() {
        let yard = Yard::new();
        yard.start("train", "1.4.0");
        let event =
            |name: &str| json!({"session_id": SESSION, "hook_event_name": name, "cwd": yard.path});
        let told = hook(
            &yard,
            shell,
            "session-start-hook.sh",
            PROGRAM,
            &event("SessionStart"),
        );
        assert!(told.contains("release-train"), "{shell}: {told}");
        let (kind, said) = decision(&hook(&yard, shell, "stop-hook.sh", PROGRAM, &event("Stop")));
        assert!(
            kind == "block" && said.contains("version 1.4.0"),
            "{shell}: {said}"
        );
        assert_eq!(yard.phase(), "building");
        // What is no concern of theirs.
        for name in ["answer-hook.sh", "prompt-hook.sh"] {
            assert_eq!(
                hook(&yard, shell, name, PROGRAM, &event("Nothing")),
                "",
                "{shell}: {name}"
            );
        }
    }
}

#[test]
fn without_the_program_the_turn_ends_and_the_line_names_this_plugin() {
    for shell in shells() {
        let yard = Yard::new();
        let mut command = Command::new(shell);
        command.arg(plugin().join("hooks/stop-hook.sh"));
        yard.place(&mut command);
        let output = command
            .env("RELEASE_TRAIN_BIN", "/nowhere/release-train")
            .output()
            .unwrap();
        assert!(output.status.success());
        let (kind, said) = decision(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(kind, "approve");
        assert!(said.starts_with("release-train: "), "{said}");
        has(&said, "was not found");
        let looked = String::from_utf8(output.stderr).unwrap();
        has(&looked, "/nowhere/release-train: not there");
        has(&looked, "RELEASE_TRAIN_BIN=/path/to/release-train");
    }
}

#[test]
fn the_program_says_which_protocol_it_speaks() {
    let said = Yard::new().done(&["--protocol"]);
    assert_eq!(
        said,
        format!("release-train protocol 1 ({})\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_file_that_is_in_the_way_is_named_and_kept() {
    let yard = Yard::new();
    yard.write("plugin/README.md");
    let said = yard.run(&["plugin", "write", "plugin"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    has(&said.err, "README.md");
    has(&said.err, "nothing was written");
    assert_eq!(trees::files(&yard.path.join("plugin")).len(), 1);
}
