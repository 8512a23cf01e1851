//! A machine as its `machine.toml` declares it: names, fields, phases, edges, and where each stands in the file.
//!
//! This is what `source` produces, what `check` examines and what `emit` turns into Rust. It knows nothing of TOML
//! syntax beyond byte spans, and nothing of Rust beyond the text of a guard.

mod graph;
mod plugin;
mod text;
pub(crate) mod time;
mod words;

use std::ops::Range;

use crate::catalogue::{self, ParameterKind};

pub use graph::Edge;
pub use plugin::{Does, Plugin, PluginCommand, SlashCommand};
pub use text::{call_text, guard_text, kind_text, update_text};
pub(crate) use text::{constant_text, guard_fields};
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
    /// Every `[[migrations]]` entry, in the order of the file.
    pub migrations: Vec<Migration>,
}

/// Old names with the new ones, in the order of the file.
pub type Renames = Vec<(At<String>, At<String>)>;

/// One `[[migrations]]` entry: how a loop of an earlier version goes on with the next. A loop goes through the entry that
/// names its version and through all that follow.
#[derive(Debug, Clone)]
pub struct Migration {
    /// `from`: graph hashes of the versions that it takes.
    pub from: Vec<At<String>>,
    /// `doc`, or empty.
    pub doc: String,
    /// `phases = { old = "new" }`.
    pub phases: Renames,
    /// `fields = { old = "new" }`.
    pub fields: Renames,
    /// `words = { field = { old = "new" } }`, the field by its new name.
    pub words: Vec<(At<String>, Renames)>,
    /// `set = { field = constant }`, after the fields were renamed.
    pub set: Vec<(At<String>, At<Constant>)>,
    /// Where the entry begins.
    pub span: Range<usize>,
}

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

/// `fields.x`.
#[derive(Debug, Clone)]
pub struct Field {
    /// The key.
    pub name: At<String>,
    /// What it holds.
    pub kind: FieldKind,
    /// `initial`: the value at the start. Absent: 0, false, the first word of a `one_of`, empty text, no time, no id, an
    /// empty list.
    pub initial: Option<At<Constant>>,
    /// `null`: the value that the document writes as null.
    pub null: Option<At<Constant>>,
    /// `at_start`.
    pub at_start: AtStart,
    /// `key = "loop.phase"`: where it stands in a document of frontmatter; None: under its name.
    pub key: Option<At<String>>,
    /// `min` and `max`: the counts that an edit by hand may give.
    pub range: (Option<At<u64>>, Option<At<u64>>),
    /// `in`: the phases in which the field exists; None: in all of them.
    pub within: Option<Vec<At<String>>>,
    /// `doc`, or empty.
    pub doc: String,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// `type = "count"`: a whole number from 0.
    Count,
    /// `type = "text"`: any text.
    Text,
    /// `type = "path"`: a path relative to the root, or absolute.
    Path,
    /// `type = "flag"`.
    Flag,
    /// `type = "time"`: a point in time, whole seconds; may be not set.
    Time,
    /// `type = "id"`: 1 to 64 of `A-Za-z0-9_-`, or none.
    Id,
    /// `type = "list"`: texts in order.
    List,
    /// `one_of = [..]`: one of some words, the first being the initial one.
    OneOf(Vec<At<String>>),
    /// `data = "Decisions"`: data of this type, which stands in scope where `machine!` does; set by Rust.
    Data(String),
    /// `holds = "phase"` and the like: written by the engine, never by a transition.
    Held(Held),
}

/// What the engine itself keeps in a state document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    /// The mode's name.
    Mode,
    /// The phase, in its stored form.
    Phase,
    /// The loop's id.
    Id,
    /// The absolute path of the loop's root.
    Root,
    /// The session that owns the loop, or `unknown`.
    Session,
    /// When it was started, ISO 8601 UTC.
    Started,
    /// When it was started, seconds since 1970.
    StartedEpoch,
    /// When it was last changed, ISO 8601 UTC.
    Updated,
    /// How many changes the journal holds.
    Revision,
    /// The change with which the visit of the phase began, by its revision.
    Visit,
    /// The number of the findings file of the last review that a change rests on.
    Findings,
    /// The last run of the visit that a change rests on.
    Run,
    /// The machine's name.
    Machine,
    /// The machine's graph hash.
    GraphHash,
}

