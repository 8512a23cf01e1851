//! The behaviours that a phase's `on_stop` can name: their parameters and their outcomes.
//!
//! This is the one list. `source` reads `on_stop` by it, `emit` writes an exhaustive `match` over the outcomes from
//! it, and `claudex_loop::drive` has an enum for each; where the two drift apart, generated code does not compile.

/// A behaviour of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The key in `on_stop`.
    pub name: &'static str,
    /// Parameters that must be given.
    pub required: &'static [&'static str],
    /// Parameters that may be given.
    pub optional: &'static [&'static str],
    /// Outcomes, in the order in which `emit` writes them. Each is an optional key that names transitions.
    pub outcomes: &'static [Outcome],
    /// One line for the documentation.
    pub doc: &'static str,
}

/// An outcome of a behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The key in `on_stop`.
    pub name: &'static str,
    /// The evidence that comes with it: what the transitions named may require.
    pub evidence: Option<crate::model::Evidence>,
    /// Whether naming no transition is an error (otherwise the loop waits).
    pub required: bool,
    /// The outcome whose transitions are taken where this one names none.
    pub instead: Option<&'static str>,
}

const fn plain(name: &'static str, required: bool) -> Outcome {
    Outcome {
        name,
        evidence: None,
        required,
        instead: None,
    }
}

/// Every behaviour.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "require-file",
        required: &["path"],
        optional: &["before"],
        outcomes: &[plain("written", true), plain("missing", false)],
        doc: "Goes on once a file was written after the loop's start.",
    },
    Entry {
        name: "review",
        required: &["subject", "round"],
        optional: &[],
        outcomes: &[
            Outcome {
                name: "clean",
                evidence: Some(crate::model::Evidence::Settled),
                required: true,
                instead: None,
            },
            Outcome {
                name: "findings",
                evidence: Some(crate::model::Evidence::Reviewed),
                required: true,
                instead: None,
            },
            Outcome {
                name: "stalled",
                evidence: Some(crate::model::Evidence::Reviewed),
                required: false,
                instead: Some("findings"),
            },
            plain("nothing", false),
            plain("running", false),
            plain("failed", true),
        ],
        doc: "Looks at the round's review: what the reviewer found, whether it ran, whether it is still running.",
    },
    Entry {
        name: "approve",
        required: &[],
        optional: &[],
        outcomes: &[plain("then", true)],
        doc: "Takes a transition at once; the turn ends where the edge says so or its phase is terminal.",
    },
];

/// The behaviour of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}
