//! Words of a machine file: the values of keys that take one of a few.

use serde::{Deserialize, Serialize};

/// Defines enums whose variants are words.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)*
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
    /// What the built-in reviewer looks at.
    #[derive(Default)]
    Focus {
        /// Steps, scope, acceptance, wording.
        #[default]
        Engineering = "engineering",
        /// Access, secrets, data and its integrity.
        Security = "security",
        /// Deployment, monitoring, failures and rollbacks.
        Operations = "operations",
    }

    /// The lowest severity of a finding that blocks.
    Blocking {
        /// Every finding blocks.
        Low = "low",
        /// Medium and high findings block.
        Medium = "medium",
        /// High findings block.
        High = "high",
    }

    /// What becomes of the findings of earlier rounds.
    Earlier {
        /// The next round gets them.
        Carry = "carry",
        /// Each round starts without them.
        Fresh = "fresh",
    }

    /// What a transition does with the turn.
    Turn {
        /// The turn may end although the phase that is entered is not terminal.
        End = "end",
    }

    /// The evidence that an edge needs.
    Evidence {
        /// A review.
        Reviewed = "reviewed",
        /// A review without findings.
        Settled = "settled",
        /// A run of the commands that verify the work.
        Verified = "verified",
    }

    /// An actor that may take an edge by a verb.
    Actor {
        /// The coding agent.
        Agent = "agent",
        /// The user.
        Person = "person",
    }

    /// A comparison's sign.
    Sign {
        /// `==`
        Equal = "==",
        /// `!=`
        NotEqual = "!=",
        /// `<`
        Less = "<",
        /// `<=`
        LessOrEqual = "<=",
        /// `>`
        Greater = ">",
        /// `>=`
        GreaterOrEqual = ">=",
    }

    /// What the engine keeps in a state document.
    Held {
        /// The name of the mode.
        Mode = "mode",
        /// The phase, in its stored form.
        Phase = "phase",
        /// The id of the loop.
        Id = "id",
        /// The absolute path of the loop's root.
        Root = "root",
        /// The session that owns the loop, or `unknown`.
        Session = "session",
        /// The time of the start, ISO 8601 UTC.
        Started = "started",
        /// The time of the start, in seconds since 1970.
        StartedEpoch = "started-epoch",
        /// The time of the last change, ISO 8601 UTC.
        Updated = "updated",
        /// The number of changes in the journal.
        Revision = "revision",
        /// The revision with which the visit of the phase began.
        Visit = "visit",
        /// The number of the findings file of the last review that a change rests on.
        Findings = "findings",
        /// The last run of the visit that a change rests on.
        Run = "run",
        /// The name of the machine.
        Machine = "machine",
        /// The graph hash of the machine.
        GraphHash = "graph-hash",
    }

    /// Whether a start takes a field.
    #[derive(Default)]
    AtStart {
        /// It does not.
        #[default]
        #[serde(skip_deserializing)]
        Never = "never",
        /// It may.
        Optional = "optional",
        /// It must.
        Required = "required",
    }

    /// How many loops may be active in one project.
    #[derive(Default)]
    Active {
        /// One.
        #[default]
        One = "one",
        /// One of each session.
        Session = "session",
        /// Any number.
        Many = "many",
    }

    /// The form of a state document.
    #[derive(Default)]
    Form {
        /// `key: value` lines that are also valid YAML.
        #[default]
        Lines = "lines",
        /// One JSON object.
        Json = "json",
        /// Markdown below YAML.
        Frontmatter = "frontmatter",
    }

    /// The form of ids.
    #[derive(Default)]
    IdForm {
        /// `YYYYMMDD-HHMMSS-xxxxxx`, made by the engine.
        #[default]
        Stamp = "stamp",
        /// `[A-Za-z0-9_-]+`, chosen by the caller.
        Name = "name",
    }
}

impl Held {
    /// What every machine needs a field for.
    pub const REQUIRED: [Self; 6] = [
        Self::Phase,
        Self::Id,
        Self::Root,
        Self::Session,
        Self::Revision,
        Self::Machine,
    ];
}

impl Evidence {
    /// Returns whether this evidence is enough. What is settled is also reviewed; what is verified is neither.
    pub fn suffices(self, needed: Evidence) -> bool {
        self == needed || (self, needed) == (Evidence::Settled, Evidence::Reviewed)
    }
}
