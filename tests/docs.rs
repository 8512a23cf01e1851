//! The documentation says what is there: its commands work and print what it quotes, its links lead somewhere, and its
//! lists of verbs, exit codes and variables are those of the program.
//!
//! What a run prints differs in ids, folders and seconds; those are evened out before two texts are compared.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use claudex_testkit::has;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

const FIRST: &str = "cargo run -- run --reviewer lint examples/plans/thorough.md";
const THIN: &str = "cargo run -- run --reviewer lint examples/plans/thin.md";
const TESTS: &str = "cargo test --workspace";
/// The pages that quote what the program prints.
const PAGES: [&str; 5] = [
    "README.md",
    "docs/loop.md",
    "docs/reference.md",
    "docs/library.md",
    "docs/machine-toml.md",
];
/// Stands in a page for what was left out.
const CUT: &str = "[…]";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn program(folder: &Path, arguments: &[&str]) -> Output {
    told(folder, arguments, "")
}

/// A folder with git and a shell and nothing else: `auto` is not to find a client of this machine's.
fn tools() -> &'static Path {
    static TOOLS: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let folder = TOOLS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        for tool in ["git", "sh"] {
            let found = std::env::split_paths(&path)
                .map(|folder| folder.join(tool))
                .find(|file| file.is_file());
            let found = found.unwrap_or_else(|| panic!("{tool} is not on PATH"));
            std::os::unix::fs::symlink(found, folder.path().join(tool)).expect("a link");
        }
        folder
    });
    folder.path()
}

/// Runs the program in a folder, outside of any client, with this on its stdin.
fn told(folder: &Path, arguments: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claudex-loop"));
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CLAUDE") || name.starts_with("CLICOLOR"))
        {
            command.env_remove(name);
        }
    }
    command.env("PATH", tools());
    let mut child = command
        .args(arguments)
        .current_dir(folder)
        // Nobody's own configuration changes what the documentation says.
        .env(
            "XDG_CONFIG_HOME",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("none"),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // A program that does not read its stdin may be gone already.
    let _ = child
        .stdin
        .take()
        .expect("it has a stdin")
        .write_all(stdin.as_bytes());
    child.wait_with_output().expect("the program ends")
}

fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

/// README.md and every file of docs/, with the other Markdown files that we write by hand.
fn documents() -> Vec<String> {
    let mut found = ["README.md", "codegen/README.md", "lint/README.md"]
        .map(str::to_owned)
        .to_vec();
    for entry in fs::read_dir(root().join("docs")).expect("docs/ is there") {
        let name = entry.expect("it can be read").file_name();
        let name = name.to_str().expect("a plain name");
        if name.ends_with(".md") {
            found.push(format!("docs/{name}"));
        }
    }
    found
}

/// The fenced blocks of a text.
fn blocks(markdown: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                open = Some((language.to_string(), String::new()));
            }
            Event::Text(text) => {
                if let Some((_, content)) = &mut open {
                    content.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            _ => {}
        }
    }
    blocks
}

/// The one block of the pages that holds this text.
fn block(holding: &str) -> String {
    let mut found = PAGES
        .iter()
        .flat_map(|page| blocks(&read(page)))
        .map(|(_, content)| content)
        .filter(|content| content.contains(holding));
    let only = found
        .next()
        .unwrap_or_else(|| panic!("no block of {PAGES:?} holds {holding:?}"));
    assert!(
        found.next().is_none(),
        "several blocks of {PAGES:?} hold {holding:?}"
    );
    only
}

/// A line without what differs from run to run: ids and seconds.
fn evened(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.trim_end().split(' ') {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let parts: Vec<usize> = bare.split('-').map(str::len).collect();
        let is_id = parts == [8, 6, 6] && bare.starts_with(|c: char| c.is_ascii_digit());
        let is_time = bare.ends_with('s')
            && bare.len() > 1
            && bare[..bare.len() - 1].bytes().all(|b| b.is_ascii_digit());
        words.push(match (is_id, is_time) {
            (true, _) => word.replace(bare, "ID"),
            (_, true) => word.replace(bare, "Ns"),
            _ => word.to_owned(),
        });
    }
    words.join(" ")
}

