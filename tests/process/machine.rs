//! `machine`: tools that look at machine files, whatever stands at the path.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Project, Ran};

const OURS: &str = include_str!("../../machine.toml");

/// Debug builds on a busy machine are slow; what has no bound takes for ever.
const SOON: Duration = Duration::from_secs(60);

/// A project with a file `m.toml`.
fn with(source: impl AsRef<[u8]>) -> Project {
    let project = Project::new();
    std::fs::write(project.root.join("m.toml"), source).unwrap();
    project
}

fn typo() -> String {
    OURS.replacen("round < max_rounds", "round < max_round", 1)
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

#[test]
fn a_right_machine_is_one_line_and_a_wrong_one_shows_every_finding_in_its_line() {
    let wrong = typo().replace("to   = \"done\"", "to   = \"doen\"");
    let project = with(&wrong);
    std::fs::write(project.root.join("ours.toml"), OURS).unwrap();
    let ran = project.run(&["machine", "check", "ours.toml"]).exits(0);
    assert_eq!(ran.out.lines().count(), 1);
    assert!(
        ran.out
            .starts_with("ours.toml: machine `plan` is well-formed: 6 phases, "),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "");
    let ran = project
        .run(&["machine", "check", "m.toml", "ours.toml"])
        .exits(1);
    assert!(
        ran.out
            .starts_with("ours.toml: machine `plan` is well-formed"),
        "{}",
        ran.out
    );
    for text in [
        "no field is named `max_round`",
        "did you mean `max_rounds`?",
        "`doen`",
        "did you mean `done`?",
        "m.toml:",
    ] {
        assert!(ran.err.contains(text), "{text}: {}", ran.err);
    }
}

#[test]
fn a_program_gets_the_findings_as_json() {
    let project = with(typo());
    std::fs::write(project.root.join("ours.toml"), OURS).unwrap();
    let ran = project
        .run(&[
            "machine",
            "check",
            "--json",
            "ours.toml",
            "m.toml",
            "none.toml",
        ])
        .exits(2);
    assert_eq!(ran.err, "");
    let found = json(&ran);
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    let line = OURS
        .lines()
        .position(|line| line.contains("\"round < max_rounds\""))
        .unwrap()
        + 1;
    assert_eq!(found[0]["file"], "m.toml");
    assert_eq!(found[0]["line"], line);
    assert_eq!(found[0]["column"], 21);
    assert_eq!(found[0]["end_line"], line);
    assert_eq!(found[0]["end_column"], 30);
    assert_eq!(found[0]["code"], "claudex::machine::unknown_field");
    assert_eq!(found[0]["message"], "no field is named `max_round`");
    assert_eq!(found[0]["help"], "did you mean `max_rounds`?");
    assert_eq!(found[1]["file"], "none.toml");
    assert_eq!(found[1]["code"], "claudex::machine::read");
    assert_eq!(found[1]["message"], "there is no such file");
    assert_eq!(
        json(
            &project
                .run(&["machine", "check", "--json", "ours.toml"])
                .exits(0)
        ),
        Value::Array(Vec::new())
    );
}

#[test]
fn a_machine_can_come_from_stdin() {
    let project = Project::new();
    let ran = project
        .run_with_stdin(&["machine", "check", "-"], OURS.as_bytes())
        .exits(0);
    assert!(ran.out.starts_with("stdin: machine `plan`"), "{}", ran.out);
    project
        .run_with_stdin(&["machine", "check", "-"], typo().as_bytes())
        .exits(1)
        .says("stdin:");
    project
        .run_with_stdin(&["machine", "explain", "done", "-"], OURS.as_bytes())
        .exits(0)
        .says("`done` is a terminal phase");
}

#[test]
fn whatever_a_file_holds_check_ends_soon_with_a_diagnostic() {
    let phases = |number: usize| {
        let more: String = (0..number).map(|at| format!("\n[phases.p{at}]")).collect();
        (OURS.to_owned() + &more).into_bytes()
    };
    let nested = |open: &str, close: &str| {
        format!("name = {}{}", open.repeat(200_000), close.repeat(200_000)).into_bytes()
    };
    let long = "ä".repeat(300_000);
    let types = "name = 1\nmodes = []\nfields = 2.5\nphases = \"x\"\ntransitions = true";
    for (what, bytes, code) in [
        ("not UTF-8", b"name = \"pl\xffan\"\n".to_vec(), "encoding"),
        ("not UTF-8, and long", b"\xff".repeat(1 << 20), "encoding"),
        ("UTF-16", b"\xff\xfen\0a\0m\0e\0".to_vec(), "encoding"),
        ("null bytes", vec![0; 4_096], "syntax"),
        ("10 MB", b"#\n".repeat(5_000_000), "too_large"),
        ("20 MB on one line", b"a".repeat(20_000_000), "too_large"),
        ("a million phases", phases(1_000_000), "too_large"),
        ("60,000 phases", phases(60_000), "too_large"),
        ("deep arrays", nested("[", "]"), "syntax"),
        ("deep tables", nested("{a=", "}"), "syntax"),
        (
            "a deep key",
            ["a.".repeat(100_000), "b = 1".into()].concat().into(),
            "too_deep",
        ),
        (
            "a key twice",
            format!("name = \"x\"\n{OURS}").into(),
            "syntax",
        ),
        (
            "a table twice",
            format!("{OURS}\n[phases.done]\n").into(),
            "syntax",
        ),
        ("wrong types", types.into(), "wrong_type"),
        ("nothing", Vec::new(), "missing_key"),
        (
            "a book as a name",
            format!("name = \"{long}\"").into(),
            "bad_name",
        ),
        (
            "a mistake behind a book",
            format!("doc = \"{long}\" oops").into(),
            "syntax",
        ),
        (
            "control characters",
            b"name = \"\\u001b[31m\\u202e\"".to_vec(),
            "bad_name",
        ),
    ] {
        let code = format!("claudex::machine::{code}");
        let project = with(&bytes);
        let begun = Instant::now();
        let shown = project.run(&["machine", "check", "m.toml"]);
        let ran = project.run(&["machine", "check", "--json", "m.toml"]);
        assert!(begun.elapsed() < SOON, "{what} took {:?}", begun.elapsed());
        assert_eq!((shown.code, ran.code), (1, 1), "{what}: {}", shown.err);
        assert!(shown.err.contains(&code), "{what}: {}", shown.err);
        assert!(
            !shown.err.contains("panicked") && !ran.err.contains("panicked"),
            "{what}: {}",
            shown.err
        );
        // Of what nobody could read only the part around the place is shown.
        for said in [&shown.err, &ran.out] {
            assert!(said.len() < 200_000, "{what}: {} bytes", said.len());
        }
        let found = json(&ran);
        let codes: Vec<&str> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["code"].as_str().unwrap())
            .collect();
        assert!(codes.contains(&&*code), "{what}: {codes:?}");
        assert!(codes.len() <= 101, "{what}");
    }
}

