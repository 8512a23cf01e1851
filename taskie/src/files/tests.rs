//! The content of a plan's files, and the problems of unreadable ones.

use claudex_loop::files::Folder;

use super::name::{Group, Name};
use super::task::TaskFile;
use super::tasks::{Row, Status, parse_tasks};
use super::{Directory, MAX_FILE_BYTES};

const TABLE: &str = "| Id | Status |\n|---|---|\n";

/// Reads a table without problems.
fn rows(text: &str) -> Vec<Row> {
    parse_tasks(text, &mut |_, problem| panic!("{problem}"))
}

#[test]
fn names_are_read_and_written_the_same() {
    for name in [
        "state.json",
        "design.md",
        "task-12.md",
        "plan-review-1.md",
        "design-post-review-2.md",
        "task-3-code-post-review-10.md",
        "all-code-review-1.md",
    ] {
        let parsed = Name::parse(name).map(|name| name.to_string());
        assert_eq!(parsed.as_deref(), Some(name));
    }
    let review = Name::Review(Group::TaskCode(3), 10);
    assert_eq!(Name::parse("task-3-code-review-10.md"), Some(review));
    for name in [
        "notes.md",
        "PLAN.md",
        "task-0.md",
        "task-01.md",
        "task-+1.md",
        "plan-review.md",
        "post-plan-review-1.md",
        "task-99999999999999999999.md",
        "all-code-review-1.md.bak",
    ] {
        assert_eq!(Name::parse(name), None, "{name}");
    }
}

#[test]
fn table_is_read_by_column_names() {
    let text = "| Prerequisites | status | Id | Description |\n|--|--|--|--|\n\
                | – | pending | 7 | The `parser` |\n| 7 | done | 2 | **Docs** |\n";
    let row = |id, status| Row { id, status };
    let expected = [row(7, Status::Pending), row(2, Status::Done)];
    assert_eq!(rows(text), expected);
    let windows = text.replace('\n', "\r\n");
    assert_eq!(rows(&windows), expected);
    for between in ["\n", "\n<!-- later -->\n\n", "## Phase 2\n"] {
        let parted = text.replace("| 7 | done", &format!("{between}| 7 | done"));
        assert_eq!(rows(&parted), expected, "{between:?}");
    }
}

#[test]
fn status_is_read_as_people_write_it() {
    for (word, expected) in [
        ("✅ done", Status::Done),
        ("Completed (PR #4)", Status::Done),
        ("In progress", Status::Pending),
        ("todo", Status::Pending),
        ("canceled", Status::Cancelled),
    ] {
        let text = format!("{TABLE}| 1 | {word} |\n");
        assert_eq!(rows(&text)[0].status, expected, "{word}");
    }
    for heading in ["subtask 2.1", "Sub-task 2.1: x", "Task 2.1", "Step 2.1: x"] {
        let file = parse_task(&format!("### {heading}\n- Status: done\n"));
        assert!(file.is_completed(), "{heading}");
    }
}

const TASK: &str = "# Task 2\n\nIts purpose.\n\n### Subtask 2.1: the parser\n\n\
    - **Short description**: reads the table\n  and shows where\n- **Status**: completed\n- **Must-run commands**:\n  - `cargo test`\n  \
    - `cargo clippy`, then `cargo test`\n- **Acceptance criteria**:\n  - one\n    - **Status**: nested\n  - two\n\n\
    ### Subtask 2.2: the docs\n- **Status**: awaiting-review\n- **Must-run commands**: `make docs`\n  `make links`\n\n### Notes\n- **Status**: any\n";

fn parse_task(text: &str) -> TaskFile {
    TaskFile::parse(2, text, &mut |_, problem| panic!("{problem}")).unwrap()
}

