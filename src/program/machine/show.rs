//! `machine show`: the whole machine, as Markdown for people or as JSON for programs.

use camino::Utf8PathBuf;
use claudex_build::model::{
    Active, Actor, ArgumentKind, AtStart, Behaviour, Call, Constant, Evidence, Field, FieldKind,
    Form, Held, IdForm, Options, Phase, word_of,
};
use claudex_build::{graph_hash, guard_text, line_of, update_text};
use serde_json::{Map, Value, json};

use super::{Own, Subject};
use crate::program::exit::{Exit, Failure};
use crate::program::out;

/// `machine show`
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A machine file; - is stdin [default: this program's own]
    file: Option<Utf8PathBuf>,
    /// Print everything as JSON: also documentation, on_stop, meta, lines and the graph hash
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, own: &Own) -> Result<Exit, Failure> {
    let subject = Subject::load(arguments.file.as_deref(), own)?;
    if arguments.json {
        out::json(&whole(&subject));
    } else {
        out::text(&claudex_build::spec(
            &subject.machine,
            &subject.source,
            &subject.file,
        ));
    }
    Ok(Exit::Complete)
}

/// Everything that a machine file says, `*` and `same` resolved to edges.
fn whole(subject: &Subject) -> Value {
    let machine = &subject.machine;
    let state = &machine.state;
    let modes = machine.modes.iter().map(|mode| {
        let initial = mode.initial.iter();
        json!({
            "name": mode.name.value,
            "doc": mode.doc,
            "start": mode.start.value,
            "by": mode.by.iter().map(|actor| word_of(&Actor::ALL, &actor.value)).collect::<Vec<_>>(),
            "initial": object(initial.map(|(name, value)| (name.value.clone(), constant(&value.value)))),
        })
    });
    json!({
        "file": subject.file,
        "name": machine.name.value,
        "doc": machine.doc,
        "graph_hash": graph_hash(machine),
        "messages": machine.messages,
        "state": {
            "folder": state.folder.value,
            "folder_env": state.folder_env.as_ref().map(|variable| &variable.value),
            "file": state.file.as_ref().map(|file| &file.value),
            "extension": state.extension.value,
            "form": word_of(&Form::ALL, &state.form.value),
            "ids": word_of(&IdForm::ALL, &state.ids.value),
            "edits": state.edits.iter().map(|edit| &edit.value).collect::<Vec<_>>(),
            "active": word_of(&Active::ALL, &state.active.value),
        },
        "modes": modes.collect::<Vec<_>>(),
        "fields": machine.fields.iter().map(field).collect::<Vec<_>>(),
        "phases": machine.phases.iter().map(|phase| self::phase(phase, &subject.source)).collect::<Vec<_>>(),
        "transitions": machine.transition_names(),
        "edges": edges(subject),
    })
}

fn field(field: &Field) -> Value {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), json!(field.name.value));
    entry.insert("doc".to_owned(), json!(field.doc));
    let (key, kind) = match &field.kind {
        FieldKind::OneOf(words) => (
            "one_of",
            json!(words.iter().map(|word| &word.value).collect::<Vec<_>>()),
        ),
        FieldKind::Data(kind) => ("data", json!(kind)),
        FieldKind::Held(held) => ("holds", json!(word_of(&Held::ALL, held))),
        plain => ("type", json!(word_of(&FieldKind::PLAIN, plain))),
    };
    entry.insert(key.to_owned(), kind);
    if let Some(initial) = &field.initial {
        entry.insert("initial".to_owned(), constant(&initial.value));
    }
    if let Some(null) = &field.null {
        entry.insert("null".to_owned(), constant(&null.value));
    }
    if field.at_start != AtStart::Never {
        entry.insert(
            "at_start".to_owned(),
            json!(word_of(&AtStart::ALL, &field.at_start)),
        );
    }
    if let Some(phases) = &field.within {
        let phases: Vec<_> = phases.iter().map(|phase| &phase.value).collect();
        entry.insert("in".to_owned(), json!(phases));
    }
    Value::Object(entry)
}

