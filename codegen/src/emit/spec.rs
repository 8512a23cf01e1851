//! The machine in words: its fields, phases and transitions as the tables of `plugin/SPEC.md`.

use minijinja::{Value, context};

use super::{Context, SPEC, owned, pairs, render, seq};
use crate::diagnostic::{list, one_line};
use crate::model::{
    Actor, AtStart, Behaviour, Call, Edge, Field, FieldKind, Form, Phase, call_text, constant_text,
    guard_text, kind_text, update_text,
};

/// Returns `SPEC` and `DIAGRAM`.
pub(super) fn documents(context: &Context<'_>) -> Value {
    context! { spec => markdown(context), diagram => crate::diagram(context.machine) }
}

/// Returns the text of `SPEC.md`.
pub(super) fn markdown(context: &Context<'_>) -> String {
    let machine = context.machine;
    let state = &machine.state;
    let folder = || format!("{}/<id>.{}", machine.folder(), state.extension());
    let owned = owned(machine);
    let fields = machine.fields.iter().map(|one| field(context, one, &owned));
    let edges = machine.edges();
    let view = context! {
        name => &machine.name.value,
        file => context.file,
        doc => one_line(&machine.doc.replace('\n', " ")),
        document => state.file.as_ref().map_or_else(folder, |file| file.value.to_string()),
        form => match state.form {
            Form::Lines => "one `key: value` a line",
            Form::Json => "one JSON object",
            Form::Frontmatter => "Markdown below YAML",
        },
        fields => seq(fields),
        phases => seq(machine.phases.iter().map(phase)),
        edges => seq(edges.iter().map(|one| edge(context, one))),
    };
    render(SPEC, &view)
}

/// Returns text for a cell of a table: on one line, without characters that end the cell or that a terminal obeys.
pub(super) fn cell(text: &str) -> String {
    one_line(&text.replace("\r\n", " ").replace('\n', " ")).replace('|', "\\|")
}

fn field(context: &Context<'_>, field: &Field, owned: &[&str]) -> Value {
    let null = field.null(context.machine);
    let null = null.map(|(_, value)| format!("; null for `{}`", cell(&constant_text(&value))));
    let phases = field.within.as_ref().map(|phases| {
        let names: Vec<&str> = phases.iter().map(|phase| phase.as_str()).collect();
        format!("; only in {}, else null", list(&names))
    });
    context! {
        name => &field.name.value,
        doc => &field.doc,
        kind => kind_text(&field.kind),
        null => null.unwrap_or_default(),
        phases => phases.unwrap_or_default(),
        at_start => match field.at_start {
            AtStart::Never => "",
            AtStart::Optional => "optional",
            AtStart::Required => "required",
        },
        owner => match &field.kind {
            FieldKind::Held(_) => "the engine",
            _ if owned.contains(&field.name.as_str()) => "the machine",
            _ => "",
        },
    }
}

fn phase(phase: &Phase) -> Value {
    let stop = match (&phase.on_stop, phase.terminal) {
        (_, true) => "the loop is over".to_owned(),
        (None, false) => "written in Rust".to_owned(),
        (Some(behaviour), false) => format!("{}: {}", behaviour.name(), ways(behaviour)),
    };
    context! { name => &phase.name.value, doc => &phase.doc, stop }
}

/// Returns the answers and the outcomes of a behaviour, each with its transitions.
fn ways(behaviour: &Behaviour) -> String {
    let call = |call: &Call| cell(&call_text(call));
    let options = behaviour.choices().iter();
    let options = options.map(|choice| {
        format!(
            "\"{}\": {}",
            cell(&choice.label.value),
            call(&choice.call())
        )
    });
    let others = behaviour
        .asks_in_rust()
        .then(|| "options of the program".to_owned());
    let typed = behaviour
        .text()
        .map(|then| format!("another text: `{}`", then.value));
    let outcomes = behaviour
        .outcomes()
        .into_iter()
        .filter(|outcome| !outcome.calls.is_empty());
    let outcomes = outcomes.map(|outcome| {
        let names: Vec<_> = outcome.calls.iter().map(call).collect();
        format!("{}: {}", outcome.name, names.join(", else "))
    });
    let ways: Vec<_> = options.chain(others).chain(typed).chain(outcomes).collect();
    ways.join("; ")
}

fn edge(context: &Context<'_>, edge: &Edge<'_>) -> Value {
    let declared = edge.declared;
    let phase = |index: usize| &context.machine.phases[index].name.value;
    let by = declared.by.iter().map(|actor| match actor.value {
        Actor::Agent => "agent",
        Actor::Person => "person",
    });
    let set = declared.set.iter();
    let set = set.map(|(name, value)| (name.value.as_str(), update_text(&value.value)));
    context! {
        name => &declared.name.value,
        from => phase(edge.from),
        to => phase(edge.to),
        when => declared.when.as_ref().map_or(String::new(), |when| guard_text(&when.value)),
        needs => declared.requires.as_ref().map_or("", |evidence| evidence.value.word()),
        by => seq(by),
        set => pairs(set),
    }
}
