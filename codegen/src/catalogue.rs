//! The behaviours that a phase's `on_stop` can name: their parameters and their outcomes.
//!
//! This is the one list. `source` reads `on_stop` by it, `check` looks at what it says of turns, `emit` writes an exhaustive
//! `match` over the outcomes from it, `docs/behaviours.md` is [`markdown`], and `claudex_loop::behaviours` has an enum for each;
//! where the two drift apart, generated code does not compile.

mod markdown;

pub use markdown::markdown;

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
    /// One line for the documentation.
    pub doc: &'static str,
    /// What else there is to know, as Markdown.
    pub details: &'static str,
    /// Phases and transitions of a machine that uses it, as TOML.
    pub example: &'static str,
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
    /// One line for the documentation.
    pub doc: &'static str,
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
    /// One line for the documentation: when it is the outcome.
    pub doc: &'static str,
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

const fn plain(name: &'static str, required: bool, doc: &'static str) -> Outcome {
    Outcome {
        name,
        evidence: None,
        required,
        instead: None,
        waits: false,
        doc,
    }
}

const fn parameter(name: &'static str, kind: ParameterKind, doc: &'static str) -> Parameter {
    Parameter {
        name,
        kind,
        names: &[],
        doc,
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
    doc: "",
    details: "",
    example: "",
};

/// Every behaviour.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "require-file",
        required: &[parameter(
            "path",
            ParameterKind::Template,
            "the file, from the loop's root",
        )],
        optional: &[parameter(
            "before",
            ParameterKind::Template,
            "the digest (SHA-256, in hexadecimal) of the file at the start; empty: there was none",
        )],
        outcomes: &[
            plain(
                "written",
                true,
                "the file has content, and not that of the start",
            ),
            plain(
                "missing",
                false,
                "it is not there, has only white space, or is as it was",
            ),
        ],
        doc: "Goes on once a file was written after the loop's start.",
        details: include_str!("catalogue/require-file.md"),
        example: include_str!("catalogue/require-file.toml"),
        ..USUAL
    },
    Entry {
        name: "review",
        required: &[
            Parameter {
                names: &["changes", "n", "program"],
                ..parameter(
                    "subject",
                    ParameterKind::Templates,
                    "the file under review, from the loop's root, or several; `*` in a file's name stands for any text, `{n}` for any number, `{changes}` for the work tree's changes, and `{program}` for what the program gives, in Rust",
                )
            },
            parameter(
                "round",
                ParameterKind::Count,
                "the count that holds the round",
            ),
        ],
        optional: &[
            parameter(
                "since",
                ParameterKind::Template,
                "the commit since which the work tree's changes are looked at; absent or empty: where its branch left the main one",
            ),
            parameter(
                "reviewer",
                ParameterKind::Templates,
                "who reviews, unless the person's configuration or command names a reviewer; of several the rounds take turns; absent: `auto`",
            ),
            parameter(
                "model",
                ParameterKind::Templates,
                "the model of that reviewer, unless the person's configuration names one; of several the rounds take turns",
            ),
            parameter(
                "prompt",
                ParameterKind::Message,
                "the template of a model's prompt; absent: one of the engine's own",
            ),
            Parameter {
                names: &["n"],
                ..parameter(
                    "findings_file",
                    ParameterKind::Template,
                    "the file that people read the findings in, from the loop's root, with `{n}` for the next free number; absent: one for each round in the loop's folder",
                )
            },
            parameter(
                "verdicts",
                ParameterKind::Pair,
                "the words for a verdict that is clean and for one that is not, such as `[\"PASS\", \"FAIL\"]`: the last line of the findings file is `VERDICT: ` and one of them",
            ),
            parameter(
                "blocking",
                ParameterKind::Choice(&["low", "medium", "high"]),
                "the least severity that keeps a round from being clean; absent: low, any finding does",
            ),
            parameter(
                "earlier",
                ParameterKind::Choice(&["carry", "fresh"]),
                "what earlier visits found: `carry`, it stays open while the subject is unchanged; `fresh`, each visit starts clean; absent: carry",
            ),
            Parameter {
                names: &["program"],
                ..parameter(
                    "verify",
                    ParameterKind::Commands,
                    "`{program}`: the program gives commands, as in [verify](#verify), that run before the reviewer, who is shown what came of them, and one that fails is a high finding",
                )
            },
        ],
        personas: true,
        outcomes: &[
            Outcome {
                evidence: Some(Evidence::Settled),
                ..plain(
                    "clean",
                    true,
                    "the reviewer found nothing that blocks, and what it reviewed is unchanged",
                )
            },
            Outcome {
                evidence: Some(Evidence::Reviewed),
                ..plain(
                    "findings",
                    true,
                    "the round was reviewed, and something is open",
                )
            },
            Outcome {
                evidence: Some(Evidence::Reviewed),
                instead: Some("findings"),
                ..plain(
                    "stalled",
                    false,
                    "the same, and the rounds find the same things again and again",
                )
            },
            plain("nothing", false, "no review of this visit counts"),
            plain("running", false, "a review is running"),
            plain(
                "failed",
                true,
                "the last review could not run, or could not be read",
            ),
        ],
        doc: "Looks at the round's review: what the reviewer found, whether it ran, whether it is still running.",
        details: include_str!("catalogue/review.md"),
        example: include_str!("catalogue/review.toml"),
        ..USUAL
    },
    Entry {
        name: "approve",
        outcomes: &[plain("then", false, "always")],
        turn: Turn::Ends,
        doc: "Lets the turn end, and takes a transition where one is named.",
        details: include_str!("catalogue/approve.md"),
        example: include_str!("catalogue/approve.toml"),
        ..USUAL
    },
    Entry {
        name: "announce",
        outcomes: &[plain("then", true, "always")],
        turn: Turn::GoesOn,
        doc: "Takes a transition and blocks with its words: once, since the loop has moved on.",
        details: include_str!("catalogue/announce.md"),
        example: include_str!("catalogue/announce.toml"),
        ..USUAL
    },
    Entry {
        name: "ask",
        required: &[
            parameter("question", ParameterKind::Words, "what the person is asked"),
            parameter(
                "header",
                ParameterKind::Words,
                "a short label of the question, 12 characters at most",
            ),
        ],
        options: true,
        outcomes: &[plain(
            "unanswered",
            false,
            "always: an answer is taken when it is given, not at a stop",
        )],
        doc: "Has the agent put a question to the person; each answer is a transition that a person takes.",
        details: include_str!("catalogue/ask.md"),
        example: include_str!("catalogue/ask.toml"),
        ..USUAL
    },
    Entry {
        name: "run",
        required: &[parameter(
            "command",
            ParameterKind::Command,
            "the name of a `[commands.NAME]` table in the user's configuration",
        )],
        outcomes: &[
            plain("passed", true, "it ended with exit status 0"),
            plain(
                "failed",
                true,
                "it ended with another status or by a signal, or was ended at its deadline",
            ),
            plain(
                "missing",
                false,
                "the user's configuration has no such command, or its program is not installed",
            ),
            Outcome {
                waits: true,
                ..plain(
                    "running",
                    false,
                    "another stop, or a review, is at work in this loop",
                )
            },
        ],
        doc: "Runs a command of the user's configuration in the loop's root and looks at how it ends.",
        details: include_str!("catalogue/run.md"),
        example: include_str!("catalogue/run.toml"),
        ..USUAL
    },
    Entry {
        name: "verify",
        required: &[Parameter {
            names: &["program"],
            ..parameter(
                "commands",
                ParameterKind::Commands,
                "`{program}`: the program gives them, in Rust",
            )
        }],
        outcomes: &[
            Outcome {
                evidence: Some(Evidence::Verified),
                ..plain(
                    "passed",
                    true,
                    "every command ended with exit status 0, and the work tree is as it was when the first began",
                )
            },
            plain(
                "failed",
                true,
                "a command ended otherwise, or they changed the work tree themselves",
            ),
            plain(
                "missing",
                false,
                "the user's configuration does not allow all of them, or there is nothing to run",
            ),
            Outcome {
                waits: true,
                ..plain(
                    "running",
                    false,
                    "another stop, a verb, or a review is at work in this loop",
                )
            },
        ],
        doc: "Runs commands that the user allows and looks at how they end.",
        details: include_str!("catalogue/verify.md"),
        example: include_str!("catalogue/verify.toml"),
        ..USUAL
    },
    Entry {
        name: "wait-for",
        optional: &[
            parameter(
                "file",
                ParameterKind::Template,
                "the file, from the loop's root; an empty one counts",
            ),
            parameter("field", ParameterKind::Field, "the field"),
        ],
        one_of: &["file", "field"],
        outcomes: &[
            plain("there", true, "the file is there, or the field says yes"),
            plain("waiting", false, "not yet"),
        ],
        doc: "Waits for a file to be there, or for a field to say yes.",
        details: include_str!("catalogue/wait-for.md"),
        example: include_str!("catalogue/wait-for.toml"),
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