fn phase(phase: &Phase, source: &str) -> Value {
    let name = &phase.name.value;
    json!({
        "name": name,
        "doc": phase.doc,
        "terminal": phase.terminal,
        "stored": phase.stored.as_ref().map_or(name, |stored| &stored.value),
        "message": phase.message.as_ref().map(|message| &message.value),
        "on_stop": phase.on_stop.as_ref().map(behaviour),
        "meta": serde_json::from_str::<Value>(&phase.meta).unwrap_or_default(),
        "line": line_of(source, phase.span.start),
    })
}

/// A transition by its name, with what it is given where that is something.
fn call(call: &Call) -> Value {
    let then = &call.then.value;
    let with = call.with.iter();
    match call.with.as_slice() {
        [] => json!(then),
        _ => json!({
            "then": then,
            "with": object(with.map(|(name, value)| (name.value.clone(), constant(&value.value)))),
        }),
    }
}

fn behaviour(behaviour: &Behaviour) -> Value {
    let parameters = behaviour.parameters.iter();
    let choices = behaviour.choices().iter().map(|option| {
        json!({
            "label": option.label.value,
            "description": option.description.as_ref().map(|description| &description.value),
            "then": option.call.then.value,
            "with": object(option.call.with.iter().map(|(name, value)| (name.value.clone(), constant(&value.value)))),
        })
    });
    let of_field = match &behaviour.options {
        Options::Field { field, then } => json!({ "field": field.value, "then": then.value }),
        Options::None | Options::These(_) | Options::Program => Value::Null,
    };
    let outcomes = behaviour.outcomes.iter().map(|(name, transitions)| {
        let transitions: Vec<_> = transitions.iter().map(call).collect();
        (name.clone(), json!(transitions))
    });
    json!({
        "behaviour": behaviour.name.value,
        "parameters": object(parameters.map(|(name, value)| (name.value.clone(), json!(value.value)))),
        "options": choices.collect::<Vec<_>>(),
        "options_of": of_field,
        "text": behaviour.text.as_ref().map(|then| &then.value),
        "outcomes": object(outcomes),
    })
}

/// Each edge, in the order in which `machine coverage` counts them.
fn edges(subject: &Subject) -> Vec<Value> {
    let machine = &subject.machine;
    let edge = |edge: &claudex_build::model::Edge<'_>| {
        let declared = edge.declared;
        let by = declared.by.iter();
        let args = declared.args.iter().map(|argument| {
            let (key, kind) = match &argument.kind.value {
                ArgumentKind::OneOf(words) => ("one_of", json!(words)),
                plain => ("type", json!(word_of(&ArgumentKind::PLAIN, plain))),
            };
            let about = json!({ key: kind, "doc": argument.doc, "optional": argument.optional });
            (argument.name.value.clone(), about)
        });
        let set = declared
            .set
            .iter()
            .map(|(name, update)| (name.value.clone(), json!(update_text(&update.value))));
        json!({
            "transition": declared.name.value,
            "from": machine.phases[edge.from].name.value,
            "to": machine.phases[edge.to].name.value,
            "doc": declared.doc,
            "when": declared.when.as_ref().map(|guard| guard_text(&guard.value)),
            "requires": declared.requires.as_ref().map(|evidence| word_of(&Evidence::ALL, &evidence.value)),
            "by": by.map(|actor| word_of(&Actor::ALL, &actor.value)).collect::<Vec<_>>(),
            "own": declared.own,
            "args": object(args),
            "set": object(set),
            "append": declared.append.as_ref().map(|text| &text.value),
            "message": declared.message.as_ref().map(|message| &message.value),
            "ends_turn": declared.ends_turn,
            "line": line_of(&subject.source, declared.span.start),
        })
    };
    machine.edges().iter().map(edge).collect()
}

fn object(entries: impl Iterator<Item = (String, Value)>) -> Value {
    Value::Object(entries.collect())
}

fn constant(constant: &Constant) -> Value {
    match constant {
        Constant::Count(count) => json!(count),
        Constant::Text(text) => json!(text),
        Constant::Flag(flag) => json!(flag),
        Constant::Time(seconds) => json!(seconds),
        Constant::List(texts) => json!(texts),
    }
}
