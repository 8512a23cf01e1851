//! A program's plugin, as its machine declares it.

use crate::message::Message;

/// A program's plugin, as its machine declares it. `claudex-build` writes it.
#[derive(Debug, Clone, Copy)]
pub struct PluginInfo {
    /// The slash commands.
    pub commands: &'static [CommandInfo],
    /// Files that it has as they are, named by their paths.
    pub files: &'static [Message],
    /// Permission rules of every command after which a loop can go on, in addition to those that follow from the machine.
    pub permits: &'static [&'static str],
    /// The machine as Markdown.
    pub spec: &'static str,
    /// The package's authors, with `:` between them.
    pub authors: &'static str,
    /// The package's homepage, or empty.
    pub homepage: &'static str,
    /// The package's repository, or empty.
    pub repository: &'static str,
    /// The package's licence, or empty.
    pub license: &'static str,
}

/// A slash command.
#[derive(Debug, Clone, Copy)]
pub struct CommandInfo {
    /// The name, as it is typed.
    pub name: &'static str,
    /// The effect.
    pub does: Does,
    /// The description in the menu; empty for the engine's own.
    pub doc: &'static str,
    /// The arguments in the menu; `None`: those of the command line.
    pub arguments: Option<&'static str>,
    /// The text for the agent; `None`: the engine's own.
    pub text: Option<Message>,
}

/// The effect of a slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// The start of a loop in this mode.
    Start(&'static str),
    /// A transition of the machine.
    Take(&'static str),
    /// The command of that name that every program has.
    Own,
}
