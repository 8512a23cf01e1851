//! Commands that verify the work: which of them run, what they prove, and what a reviewer is shown of them.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use claudex_testkit::has;
use serde_json::json;

use crate::project::Project;

const CONFIGURATION: &str = r#"[commands.tidy]
program   = "/bin/sh"
arguments = ["-c", "echo tidied"]

[reviewers.fine]
kind      = "command"
program   = "/bin/sh"
arguments = ["-c", "cat > PROMPT.ignored; printf '# Findings\n\nNo substantive findings.\n'"]
"#;

/// Makes a project in a repository, with one loop that these commands verify.
fn project(commands: &[&str]) -> Project {
    let project = Project::new("depot", CONFIGURATION);
    project.write(".gitignore", ".depot/\n.config/\n.local/\n*.ignored\n");
    project.write("TEXT.md", "Text.\n");
    project.write("COMMANDS.ignored", "");
    project.commit();
    project.run("start");
    commands.iter().for_each(|line| add(&project, line));
    project
}

fn add(project: &Project, line: &str) {
    let lines = project.read("COMMANDS.ignored") + line + "\n";
    project.write("COMMANDS.ignored", &lines);
}

/// Calls the program as an agent, whom it refuses with these words.
#[track_caller]
fn refuses(project: &Project, line: &str, why: &str) {
    let (succeeded, said) = project.agent(line);
    assert!(!succeeded && said.contains(why), "{said}");
}

/// Calls the program as an agent. It must succeed with these words.
#[track_caller]
fn does(project: &Project, line: &str, what: &str) {
    let (succeeded, said) = project.agent(line);
    assert!(succeeded && said.contains(what), "{said}");
}

/// Writes the user's configuration, which allows these lines.
fn allow(project: &Project, lines: &[&str]) {
    let text = format!("allow_commands = {}\n{CONFIGURATION}", json!(lines));
    project.write(".config/claudex-loop/config.toml", &text);
}

fn journal(project: &Project) -> String {
    fs::read_to_string(project.loop_folder(".depot").join("journal.jsonl")).unwrap()
}

/// Returns the number of lines in a file that commands append to.
fn ran(project: &Project) -> usize {
    let text = fs::read_to_string(project.root.join("ran.ignored")).unwrap_or_default();
    text.lines().count()
}

const RUN: &str = "echo ran >> ran.ignored";

#[test]
fn verify_runs_only_the_lines_that_are_allowed() {
    let other = "echo 'two words' && true";
    let project = project(&[RUN, other]);
    let message = project.stop_saying();
    assert_eq!(message["decision"], "approve");
    let note = message["systemMessage"].as_str().unwrap();
    has(
        note,
        "the user’s configuration does not allow:\n    echo ran",
    );
    has(note, "can add these lines to allow_commands in ");
    refuses(&project, "verify", "does not allow:\n");
    assert_eq!(ran(&project), 0);
    assert!(!journal(&project).contains("verify-ended"));

    // One character more is another line. A stop runs all of them or none.
    allow(&project, &[RUN, "echo 'two words' &&  true"]);
    assert_eq!(project.stop(), "trying");
    assert_eq!(ran(&project), 0);
    let not_run = format!("$ {other}\nnot run: the user’s configuration does not allow it");
    refuses(&project, "verify", &not_run);
    assert_eq!(ran(&project), 1);
    refuses(&project, "sign", "does not allow");

    allow(&project, &[RUN, other]);
    let printed = "$ echo 'two words' && true\nexit status 0\ntwo words\n";
    does(&project, "verify", printed);
    assert_eq!(ran(&project), 2);
    // The result is there for this work tree: the stop takes it.
    assert_eq!(project.stop(), "reviewing");
    assert_eq!(ran(&project), 2);
    let journal = journal(&project);
    let edge = journal
        .lines()
        .find(|line| line.contains("\"what\":\"pass\""));
    has(edge.unwrap(), "\"kind\":\"verified\"");
    has(edge.unwrap(), "\"run\":\"c-");
}

