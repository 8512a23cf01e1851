//! Commands that verify the work: which run, what they prove, and the reviewer's view of them.

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

/// Returns a repository with one loop that these commands verify.
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

/// Calls the program as an agent. It refuses with this message.
#[track_caller]
fn refuses(project: &Project, line: &str, why: &str) {
    let (succeeded, said) = project.agent(line);
    assert!(!succeeded && said.contains(why), "{said}");
}

/// Calls the program as an agent. It succeeds with this output.
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
    refuses(
        &project,
        "verify",
        "the user’s configuration does not allow:\n    echo ran",
    );
    refuses(
        &project,
        "verify",
        "can add these lines to allow_commands in ",
    );
    assert_eq!(ran(&project), 0);
    assert!(!journal(&project).contains("verify-ended"));

    // With one more character it is another line.
    allow(&project, &[RUN, "echo 'two words' &&  true"]);
    let not_run = format!("$ {other}\nnot run: the user’s configuration does not allow it");
    refuses(&project, "verify", &not_run);
    assert_eq!(ran(&project), 1);

    allow(&project, &[RUN, other]);
    let printed = "$ echo 'two words' && true\nexit status 0\ntwo words\n";
    does(&project, "verify", printed);
    assert_eq!(ran(&project), 2);
    // The result for this work tree exists, and the review uses it.
    project.review("fine");
    assert_eq!(ran(&project), 2);
    has(&project.read("PROMPT.ignored"), printed);
}

#[test]
fn forged_notes_do_not_pass_a_changed_list() {
    let more = "echo more >> ran.ignored";
    let project = project(&[RUN]);
    allow(&project, &[RUN]);
    does(&project, "verify", "");
    let before = journal(&project);
    add(&project, more);
    allow(&project, &[RUN, more]);
    let notes: Vec<&str> = before
        .lines()
        .filter(|line| line.contains("\"verify-"))
        .collect();
    assert_eq!(notes.len(), 1, "{before}");
    let file = project.loop_folder(".depot").join("journal.jsonl");
    fs::write(&file, journal(&project) + &notes.join("\n") + "\n").unwrap();
    assert_eq!(ran(&project), 1);
    does(&project, "verify", "");
    assert_eq!(ran(&project), 3);
}

#[test]
fn configured_name_is_allowed() {
    let project = project(&[]);
    refuses(&project, "verify", "no commands verify the work here");
    add(&project, "tidy");
    does(&project, "verify", "$ tidy\nexit status 0\ntidied");
}

#[test]
fn pass_counts_for_its_own_work_tree() {
    let project = project(&[RUN]);
    allow(&project, &[RUN]);
    does(&project, "verify", "");
    // Ignored files do not matter.
    project.write("x.ignored", "");
    does(&project, "verify", "");
    assert_eq!(ran(&project), 1);
    project.write("TEXT.md", "Another text.\n");
    does(&project, "verify", "");
    assert_eq!(ran(&project), 2);

    // Changes by the commands themselves are not verified.
    let more = "echo more >> TEXT.md";
    project.write("COMMANDS.ignored", more);
    allow(&project, &[more]);
    refuses(
        &project,
        "verify",
        "the commands changed the work tree themselves",
    );
}

#[test]
fn killed_run_is_no_result() {
    let line = "if [ -e go.ignored ]; then exit 0; fi; echo $$ > pid.ignored; exec sleep 600";
    let project = project(&[line]);
    allow(&project, &[line]);
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
    run.kill().unwrap();
    run.wait().unwrap();
    // It is in another process group and outlives the kill.
    let killed = Command::new("kill").arg(pid().trim()).status();
    assert!(killed.unwrap().success());
    project.write("go.ignored", "");
    does(&project, "verify", "");
    let journal = journal(&project);
    assert_eq!(journal.matches("\"verify-ended\"").count(), 1, "{journal}");
}

#[test]
fn line_that_cannot_be_shown_is_not_run() {
    let project = project(&[]);
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
        project.write("COMMANDS.ignored", hostile);
        refuses(&project, "verify", shown);
        assert_eq!(ran(&project), 0);
    }
}

#[test]
fn reviewer_is_shown_what_ran_and_what_failed() {
    let mended = "test -e MENDED.md";
    let project = project(&[RUN, mended, "echo never"]);
    let prompt = || project.read("PROMPT.ignored");
    // Other commands are not run, and the reviewer sees that.
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
    let output = project.run(&format!("journal {}", project.status("id")));
    has(&output, ": 1 of 3 commands passed");
    let failed = "test -e MENDED.md failed (exit status 1); fix that, then:";
    refuses(&project, "verify", failed);

    project.write("MENDED.md", "");
    project.write("TEXT.md", "A third text.\n");
    has(&project.review("fine"), "no substantive findings");
    has(&prompt(), "----- commands ");
    has(&prompt(), "exit status 0");
    project.stop();
    has(&project.run("list"), "done");
}
