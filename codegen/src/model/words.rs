//! The words of a machine file that stand for something: `source` reads by these lists.

use super::{Active, Actor, ArgumentKind, AtStart, Evidence, FieldKind, Focus, Form, IdForm};

impl Form {
    /// What `form` takes.
    pub const ALL: [(&'static str, Form); 3] = [
        ("lines", Form::Lines),
        ("json", Form::Json),
        ("frontmatter", Form::Frontmatter),
    ];
}

impl Active {
    /// What `active` takes.
    pub const ALL: [(&'static str, Active); 3] = [
        ("one", Active::One),
        ("session", Active::Session),
        ("many", Active::Many),
    ];
}

impl IdForm {
    /// What `ids` takes.
    pub const ALL: [(&'static str, IdForm); 2] = [("stamp", IdForm::Stamp), ("name", IdForm::Name)];
}

impl Focus {
    /// What `focus` takes.
    pub const ALL: [(&'static str, Focus); 3] = [
        ("engineering", Focus::Engineering),
        ("security", Focus::Security),
        ("operations", Focus::Operations),
    ];
}

impl FieldKind {
    /// What `type` takes.
    pub const PLAIN: [(&'static str, FieldKind); 4] = [
        ("count", FieldKind::Count),
        ("text", FieldKind::Text),
        ("path", FieldKind::Path),
        ("flag", FieldKind::Flag),
    ];
}

impl AtStart {
    /// What `at_start` takes.
    pub const ALL: [(&'static str, AtStart); 2] = [
        ("optional", AtStart::Optional),
        ("required", AtStart::Required),
    ];
}

impl Evidence {
    /// What `requires` takes.
    pub const ALL: [(&'static str, Evidence); 3] = [
        ("reviewed", Evidence::Reviewed),
        ("settled", Evidence::Settled),
        ("verified", Evidence::Verified),
    ];
}

impl Actor {
    /// What `by` takes.
    pub const ALL: [(&'static str, Actor); 2] =
        [("agent", Actor::Agent), ("person", Actor::Person)];
}

impl ArgumentKind {
    /// What an argument's type can be; `one_of` is a key of its own.
    pub const PLAIN: [(&'static str, ArgumentKind); 4] = [
        ("text", ArgumentKind::Text),
        ("count", ArgumentKind::Count),
        ("flag", ArgumentKind::Flag),
        ("path", ArgumentKind::Path),
    ];
}

/// The word that a list has for a value.
pub fn word_of<T: PartialEq>(all: &[(&'static str, T)], value: &T) -> &'static str {
    all.iter()
        .find(|(_, known)| known == value)
        .map_or("", |(word, _)| *word)
}
