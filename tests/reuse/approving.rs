//! A phase more for the plan loop, by an edit of machine.toml and of nothing else: a person signs the plan off or sends it
//! back. What follows from the file (hook, verbs, help, status, journal, completions, diagram) is driven as people meet it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::packages::{files, packages};
use crate::project::{fed, said};
use crate::support::stranger::{cargo, one_at_a_time, ours};
use crate::support::target;

/// What is edited: each text stands in machine.toml once.
const EDITS: [(&str, &str); 2] = [
    (
        "[phases.done]\n",
        r#"[phases.approving]
doc = "A person signs the plan off, or sends it back."

[phases.approving.on_stop.ask]
question = "Is {subject} approved?"
header   = "Approval"
options  = [
    { label = "Sign off", then = "sign_off" },
    { label = "Send back", then = "send_back" },
]

[phases.done]
"#,
    ),
    (
        "[[transitions.finish]]\nfrom = \"summarizing\"\nto   = \"done\"\ndoc  = \"The summary was delivered.\"\n",
        r#"[[transitions.finish]]
from = "summarizing"
to   = "approving"
doc  = "The summary was delivered."

[[transitions.sign_off]]
from = "approving"
to   = "done"
by   = ["person"]
doc  = "The plan is approved."

[[transitions.send_back]]
from = "approving"
to   = "reviewing"
by   = ["person"]
set  = { round = "round + 1", max_rounds = "max_rounds + 1", decision_signal = "none", reminders = 0, failures = 0 }
doc  = "The plan is not approved: another round."
"#,
    ),
];

