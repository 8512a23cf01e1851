//! The values that a document has as null.

use super::{Index, types};
use crate::diagnostic::{Diagnostic, suggest};
use crate::model::{At, Constant, Field, FieldKind, Held};

pub(super) fn nulls(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    for field in &index.machine.fields {
        if let Some(null) = &field.null {
            check(index, field, null, found);
        }
    }
}

fn check(index: &Index<'_>, field: &Field, null: &At<Constant>, found: &mut Vec<Diagnostic>) {
    let name = &field.name.value;
    let mut bad = |message: String, help: String| {
        let one = null.problem("bad_null", message);
        found.push(one.help(help));
    };
    if field.within.is_some() {
        let message =
            format!("`{name}` is null where it does not exist, and can have no `null` besides");
        return bad(message, "leave `null` or `in` out".to_owned());
    }
    match (&field.kind, &null.value) {
        // Reading has refused it.
        (FieldKind::Data(_), _) => {}
        (FieldKind::Flag, _) => bad(
            format!("`{name}` is never null: a flag always has a value"),
            "leave `null` out".to_owned(),
        ),
        (FieldKind::Held(Held::Phase), Constant::Text(phase)) => {
            if !index.phases.contains_key(phase.as_str()) {
                let hint = suggest(phase, index.phases.keys().copied());
                let help = hint
                    .unwrap_or_else(|| "name the phase that the document has as null".to_owned());
                bad(format!("no phase is named `{phase}`"), help);
            }
        }
        (FieldKind::Held(Held::Phase), _) => bad(
            format!("`{name}` holds the phase, and its `null` is none"),
            "name the phase that the document has as null".to_owned(),
        ),
        (FieldKind::Held(_), _) => bad(
            format!(
                "`{name}` holds what the engine writes, which is never null by a machine’s choice"
            ),
            "leave `null` out; the field that holds the phase can have one".to_owned(),
        ),
        (FieldKind::Count | FieldKind::Text | FieldKind::Path | FieldKind::OneOf(_), _) => {
            types::constant(field, null, found);
        }
    }
}
