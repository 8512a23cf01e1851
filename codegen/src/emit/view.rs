//! The values for the templates: the machine as the file has it, and data derived from it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use minijinja::{Value, context};
use sha2::{Digest as _, Sha256};

use super::render::serde;
use crate::diagnostic::line_of;
use crate::model::{
    Behaviour, EngineField, Entry, Field, FieldKind, Machine, Named, Phase, Update,
};

/// Returns the data of the templates: the keys of the machine file, and values derived from them.
pub(super) fn view(machine: &Machine, source: &str, file: &str) -> Value {
    let first_entries = machine.first_entries();
    let transitions = first_entries.iter().map(|first| {
        let view = transition(machine, first);
        (first.name.as_str(), view)
    });
    let by_name: BTreeMap<&str, Value> = transitions.clone().collect();
    let entries = machine.transitions.iter();
    let owned = owned(machine);
    let fields = machine.fields.iter();
    let is_own = |one: &&Named<Field>| !matches!(one.kind, FieldKind::Engine(_));
    let mut own_fields = fields.clone().filter(is_own);
    let id = machine.engine_field(EngineField::Id).unwrap_or("id");
    let id = format!("{{{id}}}");
    let digest = Sha256::digest(source.as_bytes());
    let document = machine.state.file.as_ref();
    context! {
        version => env!("CARGO_PKG_VERSION"),
        file,
        messages => machine.messages(),
        state => context! { folder => machine.folder(), ..serde(&machine.state) },
        document => document.map(|file| file.replace(&id, "{id}")),
        graph_hash => digest[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        fields => fields.map(|one| field(machine, source, one, &owned)).collect::<Vec<_>>(),
        is_default => own_fields.all(|field| field.starts_as_default()),
        phases => machine.phases.iter().map(|one| phase(source, one)).collect::<Vec<_>>(),
        transitions => transitions.map(|(_, view)| view).collect::<Vec<_>>(),
        by_name => serde(&by_name),
        edges => entries.map(|entry| edge(entry, source)).collect::<Vec<_>>(),
        slash_commands => serde(machine.slash_commands()),
        before_stop_line => machine.before_stop.first().map(|name| line_of(source, name.span().start)),
        ..serde(machine)
    }
}

fn field(machine: &Machine, source: &str, field: &Named<Field>, owned: &HashSet<String>) -> Value {
    let mut updates = machine.transitions.iter().flat_map(|entry| &entry.set);
    let is_next = |update: &Update| matches!(update, Update::Next(read) if read.name == field.name);
    context! {
        line => line_of(source, field.name.span().start),
        initial => serde(field.initial()),
        null => serde(field.null(machine)),
        has_next => updates.any(|(_, update)| is_next(update)),
        is_owned => match field.kind {
            FieldKind::Engine(_) => false,
            FieldKind::Data(_) => true,
            _ => !field.within.is_empty() || owned.contains(&*field.name),
        },
        ..serde(field)
    }
}

fn phase(source: &str, phase: &Named<Phase>) -> Value {
    let behaviour = phase.on_stop.as_ref();
    let is = |test: fn(&Behaviour) -> bool| behaviour.is_some_and(test);
    context! {
        line => line_of(source, phase.name.span().start),
        stored => phase.stored_name(),
        parameters => serde(behaviour.map(Behaviour::parameters)),
        outcomes => serde(behaviour.map(Behaviour::outcomes)),
        asks => is(Behaviour::asks_in_rust),
        verifies => is(Behaviour::verifies),
        subjects => is(Behaviour::reviews_in_rust),
        ..serde(phase)
    }
}

/// Returns the fields that a guard, an edge or a behaviour uses. The machine owns them, so that
/// nobody can change the file under review or the user's question from outside.
fn owned(machine: &Machine) -> HashSet<String> {
    let mut owned: HashSet<String> = HashSet::new();
    for entry in &machine.transitions {
        let read = entry.when.iter().flat_map(|guard| guard.fields());
        let set = entry.set.iter().map(|(name, _)| name);
        owned.extend(read.chain(set).map(|name| name.to_string()));
    }
    for parameter in machine.behaviours().flat_map(Behaviour::parameters) {
        owned.extend(parameter.fields().map(str::to_owned));
    }
    owned
}

/// Returns the view of an entry.
fn edge(entry: &Entry, source: &str) -> Value {
    let mut seen = HashSet::new();
    let reads = entry.when.iter().flat_map(|guard| guard.reads());
    let guard_reads = reads.filter(|read| seen.insert(read.key()));
    let update_reads = entry.set.iter().flat_map(|(_, update)| update.reads());
    context! {
        line => line_of(source, entry.name.span().start),
        guard_reads => serde(guard_reads.collect::<Vec<_>>()),
        update_reads => serde(update_reads.collect::<Vec<_>>()),
        ..serde(entry)
    }
}

/// Returns the view of a transition: its first entry, and its sources with the targets of each.
fn transition(machine: &Machine, first: &Entry) -> Value {
    let mut targets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let edges = machine.edges().into_iter();
    for edge in edges.filter(|edge| edge.declared.name == first.name) {
        targets.entry(edge.from).or_default().insert(edge.to);
    }
    let phase = |at: &usize| machine.phases[*at].name.as_str();
    let sources = targets.iter().map(|(from, targets)| {
        context! {
            phase => phase(from),
            targets => serde(targets.iter().map(phase).collect::<Vec<_>>()),
            is_fork => targets.len() > 1,
        }
    });
    context! {
        sources => sources.collect::<Vec<_>>(),
        ..serde(first)
    }
}
