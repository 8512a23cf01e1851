//! The pairs proof: for every pair of a phase and a transition, an edge compiles, and any other pair does not. The
//! compiler's message then names the phases in which the transition is legal, and their lines of the machine file.
//!
//! The calls are written as a module with a function of one line for each pair.

use std::collections::BTreeMap;
use std::io;
use std::process::Output;

use claudex_build::line_of;
use claudex_build::model::{Edge, Machine};
use serde_json::Value as Json;

use crate::report::{Wrong, ensure};
use crate::walk::text;

/// The file with the calls, in the crate's folder.
pub(crate) const CALLS: &str = "src/calls.rs";

const HEAD: &str =
    "//! One call per line.\n#[allow(dead_code)]\nfn any<T>() -> T { std::process::abort() }\n";

/// A machine whose generated code is a module of some crate.
#[derive(Debug)]
pub struct Subject<'m> {
    /// The machine.
    pub machine: &'m Machine,
    /// The text of its file.
    pub source: &'m str,
    /// The file's name in the compiler's messages.
    pub file: String,
    /// The path of the module: `crate::release_train`.
    pub module: String,
}

/// A phase and a transition.
struct Pair {
    is_edge: bool,
    /// The function that makes the call, without its name.
    call: String,
    transition: String,
    /// The type of the phase.
    phase: String,
    /// The compiler's note about a pair that is no edge.
    note: String,
}

/// Checks every pair in a crate. `check` writes the first text as its `src/calls.rs`, and runs `cargo check --lib` with these
/// flags. Returns how many pairs compile, and how many do not.
///
/// # Errors
/// Returns an error if cargo cannot run, or else the errors of the compiler that are missing or too many.
pub fn prove(
    subjects: &[Subject<'_>],
    check: impl Fn(&str, &[&str]) -> io::Result<Output>,
) -> Result<(usize, usize), Wrong> {
    let pairs = subjects.iter().flat_map(Subject::pairs);
    let (edges, others): (Vec<_>, Vec<_>) = pairs.partition(|pair| pair.is_edge);
    let calls = |pairs: &[Pair]| {
        let mut text = HEAD.to_owned();
        for (at, pair) in pairs.iter().enumerate() {
            text += &format!("pub fn pair_{at}{}\n", pair.call);
        }
        text
    };
    let clean = check(&calls(&edges), &[])?;
    ensure!(
        clean.status.success(),
        "not every edge compiles without a warning:\n{}",
        String::from_utf8_lossy(&clean.stderr)
    );

    let checked = check(&calls(&others), &["--message-format=json"])?;
    let mut errors = errors(&String::from_utf8_lossy(&checked.stdout));
    let mut wrong = Vec::new();
    for (pair, line) in others.iter().zip(HEAD.lines().count() + 1..) {
        let found = errors.remove(&Some(line)).unwrap_or_default();
        if found.len() != 1 || !pair.is_refused_by(&found[0]) {
            wrong.push(format!(
                "expected `{}` not to be legal in `{}` ({}), found {found:?}",
                pair.transition, pair.phase, pair.note
            ));
        }
    }
    for error in errors.values().flatten() {
        wrong.push(format!("an error that belongs to no pair: {error}"));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok((edges.len(), others.len()))
}

impl Subject<'_> {
    fn pairs(&self) -> Vec<Pair> {
        let module = &self.module;
        let all = self.machine.edges();
        let mut pairs = Vec::new();
        for entry in self.machine.first_entries() {
            let name = entry.name.as_str();
            let edges: Vec<&Edge<'_>> = all
                .iter()
                .filter(|edge| edge.declared.name.value == name)
                .collect();
            let declared = edges[0].declared;
            let parameters = declared.args.len() + usize::from(declared.requires.is_some());
            let any = vec!["any()"; parameters].join(", ");
            for (at, phase) in self.machine.phases.iter().enumerate() {
                let phase = type_of(&phase.name);
                pairs.push(Pair {
                    is_edge: edges.iter().any(|edge| edge.from == at),
                    call: format!(
                        "(held: {module}::Loop<{module}::r#{phase}>) {{ let _ = held.r#{name}({any}); }}"
                    ),
                    transition: name.to_owned(),
                    phase,
                    note: self.note(&edges),
                });
            }
        }
        pairs
    }

    /// Returns the note about a transition: `legal in: Open (machine.toml:31, machine.toml:40)`.
    fn note(&self, edges: &[&Edge<'_>]) -> String {
        let mut places: Vec<(usize, Vec<String>)> = Vec::new();
        for edge in edges {
            let line = line_of(self.source, edge.declared.name.span.start);
            let place = format!("{}:{line}", self.file);
            match places.iter_mut().find(|(phase, _)| *phase == edge.from) {
                Some((_, lines)) => lines.push(place),
                None => places.push((edge.from, vec![place])),
            }
        }
        let parts = places.iter().map(|(phase, lines)| {
            let phase = type_of(&self.machine.phases[*phase].name);
            format!("{phase} ({})", lines.join(", "))
        });
        format!("legal in: {}", parts.collect::<Vec<_>>().join(", "))
    }
}

impl Pair {
    fn is_refused_by(&self, error: &Json) -> bool {
        let start = format!("`{}` is not legal in phase `", self.transition);
        let path = text(&error["message"]).strip_prefix(&start);
        let phase = path.and_then(|path| path.trim_end_matches('`').rsplit([':', '#']).next());
        let mut notes = error["children"].as_array().into_iter().flatten();
        error["code"]["code"] == "E0277"
            && phase == Some(&self.phase)
            && notes.any(|note| note["message"] == self.note.as_str())
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
            .filter(|_| span["file_name"] == CALLS);
        let line = line.and_then(|line| usize::try_from(line).ok());
        errors.entry(line).or_default().push(message);
    }
    errors
}

/// Returns the name of the type that is generated for a phase: `MarkDone` for `mark_done`.
fn type_of(name: &str) -> String {
    let upper = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('_').map(upper).collect()
}
