//! What reaches a terminal or an agent: nothing that steers the one or hides from the other, and nothing that runs when an
//! agent pastes it between a shell's quotes. Every command of the binary is run, in a project where everything that has a
//! name or a text of its own is hostile.
//!
//! The commands are read off the man pages that the binary writes, so a new one is walked, too.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::paste::{READ_ONLY, Shell};
use crate::support::{Project, Ran, executable, feed, id_of, write};

/// Lists what is removed from all that is shown, as ranges.
const HIDDEN: [(u32, u32); 24] = [
    (0x00, 0x08),
    (0x0b, 0x1f),
    (0x7f, 0x9f),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x2064),
    (0x2066, 0x206f),
    (0x3164, 0x3164),
    (0xfe0f, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff9, 0xfffb),
    (0x1_d173, 0x1_d17a),
    (0xe_0000, 0xe_001f),
    (0xe_0020, 0xe_003f),
    (0xe_0040, 0xe_005f),
    (0xe_0060, 0xe_006f),
    (0xe_0070, 0xe_007f),
];

/// Marks what stands at the beginning of a line that a name made.
const FORGED: &str = "FORGED";

fn is_hidden(character: char) -> bool {
    let code = u32::from(character);
    HIDDEN
        .iter()
        .any(|(from, to)| (*from..=*to).contains(&code))
}

/// Returns all hidden characters that a name or an argument can have.
fn all_hidden() -> String {
    HIDDEN
        .iter()
        .flat_map(|(from, to)| *from..=*to)
        .filter_map(char::from_u32)
        .filter(|character| *character != '\0')
        .collect()
}

/// A name of a folder or a file: one of each kind, since a name has 255 bytes; a line of its own; and what a shell would run.
const NAME: &str = "x\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{ad}\u{34f}\u{115f}\u{180e}\u{200b}\u{200d}\u{202e}\u{2060}\u{206a}\u{3164}\
                    \u{fe0f}\u{feff}\u{fff9}\u{1d173}\u{e0001}\u{e0041}\nFORGED `claudex-loop -f cancel`$(more)';cancel;'\";cancel;\"";

/// Returns the beginning of it, with a line of its own, that has room for what stands behind it.
fn short_name() -> String {
    let mut name: String = NAME.chars().take(16).collect();
    name.push_str("\nFORGED `cancel`");
    name
}

/// An argument.
const ARGUMENT: &str =
    "x\u{1b}[31m\u{202e}\u{200b}\u{e0041} `claudex-loop -f cancel` $(cancel) '; cancel; '";

/// Fails where a text could steer a terminal or hide something.
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

/// Checks the output of a command, in which no name may make a line of its own either.
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

