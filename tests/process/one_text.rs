//! One text per run: while a plan is swapped all the time, what the journal notes is what the reviewer was given.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use claudex_loop::review::Digest;
use serde_json::{Value, json};

use crate::support::{Project, thorough_plan};

/// Says how many reviews are run while the plan is swapped.
const REVIEWS: usize = 20;

/// Returns two plans of which lint thinks differently.
fn plans() -> [String; 2] {
    let thin = "# Move the queue\n\nWe will move it soon.\n";
    [thorough_plan().to_owned(), thin.repeat(200)]
}

/// Does something while the plan is replaced, again and again, by the one and the other.
fn while_swapped<T>(project: &Project, then: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let plan = project.root.join("PLAN.md");
            let next = project.home.join("next.md");
            for text in plans().iter().cycle() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                std::fs::write(&next, text).unwrap();
                std::fs::rename(&next, &plan).unwrap();
            }
        });
        let done = then();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// Returns the document between the marker lines of a prompt.
fn document(prompt: &str) -> &str {
    let (_, rest) = prompt.split_once(" begins -----\n").expect("it begins");
    rest.rsplit_once("\n----- document ").expect("it ends").0
}

/// Returns the runs that a journal tells of, each with the digest of what it reviewed.
fn noted(journal: &[Value]) -> Vec<(String, String)> {
    let began = journal.iter().filter(|entry| entry["note"] == "run-began");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    began
        .map(|entry| (text(&entry["data"]["run"]), text(&entry["data"]["subject"])))
        .collect()
}

fn keeper(folder: &Path) -> String {
    // It gives no verdict, so that the same round can be reviewed again.
    let script = format!(
        "cd '{}'; n=$(ls | wc -l); cat >$((n)); exit 3",
        folder.display()
    );
    format!(
        "reviewer = \"keeper\"\n[reviewers.keeper]\nkind = \"command\"\nprogram = \"/bin/sh\"\narguments = [\"-c\", {}]\n",
        json!(script)
    )
}

#[test]
fn the_digest_that_is_noted_is_that_of_the_text_that_the_reviewer_got() {
    let (project, id) = Project::reviewing(&[]);
    let prompts = project.home.join("prompts");
    std::fs::create_dir(&prompts).unwrap();
    let project = project.configured(keeper(&prompts));
    while_swapped(&project, || {
        for _ in 0..REVIEWS {
            project.run(&["review", &id]).exits(5);
        }
    });
    let runs = noted(&project.journal(&id));
    assert_eq!(runs.len(), REVIEWS);
    for (nth, (run, subject)) in runs.iter().enumerate() {
        let prompt = std::fs::read_to_string(prompts.join(nth.to_string())).unwrap();
        assert_eq!(
            Digest::of(document(&prompt).as_bytes()).as_str(),
            subject,
            "run {run} was given another text than the one that it is noted with"
        );
    }
    let kept = std::fs::read_to_string(project.folder().join(format!("{id}-prompt.txt"))).unwrap();
    let last = (runs.len() - 1).to_string();
    assert_eq!(
        kept,
        std::fs::read_to_string(prompts.join(last)).unwrap(),
        "the prompt that is kept"
    );
}

#[test]
fn what_lint_finds_is_what_is_in_the_text_that_is_noted() {
    let project = Project::new();
    let twin = |folder: &Path| -> Value {
        let path = folder.join("findings-round-1.json");
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    // The oldest are in the archive.
    let loops = || {
        let files = crate::support::tree(&project.folder()).into_iter();
        let journals = files.filter(|(path, _)| path.ends_with("journal.jsonl"));
        journals.map(|(path, _)| path.parent().unwrap().to_owned())
    };
    let run = || project.run(&["run", "PLAN.md", "--reviewer", "lint", "--rounds", "1"]);
    for plan in plans() {
        project.plan(plan);
        run();
    }
    let known: Vec<Value> = loops().map(|folder| twin(&folder)).collect();
    assert!(known[0]["findings"] != known[1]["findings"]);
    while_swapped(&project, || (0..REVIEWS).for_each(|_| drop(run())));
    assert_eq!(loops().count(), REVIEWS + 2);
    for folder in loops() {
        let found = twin(&folder);
        let same = known
            .iter()
            .find(|known| known["subject"] == found["subject"]);
        assert_eq!(same.unwrap()["findings"], found["findings"]);
    }
}