/// The program of the edited machine, built from our crates as they were packed.
fn built() -> PathBuf {
    let packages = packages();
    // A folder that stays, in which a file keeps its time as long as its text: cargo builds again what it has to.
    let copy = target().join("our own cräte");
    fs::create_dir_all(&copy).unwrap();
    let write = |name: &str, text: &[u8]| {
        let to = copy.join(name);
        if fs::read(&to).ok().as_deref() != Some(text) {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, text).unwrap();
        }
    };
    let packed = files(&packages.runtime);
    for gone in files(&copy).difference(&packed) {
        fs::remove_file(copy.join(gone)).unwrap();
    }
    for name in &packed {
        let text = fs::read(packages.runtime.join(name)).unwrap();
        match name.as_str() {
            "machine.toml" => write(name, edited(text).as_bytes()),
            // The folder may lie below our own workspace, to which the copy does not belong.
            "Cargo.toml" => write(name, &[&text[..], b"\n[workspace]\n"].concat()),
            // Offline there are the versions of our lock file, and it may be that no others are there.
            "Cargo.lock" => write(name, &fs::read(ours().join(name)).unwrap()),
            _ => write(name, &text),
        }
    }
    let patched = |name: &str, folder: &Path| format!("patch.crates-io.{name}.path={folder:?}");
    let output = cargo(&copy)
        .args(["build", "--bin", "claudex-loop", "--offline"])
        .args(["--config", &patched("claudex-build", &packages.build)])
        .args(["--config", &patched("claudex-lint", &packages.lint)])
        .args([
            "--config",
            &patched("claudex-loop-engine", &packages.engine),
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
    target().join("debug/claudex-loop")
}

/// Returns machine.toml with all edits made.
fn edited(machine: Vec<u8>) -> String {
    let mut machine = String::from_utf8(machine).unwrap();
    for (old, new) in EDITS {
        assert_eq!(machine.matches(old).count(), 1, "{old}");
        machine = machine.replace(old, new);
    }
    machine
}

/// A person's project, with the program of the edited machine.
struct Project {
    _folder: tempfile::TempDir,
    root: PathBuf,
    program: PathBuf,
}

impl Project {
    fn new(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder
            .path()
            .canonicalize()
            .unwrap()
            .join("a person's projéct");
        fs::create_dir(&root).unwrap();
        Self {
            _folder: folder,
            root,
            program: program.to_owned(),
        }
    }

    /// Runs the program with this on its stdin, and gives its exit code and what it printed. `agent`: as an agent's session.
    fn ran(&self, arguments: &[&str], stdin: &str, agent: bool) -> (i32, String) {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.root)
            .env("LANG", "C.UTF-8");
        if agent {
            command
                .env("CLAUDECODE", "1")
                .env("CLAUDE_CODE_SESSION_ID", "s1");
        }
        let output = fed(command, stdin);
        (output.status.code().unwrap(), said(&output))
    }

    /// What a person's command prints; it must succeed.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let (code, said) = self.ran(arguments, "", false);
        assert_eq!(code, 0, "{arguments:?}: {said}");
        said
    }

    /// What the Stop hook answers.
    #[track_caller]
    fn stop(&self) -> Value {
        let input = json!({ "hook_event_name": "Stop", "session_id": "s1", "cwd": self.root });
        let (code, said) = self.ran(&["hook", "stop"], &input.to_string(), false);
        assert_eq!(code, 0, "{said}");
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// The words of a stop that has the agent go on.
    #[track_caller]
    fn blocked(&self) -> String {
        let answer = self.stop();
        let reminder = &answer["hookSpecificOutput"]["additionalContext"];
        let words = answer["reason"].as_str().or(reminder.as_str());
        words.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The line for the person where the turn may end.
    #[track_caller]
    fn approved(&self) -> String {
        let answer = self.stop();
        assert_eq!(answer["decision"], "approve", "{answer}");
        answer["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// A loop that has come as far as the new phase, its id, and the block that asks.
    fn asked(&self) -> (String, String) {
        let plan = fs::read(ours().join("examples/plans/thorough.md")).unwrap();
        let started = self.run(&["start", "plan", "move", "the", "queue"]);
        let id = started.split_once("Review ID: ").unwrap().1;
        let id = id.split_whitespace().next().unwrap().to_owned();
        fs::write(self.root.join("PLAN.md"), plan).unwrap();
        assert!(self.blocked().starts_with("### Claudex round 1 of 3"));
        self.run(&["review", &id, "--reviewer", "lint"]);
        assert!(self.blocked().starts_with("### Claudex plan loop complete"));
        (id, self.blocked())
    }
}

/// That a text has each of these.
#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "not there: {part}\n{text}");
    }
}

#[test]
fn a_phase_that_machine_toml_gains_is_asked_in_signed_off_sent_back_and_shown_without_a_line_of_rust()
 {
    // Packed before the lock is taken, since packing takes it, too.
    packages();
    let _lock = one_at_a_time();
    let program = built();
    what_is_printed_knows_it(&Project::new(&program));
    a_person_signs_it_off(&Project::new(&program));
    a_person_answers_in_the_dialog(&Project::new(&program));
    a_person_sends_it_back(&Project::new(&program));
    a_job_without_a_person_says_what_it_lacks(&Project::new(&program));
}

fn what_is_printed_knows_it(project: &Project) {
    has(
        &project.run(&["--help"]),
        &[
            "sign-off",
            "The plan is approved",
            "send-back",
            "The plan is not approved: another round",
        ],
    );
    has(
        &project.run(&["sign-off", "--help"]),
        &["Usage: claudex-loop sign-off", "The plan is approved"],
    );
    has(
        &project.run(&["machine", "diagram"]),
        &[
            r#"phase_summarizing -->|"finish"| phase_approving"#,
            r#"phase_approving -.->|"sign_off (person)"| phase_done"#,
            r#"phase_approving -.->|"send_back (person)"| phase_reviewing"#,
        ],
    );
    for shell in ["bash", "zsh", "fish"] {
        has(
            &project.run(&["completions", shell]),
            &["sign-off", "send-back"],
        );
    }
}

fn a_person_signs_it_off(project: &Project) {
    let (id, asked) = project.asked();
    let answer = format!("claudex-loop answer {id} ");
    has(
        &asked,
        &[
            "Is PLAN.md approved?",
            "Sign off",
            "Send back",
            "AskUserQuestion",
            &answer,
        ],
    );

    // The next stop asks no further: it lets the turn end, and tells the person how to go on.
    let waits = project.approved();
    has(&waits, &[&id, "waits for", "Is PLAN.md approved?", &answer]);
    assert!(
        !waits.contains("resume"),
        "no edge `resume` leaves this phase: {waits}"
    );
    assert_eq!(project.approved(), waits);

    let status = project.run(&["status"]);
    has(
        &status,
        &["phase:     approving", "Is PLAN.md approved?", &answer],
    );
    assert!(!status.contains("reminded"), "{status}");
    has(&project.run(&["list"]), &["approving"]);
    has(
        &project.run(&["resume", &id]),
        &["phase approving", &answer],
    );

    // It is the person's to decide.
    let (code, said) = project.ran(&["sign-off", &id], "", true);
    assert_eq!(code, 1, "{said}");
    has(&said, &["an agent may not run ‘sign-off’"]);
    let (code, said) = project.ran(&["more", &id], "", false);
    assert_eq!(code, 1, "{said}");
    has(&said, &["phase approving"]);
    let (code, said) = project.ran(&["review", &id], "", false);
    assert_eq!(code, 1, "{said}");
    has(&said, &["phase approving, where nothing is reviewed"]);

    has(&project.run(&["sign-off", &id]), &["now in phase done"]);
    has(
        &project.run(&["journal", &id]),
        &[
            "sign_off by a person approving -> done",
            "The plan is approved",
        ],
    );
    has(
        &project.run(&["status", &id]),
        &["phase:     done", "waits for: nothing"],
    );
    assert_eq!(project.approved(), "");
}

fn a_person_answers_in_the_dialog(project: &Project) {
    let (id, _) = project.asked();
    let question = "Is PLAN.md approved?";
    let options = json!([
        {"label": "Sign off", "description": "The plan is approved."},
        {"label": "Send back", "description": "The plan is not approved: another round."},
    ]);
    let event = |answer: &str| {
        json!({
            "session_id": "s1", "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "cwd": project.root,
            "tool_input": {}, "tool_response": {
                "questions": [{"question": question, "header": "Approval", "options": options, "multiSelect": false}],
                "answers": {question: answer}
            }
        })
        .to_string()
    };
    // An agent whose conversation was compacted meanwhile gets the question again.
    let start = json!({"session_id": "s1", "hook_event_name": "SessionStart", "source": "compact", "cwd": project.root});
    let (code, told) = project.ran(&["hook", "session-start"], &start.to_string(), false);
    assert_eq!(code, 0, "{told}");
    has(
        &told,
        &[&id, "phase approving", question, "AskUserQuestion"],
    );
    // What is none of the options is no answer.
    project.ran(&["hook", "answer"], &event("yes"), false);
    has(&project.run(&["status"]), &["phase:     approving"]);
    let (code, told) = project.ran(&["hook", "answer"], &event("Sign off"), false);
    assert_eq!(code, 0, "{told}");
    has(
        &project.run(&["journal", &id]),
        &["sign_off by a person approving -> done"],
    );
}

fn a_person_sends_it_back(project: &Project) {
    let (id, _) = project.asked();
    let said = project.run(&["send-back"]);
    has(
        &said,
        &["now in phase reviewing", &format!("{id}-runner.sh")],
    );
    has(
        &project.run(&["status"]),
        &["phase:     reviewing", "round:     2 of 4 (Security"],
    );
    // The round that it opened is run as any other: with its own line, by its own persona.
    let runner = project.root.join(format!(".claude/claudex/{id}-runner.sh"));
    let review = fs::read_to_string(&runner).unwrap();
    has(&review, &[&id]);
    has(
        &project.run(&["review", &id, "--reviewer", "lint"]),
        &["round 2 of 4, Security"],
    );
    assert!(
        project
            .blocked()
            .starts_with("### Claudex plan loop complete")
    );
    has(&project.blocked(), &["Is PLAN.md approved?"]);
    has(&project.run(&["cancel"]), &["cancelled"]);
    assert!(!runner.exists(), "a loop that is over has no line to run");
}

fn a_job_without_a_person_says_what_it_lacks(project: &Project) {
    fs::copy(
        ours().join("examples/plans/thorough.md"),
        project.root.join("PLAN.md"),
    )
    .unwrap();
    let (code, said) = project.ran(&["run", "--reviewer", "lint", "PLAN.md"], "", false);
    assert_eq!(code, 0, "{said}");
    has(
        &said,
        &[
            "The rounds are over, and loop ",
            "Is PLAN.md approved?",
            "claudex-loop answer",
        ],
    );
    // The loop is the person's now, and still there.
    has(&project.run(&["sign-off"]), &["now in phase done"]);
}