/// Reads what hooks said, in full: the texts of the one JSON object.
fn texts(answer: &str) -> Vec<(String, String)> {
    fn collect(key: &str, value: &Value, into: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) => into.push((key.to_owned(), text.clone())),
            Value::Object(fields) => fields
                .iter()
                .for_each(|(key, value)| collect(key, value, into)),
            Value::Array(values) => values.iter().for_each(|value| collect(key, value, into)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str(answer) {
        collect("", &value, &mut found);
    }
    found
}

/// Lists the commands of the binary, each as its words, in the order of their man pages; with the hidden ones that hooks call.
fn commands(project: &Project) -> Vec<Vec<String>> {
    let pages = project.home.join("man");
    project
        .run(&["man", "--dir", pages.to_str().unwrap()])
        .exits(0);
    let mut names: Vec<String> = std::fs::read_dir(pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| {
            Some(
                name.strip_prefix("claudex-loop-")?
                    .strip_suffix(".1")?
                    .to_owned(),
            )
        })
        .collect();
    names.sort();
    assert!(names.len() > 20, "{names:?}");
    // A name with hyphens is a command of a command, or one word: its own help tells.
    let words = |name: &String| {
        let split: Vec<&str> = name.splitn(2, '-').collect();
        match split[..] {
            [group @ ("config" | "machine" | "state"), rest] => {
                vec![group.to_owned(), rest.to_owned()]
            }
            _ => vec![name.clone()],
        }
    };
    names.iter().map(words).collect()
}

/// Returns a shell with the commands of the binary.
fn shell(commands: &[Vec<String>]) -> Shell {
    Shell::new(commands.iter().map(|words| words[0].clone()))
}

/// Lists the commands that print files and values for programs, or what an agent is to do, and no messages.
const NO_MESSAGES: [&str; 10] = [
    "completions",
    "config",
    "hooks",
    "machine",
    "man",
    "protocol",
    "report",
    "start",
    "state",
    "statusline",
];

/// Makes a project whose folder, topic, plan, state files and configuration are hostile.
fn hostile() -> (Project, String) {
    let project = Project::named(NAME);
    project.git(&["init", "--quiet"]);
    project.git(&["checkout", "--quiet", "-b", "a\u{202e}b\u{200b}\u{e0041}"]);
    let topic = format!(
        "Move{}it\nFORGED `claudex-loop -f cancel` $(cancel)",
        all_hidden()
    );
    let id = id_of(&project.run(&["start", "plan", &topic]).exits(0));
    (project, id)
}

/// Makes a situation in a project with a loop.
type Make = Box<dyn Fn(&Project, &str)>;

/// Lists what stands in the way of the commands, each a situation.
fn situations() -> Vec<(&'static str, Make)> {
    let beside = |project: &Project, name: &str, text: &str| {
        std::fs::write(project.folder().join(name), text).unwrap();
    };
    vec![
        ("drafting", Box::new(|_, _| {})),
        (
            "reviewing",
            Box::new(|project, _| {
                project.plan(format!("# Plan{}\n\nDo it.\n", all_hidden()));
                project.fire().blocked();
            }),
        ),
        (
            "a foreign state file",
            Box::new(move |project, _| {
                beside(
                    project,
                    &format!("{}.state", short_name()),
                    "phase: reviewing\n",
                );
            }),
        ),
        (
            "a broken state file",
            Box::new(move |project, id| {
                std::fs::remove_file(project.folder().join(id).join("journal.jsonl")).unwrap();
                beside(project, &format!("{id}.state"), "\u{1b}\u{202e}: [\n");
            }),
        ),
        (
            "another version",
            Box::new(|project, id| {
                let state = project.state(id);
                let hash = state
                    .lines()
                    .find(|line| line.starts_with("graph_hash"))
                    .unwrap()
                    .to_owned();
                project.edit(id, &hash, "graph_hash: \"\\e[31m\\u202e`cancel`\"");
            }),
        ),
        (
            "a wrong configuration",
            Box::new(|project, _| {
                write(
                    &project.project_file(),
                    format!(
                        "\"a{}\" = \"`cancel` $(cancel)\"\n",
                        "\u{202e}\u{200b}\u{e0041}"
                    ),
                );
            }),
        ),
    ]
}

#[test]
fn nothing_that_any_command_prints_steers_a_terminal_hides_or_runs_between_quotes() {
    let commands = commands(&Project::new());
    let mut shell = shell(&commands);
    for (situation, make) in situations() {
        let (project, id) = hostile();
        make(&project, &id);
        let state = project.state_path(&id);
        let arguments = [
            vec![],
            vec![id.as_str()],
            vec![ARGUMENT],
            vec!["--json"],
            vec![state.to_str().unwrap(), ARGUMENT],
        ];
        // What ends the loop comes last, so that the others meet it.
        let ends = |words: &&Vec<String>| {
            ["cancel", "rollback", "sweep", "run"].contains(&words[0].as_str())
                || words[0] == "state"
        };
        let (last, first): (Vec<_>, Vec<_>) = commands.iter().partition(ends);
        for words in first.into_iter().chain(last) {
            for given in &arguments {
                let line: Vec<&str> = words
                    .iter()
                    .map(String::as_str)
                    .chain(given.iter().copied())
                    .collect();
                let in_session = given.len() == 1 && given[0] == id;
                let what = format!("{situation}: {}", line.join(" ").escape_debug());
                let ran = match in_session {
                    true => project.run_in_session("s1", &line),
                    false => project.run(&line),
                };
                // These print a value or a path for scripts, byte for byte where no terminal is.
                let is_for_scripts = matches!(line[..], ["state", "get" | "find", ..]);
                if is_for_scripts && ran.code == 0 {
                    continue;
                }
                assert_plain_output(&what, &ran);
                shell.check_message(&what, &ran.err);
                let is_json = given.contains(&"--json");
                if words[0] == "start" {
                    shell.check_block(&what, &ran.out);
                } else if !is_json && !NO_MESSAGES.contains(&words[0].as_str()) {
                    shell.check_commands(&what, &ran.out);
                }
            }
        }
    }
    assert!(shell.pasted.len() > 100, "{}", shell.pasted.len());
}

#[test]
fn every_finding_about_a_file_runs_nothing_between_quotes() {
    let project = Project::new();
    // A word in backquotes, such as the key `state`, is no program.
    let mut shell = Shell::new(["cancel".to_owned()]);
    let hostile = "'; cancel; '";
    write(
        &project.project_file(),
        format!("\"a{hostile}\" = 1\n\"b{hostile}\" = 1\n\"c $(cancel)\" = 1\n"),
    );
    let file = project.root.join("machine.toml");
    write(
        &file,
        format!("name = \"m\"\n\"a{hostile}\" = 1\n\"b{hostile}\" = 1\n\"c $(cancel)\" = 1\n"),
    );
    for line in [
        vec!["config", "check"],
        vec!["machine", "check", file.to_str().unwrap()],
    ] {
        let ran = project.run(&line);
        assert!(
            ran.err.contains("b’; cancel; ‘"),
            "the second finding: {}",
            ran.err
        );
        shell.check_message(&line.join(" "), &ran.err);
    }
}

#[test]
fn nothing_that_a_hook_says_steers_a_terminal_hides_or_runs_between_quotes() {
    let mut shell = shell(&commands(&Project::new()));
    for (situation, make) in situations() {
        let (project, id) = hostile();
        make(&project, &id);
        let folder = project.root.to_str().unwrap();
        for session in ["s1", "a\u{1b}[2J\u{202e}\nFORGED `cancel`"] {
            for (hook, more) in [
                ("session-start", json!({"source": "startup"})),
                ("session-start", json!({"source": "compact"})),
                ("stop", json!({})),
                ("stop", json!({})),
                ("stop", json!({})),
                (
                    "answer",
                    json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": []}, "tool_response": ARGUMENT}),
                ),
                (
                    "prompt",
                    json!({"prompt": format!("/claudex:plan {ARGUMENT}"), "prompt_id": "p"}),
                ),
            ] {
                let mut input = more;
                input["session_id"] = session.into();
                input["cwd"] = folder.into();
                let what = format!("{situation}: {hook} in {}", session.escape_debug());
                let ran = feed(
                    project.command(&["hook", hook]),
                    input.to_string().as_bytes(),
                )
                .exits(0);
                assert_plain_output(&what, &ran);
                for (key, text) in texts(&ran.out) {
                    assert_plain(&what, &text);
                    // Compaction gives the agent its block again, below the note.
                    let (note, block) = match key.as_str() {
                        "reason" => ("", text.as_str()),
                        _ => text.split_once("\n\n").unwrap_or((&text, "")),
                    };
                    shell.check_message(&what, note);
                    shell.check_block(&what, block);
                }
            }
        }
    }
    assert!(shell.pasted.len() > 5, "{:?}", shell.pasted);
}

#[test]
fn what_a_reviewer_and_changed_files_are_called_and_say_is_plain() {
    let project = Project::named(NAME);
    let reviewer: PathBuf = project.home.join("reviewer");
    let findings = format!(
        "# Round 1 findings\n\n## High\n- line 1: a{}b\n",
        all_hidden()
    );
    write(&project.home.join("findings.md"), &findings);
    let cat = format!("cat '{}'", project.home.join("findings.md").display());
    executable(
        &reviewer,
        &format!("printf 'says \\033[31m\\342\\200\\256' >&2\n{cat}"),
    );
    let project = project.configured(format!(
        "reviewer = \"own\"\n[reviewers.own]\nkind = \"command\"\nprogram = \"{}\"\n",
        reviewer.display()
    ));
    project.git(&["init", "--quiet"]);
    project.git(&["checkout", "--quiet", "-b", "a\u{202e}b\u{200b}"]);
    project.git(&["commit", "--quiet", "--allow-empty", "-m", "one"]);
    project.git(&["checkout", "--quiet", "-b", "c\u{202e}d\u{feff}\u{ad}"]);
    write(&project.root.join(short_name()), all_hidden());
    let mut shell = shell(&commands(&project));
    let started = project.run(&["start", "review", "--rounds", "2", "Look"]);
    assert_plain_output("start review", &started);
    let id = id_of(&started.exits(0));
    for line in [
        vec!["review", &id],
        vec!["status"],
        vec!["status", "--json"],
        vec!["list"],
        vec!["journal", &id],
        vec!["mark-done", &id],
        vec!["review", &id, "--follow"],
    ] {
        let ran = project.run(&line);
        assert_plain_output(&line.join(" "), &ran);
        shell.check_message(&line.join(" "), &ran.err);
    }
    let reason = project.fire().blocked();
    assert_plain("the block", &reason);
    shell.check_block("the block", &reason);
    let changes = project.folder().join(&id).join("changes.diff");
    assert_plain("changes.diff", &std::fs::read_to_string(changes).unwrap());
}

#[test]
fn the_runner_line_names_the_true_path_in_a_shell() {
    let (project, id) = hostile();
    project.plan("# Plan\n\nDo it.\n");
    let reason = project.fire().blocked();
    let line = reason
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("bash $'") && line.contains("-runner.sh"))
        .unwrap_or_else(|| panic!("{reason}"));
    let ran = Ran::of(project.shell("bash", &["-c", line]).output().unwrap()).exits(0);
    assert_plain_output("the runner", &ran);
    assert_eq!(project.runs(&id), 1);
}