/// Each whole line of a block, below its command, stands in what the program printed, in this order.
fn is_quoted_from(quoted: &str, printed: &str) {
    let printed: Vec<String> = printed.lines().map(evened).collect();
    let mut at = 0;
    for line in quoted.lines().skip(1) {
        if line.contains(CUT) || line.trim().is_empty() {
            continue;
        }
        let wanted = evened(line);
        match printed[at..].iter().position(|line| *line == wanted) {
            Some(found) => at += found + 1,
            None => panic!(
                "a page quotes a line that the program does not print here:\n    {line}\nit printed:\n{}",
                printed[at..].join("\n")
            ),
        }
    }
}

/// A project with our examples, as a clone has them.
fn clone() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join(".git")).expect("a folder");
    fs::create_dir_all(folder.path().join("examples/plans")).expect("a folder");
    for plan in ["thin.md", "thorough.md"] {
        let path = format!("examples/plans/{plan}");
        fs::copy(root().join(&path), folder.path().join(&path)).expect("the example is there");
    }
    folder
}

#[test]
fn the_two_commands_stand_in_the_readme_and_the_second_is_what_ci_runs() {
    let readme = read("README.md");
    let lines: Vec<&str> = readme.lines().collect();
    let first = format!("$ {FIRST}");
    assert!(
        lines.contains(&first.as_str()),
        "README.md does not show `{FIRST}`"
    );
    assert!(lines.contains(&TESTS), "README.md does not show `{TESTS}`");
    let ci = read(".ci/run");
    let runs_it = ci
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| line.split_once(TESTS))
        .any(|(_, rest)| rest.is_empty() || rest.starts_with([' ', '"', '\'']));
    assert!(runs_it, ".ci/run does not run `{TESTS}`, as README.md says");
}

#[test]
fn the_first_command_prints_what_the_readme_quotes() {
    let folder = clone();
    for (command, plan, exit) in [
        (FIRST, "examples/plans/thorough.md", 0),
        (THIN, "examples/plans/thin.md", 4),
    ] {
        let output = program(folder.path(), &["run", "--reviewer", "lint", plan]);
        assert_eq!(output.status.code(), Some(exit), "{}", text(&output));
        is_quoted_from(&block(command), &text(&output));
    }
}

#[test]
fn the_first_run_is_what_the_program_prints() {
    let folder = clone();
    let plan = folder.path().join("PLAN.md");
    let is_block_of = |command: &str, printed: &Output| {
        is_quoted_from(&block(&format!("$ {command}")), &text(printed));
    };
    is_block_of("claudex-loop doctor", &program(folder.path(), &["doctor"]));
    let topic = [
        "start", "plan", "move", "the", "job", "queue", "to", "Postgres",
    ];
    let started = text(&program(folder.path(), &topic));
    fs::copy(root().join("examples/plans/thin.md"), plan).expect("the example is there");
    let stop = told(folder.path(), &["hook", "stop"], "{}");
    let decision: serde_json::Value = serde_json::from_slice(&stop.stdout).expect("one JSON value");
    let reason = decision["reason"].as_str().expect("a block");
    let both = block("$ claudex-loop start plan move");
    let (start, hook) = both.split_once("$ echo").expect("two commands");
    is_quoted_from(start, &started);
    is_quoted_from(hook, reason);
    let id = started
        .lines()
        .find_map(|line| line.strip_prefix("Review ID: "))
        .expect("an id");
    let review = program(folder.path(), &["review", id]);
    is_quoted_from(&block("claudex: round 1 of 3"), &text(&review));
    is_block_of("claudex-loop status", &program(folder.path(), &["status"]));
}

