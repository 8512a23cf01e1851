//! Words of a machine file: the values of keys that take one of a few.

use serde::{Deserialize, Serialize};

/// Defines enums whose variants are words of the file. Each variant is documented by its word.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$attr:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`")] $(#[$attr])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every word, in the order of the declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the word as the file has it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.word()
            }
        }
    )*};
}

words! {
    /// The checks of the built-in reviewer.
    #[derive(Default)]
    Focus {
        #[default]
        Engineering = "engineering",
        Security = "security",
        Operations = "operations",
    }

    /// The lowest severity of a finding that blocks.
    Blocking { Low = "low", Medium = "medium", High = "high", }

    /// Whether the next round gets the findings of earlier rounds.
    Earlier { Carry = "carry", Fresh = "fresh", }

    /// A value that the program gives in Rust.
    FromProgram { Program = "{program}", }

    /// The effect of a transition on the turn, which may end in a phase that is not terminal.
    Turn { End = "end", }

    /// The evidence that an edge needs: a review, or a review without findings, which is more.
    Evidence { Reviewed = "reviewed", Settled = "settled", }

    /// An actor that may take an edge by a verb: the coding agent, or the user.
    Actor { Agent = "agent", Person = "person", }

    /// The sign of a comparison.
    Sign {
        Equal = "==",
        NotEqual = "!=",
        Less = "<",
        LessOrEqual = "<=",
        Greater = ">",
        GreaterOrEqual = ">=",
    }

    /// A value that the engine keeps in a state document. docs/machine-toml.md describes each.
    EngineField {
        Mode = "mode",
        Phase = "phase",
        Id = "id",
        Root = "root",
        Session = "session",
        Started = "started",
        StartedEpoch = "started-epoch",
        Updated = "updated",
        Revision = "revision",
        Visit = "visit",
        Findings = "findings",
        Run = "run",
        Machine = "machine",
        GraphHash = "graph-hash",
    }

    /// Whether a start takes a field.
    #[derive(Default)]
    AtStart {
        #[default]
        #[serde(skip_deserializing)]
        Never = "never",
        Optional = "optional",
        Required = "required",
    }

    /// The number of active loops in one project: one, one of each session, or any number.
    #[derive(Default)]
    Active { #[default] One = "one", Session = "session", Many = "many", }

    /// The form of a state document: `key: value` lines, one JSON object, or Markdown below YAML.
    #[derive(Default)]
    Form { #[default] Lines = "lines", Json = "json", Frontmatter = "frontmatter", }

    /// The form of ids: the engine's `YYYYMMDD-HHMMSS-xxxxxx`, or the caller's `[A-Za-z0-9_-]+`.
    #[derive(Default)]
    IdForm { #[default] Stamp = "stamp", Name = "name", }
}

impl EngineField {
    /// The values for which every machine needs a field.
    pub const REQUIRED: [Self; 6] = [
        Self::Phase,
        Self::Id,
        Self::Root,
        Self::Session,
        Self::Revision,
        Self::Machine,
    ];
}
