//! A machine as its `machine.toml` declares it: names, fields, phases, edges, and where each stands in the file.
//!
//! This is what `source` produces, what `check` examines and what `emit` turns into Rust. It knows nothing of TOML
//! syntax beyond byte spans, and nothing of Rust beyond the text of a guard.

mod field;
mod graph;
mod phase;
mod plugin;
mod text;
mod transition;
mod words;

use std::ops::Range;

pub use field::{AtStart, Constant, Field, FieldKind, Held};
pub use graph::Edge;
pub use phase::{Behaviour, Call, Choice, Focus, Options, Persona, Phase};
pub use plugin::{Does, Plugin, PluginCommand, SlashCommand};
pub use text::{call_text, guard_text, kind_text, update_text};
pub(crate) use text::{constant_text, guard_fields};
pub use transition::{
    Actor, Argument, ArgumentKind, Evidence, From, Guard, Operand, Sign, To, Transition, Update,
};
pub use words::word_of;

/// A value and the bytes of `machine.toml` that said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// What was said.
    pub value: T,
    /// Where, as byte offsets into the source.
    pub span: Range<usize>,
}

impl<T> At<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Range<usize>) -> Self {
        Self { value, span }
    }
}

/// A whole machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// `name = "plan"`: the module's and the marker type's name, and what the state file's machine field holds.
    pub name: At<String>,
    /// `doc`, or empty.
    pub doc: String,
    /// `messages = "src/plan/messages"`: folder of the templates, relative to the crate. Empty: the crate's root.
    pub messages: String,
    /// `context = ["persona"]`: what the program gives to message templates besides the fields.
    pub context: Vec<At<String>>,
    /// `before_stop = "mend"`: the transitions to try where the program finds violations.
    pub before_stop: Vec<At<String>>,
    /// `[plugin]`.
    pub plugin: Option<Plugin>,
    /// `[state]`.
    pub state: State,
    /// `[modes.*]`, in the order of the file.
    pub modes: Vec<Mode>,
    /// `[fields]`, in the order of the file, which is the order of the state file.
    pub fields: Vec<Field>,
    /// `[phases.*]`, in the order of the file.
    pub phases: Vec<Phase>,
    /// `[personas.*]`, in the order of the file, which is the order of the rounds.
    pub personas: Vec<Persona>,
    /// Every `[[transitions.*]]` entry, in the order of the file; still with its declared sources.
    pub transitions: Vec<Transition>,
}

/// Old names with the new ones, in the order of the file.
pub type Renames = Vec<(At<String>, At<String>)>;

/// `[state]`: where documents live and in which form.
#[derive(Debug, Clone)]
pub struct State {
    /// `folder = ".claude/claudex"`, relative to the loop's root.
    pub folder: At<String>,
    /// `folder_env = "CLAUDEX_STATE_DIR"`: the variable that overrides `folder`.
    pub folder_env: Option<At<String>>,
    /// `file = "plans/{id}/state.json"`, relative to the loop's root: where a document is that is the user's own.
    pub file: Option<At<String>>,
    /// `extension = "state"`: a document in the folder is `<id>.<extension>`.
    pub extension: At<String>,
    /// `form = "lines"`.
    pub form: At<Form>,
    /// `ids = "stamp"` or `"name"`.
    pub ids: At<IdForm>,
    /// `edits`: the fields that an edit by hand may change.
    pub edits: Vec<At<String>>,
    /// `active = "one"`.
    pub active: At<Active>,
}

/// How many loops may be under way in one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// One.
    One,
    /// One of each session.
    Session,
    /// Any number.
    Many,
}

/// How a state document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `key: value` lines that are also valid YAML.
    Lines,
    /// One JSON object.
    Json,
    /// Markdown below YAML.
    Frontmatter,
}

impl Form {
    /// The extension of a document where the machine names none.
    pub fn extension(self) -> &'static str {
        match self {
            Form::Lines => "state",
            Form::Json => "json",
            Form::Frontmatter => "md",
        }
    }
}

/// What names a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdForm {
    /// `YYYYMMDD-HHMMSS-xxxxxx`, made by the engine.
    Stamp,
    /// `[A-Za-z0-9_-]+`, given by the caller.
    Name,
}

/// `[modes.x]`.
#[derive(Debug, Clone)]
pub struct Mode {
    /// The table's name.
    pub name: At<String>,
    /// `start`: the first phase.
    pub start: At<String>,
    /// `initial = { field = value }`: initial values of this mode's own.
    pub initial: Vec<(At<String>, At<Constant>)>,
    /// `by = ["person"]`: who may start a loop in it; empty: both.
    pub by: Vec<At<Actor>>,
    /// `message`: the template of what a start prints, unless it is that of the first phase.
    pub message: Option<At<String>>,
    /// `doc`, or empty.
    pub doc: String,
}
