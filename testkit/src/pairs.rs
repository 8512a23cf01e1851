//! The pairs proof: for every pair of a phase and a transition, an edge compiles, and any other pair does not. The
//! compiler's message then names the phases in which the transition is legal, and their lines of the machine file.
//!
//! The calls are written as a module with a function of one line for each pair, and cargo's messages
//! (`--message-format=json`) are compared with the machine files.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::machine::Machine;

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

/// One call: a phase, a transition.
#[derive(Debug)]
struct Pair<'s> {
    of: &'s Subject<'s>,
    phase: &'s str,
    transition: &'s str,
    legal: bool,
}

impl Pair<'_> {
    /// Returns the call, on one line.
    fn call(&self, at: usize) -> String {
        let mut entries = self.of.machine.entries(self.transition);
        let takes = entries.next().map_or(0, |one| one.parameters());
        let module = &self.of.module;
        format!(
            "pub fn pair_{at}(held: {module}::Loop<{module}::r#{}>) {{ let _ = held.r#{}({}); }}\n",
            type_of(self.phase),
            self.transition,
            vec!["any()"; takes].join(", "),
        )
    }

    /// Returns the compiler's note: `legal in: Open (machine.toml:31, machine.toml:40), …`.
    fn legal_in(&self) -> String {
        let Subject { machine, file, .. } = self.of;
        let mut phases: Vec<(&str, Vec<String>)> = Vec::new();
        for one in machine.entries(self.transition) {
            let place = format!("{file}:{}", one.line);
            for phase in &one.from {
                match phases.iter_mut().find(|(known, _)| known == phase) {
                    Some((_, places)) if places.contains(&place) => {}
                    Some((_, places)) => places.push(place.clone()),
                    None => phases.push((phase, vec![place.clone()])),
                }
            }
        }
        let phases = phases
            .iter()
            .map(|(phase, places)| format!("{} ({})", type_of(phase), places.join(", ")));
        format!("legal in: {}", phases.collect::<Vec<_>>().join(", "))
    }

    /// Compares the compiler's errors with the pair, and returns what is wrong.
    fn wrong(&self, said: &[Said]) -> Option<String> {
        let what = format!(
            "{}: `{}` in phase `{}`",
            self.of.file, self.transition, self.phase
        );
        match (self.legal, said) {
            (true, []) => None,
            (true, said) => Some(format!("{what} is an edge and does not compile: {said:?}")),
            (false, [said]) => {
                let named = said
                    .message
                    .strip_prefix(&format!("`{}` is not legal in phase `", self.transition));
                let named = named.and_then(|rest| rest.strip_suffix('`')?.rsplit("::").next());
                let named = named
                    .is_some_and(|named| named.trim_start_matches("r#") == type_of(self.phase));
                let is_right =
                    said.code == "E0277" && named && said.notes.contains(&self.legal_in());
                (!is_right).then(|| {
                    format!(
                        "{what} is no edge; wanted: {}; the compiler says: {said:?}",
                        self.legal_in()
                    )
                })
            }
            (false, said) => Some(format!("{what} is no edge; the compiler says: {said:?}")),
        }
    }
}

/// Returns every pair.
fn pairs<'s>(subjects: &'s [Subject<'s>]) -> Vec<Pair<'s>> {
    let mut pairs = Vec::new();
    for of in subjects {
        for phase in &of.machine.phases {
            for transition in of.machine.transition_names() {
                let mut entries = of.machine.entries(transition);
                pairs.push(Pair {
                    of,
                    phase: &phase.name,
                    transition,
                    legal: entries.any(|one| one.leaves(&phase.name)),
                });
            }
        }
    }
    pairs
}

const HEAD: &str =
    "//! One call per line.\n#[allow(dead_code)]\nfn any<T>() -> T { std::process::abort() }\n";

/// Returns a module with one call per line: those of edges, which must compile without a warning, or all.
pub fn calls(subjects: &[Subject<'_>], all: bool) -> String {
    let pairs = pairs(subjects);
    let wanted = pairs.iter().filter(|pair| all || pair.legal).enumerate();
    let calls = wanted.map(|(at, pair)| pair.call(at));
    HEAD.to_owned() + &calls.collect::<String>()
}

/// Returns the number of pairs that compile, and those that do not.
pub fn count(subjects: &[Subject<'_>]) -> (usize, usize) {
    let pairs = pairs(subjects);
    let legal = pairs.iter().filter(|pair| pair.legal).count();
    (legal, pairs.len() - legal)
}

/// An error of the compiler: its code, its message, its notes.
#[derive(Debug)]
struct Said {
    code: String,
    message: String,
    notes: Vec<String>,
}

/// Compares cargo's messages about the module with all calls, at this path, with the machines. Returns everything that is wrong.
pub fn judge(subjects: &[Subject<'_>], output: &str, path: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut errors: BTreeMap<usize, Vec<Said>> = BTreeMap::new();
    for line in output.lines() {
        let event: Json = serde_json::from_str(line).unwrap_or_default();
        let message = &event["message"];
        if event["reason"] != "compiler-message" || message["level"] != "error" {
            continue;
        }
        let span = message["spans"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|span| span["is_primary"] == true);
        // "aborting due to 1160 previous errors" has no place.
        let Some(span) = span else { continue };
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        if span["file_name"] != path {
            wrong.push(text(&message["rendered"]));
            continue;
        }
        let notes = message["children"].as_array().into_iter().flatten();
        let at = span["line_start"]
            .as_u64()
            .and_then(|at| usize::try_from(at).ok());
        errors
            .entry(at.unwrap_or_default())
            .or_default()
            .push(Said {
                code: text(&message["code"]["code"]),
                message: text(&message["message"]),
                notes: notes.map(|child| text(&child["message"])).collect(),
            });
    }
    let first = HEAD.lines().count() + 1;
    for (at, pair) in pairs(subjects).iter().enumerate() {
        wrong.extend(pair.wrong(&errors.remove(&(first + at)).unwrap_or_default()));
    }
    wrong.extend(
        errors
            .values()
            .map(|said| format!("an error that belongs to no pair: {said:?}")),
    );
    wrong
}

/// Returns the name of the type that is generated for a phase or a machine: `MarkDone` for `mark_done`.
pub fn type_of(name: &str) -> String {
    let upper = |part: &str| part[..1].to_uppercase() + &part[1..];
    let parts = name.split('_').filter(|part| !part.is_empty());
    parts.map(upper).collect()
}
