//! The machine in words: its fields, phases and transitions as the tables of `plugin/SPEC.md`.

use std::fmt::Write as _;

use super::Context;
use crate::diagnostic::{list, one_line};
use crate::model::{
    Actor, AtStart, Field, FieldKind, Form, Machine, call_text, constant_text, guard_text,
    kind_text, update_text,
};

/// Says which value a document has as null.
fn null(machine: &Machine, field: &Field) -> String {
    let value = field.null(machine);
    value.map_or_else(String::new, |(_, value)| {
        format!("; null for `{}`", cell(&constant_text(&value)))
    })
}

/// `; only in canary and rollout, else null`, or nothing.
fn within(field: &Field) -> String {
    let phases = field.within.as_ref().map(|phases| {
        let names: Vec<&str> = phases.iter().map(|phase| phase.as_str()).collect();
        format!("; only in {}, else null", list(&names))
    });
    phases.unwrap_or_default()
}

/// Text for a cell of a table: on one line, and nothing in it that ends the cell or that a terminal obeys.
fn cell(text: &str) -> String {
    one_line(&text.replace("\r\n", " ").replace('\n', " ")).replace('|', "\\|")
}

/// `SPEC.md`.
pub(super) fn markdown(context: &Context<'_>) -> String {
    let machine = context.machine;
    let mut text = String::new();
    let _ = writeln!(text, "# The `{}` machine\n", machine.name.value);
    let _ = writeln!(
        text,
        "Generated from `{}`. {}\n",
        context.options.file,
        one_line(&machine.doc.replace('\n', " "))
    );
    let state = &machine.state;
    let file = match &state.file {
        Some(file) => file.value.to_string(),
        None => format!("{}/<id>.{}", machine.folder(), state.extension()),
    };
    let _ = writeln!(
        text,
        "A loop is the file `{file}` below its root, {}.\n",
        match machine.state.form {
            Form::Lines => "one `key: value` a line",
            Form::Json => "one JSON object",
            Form::Frontmatter => "Markdown below YAML",
        },
    );

    let _ = writeln!(
        text,
        "## Fields\n\n| field | value | at the start | owned by |\n|---|---|---|---|"
    );
    let owned = super::owned(machine);
    for field in &machine.fields {
        let (name, held) = (&field.name.value, matches!(field.kind, FieldKind::Held(_)));
        let doc = if field.doc.is_empty() {
            String::new()
        } else {
            format!("{}; ", cell(&field.doc))
        };
        let start = match field.at_start {
            AtStart::Never => "",
            AtStart::Optional => "optional",
            AtStart::Required => "required",
        };
        let owner = if held {
            "the engine"
        } else if owned.contains(name) {
            "the machine"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "| `{name}` | {doc}{}{}{} | {start} | {owner} |",
            kind_text(&field.kind),
            null(machine, field),
            within(field)
        );
    }

    let _ = writeln!(
        text,
        "\n## Phases\n\n| phase | what it is | at a stop |\n|---|---|---|"
    );
    for phase in &machine.phases {
        let stop = match (&phase.on_stop, phase.terminal) {
            (_, true) => "the loop is over".to_owned(),
            (None, false) => "written in Rust".to_owned(),
            (Some(behaviour), false) => {
                let options = behaviour.choices().iter().map(|choice| {
                    format!(
                        "\"{}\": {}",
                        cell(&choice.label.value),
                        cell(&call_text(&choice.call()))
                    )
                });
                let others = behaviour.asks_in_rust();
                let others = others.then(|| "options of the program".to_owned());
                let typed = behaviour
                    .text()
                    .map(|then| format!("another text: `{}`", then.value));
                let options = options.chain(others).chain(typed);
                let outcomes = behaviour
                    .outcomes()
                    .into_iter()
                    .filter(|outcome| !outcome.calls.is_empty())
                    .map(|outcome| {
                        let calls = outcome.calls.iter();
                        let names: Vec<_> = calls.map(|call| cell(&call_text(call))).collect();
                        format!("{}: {}", outcome.name, names.join(", else "))
                    });
                let ways: Vec<_> = options.chain(outcomes).collect();
                format!("{}: {}", behaviour.name(), ways.join("; "))
            }
        };
        let _ = writeln!(
            text,
            "| `{}` | {} | {stop} |",
            phase.name.value,
            cell(&phase.doc)
        );
    }

    let _ = writeln!(
        text,
        "\n## Transitions\n\n| transition | from | to | when | needs | by | sets |\n|---|---|---|---|---|---|---|"
    );
    for edge in &context.edges {
        let declared = edge.declared;
        let phase = |index: usize| &machine.phases[index].name.value;
        let when = declared
            .when
            .as_ref()
            .map(|when| format!("`{}`", cell(&guard_text(&when.value))))
            .unwrap_or_default();
        let needs = declared.requires.as_ref();
        let needs = needs.map_or("", |evidence| evidence.value.word());
        let by: Vec<_> = declared
            .by
            .iter()
            .map(|actor| match actor.value {
                Actor::Agent => "agent",
                Actor::Person => "person",
            })
            .collect();
        let by = if by.is_empty() {
            "hook".to_owned()
        } else {
            by.join(", ")
        };
        let set: Vec<_> = declared
            .set
            .iter()
            .map(|(name, value)| format!("`{} = {}`", name.value, cell(&update_text(&value.value))))
            .collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {when} | {needs} | {by} | {} |",
            declared.name.value,
            phase(edge.from),
            phase(edge.to),
            set.join(", "),
        );
    }
    text
}
