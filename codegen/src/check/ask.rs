//! Questions: what the client's dialog takes, and options that a person may take.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use super::Index;
use super::behaviours::{constants, no_edge, open};
use crate::diagnostic::Diagnostic;
use crate::model::texts::{Template, interpolated};
use crate::model::{Actor, Argument, ArgumentKind, At, Behaviour, Call, Choice, Edge, Phase};

/// The longest header of the client's dialog, in characters.
const HEADER: usize = 12;
/// The longest text, in characters: more is no question.
const LONGEST: usize = 300;

/// Says nothing of transitions that are adrift: where they lead has been reported.
pub(super) fn questions(
    index: &Index<'_>,
    edges: &[Edge<'_>],
    adrift: &HashSet<String>,
    found: &mut Vec<Diagnostic>,
) {
    let asking = index
        .machine
        .phases
        .iter()
        .enumerate()
        .filter_map(|(source, phase)| {
            let behaviour = phase.on_stop.as_ref().filter(|_| !phase.terminal)?;
            behaviour.asks().then_some((source, phase, behaviour))
        });
    for (source, phase, behaviour) in asking {
        words(phase, behaviour, found);
        for then in behaviour.answers() {
            let name = then.as_str();
            if !index.transitions.contains_key(name) || adrift.contains(name) {
                continue;
            }
            let edge = edges
                .iter()
                .find(|edge| edge.from == source && edge.declared.name.value == name);
            match edge {
                None => found.push(no_edge(index, name, &phase.name.value, then.span.clone())),
                Some(edge) => {
                    let typed = behaviour.text().is_some_and(|text| text.span == then.span);
                    let mut choices = behaviour.choices().iter().map(Choice::call);
                    let call = choices.find(|call| call.then.span == then.span);
                    let call = call.unwrap_or_else(|| Call {
                        then: then.clone(),
                        with: Vec::new(),
                    });
                    open_to_persons(phase, &call, edge, typed, found);
                }
            }
        }
    }
}

fn finding(span: &Range<usize>, message: String) -> Diagnostic {
    Diagnostic::new("question", span.clone(), message)
}

/// How many options a question of the client's dialog has.
const OPTIONS: RangeInclusive<usize> = 2..=4;

/// Checks the texts and the number of options of a question that the machine file asks.
fn words(phase: &Phase, behaviour: &Behaviour, found: &mut Vec<Diagnostic>) {
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
            found.push(finding(&phase.name.span, message).help(format!(
                "add `{key}`; or remove `question`, `header` and `options`, and the program asks, in Rust"
            )));
        }
    }
    if let Some(options) = options
        .as_ref()
        .filter(|all| !OPTIONS.contains(&all.value.len()))
    {
        let message = format!("the number of options is {}", options.value.len());
        found
            .push(finding(&options.span, message).help(
                "a question has 2 to 4 options; a user can always answer in their own words",
            ));
    }
    if let Some(question) = question {
        template("question", question, found);
    }
    if let Some(header) = header {
        template("header", header, found);
        let names = interpolated(&header.value).unwrap_or_default();
        let filled: usize = names.iter().map(|(name, _)| name.chars().count() + 2).sum();
        let length = header.value.chars().count() - filled;
        if length > HEADER {
            let message = format!("`header` has {length} characters");
            let help =
                format!("{HEADER} are the most that the dialog shows; the question has the room");
            found.push(finding(&header.span, message).help(help));
        }
    }
    let mut labels: HashMap<&str, &Range<usize>> = HashMap::new();
    for choice in behaviour.choices() {
        text("label", &choice.label, found);
        if let Some(description) = &choice.description {
            text("description", description, found);
        }
        if let Some(first) = labels.insert(choice.label.value.trim(), &choice.label.span) {
            let message = format!("the label {:?} stands there twice", choice.label.value);
            let one = finding(&choice.label.span, message).related(first.clone(), "the first");
            found
                .push(one.help("an answer is known by its label: give each option one of its own"));
        }
    }
}

fn template(key: &str, template: &At<Template>, found: &mut Vec<Diagnostic>) {
    let value = template.value.to_string();
    text(key, &At::new(value, template.span.clone()), found);
}

/// A text that people read in a dialog: something, not endless, on one line.
fn text(key: &str, text: &At<String>, found: &mut Vec<Diagnostic>) {
    let (value, span) = (&text.value, &text.span);
    if value.trim().is_empty() {
        found.push(
            finding(span, format!("`{key}` is empty")).help("say what the person is to read"),
        );
    } else if value.trim() != value {
        let message = format!("`{key}` begins or ends with white space");
        found.push(finding(span, message).help("take it out: nobody sees it"));
    } else if value.chars().any(char::is_control) {
        let message = format!("`{key}` has a control character or a line end in it");
        found.push(finding(span, message).help("write it on one line"));
    } else if value.chars().count() > LONGEST {
        let message = format!("`{key}` has {} characters", value.chars().count());
        found.push(finding(span, message).help(format!("{LONGEST} are the most")));
    }
}

/// An answer is a person's, and gives no evidence and one argument at most: its label, or what was typed.
fn open_to_persons(
    phase: &Phase,
    call: &Call,
    edge: &Edge<'_>,
    typed: bool,
    found: &mut Vec<Diagnostic>,
) {
    let (name, span) = (&call.then.value, &call.then.span);
    let declared = edge.declared;
    constants(call, &declared.args, found);
    let mut wrong = |place: &Range<usize>, message: String, label: &str, help: String| {
        let one = Diagnostic::new("option", span.clone(), message);
        found.push(one.related(place.clone(), label).help(help));
    };
    if !declared.by.iter().any(|actor| actor.value == Actor::Person) {
        let help = format!("add `by = [\"person\"]` to `{name}`, or name another transition");
        let message = format!("an answer is a person's, and `{name}` is not open to persons");
        wrong(&declared.name.span, message, "declared here", help);
    }
    if let Some(needs) = &declared.requires {
        let message = format!("`{name}` requires evidence, and an answer gives none");
        let help = format!("name a transition of `{}` without `requires`", phase.name);
        wrong(&needs.span, message, "required here", help);
    }
    let help = format!(
        "name a transition of `{}` with one argument of the type text{}",
        phase.name,
        if typed { "" } else { ", or without `args`" }
    );
    let rest: Vec<&Argument> = open(call, &declared.args).collect();
    match rest.as_slice() {
        [] if typed => {
            let message = format!("`{name}` takes no argument, and `text` has to be put into one");
            wrong(&declared.name.span, message, "declared here", help);
        }
        [] => {}
        [only] if only.kind == ArgumentKind::Text => {}
        [.., argument] => {
            let message = format!("`{name}` takes more than an answer, which is one text");
            let help = format!(
                "{help}; one of a list of options may give the rest: `with = {{ {} = ... }}`",
                argument.name
            );
            wrong(&argument.name.span, message, "the argument", help);
        }
    }
}
