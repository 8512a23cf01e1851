//! Commands that verify the work: which of them run, what they prove, and what a reviewer is shown of them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::project::Project;

const MACHINE: &str = r#"name = "depot"
messages = "messages"

[modes.depot]
start = "trying"

[fields]
HELD
visit    = { holds = "visit" }
round    = { type = "count", initial = 1 }
tries    = { type = "count" }

[phases.trying.on_stop.verify]
commands = "{program}"
passed   = "pass"
failed   = "fail"

[phases.reviewing.on_stop.review]
subject  = "TEXT.md"
round    = "round"
verify   = "{program}"
clean    = "finish"
findings = "revise"
failed   = "finish_off"

[phases.done]
terminal = true

[[transitions.pass]]
from     = "trying"
to       = "reviewing"
requires = "verified"

[[transitions.sign]]
from     = "trying"
to       = "reviewing"
by       = ["agent"]
requires = "verified"

[[transitions.fail]]
from    = "trying"
to      = "same"
when    = "tries < 9"
set     = { tries = "tries + 1" }
message = "mend.md"

[[transitions.finish]]
from     = "reviewing"
to       = "done"
requires = "settled"

[[transitions.revise]]
from     = "reviewing"
to       = "same"
when     = "round < 9"
set      = { round = "round + 1" }
requires = "reviewed"

[[transitions.finish_off]]
from = "reviewing"
to   = "done"

[[transitions.back]]
from = "reviewing"
to   = "trying"
by   = ["person"]

[[transitions.leave]]
from = "*"
to   = "done"
by   = ["person"]
"#;

const MAIN: &str = r#"#![deny(warnings)]
use depot::{AnyLoop, OnStop};

struct Depot;

