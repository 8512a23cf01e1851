//! Calls that help while one looks for a fault and are seldom meant to stay, by language.

use std::collections::BTreeSet;

use super::hit::FileHit;
use super::patch::{PatchFile, PatchLine, Role};
use super::propose;
use super::secrets::quote;
use crate::Severity;

/// What a line does that a debugging session left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It stops the program, and waits for somebody at a terminal.
    Stops,
    /// It prints.
    Prints,
}

/// Which languages share their calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    Script,
    Python,
    Ruby,
    Php,
    Go,
    DotNet,
    Elixir,
}

fn language(file: &PatchFile) -> Option<Language> {
    Some(match file.extension.as_str() {
        "rs" => Language::Rust,
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "vue" | "svelte" => Language::Script,
        "py" => Language::Python,
        "rb" | "erb" | "rake" => Language::Ruby,
        "php" => Language::Php,
        "go" => Language::Go,
        "cs" => Language::DotNet,
        "ex" | "exs" => Language::Elixir,
        _ => return None,
    })
}

/// Returns the statements of each language; a call ends in `(`.
fn left(language: Language, statement: &str) -> Option<Left> {
    let calls = |names: &[&str]| {
        names.iter().any(|name| {
            let Some(rest) = statement.strip_prefix(name) else {
                return false;
            };
            name.ends_with('(')
                || rest
                    .bytes()
                    .next()
                    .is_none_or(|byte| b";( \t#".contains(&byte))
        })
    };
    let (stops, prints): (&[&str], &[&str]) = match language {
        Language::Rust => (&[], &["dbg!(", "std::dbg!("]),
        Language::Script => (
            &["debugger"],
            &[
                "console.log(",
                "console.debug(",
                "console.trace(",
                "console.dir(",
            ],
        ),
        Language::Python => (
            &[
                "breakpoint()",
                "pdb.set_trace(",
                "ipdb.set_trace(",
                "pudb.set_trace(",
                "import pdb",
                "import ipdb",
                "import pudb",
            ],
            &[],
        ),
        Language::Ruby => (&["binding.pry", "binding.irb", "byebug", "debugger"], &[]),
        Language::Php => (&["dd("], &["var_dump("]),
        Language::Go => (&[], &["spew.Dump("]),
        Language::DotNet => (
            &[
                "Debugger.Break(",
                "Debugger.Launch(",
                "System.Diagnostics.Debugger.",
            ],
            &[],
        ),
        Language::Elixir => (&["IEx.pry", "require IEx"], &["IO.inspect("]),
    };
    if calls(stops) {
        Some(Left::Stops)
    } else if calls(prints) || (language == Language::Python && prints_to_debug(statement)) {
        Some(Left::Prints)
    } else {
        None
    }
}

/// Returns whether a Python print looks like one that was put there to see something: a bare value, or one with its name.
fn prints_to_debug(statement: &str) -> bool {
    let Some(argument) = statement
        .strip_prefix("print(")
        .and_then(|rest| rest.trim_end().strip_suffix(')'))
    else {
        return false;
    };
    let lower = argument.to_ascii_lowercase();
    let shows_its_name = argument.starts_with("f\"") && argument.contains("=}")
        || argument.starts_with("f'") && argument.contains("=}");
    let shouts = [
        "\"debug", "'debug", "\"here", "'here", "\"xxx", "'xxx", "\"***", "\">>>", "\"---",
        "\"====",
    ]
    .iter()
    .any(|start| lower.starts_with(start));
    shows_its_name || shouts
}

/// Finds the places of one kind in a file, and the ones of them that can go without a thought.
fn places(file: &PatchFile, kind: Left) -> (Vec<&PatchLine>, BTreeSet<u32>) {
    let mut found = Vec::new();
    let mut removable = BTreeSet::new();
    let Some(language) = language(file) else {
        return (found, removable);
    };
    for hunk in &file.hunks {
        for (at, line) in hunk.lines.iter().enumerate() {
            let statement = line.text().trim();
            // `a; b` on one line of Python is one place.
            let last = statement.rsplit("; ").next().unwrap_or(statement);
            let seen = left(language, statement).or_else(|| left(language, last));
            if !line.added || seen != Some(kind) {
                continue;
            }
            found.push(line);
            if is_whole(language, statement) && stands_alone(language, &hunk.lines, at) {
                removable.insert(line.number);
            }
        }
    }
    (found, removable)
}

