//! What holds for any machine holds for the two large ones.

use std::fs;
use std::io;

use claudex_testkit::{Kit, Project};

/// Returns a number of a state document, be it JSON or YAML; 0 for null.
fn number(project: &Project, document: &str, key: &str) -> u64 {
    let text = fs::read_to_string(project.root().join(document)).unwrap_or_default();
    let found = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim().trim_matches('"') == key).then_some(value.trim().trim_matches(','))
    });
    found.and_then(|value| value.parse().ok()).unwrap_or_default()
}

const PLAN: &str = ".taskie/plans/kit_1";

/// Writes tasks.md with so many tasks, and their files. Of those that are done the last is the one that is wanted.
fn tasks(project: &Project, total: u64, done: u64, last: u64) -> io::Result<()> {
    let mut table = "| Id | Status | Description |\n|---|---|---|\n".to_owned();
    for at in 1..=total.max(done) {
        let id = if at == done { last } else { at + 100 };
        let status = if at <= done { "done" } else { "pending" };
        table += &format!("| {id} | {status} | One of them |\n");
        project.write(&format!("{PLAN}/task-{id}.md"), "### Subtask 1.1: all of it\n")?;
    }
    project.write(&format!("{PLAN}/tasks.md"), &table)
}

/// Has tasks.md say that as many tasks are done as were reviewed, and so many more.
fn progress(project: &Project, more: u64, last: u64) -> io::Result<()> {
    let of = |key| number(project, &format!("{PLAN}/state.json"), key);
    tasks(project, of("tasks_total"), of("tasks_done") + more, last)
}

#[test]
#[expect(clippy::print_stdout, reason = "what was tried is what the test has to say")]
fn taskie_passes_the_kit() {
    let mut kit = Kit::new("taskie.toml", env!("CARGO_BIN_EXE_taskie"));
    kit = kit.own("*", "violation", |project, _| {
        project.write(&format!("{PLAN}/notes.txt"), "Mine.\n")
    });
    kit = kit.own("create_tasks", "remind", |project, _| tasks(project, 0, 0, 0));
    kit = kit.own("create_tasks", "tasks_written", |project, given| {
        tasks(project, given["total"].parse().unwrap_or_default(), 0, 0)
    });
    for phase in ["complete_task", "complete_task_tdd"] {
        kit = kit.own(phase, "remind", |project, _| progress(project, 0, 100));
        kit = kit.own(phase, "task_done", |project, given| {
            progress(project, 1, given["task"].parse().unwrap_or_default())
        });
    }
    let report = kit.quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}

/// Writes the summary of the stage that was dispatched, and what it is about.
fn summary(project: &Project, lines: &str) -> io::Result<()> {
    let of = |key| number(project, "requirements/.requirements-state.local.md", key);
    project.write(
        "requirements/working/QUESTIONS.md",
        "## Q-1: Who is it for? [CRITICAL]\n",
    )?;
    project.write("requirements/PRD.md", "# Product Definition\n")?;
    project.write(
        &format!(
            "requirements/.stage-summaries/stage-{}-summary.md",
            of("current_stage")
        ),
        &format!(
            "---\n{lines}\ndispatch_id: {}\n---\n\n## Context for Next Stage\n",
            of("dispatch")
        ),
    )
}

#[test]
#[expect(clippy::print_stdout, reason = "what was tried is what the test has to say")]
fn stages_pass_the_kit() {
    let mut kit = Kit::new("stages.toml", env!("CARGO_BIN_EXE_stages"));
    for (transition, lines) in [
        ("complete", "status: completed\nnext_action: proceed"),
        ("go_back", "status: completed\nnext_action: ACTION"),
        (
            "validate",
            "status: completed\nvalidation_decision: DECISION\nvalidation_score: SCORE",
        ),
        (
            "wait",
            "status: needs-user-input\npause_type: exit_cli\nblock_reason: REASON",
        ),
        (
            "ask",
            "status: needs-user-input\npause_type: interactive\nquestion: Who is it for?\nheader: Users",
        ),
        ("fail", "status: failed"),
        ("remind", "status:"),
    ] {
        kit = kit.own("dispatched", transition, move |project, given| {
            let filled = given.iter().fold(lines.to_owned(), |lines, (name, value)| {
                lines.replace(&name.to_uppercase(), value)
            });
            summary(project, &filled)
        });
    }
    let report = kit.quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}

#[test]
fn a_plan_of_the_bash_version_is_taken_up_where_it_stands() {
    let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let taskie = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_taskie"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", home.path()).current_dir(root.path());
        let said = command.args(arguments).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).unwrap()
    };
    for (id, next, phase) in [
        ("billing", "\"post-code-review\"", "post_code_review"),
        ("search", "null", "standalone"),
    ] {
        let file = root.path().join(format!(".taskie/plans/{id}/state.json"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let state = format!("{{\"current_task\": 3, \"next_phase\": {next}, \"phase_iteration\": 2}}");
        fs::write(&file, state).unwrap();
        taskie(&["import", file.to_str().unwrap()]);
        let shown = taskie(&["status", id]);
        assert!(shown.contains(phase), "{shown}");
    }
}
