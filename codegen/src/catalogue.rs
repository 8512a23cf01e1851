//! The behaviours that a phase's `on_stop` can name: their parameters and their outcomes.
//!
//! This is the one list. `source` reads `on_stop` by it, `check` looks at what it says of turns, `emit` writes an exhaustive
//! `match` over the outcomes from it, and `claudex_loop::behaviours` has an enum for each;
//! where the two drift apart, generated code does not compile.

use crate::model::Evidence;

/// A behaviour of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The key in `on_stop`.
    pub name: &'static str,
    /// Parameters that must be given.
    pub required: &'static [Parameter],
    /// Parameters that may be given.
    pub optional: &'static [Parameter],
    /// Parameters of which exactly one must be given; they stand in `optional`, too.
    pub one_of: &'static [&'static str],
    /// Says whether it has `options`, choices of a person that each take a transition. Without `options`, `required` and `then` the
    /// program asks.
    pub options: bool,
    /// Whether it has `personas`, a list of those that review here.
    pub personas: bool,
    /// Outcomes, in the order in which `emit` writes them. Each is an optional key that names transitions.
    pub outcomes: &'static [Outcome],
    /// What the transitions of its outcomes must do with the turn.
    pub turn: Turn,
}

/// A parameter of a behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The key.
    pub name: &'static str,
    /// What its text means.
    pub kind: ParameterKind,
    /// Names that may stand in braces besides the fields'; no field may have one of them.
    pub names: &'static [&'static str],
}

/// What the text of a parameter means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A text that the behaviour looks by; `{field}` is filled in.
    Template,
    /// One such text, or several.
    Templates,
    /// A text that is shown to people; `{field}` is filled in. The behaviour does not look at it.
    Words,
    /// Two words.
    Pair,
    /// The name of a count field.
    Count,
    /// The name of a field.
    Field,
    /// The name of a command of the user's configuration.
    Command,
    /// [`PROGRAM`]: the program gives the commands.
    Commands,
    /// A message template.
    Message,
    /// One of these words; the first is the usual one.
    Choice(&'static [&'static str]),
}

/// Says that the program gives the commands, in Rust.
pub const PROGRAM: &str = "{program}";

/// An outcome of a behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The key in `on_stop`.
    pub name: &'static str,
    /// The evidence that comes with it: what the transitions named may require.
    pub evidence: Option<Evidence>,
    /// Whether naming no transition is an error (otherwise the loop waits).
    pub required: bool,
    /// The outcome whose transitions are taken where this one names none.
    pub instead: Option<&'static str>,
    /// Whether the loop always waits: no transition can be named for it.
    pub waits: bool,
}

/// What the transitions that a behaviour's outcomes name must do with the agent's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Either.
    Free,
    /// Let it end.
    Ends,
    /// Block, with words.
    GoesOn,
}

const fn plain(name: &'static str, required: bool) -> Outcome {
    Outcome {
        name,
        evidence: None,
        required,
        instead: None,
        waits: false,
    }
}

const fn parameter(name: &'static str, kind: ParameterKind) -> Parameter {
    Parameter {
        name,
        kind,
        names: &[],
    }
}

/// What most behaviours have in common.
const USUAL: Entry = Entry {
    name: "",
    required: &[],
    optional: &[],
    one_of: &[],
    options: false,
    personas: false,
    outcomes: &[],
    turn: Turn::Free,
};

/// Every behaviour.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "require-file",
        required: &[parameter("path", ParameterKind::Template)],
        optional: &[parameter("before", ParameterKind::Template)],
        outcomes: &[plain("written", true), plain("missing", false)],
        ..USUAL
    },
    Entry {
        name: "review",
        required: &[
            Parameter {
                names: &["changes", "n", "program"],
                ..parameter("subject", ParameterKind::Templates)
            },
            parameter("round", ParameterKind::Count),
        ],
        optional: &[
            parameter("since", ParameterKind::Template),
            parameter("reviewer", ParameterKind::Templates),
            parameter("model", ParameterKind::Templates),
            parameter("prompt", ParameterKind::Message),
            Parameter {
                names: &["n"],
                ..parameter("findings_file", ParameterKind::Template)
            },
            parameter("verdicts", ParameterKind::Pair),
            parameter(
                "blocking",
                ParameterKind::Choice(&["low", "medium", "high"]),
            ),
            parameter("earlier", ParameterKind::Choice(&["carry", "fresh"])),
            Parameter {
                names: &["program"],
                ..parameter("verify", ParameterKind::Commands)
            },
        ],
        personas: true,
        outcomes: &[
            Outcome {
                evidence: Some(Evidence::Settled),
                ..plain("clean", true)
            },
            Outcome {
                evidence: Some(Evidence::Reviewed),
                ..plain("findings", true)
            },
            Outcome {
                evidence: Some(Evidence::Reviewed),
                instead: Some("findings"),
                ..plain("stalled", false)
            },
            plain("nothing", false),
            plain("running", false),
            plain("failed", true),
        ],
        ..USUAL
    },
    Entry {
        name: "approve",
        outcomes: &[plain("then", false)],
        turn: Turn::Ends,
        ..USUAL
    },
    Entry {
        name: "announce",
        outcomes: &[plain("then", true)],
        turn: Turn::GoesOn,
        ..USUAL
    },
    Entry {
        name: "ask",
        required: &[
            parameter("question", ParameterKind::Words),
            parameter("header", ParameterKind::Words),
        ],
        options: true,
        outcomes: &[plain("unanswered", false)],
        ..USUAL
    },
    Entry {
        name: "run",
        required: &[parameter("command", ParameterKind::Command)],
        outcomes: &[
            plain("passed", true),
            plain("failed", true),
            plain("missing", false),
            Outcome {
                waits: true,
                ..plain("running", false)
            },
        ],
        ..USUAL
    },
    Entry {
        name: "verify",
        required: &[Parameter {
            names: &["program"],
            ..parameter("commands", ParameterKind::Commands)
        }],
        outcomes: &[
            Outcome {
                evidence: Some(Evidence::Verified),
                ..plain("passed", true)
            },
            plain("failed", true),
            plain("missing", false),
            Outcome {
                waits: true,
                ..plain("running", false)
            },
        ],
        ..USUAL
    },
    Entry {
        name: "wait-for",
        optional: &[
            parameter("file", ParameterKind::Template),
            parameter("field", ParameterKind::Field),
        ],
        one_of: &["file", "field"],
        outcomes: &[plain("there", true), plain("waiting", false)],
        ..USUAL
    },
];

/// The behaviour of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Every parameter, those that must be given first.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.required.iter().chain(self.optional)
    }

    /// The outcome of this name.
    pub fn outcome(&self, name: &str) -> Option<&'static Outcome> {
        self.outcomes.iter().find(|outcome| outcome.name == name)
    }
}