impl Held {
    /// Every kind, with the word that `holds` takes for it.
    pub const ALL: [(&'static str, Held); 14] = [
        ("mode", Held::Mode),
        ("phase", Held::Phase),
        ("id", Held::Id),
        ("root", Held::Root),
        ("session", Held::Session),
        ("started", Held::Started),
        ("started-epoch", Held::StartedEpoch),
        ("updated", Held::Updated),
        ("revision", Held::Revision),
        ("visit", Held::Visit),
        ("findings", Held::Findings),
        ("run", Held::Run),
        ("machine", Held::Machine),
        ("graph-hash", Held::GraphHash),
    ];

    /// Whether a machine has to declare a field that holds it.
    pub fn is_required(self) -> bool {
        matches!(
            self,
            Held::Phase | Held::Id | Held::Revision | Held::Machine | Held::Session | Held::Root
        )
    }
}

/// Whether a start takes the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtStart {
    /// Not given at the start.
    #[default]
    Never,
    /// `at_start = "optional"`.
    Optional,
    /// `at_start = "required"`.
    Required,
}

/// A constant of `machine.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// A whole number.
    Count(u64),
    /// A text, or a word of a `one_of`.
    Text(String),
    /// true or false.
    Flag(bool),
    /// A time as seconds since 1970, above 0; 0: not set. `source` makes it of a text that stands where a time is wanted.
    Time(u64),
    /// Texts.
    List(Vec<String>),
}

/// `[phases.x]`.
#[derive(Debug, Clone)]
pub struct Phase {
    /// The table's name.
    pub name: At<String>,
    /// `stored`: the form in the state file; the name where absent.
    pub stored: Option<At<String>>,
    /// `doc`, or empty.
    pub doc: String,
    /// `terminal = true`.
    pub terminal: bool,
    /// `on_stop`: what a stop does here. None in a phase that is not terminal: a method that Rust has to write.
    pub on_stop: Option<Behaviour>,
    /// `message`: the template of the block that entering this phase gives, unless the edge has its own.
    pub message: Option<At<String>>,
    /// `meta`, as the text of a JSON object; `{}` where there is none.
    pub meta: String,
    /// Where the table begins.
    pub span: Range<usize>,
}

/// `[personas.x]`: who reviews, in a round of any phase that does not name its own.
#[derive(Debug, Clone)]
pub struct Persona {
    /// The table's name.
    pub name: At<String>,
    /// `label`: as titles and tables name it.
    pub label: At<String>,
    /// `prompt`: the template of who it is and what it looks at.
    pub prompt: At<String>,
    /// `focus`: what the built-in reviewer looks at.
    pub focus: Focus,
}

/// Names what the built-in reviewer looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    /// Steps, scope, acceptance, wording.
    #[default]
    Engineering,
    /// Access, secrets, data and its integrity.
    Security,
    /// Deploying, watching, failing and going back.
    Operations,
}

/// `on_stop = { NAME = { … } }`: a behaviour of the catalogue with its parameters and its outcomes' transitions.
#[derive(Debug, Clone)]
pub struct Behaviour {
    /// The behaviour's name in the catalogue (see [`crate::catalogue`]).
    pub name: At<String>,
    /// Parameters that are not outcomes, as given; one that is a list stands here once for each of its texts.
    pub parameters: Vec<(At<String>, At<String>)>,
    /// For each outcome of the catalogue, in its order: the transitions to try, in turn. Empty: the loop waits.
    pub outcomes: Vec<(String, Vec<Call>)>,
    /// `options`: what a person can answer.
    pub options: Options,
    /// `text`: the transition that takes what a person types instead of choosing.
    pub text: Option<At<String>>,
    /// `personas`: who reviews here, in this order. Empty: all of the machine's.
    pub personas: Vec<At<String>>,
}