#[test]
fn task_file_is_read_with_nested_bullets() {
    for text in [TASK.to_owned(), TASK.replace('\n', "\r\n")] {
        let file = parse_task(&text);
        let headings: Vec<&str> = file.subtasks.iter().map(|one| &*one.heading).collect();
        assert_eq!(
            headings,
            ["Subtask 2.1: the parser", "Subtask 2.2: the docs"]
        );
        assert_eq!((file.completed(), file.is_completed()), (1, false));
        let commands: Vec<String> = file.must_run().collect();
        let expected = [
            "cargo test",
            "cargo clippy",
            "cargo test",
            "make docs",
            "make links",
        ];
        assert_eq!(commands, expected);
    }
}

#[test]
fn must_run_commands_are_spans_and_fences_only() {
    for (value, expected) in [
        ("", &[][..]),
        ("none", &[]),
        ("None.", &[]),
        ("–", &[]),
        ("make check", &[]),
        ("none; `make` is not there", &[]),
        ("(`make` later)", &[]),
        ("`make`", &["make"]),
        ("Run `make`, then `make check`.", &["make", "make check"]),
        (
            "`sh count.sh` (prints `0 failing`; input in `data`)",
            &["sh count.sh"],
        ),
        (
            "`make` (prints `ok`) and `make check`",
            &["make", "make check"],
        ),
        ("`make` must print `0 failing`", &["make"]),
        ("\n\n```bash\nmake\n```", &["make"]),
        ("\n\n#### Must-run commands\n```\nmake\n```", &["make"]),
        (
            "\n  - `make`: no `FAIL`\n  - `make check`",
            &["make", "make check"],
        ),
        (
            "\n  ```sh\n  # all\n  make \\\n    all\n  $ make check\n  ```\n  It prints `ok`.",
            &["make all", "make check"],
        ),
    ] {
        let text = format!(
            "### Subtask 2.1: a\n- **Status**: pending\n- **Must-run commands**: {value}\n"
        );
        let file = parse_task(&text);
        assert_eq!(file.must_run().collect::<Vec<_>>(), expected, "{value}");
    }
}

#[test]
fn must_run_commands_are_found_in_any_place() {
    let subtask = "### Subtask 2.1: a\n- **Status**: pending\n";
    for text in [
        format!("{subtask}\n**Must-run commands:**\n\n- `make`\n- `make check`\n"),
        format!("{subtask}- **Must-run commands**:\n- `make`\n- `make check`\n- **Notes**: `x`\n"),
        format!("{subtask}- **Must-run command**: `make`, `make check`\n"),
        format!("{subtask}- **Must\u{2011}run**: `$ make`, `make check`\n"),
        format!("**Must-run commands**: `make`, `make check`\n\n{subtask}"),
        format!("# Task 2\n\n## Must-run commands\n\n- `make`\n- `make check`\n\n{subtask}"),
    ] {
        let commands: Vec<String> = parse_task(&text).must_run().collect();
        assert_eq!(commands, ["make", "make check"], "{text}");
    }
    for value in [" none", "\n  - none"] {
        let text = format!("{subtask}- **Must-run commands**:{value}\n- `a.rs` is changed\n");
        assert_eq!(parse_task(&text).must_run().next(), None, "{text}");
    }
}

#[test]
fn ticked_box_is_no_change_of_a_task() {
    let text =
        "### Subtask 2.1: a\n- **Status**: pending\n- **Acceptance criteria**:\n  - [ ] one\n";
    let digest = |text: &str| parse_task(text).digest();
    assert_eq!(digest(text), digest(&text.replace("[ ]", "[x]")));
    assert_ne!(digest(text), digest(&text.replace("one", "two")));
}

#[test]
fn headings_of_any_level_are_subtasks() {
    let text = "# Task 2: all\n\n## Subtasks\n\n## Subtask 2.1: high\n- **Status**: pending\n\n\
                #### Subtask 2.2\n- **Status**: pending\n\n### Subtask 2.3 – dash\n- **Status**: completed\n";
    assert_eq!(parse_task(text).subtasks.len(), 3);
    let text = "## Subtask overview\n\n### Subtask 2.1: a\n- **Status**: pending\n\n\
                ### ⚠️ Subtask 2.2: b\n- **Status**: pending\n\n### Optional: Subtask 2.3\n- **Status**: pending\n\n\
                ### [ ] Subtask 2.4: d\n- **Status**: pending\n";
    assert_eq!(parse_task(text).subtasks.len(), 4);
}