/// Reads the texts of a file that people or agents may read: of Rust what is no comment, of Markdown what is in no fence.
fn prose(file: &std::path::Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(file).unwrap();
    let is_rust = file.extension().is_some_and(|extension| extension == "rs");
    let mut fenced = false;
    let mut kept = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let begin = line.trim_start();
        fenced ^= begin.starts_with("```");
        // What a slash command has the client run itself stands in backquotes by the client's rule.
        if !(fenced || begin.starts_with("!`") || is_rust && begin.starts_with("//")) {
            kept.push((at + 1, line.to_owned()));
        }
    }
    kept
}

/// Returns the commands in the literals of a source that change a loop, and stand neither at a literal's beginning nor
/// indented on a line of their own.
fn inline(
    file: &std::path::Path,
    verbs: &BTreeSet<String>,
    alone: &BTreeSet<String>,
) -> Vec<String> {
    let lines: Vec<String> = prose(file).into_iter().map(|(_, line)| line).collect();
    let text = lines.join("\n");
    let text = text.split("\\\n").map(str::trim_start).collect::<String>();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    // "{} more" is no command.
    let is_named: BTreeSet<String> = alone
        .iter()
        .filter(|verb| *verb != "more")
        .cloned()
        .collect();
    let mut found = Vec::new();
    for (program, verbs) in [
        ("claudex-loop ", verbs),
        ("release-train ", verbs),
        ("{program} ", verbs),
        ("{} ", &is_named),
    ] {
        for (at, _) in text.match_indices(program) {
            let rest = &text[at + program.len()..];
            let verb: String = rest
                .chars()
                .take_while(|one| one.is_ascii_lowercase() || *one == '-')
                .collect();
            let before = &text[..at];
            let is_alone = before.ends_with('"')
                || before.ends_with("\\n    ")
                || before.ends_with("{COMMAND}");
            if verbs.contains(&verb) && !is_alone {
                let from = before.rfind('\n').map_or(0, |at| at + 1);
                let line = text[from..].lines().next().unwrap_or_default();
                found.push(format!("{}: {}", file.display(), line.trim()));
            }
        }
    }
    found
}

