//! Whole outputs of commands that read a loop.

use crate::support::Project;
use crate::transcript::Transcript;

/// Returns a loop in its second round, and its id.
fn second_round() -> (Project, String) {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan\n\nMove the queue in two steps.\n");
    project.fire().blocked();
    (project, id)
}

/// Replaces paths, ids, times and durations.
pub(crate) fn evened(project: &Project, id: &str, text: &str) -> String {
    transcript(project, id).evened(text)
}

fn transcript(project: &Project, id: &str) -> Transcript {
    let [root, home] = [&project.root, &project.home].map(|path| path.to_str().unwrap());
    Transcript::new(&[(root, "/project"), (home, "/home"), (id, "LOOP")])
}

fn calls(project: &Project, id: &str, lines: &[&str]) -> String {
    let mut calls = transcript(project, id);
    for line in lines {
        let ran = project.run(&line.replace("LOOP", id)).exits(0);
        calls.add(&format!("claudex-loop {line}"), &(ran.out + &ran.err));
    }
    calls.text
}

#[track_caller]
fn output(project: &Project, id: &str, arguments: &[&str]) -> String {
    let ran = project.run(arguments).exits(0);
    evened(project, id, &format!("{}{}", ran.out, ran.err))
}

#[test]
fn status_of_second_round_is_whole() {
    let (project, id) = second_round();
    insta::assert_snapshot!("status", output(&project, &id, &["status"]));
}

#[test]
fn list_and_journal_are_whole() {
    let (project, id) = second_round();
    // The columns are as wide as their cells.
    let list = output(&project, &id, &["list"]);
    let rows: Vec<String> = list
        .lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>())
        .map(|row| row.join(" "))
        .collect();
    insta::assert_snapshot!("list", rows.join("\n"));
    insta::assert_snapshot!("journal", output(&project, &id, &["journal", &id]));
}

#[test]
fn status_line_is_whole() {
    let (project, id) = second_round();
    let input = serde_json::json!({ "session_id": "s1", "cwd": project.root });
    let ran = project.run_with_stdin("statusline", input.to_string().as_bytes());
    let line = evened(&project, &id, &ran.exits(0).out);
    insta::assert_snapshot!(line, @"claudex: reviewing, round 2 of 2, round 1 found high=1 medium=1 low=1, 0s");
}

#[test]
fn report_is_whole() {
    let (project, id) = second_round();
    let page = output(&project, &id, &["report", &id]);
    let (_, page) = page.split_once("<body>").unwrap();
    // The lengths of the bars are seconds.
    let mut parts = page.split("<meter ");
    let mut evened = parts.next().unwrap().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('>').unwrap();
        evened += &format!("<meter>{rest}");
    }
    insta::assert_snapshot!("report", evened);
}

#[test]
fn commands_without_a_loop_are_whole() {
    let project = Project::new();
    let lines = ["status", "list", "journal", "personas", "rollback --yes"];
    insta::assert_snapshot!("without_a_loop", calls(&project, "no id", &lines));
}

#[test]
fn ends_of_a_loop_are_whole() {
    let (project, id) = second_round();
    let lines = ["pause LOOP", "resume LOOP", "rollback --yes"];
    insta::assert_snapshot!("ends", calls(&project, &id, &lines));
}

#[test]
fn configuration_and_doctor_are_whole() {
    let project = Project::new()
        .with("CLAUDEX_REVIEWER", "")
        .configured("reviewer = \"lint\"\n[programs.claudex-loop.rounds]\nplan = 5\n");
    let text = output(&project, "no id", &["config", "show"]);
    insta::assert_snapshot!(text, @r#"
    evidence = "required"             default
    limits.idle-timeout = "5m"        default
    limits.max-failures = 3           default (machine.toml)
    limits.stale-minutes = 15         default
    limits.timeout = "15m"            default
    reviewer = "lint"                 user /home/config/claudex-loop/config.toml:1:1
    reviewers.claude.kind = "claude"  default
    reviewers.codex.kind = "codex"    default
    reviewers.lint.kind = "lint"      default
    rounds.plan = 5                   user /home/config/claudex-loop/config.toml:3:1
    rounds.review = 1                 default (machine.toml)
    "#);

    let text = output(&project, "no id", &["doctor"]);
    // Whether the program is on PATH depends on the machine.
    let (_, checks) = text.split_once("\nwarning  hooks").unwrap();
    let (before, after) = checks.split_once("git            /").unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    let text = format!("warning  hooks{before}git            GIT\n{after}");
    insta::assert_snapshot!(text, @r"
    warning  hooks          our plugin is not installed, and no settings have a Stop hook of claudex-loop
             help: install the plugin claudex in Claude Code, or add the output of this to .claude/settings.json:
        claudex-loop hooks
    ok       other plugins  none works on .claude/claudex
    ok       state folder   /project/.claude/claudex (the first start creates it)
    ok       state home     /home/state/claudex-loop (the first start creates it)
    ok       git            GIT
    ok       configuration  reviewer lint
    ok       reviewer       lint; installed: lint
    Loops can run.
    ");
}
