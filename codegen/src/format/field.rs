//! The keys of fields.

use super::{Table, Takes, key, told};
use crate::model::{AtStart, FieldKind, Held};

/// `fields.x`.
pub(crate) const FIELD: Table = Table {
    what: "a field",
    doc: "A field of the loop's document. It has exactly one of type, one_of, data and holds.",
    keys: &[
        key(
            "type",
            Takes::Word(plain_kinds),
            "What the field holds.",
            r#""count""#,
        ),
        key(
            "one_of",
            Takes::Choices,
            "The words that the field can hold, the first being the initial one.",
            r#"["none", "done"]"#,
        ),
        key(
            "data",
            Takes::Text,
            "The Rust type of what the field holds: data of the program's own, in scope where `machine!` stands. In documents of JSON and of frontmatter.",
            r#""Decisions""#,
        ),
        key(
            "holds",
            Takes::Word(|| told(&Held::ALL, Held::doc)),
            "What the engine itself keeps in this field.",
            r#""phase""#,
        ),
        key(
            "initial",
            Takes::Constant,
            "The value at the start. Absent: 0, false, the first word, empty text.",
            "1",
        ),
        key(
            "null",
            Takes::Constant,
            "The value that a document has as null: of a text, a path, a count, a one_of; of the field that holds the phase, a phase.",
            r#""""#,
        ),
        key(
            "at_start",
            Takes::Word(|| told(&AtStart::ALL, AtStart::doc)),
            "Whether a start takes the field. Absent: it does not.",
            r#""optional""#,
        ),
        key(
            "min",
            Takes::Count,
            "The smallest count that an edit by hand may give. Absent: 0.",
            "1",
        ),
        key(
            "max",
            Takes::Count,
            "The largest count that an edit by hand may give.",
            "99",
        ),
        key(
            "key",
            Takes::Place,
            "Where the field stands in a document of frontmatter, below other keys. Absent: under its name.",
            r#""loop.phase""#,
        ),
        key(
            "in",
            Takes::Phases,
            "The phases in which the field exists. Absent: in all of them.",
            r#"["reviewing"]"#,
        ),
        key(
            "doc",
            Takes::Text,
            "What the field is for.",
            r#""the round under way""#,
        ),
    ],
};

/// The keys of which a field has exactly one.
pub(crate) const FIELD_KINDS: [&str; 4] = ["type", "one_of", "data", "holds"];

/// The keys that a field with another key does not have, and what that says of it.
pub(crate) const WITHOUT: [(&str, &[&str], &str); 2] = [
    (
        "holds",
        &["initial", "at_start", "in", "min", "max"],
        "holds what the engine writes",
    ),
    (
        "data",
        &["initial", "null", "at_start", "in", "min", "max"],
        "holds data, whose first value is its type’s default",
    ),
];

fn plain_kinds() -> Vec<(&'static str, &'static str)> {
    FieldKind::PLAIN
        .iter()
        .map(|(word, kind)| (*word, kind.doc()))
        .collect()
}
