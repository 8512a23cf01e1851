//! The documentation is true: its commands work and print what it shows, its links have targets,
//! and its exit codes and variables are complete.
//!
//! Ids, folders and seconds differ between runs, so they are replaced before a comparison.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use claudex_testkit::has;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

const FIRST: &str = "cargo run -- run --reviewer lint examples/plans/thorough.md";
const TESTS: &str = "cargo test --workspace";
/// The pages that show output of the program.
const PAGES: [&str; 5] = [
    "README.md",
    "docs/loop.md",
    "docs/reference.md",
    "docs/library.md",
    "docs/machine-toml.md",
];
/// The mark of an omission in a page.
const CUT: &str = "[…]";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs the program in a folder, outside of any client. Splits the line at spaces.
fn run(folder: &Path, line: &str, stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claudex-loop"));
    // Keeps `auto` from finding an installed client, and ignores the user's configuration.
    command
        .args(line.split(' '))
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.join(".home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    // A program that ignores its stdin may have ended.
    let _ = child
        .stdin
        .take()
        .expect("piped")
        .write_all(stdin.as_bytes());
    child.wait_with_output().expect("the program ends")
}

fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

/// Returns README.md, the pages of docs/ and the other Markdown files written by hand.
fn documents() -> Vec<String> {
    let mut pages = ["README.md", "codegen/README.md", "lint/README.md"]
        .map(str::to_owned)
        .to_vec();
    for folder in ["docs", "docs/dev", "docs/decisions"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(format!("{folder}/{name}"));
            }
        }
    }
    pages
}

fn blocks(markdown: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => open = Some(String::new()),
            Event::Text(text) => {
                if let Some(content) = &mut open {
                    content.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            _ => {}
        }
    }
    blocks
}

/// Returns the only block of the pages with this text.
fn block(holding: &str) -> String {
    let all = PAGES.iter().flat_map(|page| blocks(&read(page)));
    let mut found: Vec<String> = all.filter(|content| content.contains(holding)).collect();
    assert_eq!(found.len(), 1, "blocks of {PAGES:?} that hold {holding:?}");
    found.remove(0)
}

