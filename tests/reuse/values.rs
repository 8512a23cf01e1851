//! What a machine file says of values, in a program that is made of it: null in a document, constants for arguments, a field that is called
//! `phase` and is not the machine’s, guards that read arguments.

use std::fs;
use std::path::PathBuf;

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::project::Project;

/// A plan whose document other programs read and write, too: what is null there has a value here.
const MACHINE: &str = r#"name = "plans"

[state]
form   = "json"
file   = "plans/{id}/state.json"
folder = ".plans"
ids    = "name"
active = "many"
edits  = ["iteration"]

[modes.automated]
start = "working"

[fields]
current_task = { type = "count", null = 0 }
phase        = { one_of = ["new-plan", "plan-review"], at_start = "optional" }
next_phase   = { holds = "phase", null = "standalone" }
iteration    = { type = "count", initial = 1, null = 0, max = 9 }
model        = { one_of = ["opus", "sonnet", "null"], null = "sonnet" }
why          = { type = "text", null = "" }
file         = { type = "path" }
often        = { type = "flag" }
next_action  = { one_of = ["none", "loop-questions", "proceed", "loop_research"] }
id           = { holds = "id" }
root         = { holds = "root" }
session      = { holds = "session" }
revision     = { holds = "revision" }
machine      = { holds = "machine" }
graph_hash   = { holds = "graph-hash" }

[phases.working.on_stop.wait-for]
file    = "plans/{id}/GO"
there   = "ready"
waiting = ["look", { then = "wait", with = { why = 'no "sign"', task = 7, often = true, file = "plans/GO", model = "null" } }]

[phases.standalone]
stored  = "by-hand"
on_stop = { wait-for = { file = "plans/{id}/GO", there = "ready" } }

[phases.asking.on_stop.ask]
question = "And now?"
header   = "Next"
options  = [
    { label = "On with it", then = "decide", with = { next_action = "proceed", hard = true, task = 5 } },
    { label = "Once more", then = "decide", with = { next_action = "loop_research", hard = false, task = 6 } },
]

[phases.done]
terminal = true

[[transitions.ready]]
from = ["working", "standalone"]
to   = "done"
when = 'current_task == 0 and why == ""'

[[transitions.leave]]
from = "working"
to   = "standalone"
by   = ["person"]
args = { why = "text", task = "count" }
set  = { why = "args.why", current_task = "args.task", iteration = 0, model = "next(model)" }

[[transitions.look]]
from = "working"
to   = "same"
when = "iteration < 1"
set  = { iteration = "iteration + 1" }

[[transitions.wait]]
from = "working"
to   = "same"
when = "iteration >= 1 and iteration < 9"
args = { why = "text", task = "count", often = "flag", file = { type = "path", optional = true }, model = { one_of = ["opus", "null"], optional = true } }
set  = { iteration = "iteration + 1", why = "args.why", current_task = "args.task", often = "args.often", file = "args.file", model = "args.model" }

[[transitions.conclude]]
from = "working"
to   = "same"
by   = ["agent", "person"]
when = 'args.next_action != "proceed" and iteration < 9'
args = { next_action = { one_of = ["loop-questions", "proceed", "loop_research"] }, hard = "flag" }
set  = { iteration = "iteration + 1", next_action = "args.next_action", often = "args.hard" }

[[transitions.conclude]]
from = "working"
to   = "standalone"
by   = ["agent", "person"]
when = 'args.next_action == "proceed" and args.hard == false'
args = { next_action = { one_of = ["loop-questions", "proceed", "loop_research"] }, hard = "flag" }

[[transitions.conclude]]
from = "working"
to   = "done"
by   = ["agent", "person"]
when = '(args.next_action == "proceed" or iteration >= 9) and (args.next_action != "proceed" or args.hard == true)'
args = { next_action = { one_of = ["loop-questions", "proceed", "loop_research"] }, hard = "flag" }
set  = { next_action = "args.next_action" }

