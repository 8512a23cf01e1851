//! The keys of every table of a machine file.

/// A kind of table.
#[derive(Debug)]
pub(crate) struct Table {
    /// The table's name in messages: "a field".
    pub(crate) what: &'static str,
    /// Its keys, in the order in which people mostly write them.
    pub(crate) keys: &'static [&'static str],
}

/// The whole file.
pub(crate) const MACHINE: Table = Table {
    what: "a machine file",
    keys: &[
        "name",
        "doc",
        "messages",
        "context",
        "before_stop",
        "plugin",
        "state",
        "modes",
        "fields",
        "phases",
        "personas",
        "transitions",
    ],
};

/// `[state]`.
pub(crate) const STATE: Table = Table {
    what: "[state]",
    keys: &[
        "folder",
        "folder_env",
        "file",
        "extension",
        "form",
        "ids",
        "edits",
        "active",
    ],
};

/// `[modes.x]`.
pub(crate) const MODE: Table = Table {
    what: "a mode",
    keys: &["start", "initial", "by", "message", "doc"],
};

/// `[plugin]`.
pub(crate) const PLUGIN: Table = Table {
    what: "[plugin]",
    keys: &["name", "commands", "files", "permits"],
};

/// `[plugin.commands.x]`.
pub(crate) const PLUGIN_COMMAND: Table = Table {
    what: "a slash command",
    keys: &["doc", "arguments", "text"],
};

/// `[phases.x]`.
pub(crate) const PHASE: Table = Table {
    what: "a phase",
    keys: &["doc", "terminal", "stored", "message", "on_stop"],
};

/// `[personas.x]`.
pub(crate) const PERSONA: Table = Table {
    what: "a persona",
    keys: &["label", "prompt", "focus"],
};

/// One of a question's `options`.
pub(crate) const OPTION: Table = Table {
    what: "an option",
    keys: &["label", "description", "then", "with"],
};

/// A transition of an outcome, where it is a table.
pub(crate) const CALL: Table = Table {
    what: "a transition of an outcome",
    keys: &["then", "with"],
};

/// `fields.x`.
pub(crate) const FIELD: Table = Table {
    what: "a field",
    keys: &[
        "type", "one_of", "data", "holds", "initial", "null", "at_start", "min", "max", "key",
        "in", "doc",
    ],
};

/// An entry of `[[transitions.x]]`.
pub(crate) const TRANSITION: Table = Table {
    what: "a transition",
    keys: &[
        "from", "to", "when", "requires", "by", "own", "args", "set", "message", "turn", "doc",
    ],
};

/// `args.x`, where it is a table.
pub(crate) const ARGUMENT: Table = Table {
    what: "an argument",
    keys: &["type", "one_of", "doc", "optional"],
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

/// How many options of a question the client's dialog takes.
pub(crate) const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;

/// The words that `turn` takes.
pub(crate) const TURNS: [(&str, bool); 1] = [("end", true)];