/// Returns whether the line is the whole statement and does nothing else: its arguments are names, fields and literals.
fn is_whole(language: Language, statement: &str) -> bool {
    let statement = statement.trim_end_matches(';').trim_end();
    if language == Language::Python && statement == "import pdb; pdb.set_trace()" {
        return true;
    }
    if ["debugger", "byebug", "binding.pry", "binding.irb"].contains(&statement) {
        return true;
    }
    let Some((_, arguments)) = statement.split_once('(') else {
        return false;
    };
    let Some(arguments) = arguments.strip_suffix(')') else {
        return false;
    };
    let mut quote: Option<char> = None;
    for character in arguments.chars() {
        match quote {
            Some(mark) if character == mark => quote = None,
            // An escape or an expression inside a string is not looked into.
            Some(_) if character == '\\' || character == '{' => return false,
            Some(_) => {}
            None if ['"', '\''].contains(&character) => quote = Some(character),
            None if character.is_alphanumeric() || "_., &[]:".contains(character) => {}
            None => return false,
        }
    }
    // A message may be meant for whoever runs the program: only bare values are certain.
    if language == Language::Script && arguments.contains(['"', '\'']) {
        return false;
    }
    // In Rust a value may be moved and a statement be the block's value: only one with its semicolon, of a reference.
    quote.is_none()
        && (language != Language::Rust || arguments.starts_with('&') || arguments.is_empty())
}

/// Returns whether a statement can go without leaving an empty block or a dangling head.
fn stands_alone(language: Language, lines: &[PatchLine], at: usize) -> bool {
    let indent = |line: &PatchLine| line.text().len() - line.text().trim_start().len();
    let before = lines[..at]
        .iter()
        .rev()
        .find(|line| !line.text().trim().is_empty());
    let after = lines[at + 1..]
        .iter()
        .find(|line| !line.text().trim().is_empty());
    let own = indent(&lines[at]);
    match language {
        // A neighbour at the same depth is in the same block.
        Language::Python => [before, after].into_iter().flatten().any(|line| {
            let text = line.text().trim();
            indent(line) == own
                && !["else", "elif", "except", "finally", ")", "]", "}"]
                    .iter()
                    .any(|start| text.starts_with(start))
        }),
        Language::Ruby => true,
        Language::Rust => lines[at].text().trim_end().ends_with(';') && before.is_some(),
        // `if (x)` without braces would take the next statement in its place.
        _ => {
            before.is_none_or(|line| line.text().trim_end().ends_with([';', '{', '}']))
                && (before.is_some() || lines[at].number == 1)
        }
    }
}

fn hit(
    file: &PatchFile,
    kind: Left,
    check: &'static str,
    severity: Severity,
    what: &str,
    add: &'static str,
) -> Option<FileHit> {
    let (found, removable) = places(file, kind);
    (!found.is_empty()).then(|| FileHit {
        check,
        severity,
        what: what.to_owned(),
        add,
        places: found
            .iter()
            .map(|line| (line.number, quote(line.text())))
            .collect(),
        patch: propose::without(file, &removable),
    })
}

/// Finds breakpoints: whoever runs this without a terminal waits for ever.
pub(super) fn breakpoints(file: &PatchFile) -> Option<FileHit> {
    let severity = match file.role {
        Role::Code => Severity::High,
        Role::Test => Severity::Medium,
        Role::Document | Role::Generated => return None,
    };
    hit(
        file,
        Left::Stops,
        "DIFF-BREAKPOINT",
        severity,
        "a breakpoint is left in the code",
        "remove it",
    )
}

/// Output that was for one's own eyes.
pub(super) fn prints(file: &PatchFile) -> Option<FileHit> {
    // Whoever writes to a terminal on purpose does it with the same calls.
    let talks = [
        "cli", "bin", "script", "scripts", "tools", "cmd", "bench", "benches", "main",
    ];
    let lower = file.path.to_ascii_lowercase();
    let stem = |part: &str| part.split('.').next().unwrap_or(part).to_owned();
    let script = lower
        .split('/')
        .any(|part| talks.contains(&stem(part).as_str()))
        || file
            .hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .any(|line| line.number == 1 && line.text().starts_with("#!"));
    let certain = file.extension == "rs" || file.extension == "php";
    if file.role != Role::Code || (script && !certain) {
        return None;
    }
    let severity = if certain {
        Severity::Medium
    } else {
        Severity::Low
    };
    hit(
        file,
        Left::Prints,
        "DIFF-DEBUG",
        severity,
        "output for debugging is left in the code",
        "remove it, or use the project's logging",
    )
}

/// Tests that keep all others from running.
pub(super) fn only(file: &PatchFile) -> Option<FileHit> {
    if file.role != Role::Test || language(file) != Some(Language::Script) {
        return None;
    }
    let starts = [
        "it.only(",
        "test.only(",
        "describe.only(",
        "fdescribe(",
        "fit(",
        "context.only(",
    ];
    let places: Vec<_> = file
        .added()
        .filter(|line| {
            starts
                .iter()
                .any(|start| line.text().trim_start().starts_with(start))
        })
        .map(|line| (line.number, quote(line.text())))
        .collect();
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-ONLY",
        severity: Severity::Medium,
        what: "a test is marked as the only one: the others do not run".to_owned(),
        add: "remove the mark",
        places,
        patch: None,
    })
}
