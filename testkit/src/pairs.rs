//! The pairs proof: for every pair of a phase and a transition, an edge compiles, and any other pair does not. The
//! compiler's message then names the phases in which the transition is legal, and their lines of the machine file.
//!
//! The calls are written as a module with a function of one line for each pair, and cargo's messages are compared with the
//! machine files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::Output;

use serde_json::Value as Json;

use crate::machine::{Machine, Transition};
use crate::report::{Wrong, ensure};

/// The file with the calls, in the crate's folder.
const CALLS: &str = "src/calls.rs";

const HEAD: &str =
    "//! One call per line.\n#[allow(dead_code)]\nfn any<T>() -> T { std::process::abort() }\n";

/// A machine whose generated code is a module of some crate.
#[derive(Debug, Clone)]
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
    let calls = |pairs: &[Pair<'_>]| {
        let calls = pairs.iter().enumerate().map(|(at, pair)| pair.call(at));
        HEAD.to_owned() + &calls.collect::<String>()
    };
    let (legal, illegal): (Vec<_>, Vec<_>) = pairs(subjects).into_iter().partition(Pair::is_legal);
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
        if !matches!(&found[..], [error] if pair.is_refused_by(error)) {
            let Pair {
                phase, transition, ..
            } = pair;
            let wanted = pair.legal_in();
            wrong.push(format!(
                "`{transition}` in phase `{phase}` is no edge; expected legal in {wanted:?}, found {found:?}"
            ));
        }
    }
    for error in errors.values().flatten() {
        wrong.push(format!("an error that belongs to no pair: {error}"));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok((legal.len(), illegal.len()))
}

fn pairs<'s>(subjects: &'s [Subject<'s>]) -> Vec<Pair<'s>> {
    let mut pairs = Vec::new();
    for subject in subjects {
        for phase in subject.machine.phases.keys() {
            for (transition, entries) in &subject.machine.transitions {
                pairs.push(Pair {
                    subject,
                    phase,
                    transition,
                    entries,
                });
            }
        }
    }
    pairs
}

impl Pair<'_> {
    fn is_legal(&self) -> bool {
        self.entries.iter().any(|one| one.leaves(self.phase))
    }

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

    /// Returns the parts of the compiler's note: `Open (machine.toml:31, machine.toml:40)`.
    fn legal_in(&self) -> Vec<String> {
        let mut places: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for one in self.entries {
            for phase in &one.from {
                places.entry(phase).or_default().insert(one.line);
            }
        }
        let place = |line: &usize| format!("{}:{line}", self.subject.file);
        let parts = places.iter().map(|(phase, lines)| {
            let lines: Vec<_> = lines.iter().map(place).collect();
            format!("{} ({})", type_of(phase), lines.join(", "))
        });
        parts.collect()
    }

    /// Returns whether this is the compiler's error for the pair.
    fn is_refused_by(&self, error: &Json) -> bool {
        let text = error["message"].as_str().unwrap_or_default();
        let begin = format!("`{}` is not legal in phase `", self.transition);
        let phase = text.trim_end_matches('`').rsplit([':', '#']).next();
        let notes = error["children"].as_array().into_iter().flatten();
        let mut notes = notes.filter_map(|note| note["message"].as_str());
        let note = notes.find_map(|note| note.strip_prefix("legal in: "));
        let parts = self.legal_in();
        let length = parts
            .iter()
            .map(|part| part.len() + ", ".len())
            .sum::<usize>();
        error["code"]["code"] == "E0277"
            && text.starts_with(&begin)
            && phase == Some(&type_of(self.phase))
            && note.is_some_and(|note| {
                note.len() + ", ".len() == length && parts.iter().all(|part| note.contains(part))
            })
    }
}

/// Returns the errors in cargo's messages by their line of the calls; `None`: of another file.
fn errors(output: &str) -> BTreeMap<Option<usize>, Vec<Json>> {
    let mut errors: BTreeMap<_, Vec<Json>> = BTreeMap::new();
    for line in output.lines() {
        let mut event: Json = serde_json::from_str(line).unwrap_or_default();
        let message = event["message"].take();
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
        errors.entry(line).or_default().push(message);
    }
    errors
}

/// Returns the name of the type that is generated for a phase or a machine: `MarkDone` for `mark_done`.
fn type_of(name: &str) -> String {
    let upper = |part: &str| part[..1].to_uppercase() + &part[1..];
    let parts = name.split('_').filter(|part| !part.is_empty());
    parts.map(upper).collect()
}