impl OnStop for Depot {
    fn verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String> {
        let text = std::fs::read_to_string(held.raw().path("COMMANDS.ignored")).map_err(|error| error.to_string())?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

claudex_loop::main!(depot, Depot);
"#;

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
    let mend = ("mend.md", "Mend this:\n{{ verified }}\n");
    let project = Project::with_main("depot", MACHINE, &[mend], CONFIGURATION, MAIN);
    fs::remove_dir(project.root.join(".git")).unwrap();
    project.write(".gitignore", ".depot/\n.config/\n.local/\n*.ignored\n");
    project.write("TEXT.md", "Text.\n");
    project.write("COMMANDS.ignored", "");
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(&project.root)
        .status();
    assert!(made.unwrap().success());
    project.run(&["start"], "");
    commands.iter().for_each(|line| add(&project, line));
    project
}

fn add(project: &Project, line: &str) {
    let lines = project.read("COMMANDS.ignored") + line + "\n";
    project.write("COMMANDS.ignored", &lines);
}

/// Calls the program as an agent does, to whom it says no with these words.
#[track_caller]
fn refuses(project: &Project, arguments: &[&str], why: &str) {
    let (succeeded, said) = project.agent(arguments);
    assert!(!succeeded && said.contains(why), "{said}");
}

/// The same where it does what it is told.
#[track_caller]
fn does(project: &Project, arguments: &[&str], what: &str) {
    let (succeeded, said) = project.agent(arguments);
    assert!(succeeded && said.contains(what), "{said}");
}

/// Writes the user's configuration, which allows these lines.
fn allow(project: &Project, lines: &[&str]) {
    let text = format!("allow_commands = {}\n{CONFIGURATION}", json!(lines));
    project.write(".config/claudex-loop/config.toml", &text);
}

/// Allows these lines and has the agent run them.
#[track_caller]
fn verify(project: &Project, lines: &[&str]) -> String {
    allow(project, lines);
    let (succeeded, said) = project.agent(&["verify"]);
    assert!(succeeded, "{said}");
    said
}

/// The loop's folder of the state folder, with its journal.
fn folder(project: &Project) -> PathBuf {
    project.root.join(".depot").join(project.status("id"))
}

fn journal(project: &Project) -> String {
    fs::read_to_string(folder(project).join("journal.jsonl")).unwrap()
}

/// How often a line stands in a file that commands append to.
fn ran(project: &Project) -> usize {
    let text = fs::read_to_string(project.root.join("ran.ignored")).unwrap_or_default();
    text.lines().count()
}

const RUN: &str = "echo ran >> ran.ignored";

#[test]
fn verify_runs_only_the_lines_that_are_allowed() {
    let other = "echo 'two words' && true";
    let project = project(&[RUN, other]);
    let said = project.stop_saying();
    assert_eq!(said["decision"], "approve");
    let told = said["systemMessage"].as_str().unwrap();
    has(told, "waits for commands that verify the work: ");
    has(told, "does not allow:\n    echo ran");
    has(told, "to allow_commands in ");
    refuses(&project, &["verify"], "does not allow:\n");
    assert_eq!(ran(&project), 0);
    assert!(!journal(&project).contains("verify-ended"));

    // One character more is another line. A stop runs all of them or none.
    allow(&project, &[RUN, "echo 'two words' &&  true"]);
    assert_eq!(project.stop(), "trying");
    assert_eq!(ran(&project), 0);
    let not_run = format!("$ {other}\nnot run: the user’s configuration does not allow it");
    refuses(&project, &["verify"], &not_run);
    assert_eq!(ran(&project), 1);
    refuses(&project, &["sign"], "does not allow");

    allow(&project, &[RUN, other]);
    does(
        &project,
        &["verify"],
        "$ echo 'two words' && true\nexit status 0\ntwo words\n",
    );
    assert_eq!(ran(&project), 2);
    // The result is there for this work tree: the stop takes it.
    assert_eq!(project.stop(), "reviewing");
    assert_eq!(ran(&project), 2);
    let journal = journal(&project);
    let edge = journal
        .lines()
        .find(|line| line.contains("\"what\":\"pass\""))
        .unwrap();
    has(edge, "\"kind\":\"verified\"");
    has(edge, "\"run\":\"c-");
}

#[test]
fn forged_notes_do_not_pass_a_changed_list() {
    let project = project(&[RUN]);
    verify(&project, &[RUN]);
    assert_eq!(ran(&project), 1);
    let before = journal(&project);
    let more = "echo more >> ran.ignored";
    add(&project, more);
    assert_eq!(project.stop(), "trying");
    let notes: String = before
        .lines()
        .filter(|line| line.contains("\"verify-"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(notes.lines().count(), 1, "{before}");
    let file = folder(&project).join("journal.jsonl");
    fs::write(&file, journal(&project) + &notes).unwrap();
    refuses(&project, &["sign"], "does not allow");
    assert_eq!(project.stop(), "trying");
    assert_eq!(ran(&project), 1);
    verify(&project, &[RUN, more]);
    assert_eq!(ran(&project), 3);
}

#[test]
fn a_name_of_the_configuration_is_allowed_and_nothing_to_run_is_said() {
    let project = project(&[]);
    refuses(&project, &["verify"], "there is no command to run");
    refuses(
        &project,
        &["sign"],
        "is not open: there is no command to run",
    );
    add(&project, "tidy");
    refuses(
        &project,
        &["sign"],
        "the commands were not run yet; run them:",
    );
    does(&project, &["verify"], "$ tidy\nexit status 0\ntidied");
    assert!(project.agent(&["sign"]).0);
    assert_eq!(project.status("phase"), "reviewing");
}

#[test]
fn a_command_that_fails_is_shown_to_the_agent_and_proves_nothing() {
    let lines = ["echo first; exit 3", RUN, "test -e MENDED.md"];
    let project = project(&lines);
    allow(&project, &lines);
    let (succeeded, said) = project.agent(&["verify"]);
    assert!(
        !succeeded && said.contains("echo first; exit 3 failed (exit status 3); fix that, then:"),
        "{said}"
    );
    assert_eq!(ran(&project), 1, "the others run all the same");
    refuses(&project, &["sign"], "failed (exit status 3)");
    // The result that is there is told once; the next stop runs them anew.
    for count in [1, 2] {
        let said = project.stop_saying();
        assert_eq!(said["decision"], "block");
        let reason = said["reason"].as_str().unwrap();
        assert!(
            reason.starts_with(
                "Mend this:\n$ echo first; exit 3\nexit status 3\nfirst\n\n$ echo ran"
            ),
            "{reason}"
        );
        has(reason, "$ test -e MENDED.md\nexit status 1\n");
        assert_eq!(ran(&project), count);
    }
    assert_eq!(journal(&project).matches("\"verify-ended\"").count(), 2);
    let told = project.run(&["journal", &project.status("id")], "");
    assert_eq!(
        told.matches(": 1 of 3 commands passed").count(),
        2,
        "{told}"
    );
}

#[test]
fn what_passed_counts_for_the_work_tree_as_it_was() {
    let project = project(&[RUN]);
    verify(&project, &[RUN]);
    project.write("TEXT.md", "Another text.\n");
    refuses(
        &project,
        &["sign"],
        "the work tree was changed after the commands began",
    );
    // What git ignores is none of it.
    assert!(project.agent(&["verify"]).0);
    project.write("x.ignored", "");
    assert!(project.agent(&["sign"]).0);
    assert_eq!(ran(&project), 2);
    // Another visit of the phase needs a run of its own, though nothing has changed.
    project.run(&["back"], "");
    refuses(&project, &["sign"], "were not run yet");
    assert_eq!(project.stop(), "reviewing");
    assert_eq!(ran(&project), 3);

    // What the commands change themselves is not what they have verified.
    project.run(&["leave"], "");
    project.run(&["start"], "");
    project.write("COMMANDS.ignored", "echo more >> TEXT.md\n");
    allow(&project, &["echo more >> TEXT.md"]);
    let (succeeded, said) = project.agent(&["verify"]);
    assert!(!succeeded, "{said}");
    has(&said, "the commands changed the work tree themselves");
    assert!(!project.agent(&["sign"]).0);
    assert_eq!(project.stop_saying()["decision"], "block");
}

fn is_alive(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X'])
}

#[test]
fn killed_run_is_no_result() {
    let line = "if [ -e go.ignored ]; then exit 0; fi; echo $$ > pid.ignored; exec sleep 600";
    let project = project(&[line]);
    project.write("go.ignored", "");
    verify(&project, &[line]);
    fs::remove_file(project.root.join("go.ignored")).unwrap();
    project.write("TEXT.md", "Another text.\n");
    let mut run = project.command(&["verify"]);
    let mut run = run
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = || {
        fs::read_to_string(project.root.join("pid.ignored"))
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let begun = Instant::now();
    while pid().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    refuses(&project, &["sign"], "the commands are still running");
    run.kill().unwrap();
    run.wait().unwrap();
    let pid = pid();
    assert!(
        is_alive(&pid),
        "the kill alone ends it: this proves nothing"
    );
    refuses(&project, &["sign"], "changed after the commands began");
    // It is in a process group of its own and outlives the kill.
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    project.write("go.ignored", "");
    assert!(project.agent(&["verify"]).0);
    let journal = journal(&project);
    assert_eq!(journal.matches("\"verify-ended\"").count(), 2, "{journal}");
    assert!(project.agent(&["sign"]).0);
}

#[test]
fn what_cannot_be_shown_is_not_run() {
    let project = project(&[]);
    project.run(&["leave"], "");
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
        project.run(&["start"], "");
        project.write("COMMANDS.ignored", hostile);
        let (succeeded, said) = project.agent(&["verify"]);
        assert!(!succeeded && said.contains(shown), "{said:?}");
        let told = project.stop_saying().to_string();
        assert!(
            told.contains("cannot be shown") || told.contains("is empty"),
            "{told}"
        );
        assert_eq!(ran(&project), 0);
        project.run(&["leave"], "");
    }
    allow(&project, &[RUN, "echo \u{202e}enif ohce"]);
    let (succeeded, said) = project.agent(&["start"]);
    let refusal = r"the command ‘echo \u{202e}enif ohce’ has characters that cannot be shown";
    assert!(!succeeded && said.contains(refusal), "{said}");
}

#[test]
fn a_reviewer_is_shown_what_ran_and_what_failed_is_a_high_finding() {
    let project = project(&["tidy"]);
    assert_eq!(project.stop(), "reviewing");
    let prompt = || project.read("PROMPT.ignored");
    // The program gives the commands here. What is not allowed is not run, and the reviewer is told so.
    let mended = "test -e MENDED.md";
    project.write(
        "COMMANDS.ignored",
        &format!("{RUN}\n{mended}\necho never\n"),
    );
    let said = project.run(&["review", "--reviewer", "fine"], "");
    has(
        &said,
        "commands that verify the work were not run: the user’s configuration does not allow:",
    );
    has(
        &prompt(),
        &format!("$ {RUN}\nnot run: the user’s configuration does not allow it\n"),
    );
    assert_eq!(ran(&project), 0);

    allow(&project, &[RUN, mended]);
    project.write("TEXT.md", "Another text.\n");
    project.stop();
    assert_eq!(project.status("phase"), "reviewing");
    let said = project.run(&["review", "--reviewer", "fine"], "");
    assert_eq!(ran(&project), 1, "{said}");
    has(
        &prompt(),
        "$ echo never\nnot run: the user’s configuration does not allow it\n",
    );
    assert!(!said.contains("echo never failed"), "{said}");
    has(&prompt(), "$ test -e MENDED.md\nexit status 1\n");
    has(&said, "the command test -e MENDED.md failed: exit status 1");
    let shown: Value = serde_json::from_str(&project.run(&["status", "--json"], "")).unwrap();
    assert_ne!(shown["loops"][0]["phase"], json!("done"));
    assert_eq!(project.stop(), "reviewing", "what failed is open");

    project.write("MENDED.md", "");
    project.write("TEXT.md", "A third text.\n");
    let said = project.run(&["review", "--reviewer", "fine"], "");
    has(&said, "no substantive findings");
    // The commands of a list that cannot be had are said, too.
    has(&prompt(), "----- commands ");
    has(&prompt(), "exit status 0");
    project.stop();
    assert!(project.run(&["list"], "").contains("done"));
}
