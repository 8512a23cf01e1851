//! Every pair of a phase and a transition, of every machine of the workspace: an edge compiles, whatever is no edge does
//! not, and the compiler's message says where the transition would be legal and which line of machine.toml says so.
//!
//! One crate outside the workspace holds a function of one line for each pair. cargo checks it once with the edges alone,
//! which must be clean, and once with every pair: exactly the lines of the illegal ones must have an error.

use std::collections::{BTreeMap, BTreeSet};

use claudex_build::line_of;
use serde_json::Value;

#[path = "support/machines.rs"]
mod machines;
#[path = "support/stranger.rs"]
mod stranger;

use machines::{Found, type_of};

/// One call: a phase, a transition.
struct Pair<'m> {
    found: &'m Found,
    phase: &'m str,
    transition: &'m str,
    legal: bool,
}

impl Pair<'_> {
    /// The call, on one line.
    fn call(&self, at: usize) -> String {
        let of = |declared: &&claudex_build::model::Transition| declared.name.value == self.transition;
        let declared = self.found.machine.transitions.iter().find(of).unwrap();
        let takes = declared.args.len() + usize::from(declared.requires.is_some());
        let module = format!("crate::machines::{}", self.found.module);
        format!(
            "pub fn pair_{at}(held: {module}::Loop<{module}::r#{}>) {{ let _ = held.r#{}({}); }}\n",
            type_of(self.phase),
            self.transition,
            vec!["any()"; takes].join(", "),
        )
    }

    /// What the compiler has to say of it: `legal in: Open (m1/machine.toml:31, m1/machine.toml:40), …`.
    fn legal_in(&self) -> String {
        let Found { machine, source, .. } = self.found;
        let mut phases: Vec<(&str, Vec<String>)> = Vec::new();
        for edge in machine.edges() {
            if edge.declared.name.value != self.transition {
                continue;
            }
            let line = line_of(source, edge.declared.span.start);
            let said = source.lines().nth(line - 1).unwrap();
            assert_eq!(said.trim(), format!("[[transitions.{}]]", self.transition));
            let (phase, place) = (
                &machine.phases[edge.from].name.value,
                format!("{}:{line}", self.found.file()),
            );
            match phases.iter_mut().find(|(known, _)| known == phase) {
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
}

/// Every pair of a machine. Whether it is an edge is read off the declarations, without `Machine::edges`.
fn pairs(found: &Found) -> Vec<Pair<'_>> {
    use claudex_build::model::From;
    let machine = &found.machine;
    let mut pairs = Vec::new();
    for phase in &machine.phases {
        for transition in machine.transition_names() {
            let mut entries = machine
                .transitions
                .iter()
                .filter(|declared| declared.name.value == transition);
            let legal = entries.any(|declared| match &declared.from {
                From::Any(_) => !phase.terminal,
                From::Phases(names) => names.iter().any(|name| name.value == phase.name.value),
            });
            pairs.push(Pair {
                found,
                phase: &phase.name.value,
                transition,
                legal,
            });
        }
    }
    pairs
}

/// A module with one call per line, and the pair of each line.
fn calls<'p, 'm>(pairs: impl Iterator<Item = &'p Pair<'m>>) -> (String, BTreeMap<u64, &'p Pair<'m>>) {
    let mut text = String::from("//! One call per line.\nfn any<T>() -> T { unimplemented!() }\n");
    let mut lines = BTreeMap::new();
    for (at, pair) in pairs.enumerate() {
        text.push_str(&pair.call(at));
        lines.insert(text.lines().count() as u64, pair);
    }
    (text, lines)
}

/// An error of the compiler: its code, its message, its notes.
#[derive(Debug)]
struct Said {
    code: String,
    message: String,
    notes: Vec<String>,
}

/// The errors on each line of a file; errors elsewhere fail the test.
fn errors(output: &str, file: &str) -> BTreeMap<u64, Vec<Said>> {
    let mut found: BTreeMap<u64, Vec<Said>> = BTreeMap::new();
    for line in output.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let message = &event["message"];
        if event["reason"] != "compiler-message" || message["level"] != "error" {
            continue;
        }
        let spans = message["spans"].as_array().unwrap();
        let Some(span) = spans.iter().find(|span| span["is_primary"] == true) else {
            // "aborting due to 1160 previous errors"
            assert_eq!(message["code"], Value::Null, "{message:#}");
            continue;
        };
        assert_eq!(span["file_name"], file, "{}", message["rendered"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let notes = message["children"].as_array().unwrap().iter();
        let said = Said {
            code: text(&message["code"]["code"]),
            message: text(&message["message"]),
            notes: notes.map(|child| text(&child["message"])).collect(),
        };
        found
            .entry(span["line_start"].as_u64().unwrap())
            .or_default()
            .push(said);
    }
    found
}

#[test]
#[expect(clippy::print_stdout, reason = "the numbers are what the test has to say")]
fn exactly_the_edges_of_every_machine_compile_and_the_rest_is_told_where_it_would_be_legal() {
    let all = machines::all();
    let pairs: Vec<_> = all.iter().flat_map(pairs).collect();
    let (every, lines) = calls(pairs.iter());
    let (legal, _) = calls(pairs.iter().filter(|pair| pair.legal));

    let stranger = machines::crate_of("exhaustive", &all);
    stranger.write(
        "src/lib.rs",
        "//! Every pair of a phase and a transition.\n#![deny(warnings)]\n#![allow(missing_docs)]\n\npub mod calls;\npub mod machines;\n",
    );
    stranger.write("src/calls.rs", &legal);
    let clean = stranger.cargo(&["check", "--lib"]);
    assert!(
        clean.status.success(),
        "every edge compiles, without a warning:\n{}",
        String::from_utf8_lossy(&clean.stderr)
    );

    stranger.write("src/calls.rs", &every);
    let checked = stranger.cargo(&["check", "--lib", "--message-format=json"]);
    assert!(!checked.status.success());
    let mut errors = errors(&String::from_utf8(checked.stdout).unwrap(), "src/calls.rs");
    for (line, pair) in &lines {
        let (place, phase, transition) = (&pair.found.place, pair.phase, pair.transition);
        let what = format!("{place}: `{transition}` in phase `{phase}`");
        let said = errors.remove(line).unwrap_or_default();
        if pair.legal {
            assert!(
                said.is_empty(),
                "{what} is an edge and does not compile: {said:?}"
            );
            continue;
        }
        let [said] = &said[..] else {
            panic!("{what} is no edge; the compiler says: {said:?}");
        };
        assert_eq!(said.code, "E0277", "{what}: {said:?}");
        let begun = format!("`{transition}` is not legal in phase `");
        let named = said
            .message
            .strip_prefix(&begun)
            .and_then(|rest| rest.strip_suffix('`'));
        let named = named.unwrap_or_else(|| panic!("{what}: {said:?}"));
        assert_eq!(
            named.rsplit("::").next().unwrap().trim_start_matches("r#"),
            type_of(phase),
            "{what}: {said:?}"
        );
        assert!(
            said.notes.contains(&pair.legal_in()),
            "{what}: {said:?}\nwanted: {}",
            pair.legal_in()
        );
    }
    assert!(errors.is_empty(), "errors that belong to no pair: {errors:?}");

    let (edges, illegal): (Vec<_>, Vec<_>) = pairs.iter().partition(|pair| pair.legal);
    for found in &all {
        let of = |list: &[&Pair<'_>]| list.iter().filter(|pair| pair.found.place == found.place).count();
        let (phases, transitions) = (found.machine.phases.len(), found.machine.transition_names().len());
        let declared: BTreeSet<_> = found
            .machine
            .edges()
            .iter()
            .map(|edge| (edge.from, edge.declared.name.value.clone()))
            .collect();
        println!(
            "{}: {} pairs compile, {} do not; {phases} phases x {transitions} transitions",
            found.place,
            of(&edges),
            of(&illegal)
        );
        assert_eq!(of(&edges), declared.len(), "{}", found.place);
        assert_eq!(of(&edges) + of(&illegal), phases * transitions, "{}", found.place);
    }
    println!("{} compile, {} do not", edges.len(), illegal.len());
}
