//! Transitions: from where to where, when, by whom, and what each sets.

use std::ops::Range;

use super::{At, Constant};

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
    /// `args.score`: an argument of the transition, plus or minus a constant.
    Argument {
        /// The argument's name, with its place in machine.toml.
        name: At<String>,
        /// What is added.
        offset: i64,
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
    /// `"round + 1"`: a count field plus or minus a constant.
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
    /// `"round + args.more"`: a count field plus a count argument.
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
            Operand::Field { name, .. } => Some(name),
            Operand::Argument { .. } | Operand::Constant(_) => None,
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
            Update::Field { name, .. } | Update::Next(name) | Update::Plus { name, .. } => {
                Some(name)
            }
            Update::Constant(_) | Update::Argument(_) => None,
        }
    }

    /// The argument that it takes.
    pub fn argument(&self) -> Option<&str> {
        match self {
            Update::Argument(name) | Update::Plus { argument: name, .. } => Some(name),
            Update::Constant(_) | Update::Field { .. } | Update::Next(_) => None,
        }
    }
}

impl Transition {
    /// Returns whether it has a verb of the command line.
    pub fn is_verb(&self) -> bool {
        !self.by.is_empty() && !self.own
    }
}
