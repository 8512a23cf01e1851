//! One text per run: while the plan changes, the journal notes the text that the reviewer got.

use std::sync::atomic::{AtomicBool, Ordering};

use claudex_loop::digest::sha256;

use crate::support::Project;

/// The number of reviews during the changes.
const REVIEW_COUNT: usize = 8;

/// Runs a function while two texts replace the plan in turn, again and again.
fn while_swapped<T>(project: &Project, then: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let next = project.home.join("next.md");
            let texts = [
                "# Move the queue\n\nSoon.\n".repeat(200),
                "# Plan\n".to_owned(),
            ];
            for text in texts.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                std::fs::write(&next, text).unwrap();
                std::fs::rename(&next, project.root.join("PLAN.md")).unwrap();
            }
        });
        let done = then();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

#[test]
fn noted_digest_is_of_the_reviewers_text() {
    let (project, id) = Project::reviewing(&[]);
    let prompts = project.home.join("prompts");
    std::fs::create_dir(&prompts).unwrap();
    // The reviewer gives no verdict, so that the round can be reviewed again.
    let script = format!(
        "cd '{}'; n=$(ls | wc -l); cat >$((n)); exit 3",
        prompts.display()
    );
    project.add_reviewer("keeper", "/bin/sh", &["-c", &script]);
    while_swapped(&project, || {
        for _ in 0..REVIEW_COUNT {
            project.review(&id, "keeper").exits(5);
        }
    });
    let journal = project.journal(&id);
    let began = journal.iter().filter(|entry| entry["note"] == "run-began");
    let mut last = String::new();
    for (nth, entry) in began.enumerate() {
        last = std::fs::read_to_string(prompts.join(nth.to_string())).unwrap();
        let (_, document) = last.split_once(" begins -----\n").expect("it begins");
        let (document, _) = document.rsplit_once("\n----- document ").expect("it ends");
        let digest = sha256(document);
        assert_eq!(entry["data"]["subject"], digest.as_str(), "{entry}");
    }
    assert_eq!(project.runs(&id), REVIEW_COUNT);
    assert_eq!(project.prompt(&id), last, "the prompt that is kept");
}
