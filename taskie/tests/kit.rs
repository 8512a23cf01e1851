//! What holds for any machine holds for Taskie.

use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use claudex_testkit::{Actor, Kit, Project};

const PLAN: &str = ".taskie/plans/kit_1";

/// Returns a number of state.json; 0 for null.
fn number(project: &Project, key: &str) -> u64 {
    let text = fs::read_to_string(project.root().join(PLAN).join("state.json")).unwrap_or_default();
    let found = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim().trim_matches('"') == key).then_some(value.trim().trim_matches(','))
    });
    found
        .and_then(|value| value.parse().ok())
        .unwrap_or_default()
}

/// Writes tasks.md with so many active tasks, the first of them done, and their files. Of those that are done `last` was done last.
fn tasks(project: &Project, total: u64, done: u64, last: u64) -> io::Result<()> {
    let mut table =
        "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n| 900 | cancelled | low | a | b |\n"
            .to_owned();
    for at in 1..=total.max(done) {
        let id = if at == done { last } else { at + 100 };
        let status = if at <= done { "done" } else { "pending" };
        table += &format!("| {id} | {status} | low | One of them | by hand |\n");
        let subtask = format!("### Subtask {id}.1: all of it\n- **Status**: completed\n");
        let file = format!("{PLAN}/task-{id}.md");
        project.write(&file, &subtask)?;
        // Two files that are written at once may have one time.
        let file = fs::File::options()
            .write(true)
            .open(project.root().join(file))?;
        file.set_modified(SystemTime::now() - Duration::from_secs(3600))?;
    }
    project.write(
        &format!("{PLAN}/task-{last}.md"),
        &format!("### Subtask {last}.1: all of it\n- **Status**: completed\n"),
    )?;
    project.write(&format!("{PLAN}/tasks.md"), &table)
}

/// Has tasks.md say that as many tasks are done as were reviewed, and so many more.
fn progress(project: &Project, more: u64, last: u64) -> io::Result<()> {
    let of = |key| number(project, key);
    tasks(project, of("tasks_total"), of("tasks_done") + more, last)
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was tried is what the test has to say"
)]
fn taskie_passes_the_kit() {
    let plan = format!("{PLAN}/plan.md");
    let mut kit = Kit::new("machine.toml", env!("CARGO_BIN_EXE_taskie"));
    let begun = plan.clone();
    kit = kit.project(move |project| project.write(&begun, "# Plan\n"));
    kit = kit.own("*", "violation", |project, _| {
        project.write(&format!("{PLAN}/notes.txt"), "Mine.\n")
    });
    for (transition, text) in [
        ("remind", "# Plan\n"),
        ("planned", "# Plan\n\n## Overview\n"),
    ] {
        let plan = plan.clone();
        kit = kit.own("new_plan", transition, move |project, _| {
            project.write(&plan, text)
        });
    }
    kit = kit.own("create_tasks", "remind", |project, _| {
        tasks(project, 0, 0, 100)
    });
    let counted = |project: &Project, given: &std::collections::BTreeMap<String, String>| {
        let of = |name: &str| given[name].parse().unwrap_or_default();
        tasks(project, of("total"), of("done"), 100)
    };
    kit = kit.own("create_tasks", "tasks_written", counted);
    kit = kit.own(
        "post_tasks_review",
        "tasks_addressed",
        move |project, given| {
            counted(project, given)?;
            let answer = format!(
                "{PLAN}/tasks-post-review-{}.md",
                number(project, "review_file")
            );
            project.write(&answer, "All of it.\n")
        },
    );
    kit = kit.own("post_tasks_review", "remind", |_, _| Ok(()));
    for phase in ["complete_task", "complete_task_tdd"] {
        kit = kit.own(phase, "remind", |project, _| progress(project, 0, 100));
        kit = kit.own(phase, "task_done", |project, given| {
            progress(project, 1, given["task"].parse().unwrap_or_default())
        });
    }
    let report = people(kit).plugin("plugin").quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}

/// The commands by which people take what has no verb.
fn people(mut kit: Kit) -> Kit {
    let words = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect());
    kit = kit.verb("*", "grant", Actor::Person, move |_, given| {
        words(&["more", &given["reviews"]])
    });
    kit = kit.verb("*", "limit", Actor::Person, move |_, given| {
        words(&["max-reviews", &given["count"]])
    });
    kit = kit.verb("*", "leave", Actor::Person, move |project, given| {
        row(project, &given["task"], "pending")?;
        words(&[&given["command"]])
    });
    kit = kit.verb("*", "begin_tasks", Actor::Person, move |_, _| {
        words(&["create-tasks"])
    });
    for (transition, command) in [
        ("begin_task", "complete-task"),
        ("begin_task_tdd", "complete-task-tdd"),
    ] {
        kit = kit.verb("*", transition, Actor::Person, move |project, given| {
            let of = |name: &str| given[name].parse().unwrap_or_default();
            tasks(project, of("total"), of("done"), 100)?;
            words(&[command])
        });
    }
    kit = kit.verb("*", "add", Actor::Person, move |project, given| {
        let before = given["row"].parse().unwrap_or(1_u64).saturating_sub(1);
        row(project, &before.to_string(), "cancelled")?;
        words(&["add-task"])
    });
    kit.verb("*", "drop", Actor::Person, move |project, _| {
        let of = |key| number(project, key);
        tasks(
            project,
            of("tasks_total").saturating_sub(1),
            of("tasks_done"),
            100,
        )?;
        words(&["drop-task", "900"])
    })
}

/// Writes tasks.md with this one row.
fn row(project: &Project, id: &str, status: &str) -> io::Result<()> {
    let table = format!(
        "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n| {id} | {status} | low | a | b |\n"
    );
    project.write(
        &format!("{PLAN}/task-{id}.md"),
        &format!("### Subtask {id}.1: all of it\n- **Status**: pending\n"),
    )?;
    project.write(&format!("{PLAN}/tasks.md"), &table)
}