#[test]
fn no_message_has_a_command_that_changes_a_loop_in_backquotes_or_in_a_sentence() {
    let mut verbs: BTreeSet<String> = commands(&Project::new())
        .into_iter()
        .map(|words| words[0].clone())
        .filter(|verb| !READ_ONLY.contains(&verb.as_str()))
        .collect();
    // The same on the command line of the example.
    verbs.extend(["abort", "approve", "roll-back"].map(str::to_owned));
    // Words that are nothing but a verb: others, such as `review` and `run`, are behaviours, modes and fields, too.
    let edges = claudex_loop::plan::typestate::TABLE.edges.iter();
    let alone: BTreeSet<String> = edges
        .filter(|edge| !edge.by.is_empty())
        .map(|edge| edge.transition.replace('_', "-"))
        .chain(["adopt", "rollback", "sweep"].map(str::to_owned))
        .collect();
    assert!(
        alone.contains("cancel") && verbs.contains("mark-done"),
        "{alone:?}, {verbs:?}"
    );
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = [
        "src",
        "codegen/src",
        "plugin/commands",
        "examples/release-train/messages",
    ]
    .map(|folder| root.join(folder))
    .to_vec();
    let (mut read, mut found) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != "tests" {
                folders.push(path);
                continue;
            }
            // Documents of machine files, not messages of a loop.
            let is_text = name.ends_with(".rs") && name != "tests.rs" || name.ends_with(".md");
            if !is_text || path.starts_with(root.join("codegen/src/catalogue")) {
                continue;
            }
            read += 1;
            if name.ends_with(".rs") {
                found.extend(inline(&path, &verbs, &alone));
            }
            for (line, text) in prose(&path) {
                for span in text.split('`').skip(1).step_by(2) {
                    let mut words = span.split_whitespace();
                    let (first, second) = (words.next().unwrap_or_default(), words.next());
                    let is_program =
                        ["claudex-loop", "release-train", "{}", "{program}"].contains(&first);
                    let changes = match second {
                        Some(verb) if is_program => verbs.contains(verb) || verb.starts_with('{'),
                        _ => {
                            alone.contains(first)
                                || first
                                    .strip_prefix("/claudex:")
                                    .is_some_and(|verb| verbs.contains(verb))
                        }
                    };
                    if changes {
                        found.push(format!("{}:{line}: `{span}`", path.display()));
                    }
                }
            }
        }
    }
    assert!(read > 100, "{read} files");
    assert!(found.is_empty(), "{found:#?}");
}
