//! The pairs proof: for every pair of a phase and a transition, an edge compiles, and any other pair does not. The
//! compiler's message then names the phases in which the transition is legal, and their lines of the machine file.
//!
//! The calls are written as a module with a function of one line for each pair, and cargo's messages are compared with the
//! machine files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::Output;

use serde_json::Value as Json;

use crate::machine::{Machine, Transition, text};
use crate::report::{Wrong, ensure};

/// The file with the calls, in the crate's folder.
pub(crate) const CALLS: &str = "src/calls.rs";

const HEAD: &str =
    "//! One call per line.\n#[allow(dead_code)]\nfn any<T>() -> T { std::process::abort() }\n";

/// A machine whose generated code is a module of some crate.
#[derive(Debug)]
pub struct Subject<'m> {
    /// The machine.
    pub machine: &'m Machine,
    /// The file's name in the compiler's messages.
    pub file: String,
    /// The path of the module: `crate::release_train`.
    pub module: String,
}

/// A phase and a transition.
struct Pair<'s> {
    subject: &'s Subject<'s>,
    phase: &'s str,
    transition: &'s str,
    entries: &'s [Transition],
}

/// Checks every pair in a crate. `check` writes the first text as its `src/calls.rs`, and runs `cargo check --lib` with these
/// flags. Returns how many pairs compile, and how many do not.
///
/// # Errors
/// Returns an error if cargo cannot run, or else everything that the compiler says and should not, or does not say.
pub fn prove(
    subjects: &[Subject<'_>],
    check: impl Fn(&str, &[&str]) -> io::Result<Output>,
) -> Result<(usize, usize), Wrong> {
    let mut legal = Vec::new();
    let mut illegal = Vec::new();
    for subject in subjects {
        for (phase, _) in subject.machine.tables("phases") {
            for (transition, entries) in &subject.machine.transitions {
                let is_edge = entries.iter().any(|one| one.leaves(phase));
                let pairs = if is_edge { &mut legal } else { &mut illegal };
                pairs.push(Pair {
                    subject,
                    phase,
                    transition,
                    entries,
                });
            }
        }
    }
    let calls = |pairs: &[Pair<'_>]| {
        let calls = pairs.iter().enumerate().map(|(at, pair)| pair.call(at));
        HEAD.to_owned() + &calls.collect::<String>()
    };
    let clean = check(&calls(&legal), &[])?;
    ensure!(
        clean.status.success(),
        "not every edge compiles without a warning:\n{}",
        String::from_utf8_lossy(&clean.stderr)
    );

    let checked = check(&calls(&illegal), &["--message-format=json"])?;
    let mut errors = errors(&String::from_utf8_lossy(&checked.stdout));
    let mut wrong = Vec::new();
    for (pair, line) in illegal.iter().zip(HEAD.lines().count() + 1..) {
        let found = errors.remove(&Some(line)).unwrap_or_default();
        let expected = pair.refusal();
        if found != [expected.clone()] {
            wrong.push(format!("expected {expected:?}, found {found:?}"));
        }
    }
    for error in errors.values().flatten() {
        wrong.push(format!("an error that belongs to no pair: {error:?}"));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok((legal.len(), illegal.len()))
}

/// An error of the compiler: its code, its message without the path of the phase's type, and the places of its note, sorted.
type Refusal = (String, String, BTreeSet<String>);

impl Pair<'_> {
    /// Returns the call, on one line.
    fn call(&self, at: usize) -> String {
        let module = &self.subject.module;
        let phase = type_of(self.phase);
        let transition = self.transition;
        let any = vec!["any()"; self.entries[0].parameters()].join(", ");
        format!(
            "pub fn pair_{at}(held: {module}::Loop<{module}::r#{phase}>) {{ let _ = held.r#{transition}({any}); }}\n"
        )
    }

    /// Returns the compiler's error for the pair. Its note says: `legal in: Open (machine.toml:31, machine.toml:40)`.
    fn refusal(&self) -> Refusal {
        let mut places: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for one in self.entries {
            for phase in &one.from {
                places.entry(phase).or_default().insert(one.line);
            }
        }
        let place = |line: &usize| format!("{}:{line}", self.subject.file);
        let parts = places.iter().map(|(phase, lines)| {
            let lines: Vec<_> = lines.iter().map(place).collect();
            format!("{} ({}", type_of(phase), lines.join(", "))
        });
        let message = format!(
            "`{}` is not legal in phase `{}`",
            self.transition,
            type_of(self.phase)
        );
        ("E0277".to_owned(), message, parts.collect())
    }
}

/// Returns the errors in cargo's messages by their line of the calls; `None`: of another file.
fn errors(output: &str) -> BTreeMap<Option<usize>, Vec<Refusal>> {
    let mut errors: BTreeMap<_, Vec<Refusal>> = BTreeMap::new();
    for line in output.lines() {
        let event: Json = serde_json::from_str(line).unwrap_or_default();
        let message = &event["message"];
        if event["reason"] != "compiler-message" || message["level"] != "error" {
            continue;
        }
        let mut spans = message["spans"].as_array().into_iter().flatten();
        // "aborting due to 1160 previous errors" has no place.
        let Some(span) = spans.find(|span| span["is_primary"] == true) else {
            continue;
        };
        let line = span["line_start"]
            .as_u64()
            .and_then(|line| usize::try_from(line).ok());
        let line = line.filter(|_| span["file_name"] == CALLS);
        errors.entry(line).or_default().push(read_refusal(message));
    }
    errors
}

fn read_refusal(message: &Json) -> Refusal {
    let line = text(&message["message"]);
    let (begin, path) = line.split_once("in phase `").unwrap_or((line, ""));
    let phase = path.rsplit([':', '#']).next().unwrap_or_default();
    let notes = message["children"].as_array().into_iter().flatten();
    let mut notes = notes.filter_map(|note| text(&note["message"]).strip_prefix("legal in: "));
    let parts = notes.next().unwrap_or_default().trim_end_matches(')');
    (
        text(&message["code"]["code"]).to_owned(),
        format!("{begin}in phase `{phase}"),
        parts.split("), ").map(str::to_owned).collect(),
    )
}

/// Returns the name of the type that is generated for a phase or a machine: `MarkDone` for `mark_done`.
fn type_of(name: &str) -> String {
    let upper = |part: &str| part[..1].to_uppercase() + &part[1..];
    let parts = name.split('_').filter(|part| !part.is_empty());
    parts.map(upper).collect()
}
