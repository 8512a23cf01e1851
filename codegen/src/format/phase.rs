//! The keys of phases, of what is asked in them, and of who reviews.

use super::{Table, Takes, key, required, table, told};
use crate::model::Focus;

/// `[phases.x]`.
pub(crate) const PHASE: Table = Table {
    what: "a phase",
    doc: "Where a loop can be. Without on_stop, a phase that is not terminal is a method to write in Rust.",
    keys: &[
        key(
            "doc",
            Takes::Text,
            "What happens in this phase.",
            r#""The agent writes the plan.""#,
        ),
        key(
            "terminal",
            Takes::Flag,
            "Whether the loop is over here.",
            "true",
        ),
        key(
            "stored",
            Takes::Stored,
            "How the document names the phase. Absent: by its name.",
            r#""plan-review""#,
        ),
        key(
            "message",
            Takes::Path(false),
            "The template of what the agent is told on entering, unless the edge has one.",
            r#""round.md""#,
        ),
        table(
            "on_stop",
            false,
            Takes::Behaviour,
            "What happens when the agent stops in this phase: one behaviour of the catalogue.",
        ),
        table(
            "meta",
            false,
            Takes::Anything,
            "Anything, for other tools. Not looked at.",
        ),
    ],
};

/// `[personas.x]`.
pub(crate) const PERSONA: Table = Table {
    what: "a persona",
    doc: "A point of view of a reviewer. The person's configuration may adjust it, add others and leave it out.",
    keys: &[
        required(
            "label",
            Takes::Text,
            "How titles and tables name it.",
            r#""Security review""#,
        ),
        required(
            "prompt",
            Takes::Path(false),
            "The template of who it is and what it looks at, which stands in a reviewer's prompt.",
            r#""personas/security.md""#,
        ),
        key(
            "focus",
            Takes::Word(|| told(&Focus::ALL, |focus| focus.doc())),
            "What the built-in reviewer looks at. Absent: engineering.",
            r#""security""#,
        ),
    ],
};

/// One of a question's `options`.
pub(crate) const OPTION: Table = Table {
    what: "an option",
    doc: "An answer that a person can give.",
    keys: &[
        required("label", Takes::Text, "The answer's words.", r#""Yes""#),
        key(
            "description",
            Takes::Text,
            "What the answer means.",
            r#""The canary goes out.""#,
        ),
        required(
            "then",
            Takes::Name,
            "The transition that the answer takes, in the person's name.",
            r#""roll_out""#,
        ),
        table(
            "with",
            false,
            Takes::Constants,
            "Constants for its arguments, by name. One text that is not given gets the label.",
        ),
    ],
};

/// A transition of an outcome, where it is a table.
pub(crate) const CALL: Table = Table {
    what: "a transition of an outcome",
    doc: "A transition with constants for its arguments.",
    keys: &[
        required("then", Takes::Name, "The transition.", r#""give_up""#),
        table(
            "with",
            false,
            Takes::Constants,
            "Constants for its arguments, by name.",
        ),
    ],
};

/// Limits the options of a question to what the client's dialog takes.
pub(crate) const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;
