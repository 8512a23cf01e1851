//! The words of a machine file that stand for something, each once with its meaning: `source` reads by these lists, and
//! `schema` and the tools say what the words mean.

use super::{Active, Actor, ArgumentKind, AtStart, Evidence, FieldKind, Focus, Form, Held, IdForm};

impl Form {
    /// What `form` takes.
    pub const ALL: [(&'static str, Form); 3] = [
        ("lines", Form::Lines),
        ("json", Form::Json),
        ("frontmatter", Form::Frontmatter),
    ];

    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            Form::Lines => "`key: value` lines, which are YAML, too",
            Form::Json => "one JSON object",
            Form::Frontmatter => "Markdown below YAML that stands between two lines `---`",
        }
    }
}

impl Active {
    /// What `active` takes.
    pub const ALL: [(&'static str, Active); 3] = [
        ("one", Active::One),
        ("session", Active::Session),
        ("many", Active::Many),
    ];

    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            Active::One => "one in the project",
            Active::Session => "one of each session",
            Active::Many => "any number",
        }
    }
}

impl IdForm {
    /// What `ids` takes.
    pub const ALL: [(&'static str, IdForm); 2] = [("stamp", IdForm::Stamp), ("name", IdForm::Name)];

    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            IdForm::Stamp => "made by the engine: YYYYMMDD-HHMMSS-xxxxxx",
            IdForm::Name => "given by the caller: letters, digits, - and _",
        }
    }
}

impl Focus {
    /// What `focus` takes.
    pub const ALL: [(&'static str, Focus); 3] = [
        ("engineering", Focus::Engineering),
        ("security", Focus::Security),
        ("operations", Focus::Operations),
    ];

    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            Focus::Engineering => "steps, scope, acceptance, wording",
            Focus::Security => "access, secrets, data and its integrity",
            Focus::Operations => "deploying, watching, failing and going back",
        }
    }
}

impl FieldKind {
    /// What `type` takes.
    pub const PLAIN: [(&'static str, FieldKind); 7] = [
        ("count", FieldKind::Count),
        ("text", FieldKind::Text),
        ("path", FieldKind::Path),
        ("flag", FieldKind::Flag),
        ("time", FieldKind::Time),
        ("id", FieldKind::Id),
        ("list", FieldKind::List),
    ];

    /// What it means.
    pub fn doc(&self) -> &'static str {
        match self {
            FieldKind::Count => "a whole number from 0",
            FieldKind::Text => "any text",
            FieldKind::Path => "a path, from the loop's root or absolute",
            FieldKind::Flag => "true or false",
            FieldKind::Time => "a point in time, in whole seconds; may be not set",
            FieldKind::Id => "1 to 64 of letters, digits, - and _; may be empty",
            FieldKind::List => "texts in order",
            FieldKind::OneOf(_) => "one of some words",
            FieldKind::Data(_) => "data of a Rust type",
            FieldKind::Held(held) => held.doc(),
        }
    }
}

impl Held {
    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            Held::Mode => "the mode's name",
            Held::Phase => "the phase, in its stored form",
            Held::Id => "the loop's id",
            Held::Root => "the absolute path of the loop's root",
            Held::Session => "the session that owns the loop, or unknown",
            Held::Started => "when the loop was started, ISO 8601 in UTC",
            Held::StartedEpoch => "when the loop was started, in seconds since 1970",
            Held::Updated => "when the loop was last changed, ISO 8601 in UTC",
            Held::Revision => "how many changes the journal holds",
            Held::Visit => "the change that entered the phase, or began its round, by its revision",
            Held::Findings => {
                "the number of the findings file of the last review that a change rests on, 0: none"
            }
            Held::Run => "the id of the visit's last run that a change rests on, or nothing",
            Held::Machine => "the machine's name",
            Held::GraphHash => "which version of the machine wrote this",
        }
    }
}

impl AtStart {
    /// What `at_start` takes.
    pub const ALL: [(&'static str, AtStart); 2] = [
        ("optional", AtStart::Optional),
        ("required", AtStart::Required),
    ];

    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            AtStart::Never => "a start does not take it",
            AtStart::Optional => "a start may give it",
            AtStart::Required => "a start has to give it",
        }
    }
}

impl Evidence {
    /// What `requires` takes.
    pub const ALL: [(&'static str, Evidence); 3] = [
        ("reviewed", Evidence::Reviewed),
        ("settled", Evidence::Settled),
        ("verified", Evidence::Verified),
    ];

    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            Evidence::Reviewed => "a completed review of this round",
            Evidence::Settled => {
                "a completed review of this round, with nothing material open in what it reviewed"
            }
            Evidence::Verified => {
                "every command of this visit's newest verification passed, and the work tree is unchanged since it began"
            }
        }
    }
}

impl Actor {
    /// What `by` takes.
    pub const ALL: [(&'static str, Actor); 2] =
        [("agent", Actor::Agent), ("person", Actor::Person)];

    /// What it means.
    pub fn doc(self) -> &'static str {
        match self {
            Actor::Agent => "the coding agent",
            Actor::Person => "a person",
        }
    }
}

impl ArgumentKind {
    /// What an argument's type can be; `one_of` is a key of its own.
    pub const PLAIN: [(&'static str, ArgumentKind); 5] = [
        ("text", ArgumentKind::Text),
        ("count", ArgumentKind::Count),
        ("flag", ArgumentKind::Flag),
        ("path", ArgumentKind::Path),
        ("id", ArgumentKind::Id),
    ];

    /// What it means.
    pub fn doc(&self) -> &'static str {
        match self {
            ArgumentKind::Text => "any text",
            ArgumentKind::Count => "a whole number from 0",
            ArgumentKind::Flag => "true or false; a flag without a value",
            ArgumentKind::Path => "a path",
            ArgumentKind::Id => "1 to 64 of letters, digits, - and _",
            ArgumentKind::OneOf(_) => "one of some words",
        }
    }
}

/// The word that a list has for a value.
pub fn word_of<T: PartialEq>(all: &[(&'static str, T)], value: &T) -> &'static str {
    all.iter()
        .find(|(_, known)| known == value)
        .map_or("", |(word, _)| *word)
}
