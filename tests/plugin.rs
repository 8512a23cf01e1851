//! The plugin's part of a stop: a shell and a launcher. `plugin/tests/` has its shell tests.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use claudex_testkit::has;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a plugin's Stop hook in an empty environment. Returns its decision and its stderr.
fn stop(plugin: &str, home: &Path, variables: &[(&str, &str)], input: &str) -> (Value, String) {
    let mut hook = Command::new("/bin/sh");
    hook.arg(root().join(plugin).join("hooks/stop-hook.sh"))
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut hook = hook.spawn().unwrap();
    // A hook that knows its session does not read its input.
    let _ = hook.stdin.take().unwrap().write_all(input.as_bytes());
    let output = hook.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "a hook that fails is a hook that is ignored"
    );
    let decision = serde_json::from_slice(&output.stdout).expect("exactly one JSON document");
    (decision, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn stop_runs_a_shell_and_one_program() {
    let project = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_claudex-loop");
    let mut start = Command::new(program);
    start
        .args(["start", "plan", "a topic"])
        .current_dir(project.path());
    let started = start
        .env_clear()
        .env("HOME", project.path())
        .output()
        .unwrap();
    assert!(started.status.success());
    let bare = tempfile::tempdir().unwrap();
    symlink("/bin/sh", bare.path().join("sh")).unwrap();
    let variables = [
        ("PATH", bare.path().to_str().unwrap()),
        ("CLAUDEX_LOOP_BIN", program),
    ];
    let (block, errors) = stop(
        "plugin",
        project.path(),
        &variables,
        r#"{"session_id":"s1"}"#,
    );
    has(&block.to_string(), "### Claudex is waiting for `PLAN.md`");
    assert_eq!(errors, "", "no command was missing");
}

#[test]
fn missing_program_is_said_once_per_session() {
    for plugin in [
        "plugin",
        "taskie/plugin",
        "stages/plugin",
        "examples/release-train/plugin",
    ] {
        let home = tempfile::tempdir().unwrap();
        let output_of = |session: &str, variable: Option<&str>| {
            let mut variables = vec![("PATH", "/usr/bin:/bin")];
            let programs = ["CLAUDEX_LOOP", "TASKIE", "STAGES", "RELEASE_TRAIN"]
                .map(|name| format!("{name}_BIN"));
            variables.extend(programs.iter().map(|name| (name.as_str(), "/no")));
            variables.extend(variable.map(|id| ("CLAUDE_CODE_SESSION_ID", id)));
            let input = format!("{{\"cwd\":\"/\",\"session_id\": \"{session}\",\"x\":1}}\n");
            let (decision, _) = stop(plugin, home.path(), &variables, &input);
            assert_eq!(decision["decision"], "approve");
            let message = decision["systemMessage"].as_str();
            message
                .inspect(|message| has(message, "was not found"))
                .is_some()
        };
        let mut output = ["s1", "s1", "s2", "s1"]
            .map(|session| output_of(session, None))
            .to_vec();
        output.extend([output_of("", Some("s3")), output_of("", Some("s3"))]);
        assert_eq!(output, [true, false, true, false, true, false], "{plugin}");
        assert!(
            output_of("a\\", None) && output_of("a\\", None),
            "an id that cannot be noted"
        );
    }
}

/// Returns the rules of a command's `allowed-tools`, separated by commas outside of parentheses.
fn allowed(command: &str) -> Vec<String> {
    let (head, _) = command
        .strip_prefix("---\n")
        .unwrap()
        .split_once("\n---\n")
        .unwrap();
    let mut lines = head.lines();
    let line = lines
        .find_map(|line| line.strip_prefix("allowed-tools: "))
        .expect("every command says what it needs");
    let rules = line.split("), ").map(|rule| rule.trim_end_matches(')'));
    rules.map(|rule| format!("{rule})")).collect()
}

/// Whether a rule permits only the plan and our verbs.
fn is_ours(rule: &str) -> bool {
    let line = rule.strip_prefix("Bash(claudex-loop ");
    let Some(verb) = line.and_then(|line| line.strip_suffix(":*)")) else {
        return rule == "Edit(/PLAN.md)";
    };
    let is_plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let first = verb.split(' ').next().unwrap_or_default();
    // A user's verb requires the user's own command.
    let is_users = "adopt cancel more resume rollback start journal"
        .split(' ')
        .any(|one| one == first);
    verb.split(' ').all(is_plain)
        && !first.starts_with('-')
        && (!is_users || verb.ends_with(" --from-prompt"))
}

#[test]
fn commands_permit_lines_of_our_own_alone() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("plugin/commands")).unwrap() {
        let path = entry.unwrap().path();
        for rule in allowed(&std::fs::read_to_string(&path).unwrap()) {
            assert!(is_ours(&rule), "{}: {rule}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 20, "the rules were read");
    for rule in [
        "Bash",
        "Bash(*)",
        "Bash(bash:*)",
        "Bash(env claudex-loop review:*)",
        "Bash(claudex-loop:*)",
        "Bash(claudex-loop *)",
        "Bash(claudex-loop --version:*)",
        "Bash(claudex-loop review)",
        "Bash(claudex-loop adopt:*)",
        "Bash(claudex-loop review; rm:*)",
        "Edit(/**)",
        "Write(/PLAN.md)",
    ] {
        assert!(!is_ours(rule), "{rule}");
    }
}

/// With core.autocrlf=true, a clone must not write `#!/bin/sh\r`, which no system finds.
#[test]
fn scripts_keep_lf_in_every_clone() {
    // A source archive has no repository.
    if !root().join(".git").exists() {
        return;
    }
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        let output = git.arg("-C").arg(root()).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let files = git(&["ls-files"]);
    let is_script = |file: &&str| {
        let bytes = std::fs::read(root().join(file)).unwrap_or_default();
        bytes.starts_with(b"#!")
    };
    let scripts: Vec<&str> = files.lines().filter(is_script).collect();
    for launcher in ["plugin/bin/claudex-loop", "plugin/hooks/stop-hook.sh"] {
        assert!(scripts.contains(&launcher), "{scripts:?}");
    }
    let attributes = git(&[&["check-attr", "eol", "--"], &scripts[..]].concat());
    let bad = attributes
        .lines()
        .filter(|line| !line.ends_with(": eol: lf"));
    assert_eq!(bad.collect::<Vec<_>>(), [""; 0]);
}
