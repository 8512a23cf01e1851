//! `taskie demo` goes all the way in one new folder, and leaves it to look at.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::names;

/// Runs it as a person whose own configuration has a reviewer that must not be asked.
fn demo(here: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taskie"));
    command.arg("demo").current_dir(here).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", here.join("own"));
    // As in a client's session: the demo's steps are not that session's.
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "mine");
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn the_demo_goes_all_the_way_and_leaves_its_folder() {
    let kept = tempfile::tempdir().unwrap();
    let here = kept.path().join("it's a folder");
    let config = here.join("own/.config/claudex-loop");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(
        config.join("config.toml"),
        "reviewer = \"mine\"\n\n[reviewers.mine]\nkind = \"command\"\nprogram = \"false\"\n",
    )
    .unwrap();
    let ran = demo(&here);
    let said = text(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.lines().count() <= 60, "{said}");

    let phases: Vec<&str> = said
        .lines()
        .filter_map(|line| line.trim().strip_prefix("next_phase: "))
        .collect();
    let expected = [
        "new-plan",
        "create-tasks",
        "complete-task",
        "complete-task",
        "complete-task-tdd",
        "all-code-review",
        "complete",
    ];
    assert_eq!(phases, expected);
    let project = here.join("taskie-demo/words");
    let plan = project.join(".taskie/plans/count-words");
    let mut files = [
        "plan.md",
        "state.json",
        "task-1.md",
        "task-2.md",
        "tasks.md",
    ]
    .map(str::to_owned)
    .to_vec();
    for cycle in ["plan", "tasks", "task-1-code", "task-2-code", "all-code"] {
        for (number, verdict) in [(1, "FAIL"), (2, "PASS"), (3, "PASS")] {
            let name = format!("{cycle}-review-{number}.md");
            let review = std::fs::read_to_string(plan.join(&name)).unwrap();
            assert!(
                review.ends_with(&format!("\nVERDICT: {verdict}\n")),
                "{name}: {review}"
            );
            files.push(name);
        }
        files.extend([1, 2].map(|number| format!("{cycle}-post-review-{number}.md")));
    }
    files.sort();
    assert_eq!(names(&plan), files);
    assert_eq!(
        names(&project),
        [".git", ".taskie", "README.md", "tests", "words.sh"]
    );
    // Nothing beside its folder was touched.
    assert_eq!(names(&here), ["own", "taskie-demo"]);
    assert_eq!(names(&here.join("own")), [".config"]);

    // What it says at its end works.
    let (_, lines) = said.split_once("To look at it:\n").unwrap();
    let lines = lines.replace(
        "taskie status",
        &format!("'{}' status", env!("CARGO_BIN_EXE_taskie")),
    );
    let mut shell = Command::new("sh");
    shell
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    let looked = shell.args(["-euc", &lines]).output().unwrap();
    assert!(
        looked.status.success() && text(&looked).contains("phase:     complete"),
        "{lines}{}",
        text(&looked)
    );

    // It makes its folder, and takes none that is there.
    let again = demo(&here);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again));
}
