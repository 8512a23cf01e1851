//! Terminals and agents get plain text. In a project with hostile names and texts, no output has a
//! control, bidirectional or invisible character, and no name begins a new line.

use claudex_loop::text::is_hidden;
use serde_json::{Value, json};

use crate::support::{Project, Ran, executable, id_of, write};

/// The mark at the beginning of a line that a name made.
const FORGED: &str = "FORGED";

/// Returns all hidden characters that a name or an argument can have.
fn all_hidden() -> String {
    let plain = |character: &char| matches!(character, '\0' | '\t' | '\n');
    let all = '\0'..=char::MAX;
    all.filter(|character| is_hidden(*character) && !plain(character))
        .collect()
}

/// A file name (at most 255 bytes) with one character of each kind. The last begins a new line.
const NAME: &str = "x\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{ad}\u{34f}\u{115f}\u{180e}\u{200b}\u{200d}\u{202e}\u{2060}\u{206a}\u{3164}\
                    \u{fe0f}\u{feff}\u{fff9}\u{1d173}\u{e0001}\u{e0041}\nFORGED `claudex-loop -f cancel`$(more)';cancel;'\";cancel;\"";

/// Returns its beginning with its own line, short enough for a suffix.
fn short_name() -> String {
    let mut name: String = NAME.chars().take(16).collect();
    name.push_str("\nFORGED `cancel`");
    name
}

const ARGUMENT: &str =
    "x\u{1b}[31m\u{202e}\u{200b}\u{e0041} `claudex-loop -f cancel` $(cancel) '; cancel; '";

/// Fails if a text could control a terminal or hide something.
#[track_caller]
fn assert_plain(what: &str, text: &str) {
    let hidden: Vec<char> = text
        .chars()
        .filter(|character| *character != '\t' && *character != '\n' && is_hidden(*character))
        .collect();
    assert!(
        hidden.is_empty(),
        "{what}: {hidden:?} in\n{}",
        text.escape_debug()
    );
}

/// Checks the output of a command. No name may begin a new line either.
#[track_caller]
fn assert_plain_output(what: &str, ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        assert_plain(what, text);
        let forged = text
            .lines()
            .any(|line| line.trim_start().starts_with(FORGED));
        assert!(!forged, "{what}: a name made a line\n{text}");
    }
}

/// Commands of every kind. Those that end the loop come last.
const COMMANDS: [&str; 20] = [
    "status",
    "list",
    "journal",
    "report --format json",
    "personas",
    "doctor",
    "config show",
    "start plan",
    "review",
    "resume",
    "adopt",
    "import",
    "mark-done",
    "more",
    "state counts",
    "plugin write",
    "sweep",
    "run",
    "cancel",
    "rollback",
];

/// Returns a project with a hostile folder, topic, plan, state file and configuration.
fn hostile() -> (Project, String) {
    let project = Project::with_folder(NAME);
    project.git(&["init", "--quiet"]);
    project.git(&["checkout", "--quiet", "-b", "a\u{202e}b\u{200b}\u{e0041}"]);
    let topic = format!(
        "Move{}it\nFORGED `claudex-loop -f cancel` $(cancel)",
        all_hidden()
    );
    let id = id_of(&project.run(&["start", "plan", &topic]).exits(0));
    (project, id)
}

/// The situations in which the commands run.
const SITUATIONS: [&str; 6] = [
    "drafting",
    "reviewing",
    "foreign state file",
    "broken state file",
    "another version",
    "wrong configuration",
];

/// Returns such a project in one of the situations.
fn hostile_in(situation: &str) -> (Project, String) {
    let (project, id) = hostile();
    match situation {
        "reviewing" => {
            project.plan(format!("# Plan{}\n\nDo it.\n", all_hidden()));
            project.fire().blocked();
        }
        "foreign state file" => {
            let file = project.folder().join(format!("{}.state", short_name()));
            write(&file, "phase: reviewing\n");
        }
        "broken state file" => {
            std::fs::remove_file(project.folder().join(&id).join("journal.jsonl")).unwrap();
            write(&project.state_path(&id), "\u{1b}\u{202e}: [\n");
        }
        "another version" => {
            let hash = format!("graph_hash: {}", project.field(&id, "graph_hash"));
            project.edit(&id, &hash, "graph_hash: \"\\e[31m\\u202e`cancel`\"");
        }
        "wrong configuration" => {
            let key = "a\u{202e}\u{200b}\u{e0041}";
            let text = format!("\"{key}\" = \"`cancel` $(cancel)\"\n");
            write(&project.project_file(), text);
        }
        _ => {}
    }
    (project, id)
}

#[test]
fn commands_print_plain_text_in_hostile_project() {
    for situation in SITUATIONS {
        let (project, id) = hostile_in(situation);
        for words in COMMANDS {
            for argument in [id.as_str(), ARGUMENT] {
                let line: Vec<&str> = words.split(' ').chain([argument]).collect();
                let context = format!("{situation}: {}", line.join(" ").escape_debug());
                assert_plain_output(&context, &project.run(&line));
            }
        }
    }
}

#[test]
fn hooks_print_plain_text_in_hostile_project() {
    for situation in SITUATIONS {
        let (project, _) = hostile_in(situation);
        let prompt = format!("/claudex:plan {ARGUMENT}");
        for (hook, mut input) in [
            ("session-start", json!({"source": "startup"})),
            ("stop", json!({})),
            ("stop", json!({})),
            ("prompt", json!({"prompt": prompt, "prompt_id": "p"})),
        ] {
            input["session_id"] = "a\u{1b}[2J\u{202e}\nFORGED `cancel`".into();
            let problem = format!("{situation}: {hook}");
            let ran = project.hook(hook, input).exits(0);
            assert_plain_output(&problem, &ran);
            let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
            let context = &answer["hookSpecificOutput"]["additionalContext"];
            for text in [&answer["reason"], &answer["systemMessage"], context] {
                assert_plain(&problem, text.as_str().unwrap_or_default());
            }
        }
    }
}

#[test]
fn reviewers_and_changed_files_are_named_plainly() {
    let project = Project::with_folder(NAME);
    let reviewer = project.home.join("reviewer");
    let file = project.home.join("findings.md");
    let findings = format!(
        "# Round 1 findings\n\n## High\n- line 1: a{}b\n",
        all_hidden()
    );
    write(&file, &findings);
    let script = format!(
        "printf 'says \\033[31m\\342\\200\\256' >&2\ncat '{}'",
        file.display()
    );
    executable(&reviewer, &script);
    project.add_reviewer("own", reviewer.to_str().unwrap(), &[]);
    project.git(&["init", "--quiet"]);
    project.git(&["checkout", "--quiet", "-b", "a\u{202e}b\u{200b}"]);
    project.git(&["commit", "--quiet", "--allow-empty", "-m", "one"]);
    project.git(&["checkout", "--quiet", "-b", "c\u{202e}d\u{feff}\u{ad}"]);
    write(&project.root.join(short_name()), all_hidden());
    let started = project.run("start review --rounds 2 Look");
    assert_plain_output("start review", &started);
    let id = id_of(&started.exits(0));
    for line in [
        "review ID --reviewer own",
        "status",
        "status --json",
        "list",
        "journal ID",
        "mark-done ID",
        "review ID --follow",
    ] {
        assert_plain_output(line, &project.run(&line.replace("ID", &id)));
    }
    assert_plain("the block", &project.fire().blocked());
    let changes = project.folder().join(&id).join("changes.diff");
    assert_plain("changes.diff", &std::fs::read_to_string(changes).unwrap());
}