/// A report without the breaks of its lines, and with one id for all.
fn unwrapped(report: &str) -> String {
    let mut text: String = report
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '│')
        .collect();
    let is_id = |part: &str| {
        let bytes = part.as_bytes();
        part.is_ascii()
            && bytes[8] == b'-'
            && bytes[15] == b'-'
            && bytes[..8].iter().all(u8::is_ascii_digit)
            && bytes[16..].iter().all(u8::is_ascii_hexdigit)
    };
    let mut at = 0;
    while at + 22 <= text.len() {
        if text.get(at..at + 22).is_some_and(is_id) {
            text.replace_range(at..at + 22, "ID");
        }
        at += 1;
    }
    text
}

#[test]
fn a_mark_done_without_a_review_is_refused_as_is_quoted() {
    let folder = clone();
    fs::copy(
        root().join("examples/plans/thin.md"),
        folder.path().join("PLAN.md"),
    )
    .expect("a plan");
    let started = program(folder.path(), &["start", "plan", "--from-draft", "a topic"]);
    assert!(started.status.success(), "{}", text(&started));
    let input = format!(
        r#"{{"session_id":"s","hook_event_name":"Stop","cwd":{:?}}}"#,
        folder.path()
    );
    let blocked = told(folder.path(), &["hook", "stop"], &input);
    has(&text(&blocked), "Claudex round 1 of 3");
    let refused = program(folder.path(), &["mark-done"]);
    assert_eq!(refused.status.code(), Some(1));
    let quoted = block("$ claudex-loop mark-done");
    let (_, quoted) = quoted.split_once('\n').expect("a command and what it says");
    assert_eq!(unwrapped(quoted), unwrapped(&text(&refused)));
}

#[test]
fn machine_files_that_are_shown_are_what_they_claim() {
    let ours = read("machine.toml");
    for line in block("transitions.revise").lines() {
        assert!(
            ours.lines().any(|known| known == line),
            "machine.toml has no line {line:?}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("door.toml"), block("name = \"door\"")).expect("it is written");
    let checked = program(folder.path(), &["machine", "check", "door.toml"]);
    assert!(checked.status.success(), "{}", text(&checked));

    let typo = ours.replace("round < max_rounds", "round < max_round");
    fs::write(folder.path().join("typo.toml"), typo).expect("it is written");
    let checked = program(folder.path(), &["machine", "check", "typo.toml"]);
    assert_eq!(checked.status.code(), Some(1));
    is_quoted_from(&block("machine check typo.toml"), &text(&checked));
}

#[test]
fn the_compilers_message_is_the_one_that_is_proved() {
    let proved = read("ui-tests/illegal_edge.stderr");
    let quoted = block("error[E0277]");
    assert!(
        proved.starts_with(&quoted),
        "another message is quoted than ui-tests/illegal_edge.stderr:\n{proved}"
    );
}

