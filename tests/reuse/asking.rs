//! Questions whose options the program gives, as people meet them: in the dialogs that the agent is told to open, and in
//! a terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::project::{Project, built, fed, manifest, said, whole};
use crate::support::stranger::{Crate, ours};

const MACHINE: &str = r#"name = "ferry"

[state]
active = "many"

[modes.ferry]
start = "collecting"

[fields]
HELD
picked   = { type = "text" }
said     = { type = "text" }
version  = { type = "text" }
times    = { type = "count" }
quick    = { type = "flag" }
reminders = { type = "count" }

[phases.collecting]
on_stop = { announce = { then = "put" } }

[phases.choosing]
on_stop = { ask = { text = "say", unanswered = "remind" } }

[phases.drafting]
on_stop = { ask = { unanswered = "skip" } }

[phases.counting]
on_stop = { ask = { unanswered = "remind" } }

[phases.done]
terminal = true

[[transitions.put]]
from = "collecting"
to   = "choosing"

[[transitions.pick]]
from = "choosing"
to   = "drafting"
by   = ["person"]
args = { what = "text" }
set  = { picked = "args.what" }

[[transitions.say]]
from = "choosing"
to   = "drafting"
by   = ["person"]
args = { words = { type = "text", optional = true } }
set  = { said = "args.words" }

[[transitions.remind]]
from = ["choosing", "counting"]
to   = "same"
when = "reminders < 1"
set  = { reminders = "reminders + 1" }

[[transitions.skip]]
from = "drafting"
to   = "done"
when = 'picked == "none"'

[[transitions.choose]]
from = "drafting"
to   = "counting"
by   = ["person"]
args = { version = "text" }
set  = { version = "args.version", reminders = 0 }

[[transitions.count]]
from = "counting"
to   = "done"
by   = ["person"]
own  = true
args = { times_more = "count", quick = "flag", why = { type = "text", optional = true } }
set  = { times = "times + args.times_more", quick = "args.quick", said = "args.why" }

[[transitions.leave]]
from = "*"
to   = "done"
by   = ["person"]
"#;

/// The methods that the machine leaves to Rust; the first one is the document's.
const MAIN: &str = r#"#![deny(warnings)]
use claudex_loop::behaviours::ask::{Answer, Asked};

use ferry::{Choosing, Counting, Drafting, Loop, Transition};

struct Own;

impl ferry::OnStop for Own {
    SHOWN

    fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Option<Asked>, String> {
        let labels = std::fs::read_to_string(held.raw().path("LABELS")).map_err(|error| error.to_string())?;
        let labels = labels.split_terminator('\u{0}').map(str::trim);
        let options = labels.map(|label| Answer::new(label, Transition::Pick { what: label.to_owned() })).collect();
        Ok(Some(Asked::new("Which of these?", "Choice", options)))
    }

    fn counting_asks(&self, held: &Loop<Counting>) -> Result<Option<Asked>, String> {
        let version = held.fields().version.clone();
        let count = |label: &str, times: &str, quick: bool| {
            Answer::new(label, "count").argument("times_more", times).argument("quick", quick)
        };
        Ok(Some(Asked::new(format!("How often does {version} go out?"), "Times", vec![
            count("Once", "1", false).description("One `time`\nonly."),
            count("Twice", "2", true).argument("why", "--it's \"quick\""),
            count("Many times", "many", false),
            Answer::new("Choose anew", Transition::Leave),
        ])))
    }
}

claudex_loop::main!(ferry, Own);
"#;

/// The method that docs/behaviours.md shows.
fn shown() -> String {
    let document = fs::read_to_string(ours().join("docs/behaviours.md")).unwrap();
    let (_, rest) = document.split_once("```rust\nfn drafting_asks").unwrap();
    format!("fn drafting_asks{}", rest.split_once("```").unwrap().0)
}

/// The program, which the first case builds.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let stranger = Crate::new("ferry");
        stranger.write("Cargo.toml", &manifest("ferry"));
        stranger.write("machine.toml", &whole(MACHINE));
        // Without Rust the options are nobody's.
        stranger.write("src/main.rs", "claudex_loop::main!(ferry);\n");
        let failed = stranger.cargo(&["build"]);
        assert!(!failed.status.success());
        for part in [
            "no `options` say what a person can answer in the phases `choosing` (machine.toml:",
            "fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Option<Asked>, String> { .. }",
        ] {
            has(&said(&failed), part);
        }
        stranger.write("src/main.rs", &MAIN.replace("SHOWN", &shown()));
        built(&stranger, "ferry")
    });
    program
}

/// A ferry with a loop of its own, whose program offers these labels.
struct Ferry(Project);