/// A transition that an outcome names: `"give_up"`, or `{ then = "give_up", with = { why = "it failed" } }`.
#[derive(Debug, Clone)]
pub struct Call {
    /// The transition.
    pub then: At<String>,
    /// `with`: constants for its arguments.
    pub with: Vec<(At<String>, At<Constant>)>,
}

/// `options`: who says what a person can answer.
#[derive(Debug, Clone, Default)]
pub enum Options {
    /// The behaviour asks nothing.
    #[default]
    None,
    /// The machine file.
    These(Vec<Choice>),
    /// A list field: each of its texts is a label.
    Field {
        /// `options`: the field.
        field: At<String>,
        /// `then`: the transition that each of them takes.
        then: At<String>,
    },
    /// The program, in Rust, with the question and its header.
    Program,
}

/// One of a question's `options`.
#[derive(Debug, Clone)]
pub struct Choice {
    /// `label`: the answer's words.
    pub label: At<String>,
    /// `description`, where it is given.
    pub description: Option<At<String>>,
    /// The transition that the answer takes, in the person's name.
    pub call: Call,
}

impl Behaviour {
    /// The value of a parameter, if it was given.
    pub fn parameter(&self, name: &str) -> Option<&At<String>> {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(key, _)| key.value == name)
            .map(|(_, value)| value)
    }

    /// The texts of a parameter that is a list.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &At<String>> {
        let of_name = self.parameters.iter().filter(move |(key, _)| key.value == name);
        of_name.map(|(_, value)| value)
    }

    /// Every transition that it names, in outcomes and options.
    pub fn transitions(&self) -> impl Iterator<Item = &At<String>> {
        let outcomes = self.outcomes.iter().flat_map(|(_, calls)| calls);
        outcomes.map(|call| &call.then).chain(self.answers())
    }

    /// Returns every transition that an answer takes: those of the options, then the one of a text.
    pub fn answers(&self) -> impl Iterator<Item = &At<String>> {
        let then = match &self.options {
            Options::Field { then, .. } => Some(then),
            Options::None | Options::These(_) | Options::Program => None,
        };
        let choices = self.choices().iter().map(|choice| &choice.call.then);
        choices.chain(then).chain(&self.text)
    }

    /// Returns the options that stand in the machine file.
    pub fn choices(&self) -> &[Choice] {
        match &self.options {
            Options::These(choices) => choices,
            Options::None | Options::Field { .. } | Options::Program => &[],
        }
    }

    /// Returns whether it asks a person.
    pub fn asks(&self) -> bool {
        !matches!(self.options, Options::None)
    }

    /// Returns whether the program asks, in Rust.
    pub fn asks_in_rust(&self) -> bool {
        matches!(self.options, Options::Program)
    }

    /// Returns what says which commands verify the work here: a list field, or [`catalogue::PROGRAM`].
    pub fn commands(&self) -> Option<&At<String>> {
        let entry = catalogue::find(&self.name.value)?;
        let mut known = entry.parameters();
        self.parameter(known.find(|one| one.kind == ParameterKind::Commands)?.name)
    }

    /// Returns whether the program gives what is reviewed, or a part of it, in Rust.
    pub fn reviews_in_rust(&self) -> bool {
        self.list("subject").any(|one| one.value == catalogue::PROGRAM)
    }

    /// Returns whether the program gives those commands, in Rust.
    pub fn verifies_in_rust(&self) -> bool {
        self.commands()
            .is_some_and(|value| value.value == catalogue::PROGRAM)
    }
}

