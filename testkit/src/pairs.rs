//! Every pair of a phase and a transition: an edge compiles, whatever is no edge does not, and the compiler's message says where the
//! transition would be legal and which line of the machine file says so.
//!
//! Pure: the calls are written as a module with a function of one line for each pair, and what cargo says of it (`--message-format=json`)
//! is held against the machine files.

use std::collections::{BTreeMap, BTreeSet};

use claudex_build::line_of;
use claudex_build::model::{From, Machine};
use serde_json::Value as Json;

/// A machine whose generated code is a module of some crate.
#[derive(Debug, Clone)]
pub struct Subject<'m> {
    /// The machine.
    pub machine: &'m Machine,
    /// The text of its file.
    pub source: &'m str,
    /// The file's name in the compiler's messages.
    pub file: String,
    /// The path of the module: `crate::errand`.
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
        let declared = self.of.machine.transitions.iter();
        let mut declared = declared.filter(|declared| declared.name.value == self.transition);
        let takes = declared.next().map_or(0, |declared| {
            declared.args.len() + usize::from(declared.requires.is_some())
        });
        let module = &self.of.module;
        format!(
            "pub fn pair_{at}(held: {module}::Loop<{module}::r#{}>) {{ let _ = held.r#{}({}); }}\n",
            type_of(self.phase),
            self.transition,
            vec!["any()"; takes].join(", "),
        )
    }

    /// Returns what the compiler has to say of it: `legal in: Open (machine.toml:31, machine.toml:40), …`.
    fn legal_in(&self) -> String {
        let Subject {
            machine,
            source,
            file,
            ..
        } = self.of;
        let mut phases: Vec<(&str, Vec<String>)> = Vec::new();
        let edges = machine.edges();
        for edge in edges
            .iter()
            .filter(|edge| edge.declared.name.value == self.transition)
        {
            let place = format!("{file}:{}", line_of(source, edge.declared.span.start));
            let phase = machine.phases[edge.from].name.value.as_str();
            match phases.iter_mut().find(|(known, _)| *known == phase) {
                Some((_, places)) if places.contains(&place) => {}
                Some((_, places)) => places.push(place),
                None => phases.push((phase, vec![place])),
            }
        }
        let phases = phases
            .iter()
            .map(|(phase, places)| format!("{} ({})", type_of(phase), places.join(", ")));
        format!("legal in: {}", phases.collect::<Vec<_>>().join(", "))
    }

    /// Returns what is wrong with what the compiler says of it, if anything.
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

/// Returns every pair. Whether it is an edge is read off the declarations, without `Machine::edges`.
fn pairs<'s>(subjects: &'s [Subject<'s>]) -> Vec<Pair<'s>> {
    let mut pairs = Vec::new();
    for of in subjects {
        for phase in &of.machine.phases {
            for transition in of.machine.transition_names() {
                let entries = of.machine.transitions.iter();
                let mut entries = entries.filter(|declared| declared.name.value == transition);
                let legal = entries.any(|declared| match &declared.from {
                    From::Any(_) => !phase.terminal,
                    From::Phases(names) => names.iter().any(|name| name.value == phase.name.value),
                });
                pairs.push(Pair {
                    of,
                    phase: &phase.name.value,
                    transition,
                    legal,
                });
            }
        }
    }
    pairs
}

const HEAD: &str =
    "//! One call per line.\n#[allow(dead_code)]\nfn any<T>() -> T { std::process::abort() }\n";

/// Returns a module with one call per line: those of edges, which have to compile without a warning, or all.
pub fn calls(subjects: &[Subject<'_>], all: bool) -> String {
    let pairs = pairs(subjects);
    let wanted = pairs.iter().filter(|pair| all || pair.legal).enumerate();
    let calls = wanted.map(|(at, pair)| pair.call(at));
    HEAD.to_owned() + &calls.collect::<String>()
}

/// Counts the pairs that compile, and those that do not.
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

/// Holds what cargo says of the module with all calls, at this path, against the machines; returns everything that is wrong.
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

/// Returns types for the data of a machine whose own are not there. It compiles with any that can be read and written.
pub fn data_types(machine: &Machine) -> String {
    let types: BTreeSet<&str> = machine.data().map(|(_, kind)| kind).collect();
    let types = types
        .into_iter()
        .map(|kind| format!("#[doc = \"Data.\"]\npub type {kind} = String;\n"));
    types.collect()
}

/// Returns the type that is generated of a phase or a machine, as a Rust reader expects it: `mark_done` is `MarkDone`.
pub fn type_of(name: &str) -> String {
    let upper = |part: &str| part[..1].to_uppercase() + &part[1..];
    let parts = name.split('_').filter(|part| !part.is_empty());
    parts.map(upper).collect()
}