#[test]
fn forged_notes_do_not_pass_a_changed_list() {
    let more = "echo more >> ran.ignored";
    let project = project(&[RUN]);
    allow(&project, &[RUN]);
    does(&project, "verify", "");
    let before = journal(&project);
    add(&project, more);
    assert_eq!(project.stop(), "trying");
    let notes: Vec<&str> = before
        .lines()
        .filter(|line| line.contains("\"verify-"))
        .collect();
    assert_eq!(notes.len(), 1, "{before}");
    let file = project.loop_folder(".depot").join("journal.jsonl");
    fs::write(&file, journal(&project) + &notes.join("\n") + "\n").unwrap();
    refuses(&project, "sign", "does not allow");
    assert_eq!(project.stop(), "trying");
    assert_eq!(ran(&project), 1);
    allow(&project, &[RUN, more]);
    does(&project, "verify", "");
    assert_eq!(ran(&project), 3);
}

#[test]
fn configured_name_is_allowed() {
    let project = project(&[]);
    refuses(&project, "verify", "the program gives no command to run");
    refuses(
        &project,
        "sign",
        "is not open: the program gives no command to run",
    );
    add(&project, "tidy");
    refuses(&project, "sign", "the commands were not run yet; run them:");
    does(&project, "verify", "$ tidy\nexit status 0\ntidied");
    does(&project, "sign", "");
    assert_eq!(project.status("phase"), "reviewing");
}

#[test]
fn failing_command_is_shown_and_proves_nothing() {
    let lines = ["echo first; exit 3", RUN, "test -e MENDED.md"];
    let project = project(&lines);
    allow(&project, &lines);
    let failed = "echo first; exit 3 failed (exit status 3); fix that, then:";
    refuses(&project, "verify", failed);
    assert_eq!(ran(&project), 1, "the others run all the same");
    refuses(&project, "sign", "failed (exit status 3)");
    // The result that is there is told once; the next stop runs them again.
    for count in [1, 2] {
        let message = project.stop_saying();
        assert_eq!(message["decision"], "block");
        let reason = message["reason"].as_str().unwrap();
        let start = "Mend this:\n$ echo first; exit 3\nexit status 3\nfirst\n\n$ echo ran";
        assert!(reason.starts_with(start), "{reason}");
        has(reason, "$ test -e MENDED.md\nexit status 1\n");
        assert_eq!(ran(&project), count);
    }
    let output = project.run(&format!("journal {}", project.status("id")));
    assert_eq!(
        output.matches(": 1 of 3 commands passed").count(),
        2,
        "{output}"
    );
}

#[test]
fn pass_counts_for_its_own_work_tree() {
    let project = project(&[RUN]);
    allow(&project, &[RUN]);
    does(&project, "verify", "");
    project.write("TEXT.md", "Another text.\n");
    let changed = "the work tree was changed after the commands began";
    refuses(&project, "sign", changed);
    // What git ignores is none of it.
    does(&project, "verify", "");
    project.write("x.ignored", "");
    does(&project, "sign", "");
    assert_eq!(ran(&project), 2);
    // Another visit of the phase needs its own run, though nothing has changed.
    project.run("back");
    refuses(&project, "sign", "were not run yet");
    assert_eq!(project.stop(), "reviewing");
    assert_eq!(ran(&project), 3);

    // What the commands change themselves is not what they have verified.
    project.run("leave");
    project.run("start");
    let more = "echo more >> TEXT.md";
    project.write("COMMANDS.ignored", more);
    allow(&project, &[more]);
    refuses(
        &project,
        "verify",
        "the commands changed the work tree themselves",
    );
    refuses(&project, "sign", "");
    assert_eq!(project.stop_saying()["decision"], "block");
}

