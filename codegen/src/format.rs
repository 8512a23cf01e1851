//! The keys of every table of a machine file, once: `source` reads by these lists, `schema` tells editors about them.
//!
//! What a key's value may be is said here in outline ([`Takes`]); the words that some take are lists of their own
//! (`ALL` of the model's enums, the catalogue of behaviours). A key that is added here is known to both at once.

mod field;
mod phase;
mod transition;

use crate::model::{Active, Actor, Form, IdForm};

pub(crate) use field::{FIELD, FIELD_KINDS, WITHOUT};
pub(crate) use phase::{CALL, OPTION, OPTIONS, PERSONA, PHASE};
pub(crate) use transition::{ARGUMENT, TRANSITION, TURNS};

/// A kind of table.
#[derive(Debug)]
pub(crate) struct Table {
    /// What it is, for messages: "a field".
    pub(crate) what: &'static str,
    /// What it is for.
    pub(crate) doc: &'static str,
    /// Its keys, in the order in which people mostly write them.
    pub(crate) keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Whether a table without it is refused.
    pub(crate) required: bool,
    pub(crate) takes: Takes,
    pub(crate) doc: &'static str,
    /// A value, as the TOML that stands behind `=`; none for tables.
    pub(crate) example: Option<&'static str>,
}

/// Words that a key takes, each with what it means.
pub(crate) type Words = fn() -> Vec<(&'static str, &'static str)>;