#[test]
fn what_is_no_file_is_said_to_be_none_at_once() {
    let project = Project::new();
    std::fs::create_dir(project.root.join("folder")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(project.root.join("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    for (path, says) in [
        ("none.toml", "there is no such file"),
        ("folder", "it is a folder"),
        ("pipe", "no regular file"),
        ("/dev/zero", "no regular file"),
    ] {
        for command in [
            &["machine", "check"][..],
            &["machine", "show"],
            &["machine", "diagram"],
            &["machine", "explain", "x"],
        ] {
            let ran = project
                .run(&[command, &[path]].concat())
                .exits(2)
                .says(says);
            assert!(ran.err.contains(path), "{}", ran.err);
        }
    }
    project.run(&["machine", "check"]).exits(2);
}

#[test]
fn a_files_name_cannot_colour_a_terminal() {
    let project = Project::new();
    std::fs::write(project.root.join("a\u{1b}[31m\u{202e}b.toml"), typo()).unwrap();
    for arguments in [&["machine", "check"][..], &["machine", "check", "--json"]] {
        let ran = project
            .run(&[arguments, &["a\u{1b}[31m\u{202e}b.toml"]].concat())
            .exits(1);
        assert!(!ran.err.contains('\u{202e}') && !ran.out.contains('\u{202e}'));
        assert!(
            !ran.err.contains("\u{1b}[31m\u{202e}") && !ran.err.contains("a\u{1b}"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn a_phase_is_explained() {
    let project = Project::new();
    let ran = project.run(&["machine", "explain", "reviewing"]).exits(0);
    let line = |text: &str| OURS.lines().position(|line| line.contains(text)).unwrap() + 1;
    for text in [
        &format!(
            "`reviewing` is a phase of the machine `plan` (machine.toml:{}).",
            line("[phases.reviewing]")
        ),
        "A reviewer grills the plan",
        "A loop of mode `review` begins here.",
        "src/plan/messages/round.md",
        "stalled   takes `close`, else `stall`, else `revise`",
        "revise -> reviewing (machine.toml:",
        "when     round < max_rounds",
        "needs    settled: a completed review",
        "sets     round = round + 1, reminders = 0, failures = 0",
        "with the verb `mark-done`",
        "begin <- drafting",
        "more <- summarizing",
        "max_rounds        a whole number from 0; how many rounds at most",
    ] {
        assert!(ran.out.contains(text), "{text}\n{}", ran.out);
    }
    assert!(!ran.out.contains("begin ->"), "{}", ran.out);
    project
        .run(&["machine", "explain", "done"])
        .exits(0)
        .says("The loop is over")
        .says("finish <- summarizing");
}

#[test]
fn a_transition_is_explained_also_by_its_verb() {
    let project = Project::new();
    project
        .run(&["machine", "explain", "revise"])
        .exits(0)
        .says("`revise` is a transition of the machine `plan`.")
        .says("Several edges leave one phase")
        .says("in `reviewing`, where the outcome of `review` is `findings`")
        .says("reviewing -> summarizing (machine.toml:");
    project
        .run(&["machine", "explain", "mark-done"])
        .exits(0)
        .says("`mark_done` is a transition");
}

#[test]
fn a_name_that_the_machine_does_not_have_gets_the_near_one() {
    let project = Project::new();
    for (name, says) in [
        ("reviewin", "did you mean `reviewing`?"),
        ("mark-don", "did you mean `mark_done`?"),
        ("xyzzy", "its phases are `drafting`, `reviewing`"),
        ("\u{1b}[31m", "no phase and no transition"),
    ] {
        let ran = project
            .run(&["machine", "explain", name])
            .exits(2)
            .says(says);
        assert!(!ran.err.contains("\u{1b}[31m["), "{}", ran.err);
    }
}

#[test]
fn a_phase_of_a_strangers_machine_is_explained_with_the_fields_that_exist_there() {
    let source = OURS
        .replace(
            "stalls           = { type = \"count\",",
            "stalls           = { type = \"count\", in = [\"reviewing\", \"summarizing\"],",
        )
        .replace(
            "[phases.done]\n",
            "[phases.done]\nmeta     = { colour = \"green\", order = [1, 2] }\n",
        );
    assert_ne!(source, OURS);
    let project = with(&source);
    let fields = |phase: &str| {
        project
            .run(&["machine", "explain", phase, "m.toml"])
            .exits(0)
            .out
    };
    assert!(fields("reviewing").contains("\n  stalls "));
    assert!(!fields("drafting").contains("\n  stalls "));
    let shown = json(
        &project
            .run(&["machine", "show", "--json", "m.toml"])
            .exits(0),
    );
    let named = |kind: &str, name: &str| {
        let all = shown[kind].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap().clone()
    };
    assert_eq!(named("phases", "done")["meta"]["colour"], "green");
    assert_eq!(named("phases", "done")["meta"]["order"][1], 2);
    assert_eq!(named("fields", "stalls")["in"][0], "reviewing");
}

#[test]
fn everything_is_shown_as_json() {
    let project = Project::new();
    let shown = json(&project.run(&["machine", "show", "--json"]).exits(0));
    assert_eq!(shown["name"], "plan");
    assert_eq!(shown["file"], "machine.toml");
    assert_eq!(
        shown["graph_hash"],
        claudex_loop::plan::typestate::TABLE.state.graph_hash
    );
    assert_eq!(shown["state"]["folder_env"], "CLAUDEX_STATE_DIR");
    assert_eq!(shown["modes"][1]["initial"]["max_rounds"], 1);
    let review = &shown["phases"][1];
    assert_eq!(review["name"], "reviewing");
    assert_eq!(review["on_stop"]["behaviour"], "review");
    assert_eq!(review["on_stop"]["parameters"]["round"], "round");
    assert_eq!(review["on_stop"]["outcomes"]["findings"][1], "revise");
    let edges = shown["edges"].as_array().unwrap();
    let table = &claudex_loop::plan::typestate::TABLE;
    assert_eq!(edges.len(), table.edges.len());
    for (shown, edge) in edges.iter().zip(table.edges) {
        assert_eq!(shown["transition"], edge.transition);
        assert_eq!(shown["from"], table.phases[edge.from].name);
        assert_eq!(shown["to"], table.phases[edge.to].name);
        assert_eq!(shown["line"], edge.line);
        assert_eq!(shown["when"].as_str().unwrap_or_default(), edge.when_text);
    }
    let more = edges
        .iter()
        .find(|edge| edge["transition"] == "more")
        .unwrap();
    assert_eq!(more["args"]["rounds"]["type"], "count");
    assert_eq!(more["by"][0], "person");
}

#[test]
fn the_graph_is_drawn_in_three_languages_and_the_schema_is_printed() {
    let project = with(OURS);
    let drawn = |format: &str| {
        project
            .run(&["machine", "diagram", "--format", format])
            .exits(0)
            .out
    };
    assert!(drawn("mermaid").starts_with("flowchart TD\n"));
    assert!(drawn("dot").starts_with("digraph \"plan\" {\n"));
    assert!(drawn("svg").starts_with("<svg "));
    assert_eq!(
        project.run(&["machine", "diagram", "m.toml"]).exits(0).out,
        drawn("mermaid")
    );
    assert_eq!(drawn("mermaid"), claudex_loop::plan::typestate::DIAGRAM);
    project
        .run(&["machine", "diagram", "--format", "png"])
        .exits(2)
        .says("mermaid")
        .says("svg");
    let schema = json(&project.run(&["machine", "schema"]).exits(0));
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"]["transitions"].is_object());
    let completions = project.run(&["completions", "bash"]).exits(0).out;
    assert!(
        completions.contains("mermaid dot svg"),
        "the formats are completed"
    );
}