impl std::ops::Deref for Ferry {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Ferry {
    fn new(labels: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ferry = Self(Project::at(folder, program().to_owned()));
        fs::write(ferry.path("LABELS"), "").unwrap();
        ferry.done(&["start"]);
        for label in labels {
            ferry.offer(label);
        }
        ferry
    }

    fn offer(&self, label: &str) {
        let labels = self.read("LABELS") + label + "\0";
        fs::write(self.path("LABELS"), labels).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Runs the program as a user, and gives its exit code and what it says.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = fed(self.command(arguments), "");
        (output.status.code(), said(&output))
    }

    /// Stops, and gives the decision and the words.
    fn stop(&self) -> (String, String) {
        let answer = self.stop_saying();
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        match answer["hookSpecificOutput"]["additionalContext"].as_str() {
            Some(reminder) => ("remind".to_owned(), reminder.to_owned()),
            None => (text("decision"), text("reason") + &text("systemMessage")),
        }
    }

    fn done(&self, arguments: &[&str]) -> String {
        let (code, said) = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        said
    }

    fn status(&self) -> Value {
        let mut shown: Value = serde_json::from_str(&self.done(&["status", "--json"])).unwrap();
        shown["loops"][0].take()
    }

    fn phase(&self) -> String {
        self.status()["phase"].as_str().unwrap().to_owned()
    }

    fn field(&self, name: &str) -> Value {
        self.status()["fields"][name].clone()
    }

    /// An answer in a dialog with these options; what the hook prints.
    fn dialog(&self, (question, header): (&str, &str), options: &[&str], answer: &str) -> String {
        let options: Vec<Value> = options
            .iter()
            .map(|label| json!({"label": label, "description": description(label)}))
            .collect();
        let event = json!({
            "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "cwd": self.path(""),
            "tool_response": {
                "questions": [{"question": question, "header": header, "options": options, "multiSelect": false}],
                "answers": {question: answer},
            },
        });
        let output = fed(self.command(&["hook", "answer"]), &event.to_string());
        String::from_utf8(output.stdout).unwrap()
    }

    fn journal(&self) -> String {
        let id = self.status()["id"].as_str().unwrap().to_owned();
        self.read(&format!(".ferry/{id}/journal.jsonl"))
    }
}

/// What the program says of an option.
fn description(label: &str) -> &'static str {
    match label {
        "Once" => "One 'time' only.",
        "More…" => "Nothing is decided yet.",
        "Not now" => "Nothing is decided.",
        "Something else" => "Say it in your own words, in the field for that.",
        _ => "",
    }
}

/// What is said of a dialog that the agent altered.
const ALTERED: &str = "the dialog had other options or descriptions than the question;";

const WHICH: (&str, &str) = ("Which of these?", "Choice");

/// The calls that a block tells the agent to make: the labels of each.
fn calls(said: &str) -> Vec<Vec<String>> {
    let fences = said.split("```json\n").skip(1);
    let call = |text: &str| {
        let call: Value = serde_json::from_str(text.split_once("\n```").unwrap().0).unwrap();
        let options = call["questions"][0]["options"].as_array().unwrap();
        options
            .iter()
            .map(|option| option["label"].as_str().unwrap().to_owned())
            .collect()
    };
    fences.map(call).collect()
}

#[test]
fn the_option_that_is_chosen_gives_the_argument() {
    let ferry = Ferry::new(&["it's \"so\"", "$(x) & y", "  計画  "]);
    let (decision, said) = ferry.stop();
    assert_eq!(decision, "block", "{said}");
    assert_eq!(calls(&said), [["it's \"so\"", "$(x) & y", "計画"]]);
    let before = ferry.journal();
    // Another question, and a label that the agent made up.
    assert_eq!(
        ferry.dialog(("Which of those?", "Choice"), &["計画"], "計画"),
        ""
    );
    let all = ["it's \"so\"", "$(x) & y", "計画"];
    for altered in [&["計画", "no"][..], &all[1..]] {
        has(&ferry.dialog(WHICH, altered, "計画"), ALTERED);
    }
    assert_eq!(ferry.dialog(WHICH, &all, "(notes only)"), "");
    assert_eq!(ferry.journal(), before);
    let told = ferry.dialog(WHICH, &all, "$(x) & y");
    has(&told, "by pick to phase drafting");
    assert_eq!(ferry.field("picked"), "$(x) & y");
    has(&ferry.journal(), "\"what\":\"pick\",\"by\":\"person\"");
}