/// One `[[transitions.x]]` entry.
#[derive(Debug, Clone)]
pub struct Transition {
    /// `x`.
    pub name: At<String>,
    /// `from`.
    pub from: From,
    /// `to`.
    pub to: To,
    /// `when`, parsed; absent: always.
    pub when: Option<At<Guard>>,
    /// `requires`.
    pub requires: Option<At<Evidence>>,
    /// `by`, without duplicates; empty: the hook only.
    pub by: Vec<At<Actor>>,
    /// `own = true`: a verb of the program's own or an answer takes it, and it has none itself.
    pub own: bool,
    /// `args = { why = "text" }`: arguments, in order, that become parameters and flags.
    pub args: Vec<Argument>,
    /// `set`, in order.
    pub set: Vec<(At<String>, At<Update>)>,
    /// `append`: text that is added to the document, with fields in braces.
    pub append: Option<At<String>>,
    /// `message`: a template.
    pub message: Option<At<String>>,
    /// `turn = "end"`: the turn may end although the phase entered is not terminal.
    pub ends_turn: bool,
    /// `doc`, or empty.
    pub doc: String,
    /// The whole entry; its first line is the line that messages name.
    pub span: Range<usize>,
}

/// The sources of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// `from = "*"`: every phase that is not terminal and has no explicit edge of this transition.
    Any(Range<usize>),
    /// One or more phases.
    Phases(Vec<At<String>>),
}

/// The target of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    /// `to = "same"`.
    Same(Range<usize>),
    /// A phase.
    Phase(At<String>),
}

/// Which evidence an edge needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// `requires = "reviewed"`.
    Reviewed,
    /// `requires = "settled"`.
    Settled,
    /// `requires = "verified"`.
    Verified,
}

impl Evidence {
    /// Returns whether who has it has what is needed: what is settled is reviewed too, and what is verified is neither.
    pub fn suffices(self, needed: Evidence) -> bool {
        self == needed || (self, needed) == (Evidence::Settled, Evidence::Reviewed)
    }
}

/// Who may take an edge besides the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// The coding agent, through a verb.
    Agent,
    /// A person, through a verb.
    Person,
}

/// One argument of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: At<String>,
    /// What it is.
    pub kind: At<ArgumentKind>,
    /// `doc`, or empty.
    pub doc: String,
    /// `optional = true`: an update from it leaves the field as it is where it is not given.
    pub optional: bool,
}

/// What an argument is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    /// Any text.
    Text,
    /// A whole number.
    Count,
    /// true or false; a flag of the command line without a value.
    Flag,
    /// A path.
    Path,
    /// An id.
    Id,
    /// `one_of = [..]`: one of some words.
    OneOf(Vec<String>),
}

/// A guard: what `when` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// All hold.
    All(Vec<Guard>),
    /// At least one holds.
    Any(Vec<Guard>),
    /// A comparison.
    Compare {
        /// Left of the sign.
        left: Operand,
        /// The sign.
        sign: Sign,
        /// Right of the sign.
        right: Operand,
    },
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// A field, plus or minus a constant (0 for a field alone).
    Field {
        /// The field's name, with its place in machine.toml.
        name: At<String>,
        /// What is added.
        offset: i64,
    },
    /// `count(list)`: how many texts a list has, plus or minus a constant.
    Length {
        /// The list's name, with its place in machine.toml.
        name: At<String>,
        /// What is added.
        offset: i64,
    },
    /// `args.score`: an argument of the transition, plus or minus a constant.
    Argument {
        /// The argument's name, with its place in machine.toml.
        name: At<String>,
        /// What is added.
        offset: i64,
    },
    /// `now`: the time of the commit, plus or minus seconds.
    Now {
        /// What is added.
        offset: i64,
        /// Its place in machine.toml.
        span: Range<usize>,
    },
    /// A constant.
    Constant(Constant),
}

