//! Views of transitions and their edges.

use std::collections::{BTreeSet, HashMap};

use minijinja::{Value, context};

use super::expr::{self, Scope};
use super::ident::{camel, is_regular, kebab, type_of, type_of_argument, value_of};
use super::machine::{actors, word_enum};
use super::{Context, Entry, pairs, seq};
use crate::model::{Argument, ArgumentKind, Evidence, guard_text};

/// Returns what the templates say of transitions and edges.
pub(super) fn view(context: &Context<'_>) -> Value {
    let entries = context.entries();
    let mut by_name: HashMap<&str, Vec<&Entry<'_>>> = HashMap::new();
    for entry in &entries {
        by_name
            .entry(&entry.declared.name.value)
            .or_default()
            .push(entry);
    }
    let transitions = context
        .names
        .iter()
        .map(|name| transition(context, name, &by_name[name]));
    let edges = entries.iter().map(|entry| edge(context, entry));
    let argument_words = context
        .names
        .iter()
        .flat_map(|name| argument_words(context, name));
    context! {
        transitions => seq(transitions),
        edges => seq(edges),
        argument_words => seq(argument_words),
    }
}

fn argument_words(context: &Context<'_>, transition: &str) -> Vec<Value> {
    let arguments = context.first(transition).args.iter();
    let words = arguments.filter_map(|argument| match &argument.kind {
        ArgumentKind::OneOf(words) => {
            let ident = type_of_argument(transition, argument);
            Some(word_enum(
                &ident,
                &argument.name.value,
                &argument.doc,
                words,
                false,
            ))
        }
        _ => None,
    });
    words.collect()
}

fn transition(context: &Context<'_>, name: &str, entries: &[&Entry<'_>]) -> Value {
    let declared = context.first(name);
    let ident = type_of(name);
    let arguments = declared.args.iter().map(|one| argument(name, one));
    let has_argument = |name: &str| declared.args.iter().any(|one| one.name.value == name);
    let (sources, choices) = targets(context, name, entries);
    context! {
        name,
        method => value_of(name),
        kebab => kebab(name),
        doc => &declared.doc,
        is_regular => is_regular(name),
        is_verb => !declared.by.is_empty(),
        is_plain => !declared.by.is_empty() && declared.requires.is_none() && declared.args.is_empty(),
        own => declared.own,
        legal => legal_in(context, name, entries),
        edge_docs => seq(entries.iter().filter_map(|entry| edge_doc(context, entry))),
        evidence => declared.requires.as_ref().map(|evidence| format!("{:?}", evidence.value)),
        is_verified => declared.requires.as_ref().is_some_and(|one| one.value == Evidence::Verified),
        // Inside a method its type parameters and arguments hide the items of these names.
        bound => if matches!(ident.as_str(), "P" | "N") { format!("self::{ident}") } else { ident.clone() },
        take => if has_argument("take") { "self::take" } else { "take" },
        any => if has_argument("any") { "self::any" } else { "any" },
        ident,
        arguments => seq(arguments),
        sources => seq(sources),
        choices => seq(choices),
    }
}

fn argument(transition: &str, argument: &Argument) -> Value {
    let name = &argument.name.value;
    context! {
        name,
        ident => value_of(name),
        kebab => kebab(name),
        doc => &argument.doc,
        ty => expr::parameter_type(transition, argument),
        word => matches!(argument.kind, ArgumentKind::OneOf(_)).then(|| type_of_argument(transition, argument)),
        words => seq(words(argument)),
        is_flag => argument.kind == ArgumentKind::Flag,
        optional => argument.optional,
    }
}

fn words(argument: &Argument) -> Vec<&str> {
    match &argument.kind {
        ArgumentKind::OneOf(words) => words.iter().map(|word| &*word.value).collect(),
        _ => Vec::new(),
    }
}

