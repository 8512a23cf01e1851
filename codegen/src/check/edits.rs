//! What an edit of the document by hand may change: fields whose every value the machine can stand.

use std::collections::HashSet;

use super::Index;
use crate::diagnostic::Diagnostic;
use crate::model::{At, FieldKind, guard_fields};

pub(super) fn edits(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    let mut read: HashSet<String> = HashSet::new();
    for guard in machine
        .transitions
        .iter()
        .filter_map(|entry| entry.when.as_ref())
    {
        guard_fields(&guard.value, &mut |name| _ = read.insert(name.to_owned()));
    }
    let mut bad = |name: &At<String>, message: String, help: &str| {
        let one = name.problem("bad_edit", message);
        found.push(one.help(help.to_owned()));
    };
    for name in &machine.state.edits {
        let Some(field) = index.fields.get(&*name.value) else {
            continue;
        };
        let shown = &name.value;
        match &field.kind {
            FieldKind::Count | FieldKind::Flag | FieldKind::OneOf(_) => {}
            FieldKind::Held(_) => bad(name, format!("`{shown}` is the engine's"), "leave it out"),
            _ => bad(
                name,
                format!("`{shown}` is no count, no flag and no `one_of`"),
                "leave it out: an edit of a field that no guard reads and no edge sets stays without this",
            ),
        }
        if field.kind == FieldKind::Count && field.max.is_none() && read.contains(shown) {
            bad(
                name,
                format!("a guard reads `{shown}`, and an edit could make it any count"),
                "say in [fields] what it may be: `min = 1, max = 99`",
            );
        }
        if field.within.is_some() {
            bad(
                name,
                format!("`{shown}` exists in some phases alone"),
                "leave its `in` out",
            );
        }
    }
    for field in &machine.fields {
        let Some(bound) = field.min.as_ref().or(field.max.as_ref()) else {
            continue;
        };
        let at = At::new(field.name.value.clone(), bound.span.clone());
        let listed = machine.state.edits.iter();
        if field.kind != FieldKind::Count
            || !listed.clone().any(|edit| edit.value == field.name.value)
        {
            bad(
                &at,
                format!("`min` and `max` of `{}` bound nothing", at.value),
                "they are for a count that `edits` of [state] lists",
            );
        }
        let (least, most) = field.counts();
        if least > most {
            bad(
                &at,
                format!("`{}` can have no value from {least} to {most}", at.value),
                "`min` is the smaller one",
            );
        }
    }
}
