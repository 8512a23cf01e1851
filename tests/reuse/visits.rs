//! A review counts for the visit in which it began: not for the next phase with the same subject and round, nor for the same phase
//! once it is entered again.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::stranger::{Crate, ours, target};

/// Two phases that review the same file, each in its round 1, and a way back.
const MACHINE: &str = r#"name = "twice"
messages = "messages"

[modes.twice]
start = "writing"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
round    = { type = "count", initial = 1 }
tries    = { type = "count", initial = 1 }
misses   = { type = "count" }

[phases.writing]
on_stop = { require-file = { path = "TEXT.md", written = "ready", missing = "miss" } }

[phases.first]
on_stop.review = { subject = "TEXT.md", round = "round", clean = "pass", findings = "again", nothing = "miss", failed = "miss" }

[phases.second]
message = "second.md"
on_stop.review = { subject = "TEXT.md", round = "tries", blocking = "medium", earlier = "fresh", clean = "pass", findings = "again", nothing = "miss", failed = "miss" }

[phases.done]
terminal = true

[[transitions.ready]]
from = "writing"
to   = "first"

[[transitions.pass]]
from     = "first"
to       = "second"
requires = "settled"

[[transitions.pass]]
from     = "second"
to       = "done"
requires = "settled"

[[transitions.again]]
from     = ["first", "second"]
to       = "same"
when     = "round < 9 and tries < 9"
requires = "reviewed"
set      = { round = "round + 1", tries = "tries + 1" }

[[transitions.miss]]
from = "*"
to   = "same"
when = "misses < 9"
set  = { misses = "misses + 1" }

[[transitions.back]]
from = "second"
to   = "first"
by   = ["person"]

[[transitions.leave]]
from = "*"
to   = "done"
by   = ["person"]
"#;

/// A project with one loop of it.
struct Project {
    _folder: tempfile::TempDir,
    root: PathBuf,
    program: PathBuf,
}

impl Project {
    fn new() -> Self {
        let stranger = Crate::new("twice");
        stranger.write("Cargo.toml", &manifest());
        stranger.write("machine.toml", MACHINE);
        // The build knows the names, and not that this cannot be reckoned.
        stranger.write("messages/second.md", "Again. {{ 1 // (round - round) }}\n");
        stranger.write("src/main.rs", "claudex_loop::main!(twice);\n");
        let built = stranger.cargo(&["build"]);
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a person's project");
        fs::create_dir_all(root.join(".git")).unwrap();
        let program = folder.path().join("twice");
        fs::copy(target().join("debug/twice"), &program).unwrap();
        let project = Self {
            root,
            program,
            _folder: folder,
        };
        let reviewer = |name: &str, found: &str| {
            format!(
                "[reviewers.{name}]\nkind = \"command\"\nprogram = \"/bin/sh\"\narguments = [\"-c\", \"cat >/dev/null; printf '# Findings\\n\\n{found}\\n'\"]\n"
            )
        };
        let reviewers = [
            "No substantive findings.",
            "## Low\\n- A word is misspelt",
            "## Medium\\n- A step is missing",
        ];
        let reviewers = ["fine", "low", "medium"].iter().zip(reviewers);
        let reviewers: String = reviewers.map(|(name, found)| reviewer(name, found)).collect();
        project.write(".config/claudex-loop/config.toml", &reviewers);
        project.write("TEXT.md", "Text.\n");
        project.run(&["start"], "");
        project
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> String {
        let mut child = Command::new(&self.program)
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}");
        said
    }

    fn review(&self, reviewer: &str) {
        self.run(&["review", "--reviewer", reviewer], "");
    }

    /// Stops, and gives the phase that the loop is in then.
    fn stop(&self) -> String {
        self.stop_saying();
        self.status("phase")
    }

    /// Stops, and gives what the hook answers.
    fn stop_saying(&self) -> Value {
        let event = json!({"session_id": "s", "cwd": self.root, "hook_event_name": "Stop"});
        serde_json::from_str(&self.run(&["hook", "stop"], &event.to_string())).unwrap()
    }

    fn status(&self, key: &str) -> String {
        let shown: Value = serde_json::from_str(&self.run(&["status", "--json"], "")).unwrap();
        shown["loops"][0][key].as_str().unwrap_or_default().to_owned()
    }
}

fn manifest() -> String {
    let path = |below: &str| ours().join(Path::new(below));
    format!(
        "[package]\nname = \"twice\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         claudex-loop = {{ path = {:?}, default-features = false, features = [\"program\"] }}\n\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
        path(""),
        path("codegen"),
    )
}

#[test]
fn a_review_counts_for_the_visit_in_which_it_began() {
    let project = Project::new();
    assert_eq!(project.stop(), "first");
    assert_eq!(project.stop(), "first", "nothing was reviewed");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    // The same subject, the same round, and another phase.
    assert_eq!(
        project.stop(),
        "second",
        "the first phase was reviewed, and not this one"
    );
    assert!(
        project
            .run(&["status"], "")
            .contains("waits for: the review of round 1")
    );
    project.review("fine");
    project.run(&["back"], "");
    assert_eq!(project.status("phase"), "first");
    // The same phase once more, after reviews of both.
    assert_eq!(project.stop(), "first", "it was entered again");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    assert_eq!(project.stop(), "second");
    project.review("fine");
    project.stop();
    let (journal, verified) = (
        project.run(&["journal"], ""),
        project.run(&["journal", "--verify"], ""),
    );
    assert!(journal.contains("done"), "{journal}");
    assert!(!verified.is_empty());
}

#[test]
fn a_phase_says_what_blocks() {
    let project = Project::new();
    project.stop();
    project.review("low");
    assert_eq!(project.stop(), "first", "any finding blocks there");
    project.review("medium");
    project.stop();
    project.review("fine");
    assert_eq!(project.stop(), "first", "it is open while the text is the same");
    project.write("TEXT.md", "Text, mended.\n");
    project.review("fine");
    assert_eq!(project.stop(), "second");
    project.review("medium");
    assert_eq!(project.stop(), "second", "medium ones block here");
    project.review("low");
    let next = project.run(&["status"], "");
    assert!(next.contains("nothing that the reviewer found blocks"), "{next}");
    assert_eq!(project.stop(), "done");
}

#[test]
fn words_that_cannot_be_shown_leave_the_agent_with_what_is_next() {
    let project = Project::new();
    project.stop();
    project.review("fine");
    let answer = project.stop_saying();
    let (reason, note) = (answer["reason"].to_string(), answer["systemMessage"].to_string());
    assert_eq!(
        (&answer["decision"], project.status("phase").as_str()),
        (&json!("block"), "second")
    );
    assert!(
        reason.contains("is in phase second") && reason.contains("twice review"),
        "{answer}"
    );
    assert!(note.contains("second.md"), "{answer}");
}