/// What a key's value may be.
#[derive(Debug)]
pub(crate) enum Takes {
    /// Text for people.
    Text,
    /// A list of texts.
    Texts,
    /// A name: of a machine, a phase, a field or a transition.
    Name,
    /// Names, or `*` alone.
    Sources,
    /// A name with `-` between its parts, too.
    Stored,
    /// Keys below each other, with dots between them.
    Place,
    /// true or false.
    Flag,
    /// A number, a text, or true or false.
    Constant,
    /// A table of such, by names.
    Constants,
    /// A table of constants and expressions, by names.
    Updates,
    /// A comparison.
    Guard,
    /// A relative path; with `true`, one that may lead out of the crate.
    Path(bool),
    /// A list of relative paths.
    Paths,
    /// The name of an environment variable.
    Variable,
    /// A file name's extension, without its dot.
    Extension,
    /// One of some words.
    Word(Words),
    /// One of some words, or a list of them.
    Words(Words),
    /// A list of words of the machine's own.
    Choices,
    /// A list of names.
    Names,
    /// A list of phases.
    Phases,
    /// A table that says which arguments there are, each by a word or by a table.
    Arguments(Words, &'static Table),
    /// A behaviour of the catalogue.
    Behaviour,
    /// A table with anything in it.
    Anything,
    /// A table.
    Table(&'static Table),
    /// A table of tables, by names.
    Named(&'static Table),
    /// A table of lists of tables, by names.
    Entries(&'static Table),
    /// A whole number from 0.
    Count,
    /// A list of tables.
    Items(&'static Table),
    /// A graph hash, or a list of them.
    Hashes,
    /// A table of new names, by the old ones.
    Renames,
    /// A table of such tables of words, by names of fields.
    WordRenames,
}

const fn key(name: &'static str, takes: Takes, doc: &'static str, example: &'static str) -> Key {
    Key {
        name,
        required: false,
        takes,
        doc,
        example: Some(example),
    }
}

const fn required(
    name: &'static str,
    takes: Takes,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key {
        required: true,
        ..key(name, takes, doc, example)
    }
}

/// A key whose value is a table, of which one line is no example.
const fn table(name: &'static str, required: bool, takes: Takes, doc: &'static str) -> Key {
    Key {
        name,
        required,
        takes,
        doc,
        example: None,
    }
}

/// The whole file.
pub(crate) const MACHINE: Table = Table {
    what: "a machine file",
    doc: "A machine for claudex-loop: phases, transitions between them, and the fields that a loop keeps on disk.",
    keys: &[
        required(
            "name",
            Takes::Name,
            "The machine's name: that of its module, and what the state documents' machine field holds.",
            r#""plan""#,
        ),
        key(
            "doc",
            Takes::Text,
            "What the machine is for, for documentation and help.",
            r#""An agent drafts a plan.""#,
        ),
        key(
            "messages",
            Takes::Path(true),
            "The folder of the message templates, from the crate's root. Absent: the root itself.",
            r#""src/messages""#,
        ),
        key(
            "context",
            Takes::Names,
            "What the program gives to message templates besides the machine's fields: the names of the variables.",
            r#"["persona"]"#,
        ),
        key(
            "before_stop",
            Takes::Names,
            "The transitions that a stop takes, in turn, where the program finds that something breaks the machine's rules, before it looks at the phase.",
            r#"["mend"]"#,
        ),
        table(
            "plugin",
            false,
            Takes::Table(&PLUGIN),
            "The plugin of Claude Code whose hooks and slash commands call this machine's program.",
        ),
        table(
            "state",
            false,
            Takes::Table(&STATE),
            "Where a loop's document is kept, and in which form.",
        ),
        table(
            "modes",
            true,
            Takes::Named(&MODE),
            "The ways in which a loop can be started.",
        ),
        table(
            "fields",
            true,
            Takes::Named(&FIELD),
            "What a loop's document keeps, in its order. One field each has to hold phase, id, root, session, revision and machine.",
        ),
        table(
            "phases",
            true,
            Takes::Named(&PHASE),
            "Where a loop can be. At least one is terminal.",
        ),
        table(
            "personas",
            false,
            Takes::Named(&PERSONA),
            "Who reviews: the first one in round 1, and so on; the last one keeps the rounds that remain.",
        ),
        table(
            "transitions",
            true,
            Takes::Entries(&TRANSITION),
            "The ways from phase to phase. Each entry is one edge, or one from each of several phases.",
        ),
        table(
            "migrations",
            false,
            Takes::Items(&MIGRATION),
            "How loops of earlier versions go on, the oldest first: a loop goes through its entry and all that follow.",
        ),
    ],
};

/// `[state]`.
pub(crate) const STATE: Table = Table {
    what: "[state]",
    doc: "Where a loop's document is kept, and in which form.",
    keys: &[
        key(
            "folder",
            Takes::Path(false),
            "The folder, from the loop's root. Absent: a dot and the machine's name.",
            r#"".claude/claudex""#,
        ),
        key(
            "folder_env",
            Takes::Variable,
            "The environment variable that overrides the folder.",
            r#""PLAN_STATE_DIR""#,
        ),
        key(
            "file",
            Takes::Path(false),
            "A document that is the user's own file, from the loop's root, with the id in it where several loops may be there. Absent: it is one of the engine's, in its folder.",
            r#""plans/{id}/state.json""#,
        ),
        key(
            "extension",
            Takes::Extension,
            "Of a document in the engine's folder, after the loop's id. Absent: state; json or md where the form is json or frontmatter.",
            r#""state""#,
        ),
        key(
            "form",
            Takes::Word(|| told(&Form::ALL, Form::doc)),
            "How a document is written.",
            r#""lines""#,
        ),
        key(
            "ids",
            Takes::Word(|| told(&IdForm::ALL, IdForm::doc)),
            "What names a loop. Absent: stamp.",
            r#""stamp""#,
        ),
        key(
            "edits",
            Takes::Names,
            "The fields that an edit of the document by hand may change. Absent: none that the machine reads or sets.",
            r#"["max_rounds"]"#,
        ),
        key(
            "active",
            Takes::Word(|| told(&Active::ALL, Active::doc)),
            "How many loops may be under way in one project. Absent: one.",
            r#""one""#,
        ),
    ],
};

/// `[modes.x]`.
pub(crate) const MODE: Table = Table {
    what: "a mode",
    doc: "A way in which a loop can be started.",
    keys: &[
        required(
            "start",
            Takes::Name,
            "The first phase; not a terminal one.",
            r#""drafting""#,
        ),
        table(
            "initial",
            false,
            Takes::Constants,
            "Initial values of this mode's own, by field.",
        ),
        key(
            "by",
            Takes::Words(|| told(&Actor::ALL, Actor::doc)),
            "Who may start a loop in it. Absent: both.",
            r#"["person"]"#,
        ),
        key(
            "message",
            Takes::Path(false),
            "The template of what a start prints. Absent: that of the first phase.",
            r#""started.md""#,
        ),
        key(
            "doc",
            Takes::Text,
            "What the mode is for.",
            r#""The work tree's changes are reviewed.""#,
        ),
    ],
};

/// `[plugin]`.
pub(crate) const PLUGIN: Table = Table {
    what: "[plugin]",
    doc: "The plugin of Claude Code whose hooks and slash commands call this machine's program.",
    keys: &[
        required(
            "name",
            Takes::Stored,
            "The plugin's name: slash commands begin with it, and lines for people.",
            r#""release-train""#,
        ),
        table(
            "commands",
            false,
            Takes::Named(&PLUGIN_COMMAND),
            "What the slash commands say, by the names of modes, of transitions of a person, and of the engine's own: status, history, resume, adopt, rollback, doctor. With one mode its command is start.",
        ),
        key(
            "files",
            Takes::Paths,
            "Files of the messages' folder that the plugin's folder has as they are, under the same paths; they go before the engine's.",
            r#"["scripts/status.sh"]"#,
        ),
        key(
            "permits",
            Takes::Texts,
            "Permission rules that a command has besides those that follow from the machine, where the loop can go on after it.",
            r#"["Edit(/notes/**)"]"#,
        ),
    ],
};

/// `[plugin.commands.x]`.
pub(crate) const PLUGIN_COMMAND: Table = Table {
    what: "a slash command",
    doc: "A slash command of the plugin. A transition that an agent may take as well has one only where it stands here.",
    keys: &[
        key(
            "doc",
            Takes::Text,
            "What the menu says of it. Absent: what the mode or the transition says.",
            r#""Draft a plan""#,
        ),
        key(
            "arguments",
            Takes::Text,
            "What the menu says of its arguments. Absent: what the command line takes.",
            r#""[--rounds N] <topic>""#,
        ),
        key(
            "text",
            Takes::Path(false),
            "The Markdown file, among the messages, of what the agent is told. Absent: the engine's own.",
            r#""commands/plan.md""#,
        ),
    ],
};

/// `[[migrations]]`.
pub(crate) const MIGRATION: Table = Table {
    what: "a migration",
    doc: "How a loop of an earlier version goes on. `claudex-loop machine diff OLD NEW` proposes one.",
    keys: &[
        required(
            "from",
            Takes::Hashes,
            "The graph hashes of the versions that it takes.",
            r#""0a1b2c3d4e5f6071""#,
        ),
        key(
            "doc",
            Takes::Text,
            "What was changed.",
            r#""drafting became writing""#,
        ),
        table(
            "phases",
            false,
            Takes::Renames,
            "The phases in which loops go on, by the old ones.",
        ),
        table(
            "fields",
            false,
            Takes::Renames,
            "The new names of fields, by the old ones.",
        ),
        table(
            "words",
            false,
            Takes::WordRenames,
            "The new words of fields with one_of, by the old ones, each field by its new name.",
        ),
        table(
            "set",
            false,
            Takes::Constants,
            "Values that fields get, after they were renamed.",
        ),
    ],
};

/// Words of a list, with what they mean.
fn told<T: Copy>(
    all: &[(&'static str, T)],
    doc: fn(T) -> &'static str,
) -> Vec<(&'static str, &'static str)> {
    all.iter()
        .map(|(word, value)| (*word, doc(*value)))
        .collect()
}