#[test]
fn subtasks_are_read_as_people_write_them() {
    for text in [
        "### 2.1: plain number\n- **Status:** Awaiting review\n",
        "### **Subtask 2.1** – bold\n* Status: awaiting_review\n",
        "#### Subtask 2.1. boxes\n- [ ] **Status**: AWAITING-REVIEW\n",
    ] {
        let file = parse_task(text);
        let statuses: Vec<_> = file.subtasks.iter().map(|one| one.status).collect();
        assert_eq!(statuses, [super::task::Status::AwaitingReview], "{text}");
    }
    let text = "## 2.1 Goals\n\n### Subtask 2.1: a\n- **Status**: pending\n";
    assert_eq!(parse_task(text).subtasks.len(), 1);
    let other = parse_task(&format!("{text}### 2.2: b\n**Status**: pending\n"));
    assert_eq!(other.subtasks.len(), 2);
    for hidden in [
        "**2.2: b**\n- **Status**: pending\n",
        "- [ ] Subtask 2.2: b\n",
    ] {
        let mut problems = Vec::new();
        TaskFile::parse(2, &format!("{text}{hidden}"), &mut |_, one| {
            problems.push(one)
        });
        assert!(
            problems.concat().contains("its own heading"),
            "{hidden}: {problems:?}"
        );
    }
}

#[test]
fn digest_ignores_how_far_a_task_is() {
    let reviewed = parse_task(TASK).digest();
    let done = TASK.replace("awaiting-review", "completed");
    assert_eq!(parse_task(&done).digest(), reviewed);
    let changed = TASK.replace("make docs", "true");
    assert_ne!(parse_task(&changed).digest(), reviewed);
}

#[test]
fn plan_is_complete_with_overview_or_fifty_lines() {
    let is_complete = |plan: &str| {
        let directory = Directory {
            plan: plan.to_owned(),
            ..Directory::default()
        };
        directory.has_complete_plan()
    };
    assert!(is_complete("# Plan\r\n\r\n## Overview\r\n"));
    assert!(!is_complete("# Plan\n### Overview\n"));
    assert!(is_complete(&"line\n".repeat(50)));
    assert!(!is_complete(&"line\n".repeat(49)));
}

#[test]
fn directory_is_read_without_byte_order_marks() {
    let table = format!("\u{feff}{TABLE}| 1 | done |\n").replace('\n', "\r\n");
    let large = vec![b'x'; usize::try_from(MAX_FILE_BYTES).unwrap() * 10];
    let kept = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("tasks.md", table.as_bytes()),
        ("plan.md", b"\xef\xbb\xbf## Overview\n"),
        ("task-1.md", &large),
        ("task-2.md", b"one\ntwo \xff\n"),
    ] {
        std::fs::write(kept.path().join(name), bytes).unwrap();
    }
    let folder = Folder::open(kept.path().try_into().unwrap()).unwrap();
    let directory = Directory::read(&folder).unwrap();
    assert_eq!(directory.tasks.len(), 1);
    assert!(directory.has_complete_plan());
    let problems: Vec<String> = directory.problems.iter().map(ToString::to_string).collect();
    assert!(problems[0].starts_with("S9 task-1.md: it is larger than 1048576 bytes"));
    assert!(problems[1].starts_with("S9 task-2.md: it cannot be read as UTF-8 text: "));
}

#[test]
fn large_table_costs_its_size() {
    let rows = (1..=20_000).map(|id| format!("| {id} | what |\n"));
    let table = format!("{TABLE}{}", rows.collect::<String>());
    let begun = std::time::Instant::now();
    let mut problems = 0;
    parse_tasks(&table, &mut |_, _| problems += 1);
    assert_eq!(problems, 20_000);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