/// A comparison's sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// What `set` gives a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// A constant.
    Constant(Constant),
    /// `"round + 1"`: a count field plus or minus a constant, or a time plus or minus seconds.
    Field {
        /// The field's name.
        name: String,
        /// What is added.
        offset: i64,
    },
    /// `"next(field)"`: the word after the present one of a `one_of`, the first after the last.
    Next(String),
    /// `"args.why"`: an argument of the transition.
    Argument(String),
    /// `"now"`: the time of the commit, plus or minus seconds.
    Now {
        /// What is added.
        offset: i64,
    },
    /// `"round + args.more"`: a count field plus a count argument, or a list with a text argument at its end.
    Plus {
        /// The field's name.
        name: String,
        /// The argument's.
        argument: String,
    },
}

impl Operand {
    /// The field that it reads, with its place in machine.toml.
    pub fn field(&self) -> Option<&At<String>> {
        match self {
            Operand::Field { name, .. } | Operand::Length { name, .. } => Some(name),
            Operand::Argument { .. } | Operand::Now { .. } | Operand::Constant(_) => None,
        }
    }

    /// The argument that it reads, with its place in machine.toml.
    pub fn argument(&self) -> Option<&At<String>> {
        match self {
            Operand::Argument { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl Update {
    /// The field whose value it reads.
    pub fn field(&self) -> Option<&str> {
        match self {
            Update::Field { name, .. } | Update::Next(name) | Update::Plus { name, .. } => Some(name),
            Update::Constant(_) | Update::Now { .. } | Update::Argument(_) => None,
        }
    }

    /// The argument that it takes.
    pub fn argument(&self) -> Option<&str> {
        match self {
            Update::Argument(name) | Update::Plus { argument: name, .. } => Some(name),
            Update::Constant(_) | Update::Now { .. } | Update::Field { .. } | Update::Next(_) => None,
        }
    }
}

impl Transition {
    /// Returns whether it has a verb of the command line.
    pub fn is_verb(&self) -> bool {
        !self.by.is_empty() && !self.own
    }
}

impl Field {
    /// The smallest and the largest count that an edit by hand may give.
    pub fn counts(&self) -> (u64, u64) {
        let of = |bound: &Option<At<u64>>| bound.as_ref().map(|bound| bound.value);
        (
            of(&self.range.0).unwrap_or(0),
            of(&self.range.1).unwrap_or(i64::MAX.unsigned_abs()),
        )
    }

    /// Whether it exists in a phase.
    pub fn exists_in(&self, phase: &str) -> bool {
        let within = self.within.as_ref();
        within.is_none_or(|phases| phases.iter().any(|known| known.value == phase))
    }

    /// The value that a document has as null, with the field's name. None: an ordinary field; a time and an id, which are null without it.
    pub(crate) fn null(&self, machine: &Machine) -> Option<(&str, Constant)> {
        let value = &self.null.as_ref()?.value;
        let value = match (&self.kind, value) {
            (FieldKind::Time | FieldKind::Id, _) => return None,
            (FieldKind::Held(_), Constant::Text(name)) => {
                let phase = machine.phases.iter().find(|phase| phase.name.value == *name)?;
                Constant::Text(phase.stored.as_ref().unwrap_or(&phase.name).value.clone())
            }
            _ => value.clone(),
        };
        Some((&self.name.value, value))
    }

    /// The value at the start, where the machine file says none either. None: the engine's, data, or a `one_of` without words.
    pub fn initial(&self) -> Option<Constant> {
        let own = self.initial.as_ref().map(|initial| initial.value.clone());
        own.or_else(|| {
            Some(match &self.kind {
                FieldKind::Count => Constant::Count(0),
                FieldKind::Flag => Constant::Flag(false),
                FieldKind::Time => Constant::Time(0),
                FieldKind::Text | FieldKind::Path | FieldKind::Id => Constant::Text(String::new()),
                FieldKind::List => Constant::List(Vec::new()),
                FieldKind::OneOf(words) => Constant::Text(words.first()?.value.clone()),
                FieldKind::Data(_) | FieldKind::Held(_) => return None,
            })
        })
    }
}
