//! What stands where a file of ours should: no symlink is followed, no pipe waited for, nothing endless read, whatever command
//! meets it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Project, Ran, tree, write};

/// Runs `work`, which must be done within seconds where it took minutes.
#[track_caller]
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    match done.recv_timeout(Duration::from_secs(60)) {
        Ok(value) => value,
        Err(_) => panic!("{what}: it hangs, or failed"),
    }
}

/// Lists what a person or an agent may call while the loop `id` is there; the last ones change everything.
fn commands(id: &str) -> [Vec<&str>; 9] {
    [
        vec!["status"],
        vec!["list"],
        vec!["doctor"],
        vec!["sweep"],
        vec!["review", id],
        vec!["run", "PLAN.md"],
        vec!["start", "plan", "Another"],
        vec!["cancel", id],
        vec!["rollback", "--yes"],
    ]
}

/// Makes a stop and calls every command, and returns the stop's note and all that was said.
fn everything(project: &Arc<Project>, id: &str, what: &str) -> (String, String) {
    let stopped = Arc::clone(project);
    let stop = in_time(&format!("{what}: stop"), move || stopped.fire());
    let note = stop.note.unwrap_or_default();
    let mut said = note.clone();
    for arguments in commands(id) {
        let (called, owned) = (
            Arc::clone(project),
            arguments.iter().map(|text| (*text).to_owned()),
        );
        let owned: Vec<String> = owned.collect();
        let ran: Ran = in_time(&format!("{what}: {arguments:?}"), move || {
            called.run(&owned.iter().map(String::as_str).collect::<Vec<_>>())
        });
        assert!(
            !ran.err.contains("panicked"),
            "{what}: {arguments:?}: {}",
            ran.err
        );
        // The terminal's lines are broken where they are too long.
        said.push_str(&format!("{}{}", ran.out, ran.err).replace(['\n', '│', ' '], ""));
    }
    (note, said)
}

fn link(target: impl AsRef<Path>, at: &Path) {
    std::os::unix::fs::symlink(target, at).unwrap();
}

#[test]
fn a_clone_whose_state_folder_leads_into_git_loses_no_branch() {
    let origin = Project::new();
    std::fs::create_dir(origin.root.join(".claude")).unwrap();
    link("../.git/refs/heads", &origin.folder());
    origin.plan("# Plan\n\nDo it.\n");
    origin.git(&["add", "-f", "."]);
    origin.git(&["commit", "-qm", "all"]);
    let cloned = Project::without_git();
    cloned.git(&["clone", "-q", origin.root.to_str().unwrap(), "."]);
    let branches = tree(&cloned.root.join(".git/refs/heads"));
    assert!(!branches.is_empty(), "there is a branch");
    let note = cloned.fire().approved();
    assert!(
        note.contains(".claude/claudex is not trusted: it is a symlink; remove it"),
        "{note}"
    );
    let refused = cloned.run(&["start", "plan", "Another"]);
    assert_ne!(refused.code, 0);
    refused.says("it is a symlink");
    for arguments in commands("20261122-005333-0a1b2c") {
        let ran = cloned.run(&arguments);
        assert_ne!(ran.code, 0, "{arguments:?}: {}{}", ran.out, ran.err);
        ran.says("is a symlink");
        assert_eq!(
            tree(&cloned.root.join(".git/refs/heads")),
            branches,
            "{arguments:?}"
        );
    }
}

#[test]
fn nothing_is_read_or_written_through_a_link_on_the_way_to_the_state() {
    for at in [".claude", ".claude/claudex"] {
        let (project, id) = Project::reviewing(&[]);
        let (place, outside) = (project.root.join(at), project.home.join("outside"));
        std::fs::rename(&place, &outside).unwrap();
        link(&outside, &place);
        let before = tree(&outside);
        let project = Arc::new(project);
        let (note, _) = everything(&project, &id, at);
        assert!(
            note.contains(&format!("{at} is not trusted: it is a symlink")),
            "{at}: {note}"
        );
        assert_eq!(tree(&outside), before, "{at}");
    }
    for at in ["<id>", "archive"] {
        let (project, id) = Project::reviewing(&[]);
        let place = project.folder().join(at.replace("<id>", &id));
        let outside = project.home.join("outside");
        write(
            &outside.join("20200101-000000-abcdef/journal.jsonl"),
            "mine\n",
        );
        write(&outside.join(".loop-tmp-1"), "mine\n");
        if place.exists() {
            std::fs::rename(&place, outside.join("was")).unwrap();
        }
        link(&outside, &place);
        let old = std::time::SystemTime::now() - Duration::from_secs(60 * 24 * 60 * 60);
        for aged in [
            outside.clone(),
            outside.join("20200101-000000-abcdef"),
            outside.join(".loop-tmp-1"),
        ] {
            std::fs::File::open(aged)
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
        let before = tree(&outside);
        let project = Arc::new(project);
        let (_, said) = everything(&project, &id, at);
        assert_eq!(tree(&outside), before, "{at}");
        let name = at.replace("<id>", &id);
        assert!(said.contains(&name), "{at} is not named: {said}");
    }
}

#[test]
fn a_plan_behind_a_link_is_refused_by_all_alike() {
    for at in ["PLAN.md", "docs"] {
        let plan = if at == "docs" { "docs/PLAN.md" } else { at };
        let project = Project::new();
        let outside = project.home.join("outside");
        write(
            &outside.join("PLAN.md"),
            "# Plan\n\nThe secret of another project.\n",
        );
        let target = if at == "docs" {
            outside.clone()
        } else {
            outside.join("PLAN.md")
        };
        link(target, &project.root.join(at));
        let before = tree(&outside);
        for arguments in [
            vec!["start", "plan", "--plan", plan, "x"],
            vec!["run", plan],
        ] {
            let ran = project.run(&arguments);
            assert_ne!(ran.code, 0, "{arguments:?}");
            ran.says("is a symlink");
        }
        assert!(!project.folder().exists(), "nothing was started");
        // It becomes a link once the loop is there.
        std::fs::remove_file(project.root.join(at)).unwrap();
        write(&project.root.join(plan), "# Plan\n\nMove the queue.\n");
        let id = project.start(&["--from-draft", "--plan", plan]);
        project.fire().blocked();
        let place = project.root.join(at);
        std::fs::rename(&place, project.home.join("was")).unwrap();
        link(project.home.join("was"), &place);
        let ran = project.review(&id, "lint");
        assert_ne!(ran.code, 0);
        ran.says("is a symlink");
        let note = project.fire().approved();
        assert!(note.contains("is a symlink"), "{note}");
        assert_eq!(tree(&outside), before);
    }
}
