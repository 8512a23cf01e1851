//! Fields, arguments, checks before each stop, and modes of two words, in a custom machine.

use claudex_testkit::has;
use std::process::Command;

use serde_json::json;

use crate::project::{Project, program};

#[test]
fn every_field_and_argument_does_as_declared() {
    let root = tempfile::tempdir().unwrap();
    let ran = Command::new(program("kinds"))
        .arg(root.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    // The document's lines after each step, the values of typed readers, and each refusal.
    let expected = include_str!("crate/kinds/expected.txt");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}

#[test]
fn violations_come_before_what_the_phase_says() {
    let project = Project::new("tidy", "");
    project.run("start");
    for name in ["TEXT.md", "a.tmp", "b.tmp"] {
        project.write(name, "Text.\n");
    }
    let found = "Mend this:\n- a.tmp is in the way.\n- b.tmp is in the way.\n";
    for _ in 0..2 {
        let message = project.stop_saying();
        assert_eq!([&message["decision"], &message["reason"]], ["block", found]);
    }
    // After the declared number of times, the turn ends, and the user reads the problem.
    let message = project.stop_saying();
    assert_eq!(message["decision"], "approve");
    let note = message["systemMessage"].as_str().unwrap();
    has(note, ": a.tmp is in the way; b.tmp is in the way.");
    assert_eq!(project.status("phase"), "writing");
    for name in ["a.tmp", "b.tmp"] {
        std::fs::remove_file(project.root.join(name)).unwrap();
    }
    project.stop_saying();
    assert!(project.run("list").contains("done"));
}

#[test]
fn slash_command_of_two_words_starts_its_mode() {
    let project = Project::new("ways", "");
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p",
                        "prompt": "/ways:new-way a 'way' of $(its) own"});
    project.hook("prompt", prompt);
    let (succeeded, said) = project.agent("start new_way --from-prompt");
    assert!(succeeded, "{said}");
    let status = project.shown_loop();
    assert_eq!(status["mode"], "new_way");
    assert_eq!(status["fields"]["about"], "a 'way' of $(its) own");
    // Only a verb leaves the phase, so each look names it.
    let begins = json!({"hook_event_name": "SessionStart", "source": "startup"});
    let line = project.hook("session-start", begins).to_string();
    for next in [status["next"].to_string(), line] {
        assert!(next.contains("ways close"), "{next}");
    }
}
