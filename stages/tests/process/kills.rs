//! A call that is killed between two file changes was taken as a whole, or not at all.

use serde_json::{Value, json};

use crate::questions::question;
use crate::support::Project;

/// Kills a call before each of its file changes, always in the same project, and repeats it if it
/// was not taken. Returns the instruction after each kill.
fn kill_everywhere(project: &Project, arguments: &[&str], is_agent: bool) -> Vec<Value> {
    project.keep();
    let before = project.next();
    let mut ends = Vec::new();
    for number in 1.. {
        project.restore();
        let was_killed = project.killed(arguments, is_agent, number);
        let is_before = project.next() == before;
        let loops = std::fs::read_dir(project.root.join(".stages")).unwrap();
        let is_edited = |entry: std::fs::DirEntry| entry.path().join("replaced-1").exists();
        let is_edit = loops.flatten().any(is_edited);
        assert!(!is_edit, "a kill at {number} counts as an edit");
        if is_before {
            assert!(was_killed, "{arguments:?} changed nothing");
            if is_agent {
                project.agent(arguments).done()
            } else {
                project.person(arguments).done()
            };
        }
        ends.push(project.next());
        if !was_killed {
            break;
        }
    }
    assert!(ends.len() > 3, "{} kill points", ends.len() - 1);
    ends
}

fn at(next: &Value) -> (&Value, &Value) {
    (&next["instruction"], &next["stage"])
}

#[test]
fn killed_report_is_taken_whole_or_not() {
    let project = Project::at(2);
    project.summary("completed", "");
    for next in kill_everywhere(&project, &["report"], true) {
        assert_eq!(at(&next), (&json!("dispatch"), &json!(3)), "{next}");
        let context = next["variables"]["PRIOR_CONTEXT"].as_str().unwrap();
        assert!(context.contains("Stage 2 says so."), "{context}");
    }
}

#[test]
fn killed_answer_is_taken_whole_or_not() {
    let project = Project::at(2);
    project.report("needs-user-input", &question(2, "")).done();
    for next in kill_everywhere(&project, &["answer", "Way 2"], false) {
        assert_eq!(at(&next), (&json!("dispatch"), &json!(2)), "{next}");
        assert_eq!(next["variables"]["USER_ANSWER"]["answer"], "Way 2");
    }
}
