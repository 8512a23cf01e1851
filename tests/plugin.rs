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
    hook.stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
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
    assert!(
        block.contains("### Claudex is waiting for `PLAN.md`"),
        "{block}"
    );
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

#[test]
fn missing_program_is_said_once_per_session() {
    let plugins = ["plugin", "taskie/plugin", "stages/plugin"];
    for plugin in plugins.map(|plugin| Path::new(env!("CARGO_MANIFEST_DIR")).join(plugin)) {
        let home = tempfile::tempdir().unwrap();
        let stop = |session: &str, variable: Option<&str>| {
            let mut hook = Command::new("/bin/sh");
            hook.arg(plugin.join("hooks/stop-hook.sh"))
                .current_dir(home.path())
                .env_clear()
                .envs(["CLAUDEX_LOOP_BIN", "TASKIE_BIN", "STAGES_BIN"].map(|name| (name, "/no")))
                .env("HOME", home.path())
                .envs(variable.map(|id| ("CLAUDE_CODE_SESSION_ID", id)))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            let mut hook = hook.spawn().unwrap();
            let input = format!("{{\"cwd\":\"/\",\"session_id\": \"{session}\",\"x\":1}}\n");
            let mut stdin = hook.stdin.take().unwrap();
            // A hook that knows its session ends without reading it.
            let _ = stdin.write_all(input.as_bytes());
            drop(stdin);
            let told = hook.wait_with_output().unwrap().stdout;
            let decision: serde_json::Value = serde_json::from_slice(&told).unwrap();
            assert_eq!(decision["decision"], "approve");
            decision["systemMessage"].is_string()
        };
        let mut told = ["s1", "s1", "s2", "s1"]
            .map(|session| stop(session, None))
            .to_vec();
        told.extend([stop("", Some("s3")), stop("", Some("s3"))]);
        assert_eq!(told, [true, false, true, false, true, false], "{plugin:?}");
        assert!(
            stop("a\\", None) && stop("a\\", None),
            "an id that cannot be noted"
        );
    }
}

/// The rules of a command's `allowed-tools`.
fn allowed(command: &str) -> Vec<String> {
    let head = command
        .strip_prefix("---\n")
        .unwrap()
        .split("\n---\n")
        .next()
        .unwrap();
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("allowed-tools: "))
        .expect("every command says what it needs");
    let mut rules = Vec::new();
    let mut depth = 0;
    let mut rule = String::new();
    for character in line.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if character == ',' && depth == 0 {
            rules.push(rule.trim().to_owned());
            rule.clear();
        } else {
            rule.push(character);
        }
    }
    rules.push(rule.trim().to_owned());
    rules
}

/// Why a rule permits more than a loop needs; None where it does not.
fn too_much(rule: &str) -> Option<&'static str> {
    if rule == "Edit(/PLAN.md)" {
        return None;
    }
    let Some(line) = rule
        .strip_prefix("Bash(")
        .and_then(|rule| rule.strip_suffix(')'))
    else {
        return Some("neither the plan nor a line for the shell");
    };
    let Some(words) = line.strip_suffix(":*") else {
        return Some("no prefix with `:*`, so flags and ids would not fit");
    };
    let Some(verb) = words.strip_prefix("claudex-loop ") else {
        return Some("another program than ours");
    };
    let of_letters =
        |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.is_empty();
    let mut words = verb.split(' ');
    let first = words.next().unwrap_or_default();
    if !of_letters(first) || first.starts_with('-') {
        return Some("no verb of ours");
    }
    let persons = [
        "adopt", "cancel", "more", "resume", "rollback", "start", "journal",
    ];
    if persons.contains(&first) && !verb.ends_with(" --from-prompt") {
        return Some("a person's verb without the ticket of the person's command");
    }
    words
        .all(of_letters)
        .then_some(())
        .map_or(Some("not words of ours"), |()| None)
}

#[test]
fn no_command_permits_more_than_lines_of_our_own() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/commands");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for rule in allowed(&std::fs::read_to_string(&path).unwrap()) {
            assert_eq!(too_much(&rule), None, "{}: {rule}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 20, "the rules were read");
    for rule in [
        "Bash",
        "Bash(*)",
        "Bash(:*)",
        "Bash(bash:*)",
        "Bash(sh:*)",
        "Bash(sh -c:*)",
        "Bash(env claudex-loop review:*)",
        "Bash(claudex-loop:*)",
        "Bash(claudex-loop *)",
        "Bash(claudex-loop --version:*)",
        "Bash(claudex-loop review)",
        "Bash(claudex-loop adopt:*)",
        "Bash(claudex-loop more:*)",
        "Bash(claudex-loop review; rm:*)",
        "Edit",
        "Edit(/**)",
        "Write(/PLAN.md)",
    ] {
        assert!(too_much(rule).is_some(), "{rule}");
    }
}

/// A clone with core.autocrlf=true must not give a script `#!/bin/sh\r`, which no system finds.
#[test]
fn scripts_keep_lf_in_every_clone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(["-C", env!("CARGO_MANIFEST_DIR")])
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // An archive of the sources has no repository.
    if !root.join(".git").exists() {
        return;
    }
    let files = git(&["ls-files"]);
    let is_script = |file: &&str| {
        let bytes = std::fs::read(root.join(file)).unwrap_or_default();
        bytes.starts_with(b"#!")
    };
    let scripts: Vec<&str> = files.lines().filter(is_script).collect();
    for launcher in ["plugin/bin/claudex-loop", "plugin/hooks/stop-hook.sh"] {
        assert!(scripts.contains(&launcher), "{scripts:?}");
    }
    let attributes = git(&[&["check-attr", "eol", "--"], &scripts[..]].concat());
    let bad: Vec<&str> = attributes
        .lines()
        .filter(|line| !line.ends_with(": eol: lf"))
        .collect();
    assert_eq!(bad, [""; 0]);
}
