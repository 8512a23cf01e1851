//! What stands where a file of the project should, and what only looks like a loop: nobody is held, told twice, or moved.

use crate::support::Project;

/// Runs `work` and says whether it was done within some seconds: a hook that hangs is worse than one that fails.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    done.recv_timeout(std::time::Duration::from_secs(30)).ok()
}

#[test]
fn a_plan_that_is_a_pipe_or_a_device_holds_nobody() {
    for phase in ["drafting", "reviewing"] {
        for what in ["pipe", "device"] {
            let project = Project::new();
            let id = project.start(&[]);
            let plan = project.root.join("PLAN.md");
            if phase == "reviewing" {
                project.plan("# Plan\n\nDo it.\n");
                project.fire().blocked();
                std::fs::remove_file(&plan).unwrap();
            }
            if what == "pipe" {
                let made = std::process::Command::new("mkfifo")
                    .arg(&plan)
                    .status()
                    .unwrap();
                assert!(made.success());
            } else {
                std::os::unix::fs::symlink("/dev/zero", &plan).unwrap();
            }
            let (note, review) = in_time(move || {
                let note = project.fire().approved();
                let review = project.run(&["review", &id]).code;
                project.run(&["status"]).exits(0);
                project.run(&["cancel", &id]).exits(0);
                (note, review)
            })
            .unwrap_or_else(|| panic!("{phase}, {what}: it hangs"));
            let why = if what == "pipe" {
                "not a regular file"
            } else {
                "it is a symlink"
            };
            assert!(note.contains(why), "{phase}, {what}: {note}");
            assert_ne!(review, 0, "{phase}, {what}");
        }
    }
}

#[test]
fn what_is_over_is_not_told_at_each_stop_whoever_wrote_it() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    let old = project.folder().join("20250101-000000-abcdef.state");
    let text = "mode: plan\nphase: done\ntopic: \"x\"\nround: 3\nmax_rounds: 3\n";
    std::fs::write(&old, text).unwrap();
    assert_eq!(project.fire().approved(), "");
    assert_eq!(std::fs::read_to_string(&old).unwrap(), text);
    std::fs::write(&old, text.replace("done", "reviewing")).unwrap();
    let note = project.fire().approved();
    let path = old.display().to_string().replace('\'', "’");
    let told = format!(
        "claudex: {path} was not started here, so no stop drives it. To continue it:\n    \
         claudex-loop import .claude/claudex/20250101-000000-abcdef.state"
    );
    assert_eq!(note, told);
}

#[test]
fn a_session_id_cannot_steer_the_terminal_that_shows_it() {
    let project = Project::new();
    project.start(&[]);
    project
        .fire_as("a\nphase: done\n\u{1b}]0;title\u{7}")
        .blocked();
    let shown = project.run(&["status"]).exits(0);
    assert!(!shown.out.contains('\u{1b}'), "{}", shown.out);
    assert!(
        shown.out.contains("session:   a phase: done"),
        "{}",
        shown.out
    );
}

#[test]
fn rollback_leaves_the_loops_of_other_projects_that_share_the_folder() {
    let shared = tempfile::tempdir().unwrap();
    let folder = shared.path().canonicalize().unwrap();
    let of = || Project::new().with("CLAUDEX_STATE_DIR", folder.to_str().unwrap());
    let (ours, theirs) = (of(), of());
    let (mine, other) = (ours.start(&[]), theirs.start(&[]));
    ours.run(&["rollback", "--yes"]).exits(0).says(&mine);
    let left = theirs.run(&["status"]).exits(0);
    assert!(left.out.contains(&other), "{}", left.out);
    assert!(!folder.join(format!("{mine}.state")).exists());
}
