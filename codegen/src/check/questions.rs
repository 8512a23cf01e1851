//! Questions to the user: their texts, and the transitions that answers take.

use std::collections::HashMap;
use std::ops::Range;

use super::behaviours::{constants, missing};
use super::{Index, Problems};
use crate::model::texts::interpolated;
use crate::model::{Actor, Argument, ArgumentKind, At, Behaviour, Call, Choice, Phase, Transition};

/// The longest header that the client's dialog shows, in characters.
const MAX_HEADER_CHARS: usize = 12;
/// The longest other text of a question, in characters.
const MAX_TEXT_CHARS: usize = 300;

pub(super) fn questions(index: &Index<'_>, found: &mut Problems) {
    for (at, phase) in index.machine.phases.iter().enumerate() {
        let behaviour = phase.on_stop.as_ref().filter(|behaviour| behaviour.asks());
        let Some(behaviour) = behaviour.filter(|_| !phase.terminal) else {
            continue;
        };
        texts(phase, behaviour, found);
        let choices = behaviour.choices().iter().map(Choice::call);
        let text = behaviour.text().map(|then| Call {
            then: then.clone(),
            with: Vec::new(),
        });
        for call in choices.chain(text) {
            let is_text = behaviour
                .text()
                .is_some_and(|text| text.span == call.then.span);
            if let Some(edge) = index.find_edge(at, &call.then, found) {
                answer(phase, &call, edge.declared, is_text, found);
            }
        }
    }
}

/// Checks the texts and the number of options of a question that the machine file asks.
fn texts(phase: &Phase, behaviour: &Behaviour, found: &mut Problems) {
    let Behaviour::Ask {
        question,
        header,
        options,
        ..
    } = behaviour
    else {
        return;
    };
    for (key, is_missing) in [
        ("question", question.is_none()),
        ("header", header.is_none()),
        ("options", options.is_none()),
    ] {
        if is_missing && !behaviour.asks_in_rust() {
            let message = format!("the question of `{}` has no `{key}`", phase.name);
            let help = format!(
                "add `{key}`; or remove `question`, `header` and `options`, and the program asks, in Rust"
            );
            found.add("question", &phase.name.span, message, help);
        }
    }
    if let Some(options) = options
        .as_ref()
        .filter(|all| !(2..=4).contains(&all.value.len()))
    {
        let message = format!(
            "the question has {} options, not 2 to 4",
            options.value.len()
        );
        let help = "change the options; a user can always answer in other words";
        found.add("question", &options.span, message, help);
    }
    if let Some(question) = question {
        text("question", question, MAX_TEXT_CHARS, found);
    }
    if let Some(header) = header {
        text("header", header, MAX_HEADER_CHARS, found);
    }
    let mut labels: HashMap<&str, &Range<usize>> = HashMap::new();
    for choice in behaviour.choices() {
        let label = &choice.label;
        text("label", label, MAX_TEXT_CHARS, found);
        if let Some(description) = &choice.description {
            text("description", description, MAX_TEXT_CHARS, found);
        }
        if let Some(first) = labels.insert(label.trim(), &label.span) {
            let message = format!("two options have the label {:?}", label.value);
            found.add(
                "question",
                &label.span,
                message,
                "give each option another label",
            );
            found.relate(first, "the first option");
        }
    }
}

/// Checks a text of a dialog. Fields in braces do not count.
fn text(key: &str, text: &At<impl AsRef<str>>, max_chars: usize, found: &mut Problems) {
    let value = text.value.as_ref();
    let names = interpolated(value).unwrap_or_default();
    let in_braces: usize = names.iter().map(|(name, _)| name.len() + 2).sum();
    let chars = value.chars().count() - in_braces;
    let message = if value.trim() != value || value.is_empty() {
        format!("`{key}` is empty, or starts or ends with white space")
    } else if value.chars().any(char::is_control) {
        format!("`{key}` has a line end or another control character")
    } else if chars > max_chars {
        format!("`{key}` has {chars} characters")
    } else {
        return;
    };
    let help = format!("write one line of 1 to {max_chars} characters");
    found.add("question", &text.span, message, help);
}

/// Checks a transition that an answer takes. An answer is of the user, has no evidence, and gives one text at most.
fn answer(phase: &Phase, call: &Call, entry: &Transition, is_text: bool, found: &mut Problems) {
    let name = &call.then;
    constants(call, &entry.args, found);
    let mut add = |message: String, help: String, place: &Range<usize>, label: &str| {
        found.add("option", &name.span, message, help);
        found.relate(place, label);
    };
    if !entry.by.iter().any(|actor| actor.value == Actor::Person) {
        let message = format!("an answer takes `{name}`, but the user may not take it");
        let help = format!("add `by = [\"person\"]` to `{name}`, or name another transition");
        add(message, help, &entry.name.span, "the transition");
    }
    if let Some(needed) = &entry.requires {
        let message = format!("`{name}` requires evidence, but an answer has none");
        let help = format!("name a transition of `{}` without `requires`", phase.name);
        add(message, help, &needed.span, "`requires`");
    }
    let rest: Vec<&Argument> = missing(call, &entry.args).collect();
    match rest.as_slice() {
        [] if is_text => {
            let message = format!("`{name}` has no argument for the text of the answer");
            let help = format!(
                "name a transition of `{}` with one argument of the type text",
                phase.name
            );
            add(message, help, &entry.name.span, "the transition");
        }
        [] => {}
        [only] if only.kind == ArgumentKind::Text => {}
        [.., argument] => {
            let message =
                format!("an answer gives one text at most, but `{name}` has more arguments");
            let help = format!(
                "give the others in an option: `with = {{ {} = ... }}`, or name another transition",
                argument.name
            );
            add(message, help, &argument.name.span, "the argument");
        }
    }
}
