//! Hostile files in place of the project's, and files that only look like a loop: nobody is held, told twice, or moved.

use crate::support::{Project, has, within_a_minute};

#[test]
fn plan_that_is_pipe_or_device_holds_nobody() {
    for (is_reviewing, is_pipe) in [(false, true), (false, false), (true, true), (true, false)] {
        let project = Project::new();
        let id = project.start(&[]);
        let plan = project.root.join("PLAN.md");
        if is_reviewing {
            project.plan("# Plan\n\nDo it.\n");
            project.fire().blocked();
            std::fs::remove_file(&plan).unwrap();
        }
        if is_pipe {
            let made = std::process::Command::new("mkfifo").arg(&plan).status();
            assert!(made.unwrap().success());
        } else {
            std::os::unix::fs::symlink("/dev/zero", &plan).unwrap();
        }
        let (note, review) = within_a_minute("a stop and a review", move || {
            let note = project.fire().approved();
            let review = project.run(&format!("review {id}")).code;
            project.run("status").exits(0);
            project.run(&format!("cancel {id}")).exits(0);
            (note, review)
        });
        has(
            &note,
            if is_pipe {
                "not a regular file"
            } else {
                "it is a symlink"
            },
        );
        assert_ne!(review, 0);
    }
}

#[test]
fn finished_foreign_state_file_is_not_told() {
    let project = Project::new();
    let old = project.folder().join("20250101-000000-abcdef.state");
    let text = "mode: plan\nphase: done\ntopic: \"x\"\nround: 3\nmax_rounds: 3\n";
    crate::support::write(&old, text);
    assert_eq!(project.fire().approved(), "");
    assert_eq!(std::fs::read_to_string(&old).unwrap(), text);
    std::fs::write(&old, text.replace("done", "reviewing")).unwrap();
    let path = old.display().to_string().replace('\'', "’");
    let output = format!(
        "claudex: {path} was not started here, so no stop drives it. To continue it:\n    \
         claudex-loop import .claude/claudex/20250101-000000-abcdef.state"
    );
    assert_eq!(project.fire().approved(), output);
}