/// Returns the type after the transition at each source, and the enums for sources with several targets.
fn targets(context: &Context<'_>, name: &str, entries: &[&Entry<'_>]) -> (Vec<Value>, Vec<Value>) {
    let phases = &context.machine.phases;
    let ident = |at: usize| type_of(&phases[at].name.value);
    let of: BTreeSet<usize> = entries
        .iter()
        .flat_map(|entry| entry.from.iter().copied())
        .collect();
    let leads_to = |from: usize| -> BTreeSet<usize> {
        let here = entries.iter().filter(|entry| entry.from.contains(&from));
        here.map(|entry| entry.target.map_or(from, |to| context.phase_index(to)))
            .collect()
    };
    let several = of.iter().filter(|from| leads_to(**from).len() > 1).count();
    let mut choices = Vec::new();
    let sources = of.iter().map(|&from| {
        let targets = leads_to(from);
        let next = match (targets.len(), several) {
            (1, _) if targets.contains(&from) => "Loop<Self>".to_owned(),
            (1, _) => format!(
                "Loop<{}>",
                targets.iter().map(|to| ident(*to)).collect::<String>()
            ),
            (_, 1) => format!("{}Next", camel(name)),
            _ => format!("{}From{}", camel(name), camel(&phases[from].name.value)),
        };
        if targets.len() > 1 {
            let targets = targets.iter().map(|to| ident(*to));
            choices.push(context! { ident => &next, targets => seq(targets) });
        }
        context! { phase => ident(from), next }
    });
    let sources = sources.collect();
    (sources, choices)
}

/// Returns the phases in which a transition is legal, with the lines of its entries.
fn legal_in(context: &Context<'_>, name: &str, entries: &[&Entry<'_>]) -> String {
    let mut phases: Vec<(&str, Vec<String>)> = Vec::new();
    for entry in entries {
        let place = context.place(&entry.declared.span);
        for source in &entry.sources {
            match phases.iter_mut().find(|(known, _)| known == source) {
                Some((_, places)) => places.push(place.clone()),
                None => phases.push((source, vec![place.clone()])),
            }
        }
    }
    let phases = phases.into_iter();
    let phases = phases.map(|(phase, places)| format!("{} ({})", camel(phase), places.join(", ")));
    let phases: Vec<_> = phases.collect();
    match phases.as_slice() {
        [] => format!("`{name}` is legal in no phase"),
        phases => format!("legal in: {}", phases.join(", ")),
    }
}

fn edge_doc(context: &Context<'_>, entry: &Entry<'_>) -> Option<String> {
    let link = |phase: &str| format!("[`{}`]", camel(phase));
    let sources: Vec<_> = entry.sources.iter().map(|source| link(source)).collect();
    let target = match (entry.target, sources.as_slice()) {
        (_, []) => return None,
        (Some(to), _) => link(to),
        (None, [only]) => only.clone(),
        (None, _) => "the same phase".to_owned(),
    };
    let when = entry.declared.when.as_ref();
    let when = when.map(|guard| format!(", when `{}`", guard_text(&guard.value)));
    let place = context.place(&entry.declared.span);
    Some(format!(
        "{} → {target}{} ({place})",
        sources.join(", "),
        when.unwrap_or_default()
    ))
}

fn edge(context: &Context<'_>, entry: &Entry<'_>) -> Value {
    let declared = entry.declared;
    let scope = Scope {
        fields: &context.fields,
        entry,
        is_only: context.names.len() == 1,
    };
    let guard = declared
        .when
        .as_ref()
        .map(|guard| seq(scope.guard(&guard.value)));
    let arguments = entry.arguments.iter().map(|argument| {
        let takes = match &argument.kind {
            ArgumentKind::OneOf(_) => words(argument).join("|"),
            ArgumentKind::Flag if !argument.optional => String::new(),
            _ => argument.name.value.clone(),
        };
        (argument.name.value.as_str(), takes)
    });
    context! {
        transition => &declared.name.value,
        from => seq(entry.sources.iter().map(|phase| type_of(phase))),
        to => entry.target.map(type_of),
        when => declared.when.as_ref().map_or(String::new(), |guard| guard_text(&guard.value)),
        requires => declared.requires.as_ref().map(|evidence| format!("{:?}", evidence.value)),
        by => seq(actors(&declared.by)),
        own => declared.own,
        arguments => pairs(arguments),
        message => context.message(declared.message.as_ref()),
        ends_turn => declared.ends_turn(),
        doc => &declared.doc,
        line => context.line(&declared.span),
        guard,
        set => scope.set(),
    }
}