/// Returns a line without ids and seconds, which differ between runs.
fn evened(line: &str) -> String {
    let words = line.trim_end().split(' ').map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let parts: Vec<usize> = bare.split('-').map(str::len).collect();
        let is_id = parts == [8, 6, 6] && bare.starts_with(|c: char| c.is_ascii_digit());
        let is_time = bare
            .strip_suffix('s')
            .is_some_and(|number| number.parse::<u32>().is_ok());
        match (is_id, is_time) {
            (true, _) => word.replace(bare, "ID"),
            (_, true) => word.replace(bare, "Ns"),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Checks that the printed text has each whole line of a block, below its command, in this order.
#[track_caller]
fn is_quoted_from(quoted: &str, printed: &str) {
    let mut lines = printed.lines().map(evened);
    for line in quoted.lines().skip(1) {
        if !line.contains(CUT) && !line.trim().is_empty() {
            let expected = evened(line);
            let is_printed = lines.any(|line| line == expected);
            assert!(
                is_printed,
                "quoted, and not printed here:\n    {line}\nit printed:\n{printed}"
            );
        }
    }
}

/// Returns a project with our examples, as in a clone.
fn clone() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for made in [".git", "examples/plans"] {
        fs::create_dir_all(folder.path().join(made)).unwrap();
    }
    for plan in ["examples/plans/thin.md", "examples/plans/thorough.md"] {
        fs::copy(root().join(plan), folder.path().join(plan)).unwrap();
    }
    folder
}

fn plan_thinly(folder: &Path) {
    fs::copy(
        root().join("examples/plans/thin.md"),
        folder.join("PLAN.md"),
    )
    .unwrap();
}

#[test]
fn readme_shows_commands_that_work() {
    let readme = read("README.md");
    let shows = |line: &str| assert!(readme.lines().any(|shown| shown == line), "{line}");
    shows(&format!("$ {FIRST}"));
    shows(TESTS);
    assert!(
        read(".ci/run").lines().any(|line| line == TESTS),
        ".ci/run does not run `{TESTS}`"
    );
    let folder = clone();
    let (_, line) = FIRST.split_once("-- ").unwrap();
    let output = run(folder.path(), line, "");
    assert!(output.status.success(), "{}", text(&output));
    is_quoted_from(&block(FIRST), &text(&output));
}

/// Returns a report without line breaks, and with one id for all.
fn unwrapped(report: &str) -> String {
    let words = report.split_whitespace().filter(|word| *word != "│");
    words.map(evened).collect()
}

#[test]
fn quoted_refusal_of_mark_done_is_printed() {
    let clone = clone();
    let folder = clone.path();
    plan_thinly(folder);
    let started = run(folder, "start plan --from-draft a topic", "");
    assert!(started.status.success(), "{}", text(&started));
    let input = serde_json::json!({"session_id": "s", "hook_event_name": "Stop", "cwd": folder});
    let blocked = run(folder, "hook stop", &input.to_string());
    has(&text(&blocked), "Claudex round 1 of 3");
    let refused = run(folder, "mark-done", "");
    assert_eq!(refused.status.code(), Some(1));
    let quoted = block("$ claudex-loop mark-done");
    let (_, quoted) = quoted.split_once('\n').expect("a command and what it says");
    assert_eq!(unwrapped(quoted), unwrapped(&text(&refused)));
}

#[test]
fn shown_machine_files_are_what_they_claim() {
    let ours = read("machine.toml");
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, machine: &str, code: i32| {
        fs::write(folder.path().join(name), machine).unwrap();
        let checked = run(folder.path(), &format!("machine check {name}"), "");
        assert_eq!(checked.status.code(), Some(code), "{}", text(&checked));
        text(&checked)
    };
    check("door.toml", &block("name = \"door\""), 0);
    let typo = ours.replace("round < max_rounds", "round < max_round");
    let printed = check("typo.toml", &typo, 1);
    is_quoted_from(&block("machine check typo.toml"), &printed);
    // ui-tests/ proves the compiler's message.
    let proved = read("ui-tests/illegal_edge.stderr");
    assert!(proved.starts_with(&block("error[E0277]")), "{proved}");
    // The machine files have the same diagrams.
    for (machine, diagram) in [
        ("machine.toml", "docs/img/plan.mermaid"),
        ("stages/machine.toml", "docs/img/stages.mermaid"),
        ("taskie/machine.toml", "docs/img/taskie.mermaid"),
    ] {
        let checked = claudex_build::check_source(machine, &read(machine))
            .unwrap_or_else(|found| panic!("{found}"));
        assert!(
            read(diagram) == claudex_build::diagram(&checked),
            "{diagram} is stale; write it again:\n    \
             cargo run --quiet -- machine diagram {machine} > {diagram}\n"
        );
    }
}

/// Returns a page's anchors: `## Evidence and its limits` is `evidence-and-its-limits`.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text.to_lowercase().replace(' ', "-"));
                }
            }
            Event::End(TagEnd::Heading(_)) => found.extend(heading.take()),
            _ => {}
        }
    }
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
    found
        .iter()
        .map(|heading| heading.chars().filter(is_kept).collect())
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for document in documents() {
        let page = root().join(&document);
        for event in Parser::new(&read(&document)) {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            else {
                continue;
            };
            if dest_url.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (path, fragment) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
            let target = match path {
                "" => page.clone(),
                path => page.parent().unwrap().join(path),
            };
            let has_heading = || anchors(&fs::read_to_string(&target).unwrap()).contains(fragment);
            if !target.exists() || !(fragment.is_empty() || has_heading()) {
                broken.push(format!("{document}: {dest_url}"));
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
    let folders =
        "src/ engine/ codegen/ lint/ plugin/ docs/ tests/ ui-tests/ examples/ .ci/ .claude-plugin/";
    let mut missing = Vec::new();
    let mut seen = 0;
    for document in documents() {
        for event in Parser::new(&read(&document)) {
            let Event::Code(code) = event else { continue };
            for word in code.split_whitespace() {
                let is_pattern = word.contains(['<', '{', '*', '…', '$']);
                if !is_pattern && folders.split(' ').any(|folder| word.starts_with(folder)) {
                    seen += 1;
                    if !root().join(word).exists() {
                        missing.push(format!("{document}: {word}"));
                    }
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

fn variables(text: &str) -> BTreeSet<String> {
    let found = text.match_indices("CLAUDEX_").map(|(at, _)| {
        let rest = text[at..].split(|c: char| !c.is_ascii_uppercase() && c != '_');
        rest.take(1)
            .collect::<String>()
            .trim_end_matches('_')
            .to_owned()
    });
    found.filter(|name| name.starts_with("CLAUDEX_")).collect()
}

/// Returns the texts of all files below a folder, without tests.
fn texts_below(folder: &Path) -> String {
    let mut texts = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if (path.file_stem()).is_some_and(|name| name == "tests" || name == "snapshots") {
            continue;
        }
        if path.is_dir() {
            texts += &texts_below(&path);
        } else if let Ok(text) = fs::read_to_string(&path) {
            texts += text.split("mod tests").next().unwrap();
        }
    }
    texts
}

#[test]
fn modules_use_only_those_below() {
    let page = read("docs/architecture.md");
    let rows = page.lines().filter_map(|row| row.strip_prefix("| `src/"));
    let modules: Vec<&str> = rows
        .filter_map(|row| Some(row.split_once("/`")?.0))
        .collect();
    assert_eq!(modules.len(), 8, "{modules:?}");
    for (at, module) in modules.iter().enumerate() {
        let texts = texts_below(&root().join("src").join(module));
        for above in &modules[..at] {
            let is_used = texts.contains(&format!("crate::{above}::"));
            assert!(!is_used, "src/{module} uses src/{above}");
        }
    }
}

#[test]
fn walks_open_few_files_and_all_exist() {
    let page = read("docs/architecture.md");
    for (title, most) in [("\n## A stop\n", 25), ("\n## A review\n", 22)] {
        let (_, walk) = page.split_once(title).unwrap();
        let lines = walk.lines().take_while(|line| !line.starts_with("## "));
        let steps = lines.filter_map(|line| line.split_once(". `"));
        let steps = steps.filter(|(number, _)| number.parse::<u8>().is_ok());
        let files: Vec<&str> = steps
            .map(|(_, step)| step.split('`').next().unwrap())
            .collect();
        assert!((20..=most).contains(&files.len()), "{files:?}");
        let is_missing = |file: &&&str| !root().join(file).is_file();
        assert_eq!(files.iter().find(is_missing), None);
    }
}

#[test]
fn every_variable_is_listed_and_no_other() {
    let mut read_by_us = variables(&read("machine.toml"));
    for folder in ["src", "engine/src", "plugin"] {
        read_by_us.append(&mut variables(&texts_below(&root().join(folder))));
    }
    let reference = read("docs/reference.md");
    let rows = reference
        .lines()
        .filter(|line| line.starts_with("| `CLAUDEX_"))
        .flat_map(|line| variables(line.split('|').nth(1).unwrap_or_default()));
    let listed: BTreeSet<String> = rows.collect();
    assert_eq!(
        listed, read_by_us,
        "left: docs/reference.md; right: what we read"
    );
    let spoken_of: BTreeSet<String> = PAGES
        .iter()
        .flat_map(|page| variables(&read(page)))
        .collect();
    assert_eq!(
        spoken_of, listed,
        "left: the pages; right: the table of docs/reference.md"
    );
}

#[test]
fn every_exit_code_is_documented() {
    let help = text(&run(root(), "--help", ""));
    let (_, codes) = help
        .split_once("Exit codes: ")
        .expect("the help lists exit codes");
    let reference = read("docs/reference.md");
    let codes: Vec<u8> = codes
        .split([' ', ',', '\n'])
        .filter_map(|word| word.parse::<u8>().ok())
        .collect();
    assert!(codes.len() >= 6, "{help}");
    for code in codes {
        has(&reference, &format!("\n| {code} | "));
    }
}

#[test]
fn oldest_client_is_one_version_everywhere() {
    let oldest = claudex_loop::hooks::OLDEST_CLIENT
        .map(|part| part.to_string())
        .join(".");
    has(
        &read("README.md"),
        &format!("Claude Code ({oldest} or newer)"),
    );
    let clients: toml::Table = toml::from_str(&read("tests/e2e/clients.toml")).unwrap();
    assert_eq!(
        clients["claude-code"]["oldest"].as_str(),
        Some(oldest.as_str())
    );
}
