//! `wait-for`: whether a file is there, or a field says yes.

use std::io;

use serde_json::Value;

use super::Observed;
use crate::behaviours::command_runs::unobserved;
use crate::files::{Distrust, UntrustedError, if_there};
use crate::machine::table::FieldKind;
use crate::machine::{Raw, Refusal};
use crate::store::FieldValue as _;
use crate::text;

/// The outcome of `wait-for`.
#[derive(Debug)]
pub enum WaitForSeen {
    /// The file is there, or the field says yes.
    There,
    /// The file is not there, or the field says no.
    Waiting,
}

/// Returns whether `file`, a path template, is there, or, if that is empty, whether `field` says yes. claudex-build lets a
/// machine give exactly one of them.
///
/// # Errors
/// Returns an error if the system does not say whether the file is there, or a symlink is in the way.
pub fn wait_for(raw: &Raw, file: &str, field: &str) -> Result<Observed<WaitForSeen>, Refusal> {
    let is_there = if file.is_empty() {
        let field = raw.table().field(field);
        field.is_some_and(|field| says_yes(field.kind, &raw.value(field.name)))
    } else {
        let what = text::one_line(raw.path(file).as_str(), 300);
        is_file(raw, file).map_err(unobserved(&what))?
    };
    Ok(match is_there {
        true => WaitForSeen::There.into(),
        false => WaitForSeen::Waiting.into(),
    })
}

/// Returns whether a regular file is there, whatever it holds: an empty one is a sign, too. A folder is none, and a pipe or a
/// device is not opened to find out.
fn is_file(raw: &Raw, template: &str) -> io::Result<bool> {
    // A field that is empty leaves nothing to look for, and must not name the root.
    if raw.fill(template).trim().is_empty() {
        return Ok(false);
    }
    let (folder, name) = match if_there(raw.folder_of(template)) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(false),
        // A file is where a folder is to be: what is waited for cannot be below it yet.
        Err(error) if is_no_folder(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    match folder.look(&name)? {
        // Opening a symlink is an error, which names it.
        Some(found) if found.is_symlink() => folder.file(&name).map(|_| false),
        found => Ok(found.is_some_and(|found| found.is_file())),
    }
}

fn is_no_folder(error: &io::Error) -> bool {
    UntrustedError::of(error).is_some_and(|error| error.why == Distrust::NotAFolder)
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
