//! The plugin's own part of a stop: a shell, a launcher, and nothing else. Its shell tests are in `plugin/tests/`.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the Stop hook as the client does, with nothing on PATH but a shell.
fn stop(project: &Path, program: &str, input: &str) -> String {
    let bare = tempfile::tempdir().unwrap();
    symlink("/bin/sh", bare.path().join("sh")).unwrap();
    let mut hook = Command::new("/bin/sh")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/hooks/stop-hook.sh"))
        .current_dir(project)
        .env_clear()
        .env("PATH", bare.path())
        .env("HOME", project)
        .env("CLAUDEX_LOOP_BIN", program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    hook.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = hook.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "a hook that fails is a hook that is ignored"
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "no command was missing"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).expect("exactly one JSON document");
    text
}

#[test]
fn defect_12_a_stop_is_the_launcher_and_one_program_and_no_other_command() {
    let project = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_claudex-loop");
    let started = Command::new(program)
        .args(["start", "plan", "a topic"])
        .current_dir(project.path())
        .env_clear()
        .env("HOME", project.path())
        .output()
        .unwrap();
    assert!(started.status.success());
    let block = stop(project.path(), program, r#"{"session_id":"s1"}"#);
    assert!(block.contains("### Claudex is waiting for `PLAN.md`"), "{block}");
}

#[test]
fn a_missing_program_lets_the_turn_end_and_says_so() {
    let project = tempfile::tempdir().unwrap();
    let hook = Command::new("/bin/sh")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/hooks/stop-hook.sh"))
        .current_dir(project.path())
        .env("CLAUDEX_LOOP_BIN", "/nowhere/claudex-loop")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(hook.status.success());
    let decision: serde_json::Value = serde_json::from_slice(&hook.stdout).unwrap();
    assert_eq!(decision["decision"], "approve");
    assert!(
        decision["systemMessage"]
            .as_str()
            .unwrap()
            .contains("was not found"),
        "{decision}"
    );
    assert_eq!(
        std::fs::read_dir(project.path()).unwrap().count(),
        0,
        "nothing is made"
    );
}
