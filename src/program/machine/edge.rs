//! An edge in words, for `machine explain`.

use std::fmt::Write as _;

use claudex_build::model::{Actor, Edge, Evidence, word_of};
use claudex_build::{guard_text, update_text};

use super::Subject;
use crate::text::one_line;

/// Who takes the edge, when, with what, and what it changes, a line each, indented.
pub(super) fn details(subject: &Subject, edge: &Edge<'_>) -> String {
    let declared = edge.declared;
    let mut text = String::new();
    let mut say = |what: &str, value: &str| {
        let _ = writeln!(text, "      {what:<8} {value}");
    };
    if !declared.doc.is_empty() {
        say("means", &one_line(&declared.doc, usize::MAX));
    }
    say("taken by", &who(edge));
    if let Some(guard) = &declared.when {
        say("when", &guard_text(&guard.value));
    }
    if let Some(evidence) = &declared.requires {
        let word = word_of(&Evidence::ALL, &evidence.value);
        say("needs", &format!("{word}: {}", evidence.value.doc()));
    }
    for argument in &declared.args {
        let (name, kind) = (&argument.name.value, argument.kind.value.doc());
        let optional = if argument.optional {
            ", may be left out"
        } else {
            ""
        };
        let doc = match one_line(&argument.doc, usize::MAX) {
            doc if doc.is_empty() => doc,
            doc => format!(": {doc}"),
        };
        say("with", &format!("{name}, {kind}{optional}{doc}"));
    }
    let set = declared.set.iter();
    let set: Vec<_> = set
        .map(|(name, update)| format!("{} = {}", name.value, update_text(&update.value)))
        .collect();
    if !set.is_empty() {
        say("sets", &set.join(", "));
    }
    if let Some(message) = &declared.message {
        say("says", &template(subject, &message.value));
    }
    let terminal = subject.machine.phases[edge.to].terminal;
    if declared.ends_turn && !terminal {
        say(
            "then",
            "the agent's turn may end, although the loop goes on",
        );
    }
    text
}

/// Who takes an edge.
fn who(edge: &Edge<'_>) -> String {
    let mut by: Vec<Actor> = edge.declared.by.iter().map(|actor| actor.value).collect();
    by.sort_unstable();
    if by.is_empty() {
        return "the hook, when the agent stops".to_owned();
    }
    let who: Vec<&str> = by.into_iter().map(Actor::doc).collect();
    let how = match (
        edge.declared.own,
        edge.declared.name.value.replace('_', "-"),
    ) {
        (true, _) => "as the program itself offers it".to_owned(),
        (false, verb) => format!("with the verb `{verb}`"),
    };
    format!("{}, {how}", who.join(" or "))
}

/// Where a template lies.
pub(super) fn template(subject: &Subject, name: &str) -> String {
    match subject.machine.messages.trim_matches('/') {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}
