//! Questions to the user: their texts, and the transitions that answers take.

use std::collections::HashSet;
use std::fmt::Display;

use super::Check;
use super::behaviours::{constants, missing};
use crate::model::texts::interpolated;
use crate::model::{Actor, Argument, ArgumentKind, At, Behaviour, Call, Choice, Phase, Transition};

/// The longest header that the client's dialog shows, in characters.
const MAX_HEADER_CHARS: usize = 12;
/// The longest other text of a question, in characters.
const MAX_TEXT_CHARS: usize = 300;

pub(super) fn answers(check: &Check<'_>) {
    for (at, phase) in check.machine.phases.iter().enumerate() {
        let Some(behaviour) = phase.on_stop.as_ref().filter(|_| !phase.terminal) else {
            continue;
        };
        question(check, phase, behaviour);
        let choices = behaviour.choices().iter().map(Choice::call);
        let choices = choices.map(|call| (call, false));
        let text = behaviour.text().cloned();
        let text = text.map(|then| (Call { then, with: vec![] }, true));
        for (call, is_text) in choices.chain(text) {
            if let Some(edge) = check.find_edge(at, &call.then) {
                answer(check, &call, edge.declared, is_text);
            }
        }
    }
}

/// Checks the texts and the number of options of a question that the machine file asks.
fn question(check: &Check<'_>, phase: &Phase, behaviour: &Behaviour) {
    let Behaviour::Ask {
        question,
        header,
        options,
        ..
    } = behaviour
    else {
        return;
    };
    let keys = [question.is_some(), header.is_some(), options.is_some()];
    if keys.contains(&false) && !behaviour.asks_in_rust() {
        check.add("question_keys", &phase.name.span, &[&phase.name]);
    }
    let options = options.iter();
    for options in options.filter(|all| !(2..=4).contains(&all.len())) {
        check.add("question_options", &options.span, &[&options.len()]);
    }
    if let Some(question) = question {
        text(check, "question", question, MAX_TEXT_CHARS);
    }
    if let Some(header) = header {
        text(check, "header", header, MAX_HEADER_CHARS);
    }
    let mut labels = HashSet::new();
    for choice in behaviour.choices() {
        let label = &choice.label;
        text(check, "label", label, MAX_TEXT_CHARS);
        if let Some(description) = &choice.description {
            text(check, "description", description, MAX_TEXT_CHARS);
        }
        if !labels.insert(label.trim()) {
            check.add(
                "question_label",
                &label.span,
                &[&format!("{:?}", label.value)],
            );
        }
    }
}

/// Checks a text of a dialog. Fields in braces do not count.
fn text(check: &Check<'_>, key: &str, text: &At<impl AsRef<str>>, max_chars: usize) {
    let value = text.value.as_ref();
    let place = &text.span;
    let names = interpolated(value).unwrap_or_default();
    let in_braces: usize = names.iter().map(|(name, _)| name.len() + 2).sum();
    let chars = value.chars().count() - in_braces;
    let is_one_line = value.trim() == value && !value.chars().any(char::is_control);
    if value.is_empty() || !is_one_line || chars > max_chars {
        check.add("question_text", place, &[&key, &max_chars, &chars]);
    }
}

/// Checks a transition that an answer takes. An answer is of the user, has no evidence, and gives one text at most.
fn answer(check: &Check<'_>, call: &Call, entry: &Transition, is_text: bool) {
    let name = &call.then;
    constants(check, call, &entry.args);
    let add = |code, place, label, args: &[&dyn Display]| {
        check.add(code, &name.span, args);
        check.relate(place, label);
    };
    let declared = &entry.name.span;
    if !entry.by.iter().any(|actor| actor.value == Actor::Person) {
        add("answer_by", declared, "the transition", &[name]);
    }
    if let Some(needed) = &entry.requires {
        add("answer_evidence", &needed.span, "`requires`", &[name]);
    }
    let rest: Vec<&Argument> = missing(call, &entry.args).collect();
    match rest.as_slice() {
        [] if is_text => add("answer_text", declared, "the transition", &[name]),
        [] => {}
        [only] if only.kind == ArgumentKind::Text => {}
        [.., Argument { name: last, .. }] => {
            add("answer_args", &last.span, "the argument", &[name, last]);
        }
    }
}