/// `## Evidence and its limits` as a link names it.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                found.extend(heading.take().map(|heading| anchor(&heading)))
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for document in documents() {
        let markdown = read(&document);
        let folder = root()
            .join(&document)
            .parent()
            .expect("it is in a folder")
            .to_owned();
        for event in Parser::new(&markdown) {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            else {
                continue;
            };
            if dest_url.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (path, fragment) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
            let target = if path.is_empty() {
                root().join(&document)
            } else {
                folder.join(path)
            };
            if !target.exists() {
                broken.push(format!("{document}: {dest_url}"));
            } else if !fragment.is_empty() {
                let there = fs::read_to_string(&target).expect("an anchor is in a text");
                if !anchors(&there).contains(fragment) {
                    broken.push(format!("{document}: {dest_url} (no such heading)"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    assert!(
        seen > 10,
        "only {seen} links were found: is the search broken?"
    );
}

#[test]
fn every_file_that_is_named_is_there() {
    const FOLDERS: [&str; 11] = [
        "src/",
        "engine/",
        "codegen/",
        "lint/",
        "plugin/",
        "docs/",
        "tests/",
        "ui-tests/",
        "examples/",
        ".ci/",
        ".claude-plugin/",
    ];
    let mut missing = Vec::new();
    let mut seen = 0;
    for document in documents() {
        let markdown = read(&document);
        for event in Parser::new(&markdown) {
            let Event::Code(code) = event else { continue };
            for word in code.split_whitespace() {
                let is_pattern = word.contains(['<', '{', '*', '…', '$']);
                if is_pattern || !FOLDERS.iter().any(|folder| word.starts_with(folder)) {
                    continue;
                }
                seen += 1;
                if !root().join(word).exists() {
                    missing.push(format!("{document}: {word}"));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "named and not there:\n{}",
        missing.join("\n")
    );
    assert!(
        seen > 20,
        "only {seen} files were found: is the search broken?"
    );
}

/// Every `CLAUDEX_…` in a text.
fn variables(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, prefix) in text.match_indices("CLAUDEX_") {
        let rest = &text[at + prefix.len()..];
        let end = rest
            .find(|c: char| !c.is_ascii_uppercase() && c != '_')
            .unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('_');
        if !name.is_empty() {
            found.insert(format!("{prefix}{name}"));
        }
    }
    found
}

fn add_variables(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            // Tests set variables; they do not read new ones.
            if path.file_name().is_none_or(|name| name != "tests") {
                add_variables(&path, found);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            found.append(&mut variables(&text));
        }
    }
}

#[test]
fn every_variable_is_listed_and_no_other() {
    let mut read_by_us = variables(&read("machine.toml"));
    add_variables(&root().join("src"), &mut read_by_us);
    add_variables(&root().join("engine/src"), &mut read_by_us);
    add_variables(&root().join("plugin"), &mut read_by_us);
    let reference = read("docs/reference.md");
    let listed: BTreeSet<String> = reference
        .lines()
        .filter(|line| line.starts_with("| `CLAUDEX_"))
        .flat_map(|line| variables(line.split('|').nth(1).unwrap_or_default()))
        .collect();
    assert_eq!(
        listed, read_by_us,
        "left: docs/reference.md; right: src/, engine/src/, plugin/, machine.toml"
    );
    assert_eq!(
        PAGES
            .iter()
            .flat_map(|page| variables(&read(page)))
            .collect::<BTreeSet<_>>(),
        listed,
        "a page speaks of a variable that the table of docs/reference.md lacks"
    );
}

#[test]
fn every_verb_and_exit_code_of_the_help_is_in_the_documentation() {
    let help = text(&program(root(), &["--help"]));
    let (groups, rest) = help
        .split_once("\nOptions:\n")
        .expect("options follow the commands");
    let (_, groups) = groups
        .split_once("[COMMAND]\n\n")
        .expect("commands follow the usage");
    assert_eq!(
        block("  mark-done  "),
        groups,
        "left: the list in docs/reference.md; right: --help"
    );

    let (_, codes) = rest
        .split_once("Exit codes: ")
        .expect("the help lists exit codes");
    let reference = read("docs/reference.md");
    let codes: Vec<&str> = codes
        .split([' ', ',', '\n'])
        .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    assert!(codes.len() >= 6, "{help}");
    for code in codes {
        assert!(
            reference.contains(&format!("\n| {code} | ")),
            "docs/reference.md has no exit code {code}"
        );
    }
}

#[test]
fn the_oldest_client_is_one_version_in_the_readme_the_program_and_the_scenarios() {
    let oldest = claudex_loop::hooks::OLDEST_CLIENT
        .map(|part| part.to_string())
        .join(".");
    assert!(read("README.md").contains(&format!("Claude Code ({oldest} or newer)")));
    let clients: toml::Table = toml::from_str(&read("tests/e2e/clients.toml")).unwrap();
    assert_eq!(
        clients["claude-code"]["oldest"].as_str(),
        Some(oldest.as_str())
    );
}
