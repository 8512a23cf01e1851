//! Questions with options from the program, as users see them: in dialogs that the agent opens, and
//! in a terminal.

use std::fs;

use claudex_testkit::has;
use serde_json::{Value, json};

use crate::project::{Project, feed, output_text};

/// A ferry with its own loop and these labels.
struct Ferry(Project);

impl std::ops::Deref for Ferry {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Ferry {
    fn new(labels: &[&str]) -> Self {
        let ferry = Self(Project::new("ferry", ""));
        ferry.write("LABELS", "");
        ferry.run("start");
        labels.iter().for_each(|label| ferry.offer(label));
        ferry
    }

    /// Returns one with a loop in phase `choosing`, and the question for the agent.
    fn asking(labels: &[&str]) -> (Self, String) {
        let ferry = Self::new(labels);
        let (decision, said) = ferry.decide();
        assert_eq!(decision, "block", "{said}");
        (ferry, said)
    }

    fn offer(&self, label: &str) {
        self.write("LABELS", &(self.read("LABELS") + label + "\0"));
    }

    /// Answers in a terminal. Returns the exit code and the output.
    fn answer(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = self.command("answer");
        command.args(arguments);
        let output = feed(command, "");
        (output.status.code(), output_text(&output))
    }

    /// Stops. Returns the decision and its text.
    fn decide(&self) -> (String, String) {
        let answer = self.stop_saying();
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        match answer["hookSpecificOutput"]["additionalContext"].as_str() {
            Some(reminder) => ("remind".to_owned(), reminder.to_owned()),
            None => (text("decision"), text("reason") + &text("systemMessage")),
        }
    }

    fn field(&self, name: &str) -> Value {
        self.shown_loop()["fields"][name].clone()
    }

