//! One text per run: while a plan is swapped all the time, what the journal notes is what the reviewer was given.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use claudex_loop::review::Digest;
use serde_json::{Value, json};

use crate::support::{Project, thorough_plan, tree};

/// The number of reviews that run while the plan is swapped.
const REVIEW_COUNT: usize = 8;

/// Returns two plans of which lint thinks differently.
fn plans() -> [String; 2] {
    let thin = "# Move the queue\n\nWe will move it soon.\n";
    [thorough_plan(), thin.repeat(200)]
}

/// Does something while the plan is replaced, again and again, by the one and the other.
fn while_swapped<T>(project: &Project, then: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let next = project.home.join("next.md");
            for text in plans().iter().cycle() {
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
    // It gives no verdict, so that the same round can be reviewed again.
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
        let digest = Digest::from_bytes(document.as_bytes());
        assert_eq!(entry["data"]["subject"], digest.as_str(), "{entry}");
    }
    assert_eq!(project.runs(&id), REVIEW_COUNT);
    assert_eq!(project.prompt(&id), last, "the prompt that is kept");
}

#[test]
fn lint_finds_what_is_in_the_noted_text() {
    let project = Project::new();
    let twins = || -> Vec<Value> {
        // The oldest loops are in the archive.
        let files = tree(&project.folder()).into_iter();
        let is_twin = |path: &Path| path.ends_with("findings-round-1.json");
        let twins = files.filter(|(path, _)| is_twin(path));
        twins
            .map(|(_, bytes)| serde_json::from_slice(&bytes.unwrap()).unwrap())
            .collect()
    };
    let run = || drop(project.run("run PLAN.md --reviewer lint --rounds 1"));
    for plan in plans() {
        project.plan(plan);
        run();
    }
    let known = twins();
    assert_ne!(known[0]["findings"], known[1]["findings"]);
    while_swapped(&project, || (0..REVIEW_COUNT).for_each(|_| run()));
    assert_eq!(twins().len(), REVIEW_COUNT + 2);
    for found in twins() {
        let same = known
            .iter()
            .find(|known| known["subject"] == found["subject"]);
        assert_eq!(same.unwrap_or(&json!(null))["findings"], found["findings"]);
    }
}
