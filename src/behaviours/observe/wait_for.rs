//! `wait-for`: whether a file is there, or a field says yes.

use super::Observed;
use crate::files::{Distrust, Folder, UntrustedError, if_there};
use crate::machine::table::FieldKind;
use crate::machine::{Raw, Refusal};
use crate::store::FieldValue as _;
use serde_json::Value;

/// What `wait-for` sees.
#[derive(Debug)]
pub enum WaitForSeen {
    /// The file is there, or the field says yes.
    There,
    /// Not yet.
    Waiting,
}

/// Returns whether what is waited for is there: `file`, a path template, or, where that is empty, `field`. claudex-build lets a
/// machine give exactly one of them.
///
/// # Errors
/// The system does not say whether the file is there.
pub fn wait_for(raw: &Raw, file: &str, field: &str) -> Result<Observed<WaitForSeen>, Refusal> {
    let there = if file.is_empty() {
        let field = raw.table().field(field);
        field.is_some_and(|field| says_yes(field.kind, &raw.value(field.name)))
    } else {
        is_file(raw, file)?
    };
    Ok(if there {
        WaitForSeen::There
    } else {
        WaitForSeen::Waiting
    }
    .into())
}

/// Returns whether a regular file is there, whatever it holds: an empty one is a sign, too. A folder is none, and a pipe or a device
/// is not opened to find out. A symlink is refused.
fn is_file(raw: &Raw, template: &str) -> Result<bool, Refusal> {
    // A field that is empty leaves nothing to look for, and must not name the root.
    if raw.fill(template).trim().is_empty() {
        return Ok(false);
    }
    let look = |(folder, name): (Folder, String)| match folder.look(&name)? {
        Some(found) if found.is_symlink() => folder.file(&name).map(|_| false),
        found => Ok(found.is_some_and(|found| found.is_file())),
    };
    let found = match if_there(raw.folder_of(template).and_then(look)) {
        // A file where a folder is to be: what is waited for cannot be below it yet.
        Err(error)
            if UntrustedError::of(&error)
                .is_some_and(|error| error.why == Distrust::NotAFolder) =>
        {
            Ok(None)
        }
        found => found,
    };
    found
        .map(Option::unwrap_or_default)
        .map_err(|source| Refusal::Observe {
            what: crate::text::one_line(raw.path(template).as_str(), 300),
            source,
        })
}

/// Returns whether a field says yes: true, more than nothing, or something.
fn says_yes(kind: FieldKind, value: &Value) -> bool {
    match kind {
        FieldKind::Flag => value.as_flag().unwrap_or_default(),
        FieldKind::Count => value.as_count().is_some_and(|count| count > 0),
        FieldKind::Text | FieldKind::Path => !value.to_plain().trim().is_empty(),
        // claudex-build refuses a machine that waits for one of these: they mean neither yes nor no.
        FieldKind::OneOf(_) | FieldKind::Data(_) | FieldKind::Held => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_says_yes_by_its_kind() {
        let yes = [
            (FieldKind::Flag, Value::from(true)),
            (FieldKind::Count, Value::from(1)),
            (FieldKind::Text, Value::from("no")),
            (FieldKind::Path, Value::from("/")),
        ];
        let no = [
            (FieldKind::Flag, Value::from(false)),
            (FieldKind::Count, Value::from(0)),
            (FieldKind::Text, Value::from("")),
            (FieldKind::Text, Value::from(" \t\n")),
            (FieldKind::Text, Value::Null),
            (FieldKind::Path, Value::Null),
            (FieldKind::OneOf(&["yes"]), Value::from("yes")),
            (FieldKind::Held, Value::from("x")),
        ];
        for (kind, value) in yes {
            assert!(says_yes(kind, &value), "{kind:?} {value:?}");
        }
        for (kind, value) in no {
            assert!(!says_yes(kind, &value), "{kind:?} {value:?}");
        }
    }
}