#[test]
fn killed_run_is_no_result() {
    let line = "if [ -e go.ignored ]; then exit 0; fi; echo $$ > pid.ignored; exec sleep 600";
    let project = project(&[line]);
    project.write("go.ignored", "");
    allow(&project, &[line]);
    does(&project, "verify", "");
    fs::remove_file(project.root.join("go.ignored")).unwrap();
    project.write("TEXT.md", "Another text.\n");
    let mut run = project.command("verify");
    run.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    let pid = || fs::read_to_string(project.root.join("pid.ignored")).unwrap_or_default();
    let begun = Instant::now();
    while !pid().ends_with('\n') {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    refuses(&project, "sign", "the commands are still running");
    run.kill().unwrap();
    run.wait().unwrap();
    refuses(&project, "sign", "changed after the commands began");
    // It is in a process group of its own and outlives the kill.
    let killed = Command::new("kill").arg(pid().trim()).status();
    assert!(killed.unwrap().success());
    project.write("go.ignored", "");
    does(&project, "verify", "");
    let journal = journal(&project);
    assert_eq!(journal.matches("\"verify-ended\"").count(), 2, "{journal}");
    does(&project, "sign", "");
}

#[test]
fn line_that_cannot_be_shown_is_not_run() {
    let project = project(&[]);
    project.run("leave");
    for (hostile, shown) in [
        (
            "echo fine\rrm -r x",
            r"command 1 has characters that cannot be shown: echo fine\u{d}rm -r x",
        ),
        (
            "echo \u{202e}enif ohce",
            r"cannot be shown: echo \u{202e}enif ohce",
        ),
        (
            "echo \u{1b}[8mhidden",
            r"cannot be shown: echo \u{1b}[8mhidden",
        ),
        (" ", "command 1 is empty"),
    ] {
        project.run("start");
        project.write("COMMANDS.ignored", hostile);
        refuses(&project, "verify", shown);
        let decision = project.stop_saying().to_string();
        assert!(
            decision.contains("cannot be shown") || decision.contains("is empty"),
            "{decision}"
        );
        assert_eq!(ran(&project), 0);
        project.run("leave");
    }
    allow(&project, &[RUN, "echo \u{202e}enif ohce"]);
    let refusal = r"the command ‘echo \u{202e}enif ohce’ has characters that cannot be shown";
    refuses(&project, "start", refusal);
}

#[test]
fn reviewer_is_shown_what_ran_and_what_failed() {
    let project = project(&["tidy"]);
    assert_eq!(project.stop(), "reviewing");
    let prompt = || project.read("PROMPT.ignored");
    // The program gives the commands here. What is not allowed is not run, and the reviewer sees that.
    let mended = "test -e MENDED.md";
    let lines = format!("{RUN}\n{mended}\necho never\n");
    project.write("COMMANDS.ignored", &lines);
    let message = project.review("fine");
    let not_run =
        "commands that verify the work were not run: the user’s configuration does not allow:";
    has(&message, not_run);
    let not_allowed = "not run: the user’s configuration does not allow it\n";
    has(&prompt(), &format!("$ {RUN}\n{not_allowed}"));
    assert_eq!(ran(&project), 0);

    allow(&project, &[RUN, mended]);
    project.write("TEXT.md", "Another text.\n");
    assert_eq!(project.stop(), "reviewing");
    let message = project.review("fine");
    assert_eq!(ran(&project), 1, "{message}");
    has(&prompt(), &format!("$ echo never\n{not_allowed}"));
    assert!(!message.contains("echo never failed"), "{message}");
    has(&prompt(), "$ test -e MENDED.md\nexit status 1\n");
    has(
        &message,
        "the command test -e MENDED.md failed: exit status 1",
    );
    assert_eq!(project.stop(), "reviewing", "what failed is open");

    project.write("MENDED.md", "");
    project.write("TEXT.md", "A third text.\n");
    has(&project.review("fine"), "no substantive findings");
    has(&prompt(), "----- commands ");
    has(&prompt(), "exit status 0");
    project.stop();
    has(&project.run("list"), "done");
}