    /// Answers in a dialog with these options. Returns the output of the hook.
    fn dialog(&self, (question, header): (&str, &str), options: &[&str], answer: &str) -> String {
        let option = |label: &&str| json!({"label": label, "description": description(label)});
        let options: Vec<Value> = options.iter().map(option).collect();
        let questions = json!([{"question": question, "header": header, "options": options, "multiSelect": false}]);
        let response = json!({"questions": questions, "answers": {question: answer}});
        let event = json!({"hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "tool_response": response});
        self.hook("answer", event)
    }

    fn journal(&self) -> String {
        fs::read_to_string(self.loop_folder(".ferry").join("journal.jsonl")).unwrap()
    }
}

/// Returns the program's description of an option.
fn description(label: &str) -> &'static str {
    match label {
        "Once" => "One 'time' only.",
        "More…" => "Nothing is decided yet.",
        "Not now" => "Nothing is decided.",
        "Something else" => "Say it in your own words, in the field for that.",
        _ => "",
    }
}

/// The error about a dialog that the agent changed.
const ALTERED: &str = "the dialog had another question, header, option or description;";

const WHICH: (&str, &str) = ("Which of these?", "Choice");
const VERSION: (&str, &str) = ("Which version goes out?", "Version");

/// Returns the dialog calls in a block: the labels of each.
fn calls(said: &str) -> Vec<Vec<String>> {
    let fences = said.split("```json\n").skip(1);
    let call = |text: &str| {
        let call: Value = serde_json::from_str(text.split_once("\n```").unwrap().0).unwrap();
        let options = call["questions"][0]["options"].as_array().unwrap().iter();
        options
            .map(|option| option["label"].as_str().unwrap().to_owned())
            .collect()
    };
    fences.map(call).collect()
}

#[test]
fn chosen_option_gives_the_argument() {
    let all = ["it's \"so\"", "$(x) & y", "計画"];
    let (ferry, said) = Ferry::asking(&[all[0], all[1], "  計画  "]);
    assert_eq!(calls(&said), [all]);
    let before = ferry.journal();
    // Another question, an invented label, and a missing label.
    assert_eq!(
        ferry.dialog(("Which of those?", "Choice"), &["計画"], "計画"),
        ""
    );
    for altered in [&["計画", "no"][..], &all[1..]] {
        has(&ferry.dialog(WHICH, altered, "計画"), ALTERED);
    }
    for reworded in [("Which one?", "Choice"), ("Which of these?", "Choices")] {
        has(&ferry.dialog(reworded, &all, "計画"), ALTERED);
    }
    assert_eq!(ferry.dialog(WHICH, &all, "(notes only)"), "");
    assert_eq!(ferry.journal(), before);
    let output = ferry.dialog(WHICH, &all, "$(x) & y");
    has(&output, "by pick to phase drafting");
    assert_eq!(ferry.field("picked"), "$(x) & y");
    has(&ferry.journal(), "\"what\":\"pick\",\"by\":\"person\"");
}

#[test]
fn typed_answer_is_the_argument_of_its_transition() {
    let both = ["red", "blue"];
    let (ferry, _) = Ferry::asking(&both);
    let before = ferry.journal();
    let output = ferry.dialog(WHICH, &both, &"x".repeat(2_001));
    has(&output, "did not change loop");
    has(&output, "expected at most 2000 characters");
    assert_eq!(ferry.journal(), before);
    let words = "--words=\"neither\", `it's`\r\nred\\";
    let output = ferry.dialog(WHICH, &both, &format!(" {words}\n"));
    has(&output, "by say to phase drafting");
    has(&ferry.journal(), &json!(words).to_string());
}

#[test]
fn label_that_cannot_be_shown_is_named() {
    let long = "x".repeat(81);
    for label in [
        "`rm -rf ~`",
        "\u{1b}[2J",
        "a\u{202e}b",
        "two\nlines",
        " ",
        "red ",
        "More…",
        &long,
    ] {
        let (ferry, _) = Ferry::asking(&["red"]);
        ferry.offer(label);
        let before = ferry.journal();
        let (decision, said) = ferry.decide();
        assert_eq!(decision, "approve", "{said}");
        has(&said, "option 2 of the program, “");
        has(&said, "must be a plain text");
        assert!(!said.contains(['`', '\u{1b}', '\u{202e}']), "{said:?}");
        assert_eq!(ferry.dialog(WHICH, &["red"], "red"), "");
        assert_eq!(ferry.journal(), before, "{label:?}");
    }
    // The stop that leads to such a question moves the loop, and lets the turn end.
    let ferry = Ferry::new(&[]);
    let (decision, said) = ferry.decide();
    assert_eq!(
        (&*decision, &*ferry.status("phase")),
        ("approve", "choosing")
    );
    has(&said, "the program gives 0 options; a question has 1 to 12");
}

#[test]
fn program_gives_the_options_and_their_arguments() {
    let (ferry, _) = Ferry::asking(&["red"]);
    ferry.dialog(WHICH, &["red", "Something else"], "red");
    // The file with the options is still missing.
    let (decision, message) = ferry.decide();
    assert_eq!(decision, "approve");
    has(&message, "cannot ask: No such file");
    ferry.write("VERSIONS", "1.0\n1.1\n");
    assert_eq!(ferry.decide().0, "approve", "nothing is to be tried there");
    let output = ferry.dialog(VERSION, &["1.0", "1.1"], "1.1");
    has(&output, "by choose to phase counting");
    assert_eq!(ferry.field("version"), "1.1");
    // Each option is shown as plain text.
    let message = ferry.decide().1;
    has(&message, "How often does 1.1 go out?");
    has(&message, "One 'time' only.");
    let all = ["Once", "Twice", "Many times", "Choose anew"];
    assert_eq!(calls(&message), [all]);
    let times = ("How often does 1.1 go out?", "Times");
    let output = ferry.dialog(times, &all, "Many times");
    has(&output, "did not change loop");
    has(&output, "invalid value ‘many’");
    assert_eq!(ferry.status("phase"), "counting");
    ferry.dialog(times, &all, "Twice");
    assert_eq!(ferry.status("phase"), "done");
    let fields = ["times", "quick", "said"].map(|name| ferry.field(name));
    assert_eq!(fields, [json!(2), json!(true), json!("--it's \"quick\"")]);
}

#[test]
fn answer_is_for_the_loop_that_asked() {
    let (ferry, _) = Ferry::asking(&["red"]);
    let asking = ferry.status("id");
    assert!(ferry.agent("start").0);
    let status = ferry.run("status");
    let newer = !status.contains(&format!("its stops drive loop {asking}"));
    assert!(newer, "the other one is newer: {status}");
    let output = ferry.dialog(WHICH, &["red", "Something else"], "red");
    has(&output, &format!("took loop {asking} by pick"));
}

#[test]
fn user_in_a_terminal_answers_there() {
    let ferry = Ferry::new(&["it's \"red\"", "-b lue"]);
    let (code, said) = ferry.answer(&["-b lue"]);
    assert_eq!(code, Some(1));
    has(&said, "it asks nothing now");
    ferry.decide();
    let id = ferry.status("id");
    let line = format!("ferry answer {id} \"LABEL\"");
    has(&ferry.run("status"), &line);
    ferry.decide();
    let (decision, said) = ferry.decide();
    assert_eq!(decision, "approve");
    has(&said, &format!("\n    {line}\n"));
    has(&said, "“-b lue”");
    let before = ferry.journal();
    let (succeeded, refused) = ferry.agent("answer red");
    assert!(!succeeded);
    has(&refused, "an agent may not run ‘answer’");
    has(&refused, "    ferry answer red\n");
    // Only the refusal is noted.
    let noted = ferry.journal();
    assert_eq!(
        noted.strip_prefix(&before).unwrap().lines().count(),
        1,
        "{noted}"
    );
    for (arguments, code, why) in [
        (&[][..], 2, "LABEL"),
        (
            &["20261122-005333-0a1b2c", "-b lue"],
            1,
            "20261122-005333-0a1b2c not found in",
        ),
        (&["a/b", "-b lue"], 2, "is not the id of a loop"),
        (&[&id, "-b lue", "more"], 2, "unexpected argument"),
        (
            &[&id, &"x".repeat(2_001)],
            1,
            "expected at most 2000 characters",
        ),
    ] {
        let (exit, said) = ferry.answer(arguments);
        assert_eq!(exit, Some(code), "{said}");
        has(&said, why);
    }
    assert_eq!(ferry.journal(), noted);
    let (_, said) = ferry.answer(&[&id, "-b lue"]);
    has(&said, "pick, now in phase drafting");
    assert_eq!(ferry.field("picked"), "-b lue");
}

#[test]
fn program_that_asks_nothing_goes_on_silently() {
    let drafting = |versions: &str| {
        let (ferry, _) = Ferry::asking(&["none"]);
        ferry.write("VERSIONS", versions);
        let context = ferry.dialog(WHICH, &["none", "Something else"], "none");
        (ferry, context)
    };
    let (ferry, told) = drafting("");
    assert!(!told.contains("AskUserQuestion"), "{told}");
    assert_eq!(ferry.status("waits_for"), "the agent, to end its turn");
    assert_eq!(ferry.decide(), ("approve".to_owned(), String::new()));
    assert_eq!(ferry.status("phase"), "done");
    // The same transition after a question.
    let (ferry, told) = drafting("1.0\n");
    has(&told, "AskUserQuestion");
    has(&ferry.decide().1, "is done");

    // It stops asking, and begins again.
    let (ferry, _) = drafting("1.0\n");
    has(
        &ferry.status("waits_for"),
        "an answer to: Which version goes out?",
    );
    ferry.write("VERSIONS", "");
    assert_eq!(ferry.dialog(VERSION, &["1.0", "Not now"], "1.0"), "");
    let (code, said) = ferry.answer(&["1.0"]);
    assert_eq!(code, Some(1), "{said}");
    has(&said, "it asks nothing now");
    assert_eq!(ferry.status("phase"), "drafting");
    ferry.write("VERSIONS", "1.0\n");
    ferry.dialog(VERSION, &["1.0", "Not now"], "1.0");
    assert_eq!(ferry.status("phase"), "counting");
}