#[test]
fn more_than_four_are_put_in_several_dialogs_and_an_answer_to_any_counts() {
    let labels: Vec<String> = (1..=9).map(|number| format!("boat {number}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let ferry = Ferry::new(&labels);
    let said = ferry.stop().1;
    assert_eq!(
        calls(&said),
        [
            vec!["boat 1", "boat 2", "boat 3", "More…"],
            vec!["boat 4", "boat 5", "boat 6", "More…"],
            vec!["boat 7", "boat 8", "boat 9"],
        ]
    );
    assert!(said.len() < 9_000, "{}", said.len());
    let before = ferry.journal();
    let first = ["boat 1", "boat 2", "boat 3", "More…"];
    assert_eq!(ferry.dialog(WHICH, &first, "More…"), "");
    assert_eq!(ferry.journal(), before);
    ferry.dialog(WHICH, &["boat 4", "boat 5", "boat 6", "More…"], "boat 5");
    assert_eq!(ferry.field("picked"), "boat 5");
}

#[test]
fn what_a_person_types_is_the_argument_of_the_transition_for_it() {
    let ferry = Ferry::new(&["red", "blue"]);
    ferry.stop();
    let before = ferry.journal();
    let told = ferry.dialog(WHICH, &["red", "blue"], &"x".repeat(2_001));
    has(&told, "did not change loop");
    has(&told, "2001 characters");
    has(&ferry.dialog(WHICH, &["red", "green"], "green"), ALTERED);
    assert_eq!(ferry.dialog(WHICH, &["red", "blue"], "(notes only)"), "");
    assert_eq!(ferry.journal(), before);
    let typed = "--words=\"neither\", `it's`\r\nred\\";
    let told = ferry.dialog(WHICH, &["red", "blue"], &format!(" {typed}\n"));
    has(&told, "by say to phase drafting");
    has(&ferry.journal(), &json!(typed).to_string());
}

#[test]
fn a_label_that_cannot_be_an_option_is_named_and_nothing_changes() {
    let long = "x".repeat(81);
    let labels = [
        "`rm -rf ~`",
        "\u{1b}[2J",
        "a\u{202e}b",
        "two\nlines",
        " ",
        "red ",
        "More…",
        &long,
    ];
    for label in labels {
        let ferry = Ferry::new(&["red"]);
        ferry.stop();
        ferry.offer(label);
        let before = ferry.journal();
        let (decision, said) = ferry.stop();
        assert_eq!(decision, "approve", "{said}");
        assert!(
            said.contains("option 2 of the program, “") && said.contains("must be a plain text"),
            "{label:?}: {said}"
        );
        assert!(!said.contains(['`', '\u{1b}', '\u{202e}']), "{said:?}");
        assert_eq!(ferry.dialog(WHICH, &["red"], "red"), "");
        assert_eq!(ferry.journal(), before, "{label:?}");
    }
    // The stop that leads to such a question has moved on, and lets the turn end.
    let ferry = Ferry::new(&[]);
    let (decision, said) = ferry.stop();
    assert_eq!(
        (decision.as_str(), ferry.phase().as_str()),
        ("approve", "choosing")
    );
    has(&said, "the program gives 0 options; a question has 1 to 12");
}

#[test]
fn the_program_asks_and_gives_the_arguments() {
    let ferry = Ferry::new(&["red"]);
    ferry.stop();
    ferry.dialog(WHICH, &["red", "Something else"], "red");
    // The file from which the program takes the options is not there yet.
    let (decision, said) = ferry.stop();
    assert_eq!(decision, "approve");
    has(&said, "cannot ask: No such file");
    fs::write(ferry.path("VERSIONS"), "1.0\n1.1\n").unwrap();
    assert_eq!(ferry.stop().0, "approve", "nothing is to be tried there");
    let told = ferry.dialog(
        ("Which version goes out?", "Version"),
        &["1.0", "1.1"],
        "1.1",
    );
    has(&told, "by choose to phase counting");
    assert_eq!(ferry.field("version"), "1.1");
    // Each is shown plain.
    let said = ferry.stop().1;
    has(&said, "How often does 1.1 go out?");
    has(&said, "One 'time' only.");
    assert_eq!(
        calls(&said),
        [["Once", "Twice", "Many times", "Choose anew"]]
    );
    let times = ("How often does 1.1 go out?", "Times");
    let all = ["Once", "Twice", "Many times", "Choose anew"];
    let told = ferry.dialog(times, &all, "Many times");
    has(&told, "did not change loop");
    has(&told, "invalid value ‘many’");
    assert_eq!(ferry.phase(), "counting");
    ferry.dialog(times, &all, "Twice");
    assert_eq!(
        (
            ferry.phase().as_str(),
            ferry.field("times"),
            ferry.field("quick")
        ),
        ("done", json!(2), json!(true))
    );
    assert_eq!(ferry.field("said"), "--it's \"quick\"");
}

#[test]
fn an_answer_is_for_the_loop_that_asked_whichever_a_stop_would_drive() {
    let ferry = Ferry::new(&["red"]);
    ferry.stop();
    let asking = ferry.status()["id"].as_str().unwrap().to_owned();
    let mut second = ferry.command(&["start"]);
    second
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "s");
    assert!(second.output().unwrap().status.success());
    let shown = ferry.done(&["status"]);
    assert!(
        !shown.contains(&format!("its stops drive loop {asking}")),
        "the other one is newer: {shown}"
    );
    let told = ferry.dialog(WHICH, &["red", "Something else"], "red");
    has(&told, &format!("took loop {asking} by pick"));
}

#[test]
fn whoever_sits_in_a_terminal_answers_there() {
    let ferry = Ferry::new(&["it's \"red\"", "-b lue"]);
    let (code, said) = ferry.run(&["answer", "-b lue"]);
    assert_eq!(code, Some(1));
    has(&said, "it asks nothing now");
    ferry.stop();
    let id = ferry.status()["id"].as_str().unwrap().to_owned();
    let line = format!("ferry answer {id} LABEL");
    assert!(ferry.done(&["status"]).contains(&line));
    let note = |said: &str| said.contains(&format!("\n    {line}\n")) && said.contains("“-b lue”");
    ferry.stop();
    let (decision, said) = ferry.stop();
    assert!(decision == "approve" && note(&said), "{said}");
    let before = ferry.journal();
    let agent = ferry
        .command(&["answer", "-b lue"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    let refused = String::from_utf8(agent.stderr).unwrap();
    assert_eq!(agent.status.code(), Some(1), "{refused}");
    has(&refused, "an agent may not run ‘answer’");
    has(&refused, "    ferry answer LABEL\n");
    // The refusal is noted, and nothing else.
    let noted = ferry.journal();
    assert_eq!(
        noted.strip_prefix(&before).unwrap().lines().count(),
        1,
        "{noted}"
    );
    for (arguments, code, why) in [
        (&["answer"][..], 2, "LABEL"),
        (
            &["answer", "20261122-005333-0a1b2c", "-b lue"],
            1,
            "there is no loop",
        ),
        (&["answer", "a/b", "-b lue"], 2, "is not the id of a loop"),
        (&["answer", &id, "-b lue", "more"], 2, "unexpected argument"),
        (&["answer", &id, &"x".repeat(2_001)], 1, "2001 characters"),
    ] {
        let (exit, said) = ferry.run(arguments);
        assert_eq!(exit, Some(code), "{said}");
        assert!(said.contains(why), "{why}: {said}");
    }
    assert_eq!(ferry.journal(), noted);
    let said = ferry.done(&["answer", &id, "-b lue"]);
    has(&said, "pick, now in phase drafting");
    assert_eq!(ferry.field("picked"), "-b lue");
}

#[test]
fn a_program_that_asks_nothing_has_the_phase_go_on_in_silence() {
    let drafting = |versions: &str| {
        let ferry = Ferry::new(&["none"]);
        ferry.stop();
        fs::write(ferry.path("VERSIONS"), versions).unwrap();
        let told = ferry.dialog(WHICH, &["none", "Something else"], "none");
        (ferry, told)
    };
    let (ferry, told) = drafting("");
    assert!(!told.contains("AskUserQuestion"), "{told}");
    let waits = |ferry: &Ferry| ferry.status()["waits_for"].as_str().unwrap().to_owned();
    assert_eq!(waits(&ferry), "the agent, to end its turn");
    assert_eq!(ferry.stop(), ("approve".to_owned(), String::new()));
    assert_eq!(ferry.phase(), "done");
    // The same transition, where a person was asked.
    let (ferry, told) = drafting("1.0\n");
    has(&told, "AskUserQuestion");
    let (decision, said) = ferry.stop();
    assert_eq!(decision, "approve");
    has(&said, "is done");

    // It ceases to ask, and begins again.
    let (ferry, _) = drafting("1.0\n");
    assert!(waits(&ferry).starts_with("an answer to: Which version goes out?"));
    fs::write(ferry.path("VERSIONS"), "").unwrap();
    let version = ("Which version goes out?", "Version");
    assert_eq!(ferry.dialog(version, &["1.0", "Not now"], "1.0"), "");
    let (code, said) = ferry.run(&["answer", "1.0"]);
    assert_eq!(code, Some(1), "{said}");
    has(&said, "it asks nothing now");
    assert_eq!(ferry.phase(), "drafting");
    fs::write(ferry.path("VERSIONS"), "1.0\n").unwrap();
    ferry.dialog(version, &["1.0", "Not now"], "1.0");
    assert_eq!(ferry.phase(), "counting");
}
