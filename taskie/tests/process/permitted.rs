//! A person sees the must-run commands on a terminal, once for exactly this list, and only then are they run.

use claudex_testkit::has;
use serde_json::json;

use crate::seed::in_review;
use crate::support::{ID, Project, task_file};
use crate::terminal;

/// Answers `taskie verify` on a terminal.
fn on_terminal(project: &Project, arguments: &[&str], typed: &str) -> (i32, String) {
    let mut all = vec!["verify", ID];
    all.extend(arguments);
    terminal::run(project.folder.command(&all), 200, typed)
}

#[test]
fn a_list_is_shown_and_asked_about_and_a_changed_one_again() {
    let project = in_review("code-review", true, &json!({}));
    let must_run = |line: &str| {
        let file = task_file(1, "completed").replace("test -e README.md", line);
        project.write(ID, "task-1.md", &file);
    };
    let ran = || project.root.join("../ran.txt").exists();
    must_run("touch ../ran.txt");
    let said = project.person(&["verify", ID]).refused();
    assert!(said.contains("no terminal") && !ran(), "{said}");
    let (code, screen) = on_terminal(&project, &[], "n\n");
    assert!(code == 1, "{screen}");
    has(&screen, "touch ../ran.txt");
    assert!(!ran(), "{screen}");
    let (code, screen) = on_terminal(&project, &[], "y\n");
    assert!(code == 0, "{screen}");
    has(&screen, "all commands passed");
    assert!(ran(), "{screen}");
    // Of another tree, and by the same list: the agent may have it run.
    std::fs::write(project.root.join("README.md"), "Changed.\n").unwrap();
    std::fs::remove_file(project.root.join("../ran.txt")).unwrap();
    project.agent(&["verify", ID]).done();
    assert!(ran());
    // Another list is another question.
    must_run("touch ../ran.txt && true");
    project.agent(&["verify", ID]).refused();
    let (code, screen) = on_terminal(&project, &["--permit"], "");
    assert!(code == 0, "{screen}");
    has(&screen, "touch ../ran.txt && true");
    project.review(None).done();
    has(&project.prompt(), "touch ../ran.txt && true");
}