[[transitions.ask]]
from = "working"
to   = "asking"
by   = ["person"]

[[transitions.decide]]
from = "asking"
to   = "working"
by   = ["person"]
args = { next_action = { one_of = ["proceed", "loop_research"] }, hard = "flag", task = "count", why = "text" }
set  = { next_action = "args.next_action", often = "args.hard", current_task = "args.task", why = "args.why" }

[[transitions.score]]
from = "working"
to   = "same"
by   = ["person"]
when = "args.score >= iteration + 2 and args.score - 1 < 9"
args = { score = "count" }
set  = { iteration = "args.score" }

[[transitions.take_up]]
from = "standalone"
to   = "working"
by   = ["person"]
set  = { why = "", current_task = 0, model = "null", phase = "next(phase)" }
"#;

/// A project with the program.
struct Plans(Project);

impl std::ops::Deref for Plans {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Plans {
    fn new() -> Self {
        Self(Project::new("plans", MACHINE, &[], ""))
    }

    fn run(&self, arguments: &[&str]) -> String {
        self.0.run(arguments, "")
    }

    fn file(&self, id: &str) -> PathBuf {
        self.root.join(format!("plans/{id}/state.json"))
    }

    fn document(&self, id: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.file(id)).unwrap()).unwrap()
    }

    fn phase(&self, id: &str) -> String {
        let shown: Value = serde_json::from_str(&self.run(&["status", id, "--json"])).unwrap();
        shown["loops"][0]["phase"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

#[test]
fn null_is_in_the_document_and_the_value_is_what_everyone_speaks_of() {
    let project = Plans::new();
    project.run(&["start", "--id", "a"]);
    let document = project.document("a");
    assert_eq!(
        (
            &document["current_task"],
            &document["next_phase"],
            &document["why"]
        ),
        (&Value::Null, &json!("working"), &Value::Null)
    );
    project.run(&["leave", "a", "--why", "a pause", "--task", "3"]);
    let document = project.document("a");
    assert_eq!(
        (
            &document["current_task"],
            &document["next_phase"],
            &document["model"]
        ),
        (&json!(3), &Value::Null, &Value::Null)
    );
    assert_eq!(project.phase("a"), "standalone");
    let journal = project.run(&["journal", "a", "--json"]);
    has(&journal, "\"next_phase\":\"by-hand\"");
    has(&journal, "\"iteration\":0");
    // What is null is a value that guards read, and that a hand may write.
    fs::write(project.root.join("plans/a/GO"), "").unwrap();
    project.stop();
    assert_eq!(project.phase("a"), "standalone", "a task is under way");
    let text = fs::read_to_string(project.file("a")).unwrap();
    fs::write(
        project.file("a"),
        text.replace("\"next_phase\": null", "\"next_phase\": \"working\""),
    )
    .unwrap();
    assert!(project.run(&["status", "a"]).contains("standalone"));
    project.run(&["take-up", "a"]);
    let journal = project.run(&["journal", "a"]);
    has(&journal, "was edited by hand (next_phase)");
    assert_eq!(
        project.document("a")["model"],
        json!("null"),
        "the word, and not null"
    );
    let text = fs::read_to_string(project.file("a")).unwrap();
    fs::write(
        project.file("a"),
        text.replace("\"iteration\": null", "\"iteration\": 4"),
    )
    .unwrap();
    project.stop();
    assert_eq!(project.phase("a"), "done");
    assert_eq!(project.document("a")["iteration"], json!(4));
    project.run(&["journal", "a", "--verify"]);
}

#[test]
fn a_document_with_null_is_taken_up_where_null_leads() {
    let project = Plans::new();
    let file = project.file("b");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(
        &file,
        "{\n  \"current_task\": null,\n  \"next_phase\": null,\n  \"theirs\": null,\n  \"id\": \"b\"\n}\n",
    )
    .unwrap();
    project.run(&["import", "plans/b/state.json"]);
    assert_eq!(project.phase("b"), "standalone");
    let document = project.document("b");
    assert_eq!(
        (
            &document["next_phase"],
            &document["iteration"],
            &document["theirs"]
        ),
        (&Value::Null, &json!(1), &Value::Null)
    );
    project.run(&["take-up", "b"]);
    assert_eq!(project.document("b")["next_phase"], json!("working"));
}

#[test]
fn an_outcome_gives_a_transition_its_arguments() {
    let project = Plans::new();
    project.run(&["start", "--id", "c"]);
    project.stop();
    let document = project.document("c");
    assert_eq!(
        ["why", "current_task", "often", "file", "iteration", "model"]
            .map(|key| document[key].clone()),
        [
            json!("no \"sign\""),
            json!(7),
            json!(true),
            json!("plans/GO"),
            json!(2),
            json!("null")
        ]
    );
}

#[test]
fn a_field_that_is_called_phase_is_a_field_like_any_other() {
    let project = Plans::new();
    project.run(&["start", "--id", "d", "--phase", "plan-review"]);
    assert_eq!(project.document("d")["phase"], json!("plan-review"));
    project.run(&["leave", "d", "--why", "a pause", "--task", "3"]);
    project.run(&["take-up", "d"]);
    assert_eq!(project.document("d")["phase"], json!("new-plan"));
    assert_eq!(project.phase("d"), "working");
}

#[test]
fn a_guard_reads_what_the_transition_is_given() {
    let project = Plans::new();
    project.run(&["start", "--id", "e"]);
    let conclude = |action: &str, more: &[&str]| {
        let line = [&["conclude", "e", "--next-action", action], more].concat();
        project.try_run(&line, "")
    };
    assert!(conclude("loop_research", &["--hard"]).0);
    assert!(conclude("loop-questions", &[]).0);
    let document = project.document("e");
    assert_eq!(
        ["next_action", "often", "iteration"].map(|key| document[key].clone()),
        [json!("loop-questions"), json!(false), json!(3)]
    );
    // What is none of the words is said with those that there are, and changes nothing.
    let (succeeded, said) = conclude("procede", &[]);
    assert!(!succeeded, "{said}");
    has(&said, "loop-questions, proceed, loop_research");
    for score in ["4", "10"] {
        let (succeeded, said) = project.try_run(&["score", "e", "--score", score], "");
        assert!(!succeeded, "{said}");
        has(&said, "args.score >= iteration + 2");
        has(&said, &format!("args.score is {score}, iteration is 3"));
    }
    assert_eq!(project.document("e"), document);
    project.run(&["score", "e", "--score", "5"]);
    assert_eq!(project.document("e")["iteration"], json!(5));
    // Which of a transition's edges may be taken is not known before it is given something: the line names what it takes.
    let shown = project.run(&["status", "e"]);
    has(
        &shown,
        "conclude e --next-action <loop-questions|proceed|loop_research> --hard",
    );
    assert!(conclude("proceed", &[]).0);
    assert_eq!(project.phase("e"), "standalone");
    project.run(&["take-up", "e"]);
    assert!(conclude("proceed", &["--hard"]).0);
    assert_eq!(project.phase("e"), "done");
}

#[test]
fn an_answer_gives_its_transition_constants_and_its_label() {
    let project = Plans::new();
    project.run(&["start", "--id", "f"]);
    for (label, given) in [
        (
            "Once more",
            [
                json!("loop_research"),
                json!(false),
                json!(6),
                json!("Once more"),
            ],
        ),
        (
            "On with it",
            [json!("proceed"), json!(true), json!(5), json!("On with it")],
        ),
    ] {
        project.run(&["ask", "f"]);
        project.run(&["answer", "f", label]);
        let document = project.document("f");
        assert_eq!(
            ["next_action", "often", "current_task", "why"].map(|key| document[key].clone()),
            given
        );
        assert_eq!(project.phase("f"), "working");
    }
}
