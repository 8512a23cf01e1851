//! The keys of transitions.

use super::{Table, Takes, key, required, table, told};
use crate::model::{Actor, ArgumentKind, Evidence};

/// An entry of `[[transitions.x]]`.
pub(crate) const TRANSITION: Table = Table {
    what: "a transition",
    doc: "An edge, or one from each of several phases. Entries of one name agree in requires, by and args.",
    keys: &[
        required(
            "from",
            Takes::Sources,
            "A phase, a list of phases, or \"*\": every phase that is not terminal and has no edge of this transition of its own.",
            r#"["drafting", "reviewing"]"#,
        ),
        required("to", Takes::Name, "A phase, or \"same\".", r#""reviewing""#),
        key(
            "when",
            Takes::Guard,
            "The edge is legal where this holds: comparisons of fields and constants, with and, or and parentheses.",
            r#""round < max_rounds""#,
        ),
        key(
            "requires",
            Takes::Word(|| told(&Evidence::ALL, Evidence::doc)),
            "The evidence that the edge needs. Absent: none.",
            r#""reviewed""#,
        ),
        key(
            "by",
            Takes::Words(|| told(&Actor::ALL, Actor::doc)),
            "Who takes the edge by a verb of the command line. Absent: only the hook, at a stop.",
            r#"["agent", "person"]"#,
        ),
        key(
            "own",
            Takes::Flag,
            "Whether a verb of the program's own, in Rust, or an answer takes the edge, for those that `by` names. Absent: it has a verb itself.",
            "true",
        ),
        table(
            "args",
            false,
            Takes::Arguments(argument_kinds, &ARGUMENT),
            "Arguments, by name: parameters of the method and flags of the verb.",
        ),
        table(
            "set",
            false,
            Takes::Updates,
            "What becomes of fields: a constant, or an expression such as \"round + 1\", \"next(sort)\" or \"args.why\".",
        ),
        key(
            "append",
            Takes::Text,
            "Text that is added below the fields of a document of frontmatter, with fields in braces as they are after the edge.",
            r#""- {updated}: {why}""#,
        ),
        key(
            "message",
            Takes::Path(false),
            "The template of what the agent is told, before that of the phase entered.",
            r#""stopped.md""#,
        ),
        key(
            "turn",
            Takes::Word(turns),
            "Whether the agent's turn may end although the phase entered is not terminal.",
            r#""end""#,
        ),
        key(
            "doc",
            Takes::Text,
            "What the transition means.",
            r#""The plan was written: review it.""#,
        ),
    ],
};

/// `args.x`, where it is a table.
pub(crate) const ARGUMENT: Table = Table {
    what: "an argument",
    doc: "An argument of a transition. It has one of type and one_of.",
    keys: &[
        key(
            "type",
            Takes::Word(argument_kinds),
            "What the argument is.",
            r#""text""#,
        ),
        key(
            "one_of",
            Takes::Choices,
            "The words that the argument can be.",
            r#"["proceed", "stop"]"#,
        ),
        key(
            "doc",
            Takes::Text,
            "What the argument is for; help of the flag.",
            r#""why it is given up""#,
        ),
        key(
            "optional",
            Takes::Flag,
            "Whether it may be left out. An update from it then leaves the field as it is.",
            "true",
        ),
    ],
};

fn argument_kinds() -> Vec<(&'static str, &'static str)> {
    ArgumentKind::PLAIN
        .iter()
        .map(|(word, kind)| (*word, kind.doc()))
        .collect()
}

/// Names what `turn` takes.
pub(crate) const TURNS: [(&str, bool); 1] = [("end", true)];

fn turns() -> Vec<(&'static str, &'static str)> {
    TURNS
        .iter()
        .map(|(word, _)| (*word, "the turn may end here"))
        .collect()
}
