//! Hostile files in place of program files: no command follows a symlink, waits for a pipe or reads
//! an endless file.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::support::{Project, has, lacks, tree, within_a_minute, write};

/// Commands of users and agents on a loop `ID`. The last ones change everything.
const COMMANDS: [&str; 9] = [
    "status",
    "list",
    "doctor",
    "sweep",
    "review ID",
    "run PLAN.md",
    "start plan Another",
    "cancel ID",
    "rollback --yes",
];

/// Runs a stop and every command. All must end soon. Returns the stop's note and all output.
fn everything(project: Project, id: &str, what: &str) -> (String, String) {
    let id = id.to_owned();
    within_a_minute(what, move || {
        let note = project.fire().note.unwrap_or_default();
        let mut message = note.clone();
        for line in COMMANDS {
            let ran = project.run(&line.replace("ID", &id));
            lacks(&ran.err, "panicked");
            // The terminal wraps long lines.
            message += &(ran.out + &ran.err).replace(['\n', '│', ' '], "");
        }
        (note, message)
    })
}

fn link(target: impl AsRef<Path>, at: &Path) {
    std::os::unix::fs::symlink(target, at).unwrap();
}

#[test]
fn nothing_is_read_or_written_through_a_link() {
    for at in [".claude", ".claude/claudex"] {
        let (project, id) = Project::reviewing(&[]);
        let (place, outside) = (
            project.root.join(at),
            project.home.with_file_name("outside"),
        );
        std::fs::rename(&place, &outside).unwrap();
        link(&outside, &place);
        let before = tree(&outside);
        let kept = project.keep();
        let (note, said) = everything(project, &id, at);
        has(&note, &format!("{at} is not trusted: it is a symlink"));
        let refusals = said.matches("isasymlink").count();
        assert!(refusals >= COMMANDS.len(), "each command says so: {said}");
        assert_eq!(tree(&outside), before, "{at}");
        drop(kept);
    }
    for at in ["ID", "archive"] {
        let (project, id) = Project::reviewing(&[]);
        let name = at.replace("ID", &id);
        let (place, outside) = (
            project.folder().join(&name),
            project.home.with_file_name("outside"),
        );
        let mine = ["20200101-000000-abcdef/journal.jsonl", ".loop-tmp-1"];
        mine.iter()
            .for_each(|file| write(&outside.join(file), "mine\n"));
        if place.exists() {
            std::fs::rename(&place, outside.join("was")).unwrap();
        }
        link(&outside, &place);
        let old = SystemTime::now() - Duration::from_hours(60 * 24);
        for aged in ["", "20200101-000000-abcdef", ".loop-tmp-1"] {
            let aged = std::fs::File::open(outside.join(aged)).unwrap();
            aged.set_modified(old).unwrap();
        }
        let before = tree(&outside);
        let kept = project.keep();
        let (_, said) = everything(project, &id, at);
        assert_eq!(tree(&outside), before, "{at}");
        has(&said, &name);
        drop(kept);
    }
}

#[test]
fn plan_behind_a_link_is_refused_by_all() {
    for (at, plan) in [("PLAN.md", "PLAN.md"), ("docs", "docs/PLAN.md")] {
        let project = Project::new();
        let place = project.root.join(at);
        let outside = project.home.join("outside");
        write(
            &outside.join("PLAN.md"),
            "# Plan\n\nThe secret of another project.\n",
        );
        let is_folder = at == "docs";
        link(
            if is_folder {
                outside.clone()
            } else {
                outside.join("PLAN.md")
            },
            &place,
        );
        let before = tree(&outside);
        for line in [format!("start plan --plan {plan} x"), format!("run {plan}")] {
            let ran = project.run(&line);
            assert_ne!(ran.code, 0, "{line}");
            ran.says("is a symlink");
        }
        assert!(!project.folder().exists(), "nothing was started");
        // It becomes a link after the start.
        std::fs::remove_file(&place).unwrap();
        write(&project.root.join(plan), "# Plan\n\nMove the queue.\n");
        let id = project.start(&["--from-draft", "--plan", plan]);
        project.fire().blocked();
        std::fs::rename(&place, project.home.join("was")).unwrap();
        link(project.home.join("was"), &place);
        let ran = project.review(&id, "lint");
        assert_ne!(ran.code, 0);
        ran.says("is a symlink");
        has(&project.fire().approved(), "is a symlink");
        assert_eq!(tree(&outside), before);
    }
}

/// Creates something at a free path.
type Put = fn(&Path);

const CONTENTS: [(&str, Put); 4] = [
    ("a pipe", |place| {
        let made = std::process::Command::new("mkfifo").arg(place).status();
        assert!(made.unwrap().success());
    }),
    ("a folder", |place| std::fs::create_dir(place).unwrap()),
    ("a gigabyte", |place| {
        std::fs::File::create(place)
            .unwrap()
            .set_len(1 << 30)
            .unwrap()
    }),
    ("a mebibyte of brackets", |place| {
        std::fs::write(place, "{\"x\":".to_owned() + &"[".repeat(1 << 20)).unwrap();
    }),
];

#[test]
fn stop_and_review_answer_beside_hostile_files() {
    let (mut project, id) = Project::reviewing(&[]);
    let copy = project.copy();
    for name in [
        ".claude/claudex/ID.state",
        ".claude/claudex/.lock",
        ".claude/claudex/ID/journal.jsonl",
        ".claude/claudex/ID/run.lock",
        ".claude/claudex/ID",
        ".claude/claudex",
        "PLAN.md",
    ] {
        for (content, put) in CONTENTS {
            project.restore(&copy);
            let place = project.root.join(name.replace("ID", &id));
            if place.exists() {
                std::fs::rename(&place, project.home.join("was")).unwrap();
            }
            put(&place);
            let calls = format!("a stop and a review beside {content} as {place:?}");
            let review = format!("review {id}");
            // `fire` checks that the hook prints exactly one answer.
            project = within_a_minute(&calls, move || {
                project.fire();
                project.run(&review);
                project
            });
        }
    }
}
