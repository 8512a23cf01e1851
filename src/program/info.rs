//! A program's names in messages, in a terminal and as slash commands, and its plugin.

use camino::Utf8PathBuf;

use super::caller::Caller;
use crate::machine::table::FieldKind;
use crate::machine::{PhaseDeclaration as _, Table};
use crate::message::Message;
use crate::store::{StateHome, StateSpec};
use crate::text;

/// The names and parts of a program.
#[derive(Debug, Clone, Copy)]
pub struct ProgramInfo {
    /// The name at the beginning of its notes.
    pub name: &'static str,
    /// The command in a terminal.
    pub program: &'static str,
    /// The plugin whose slash commands call it, if it has one.
    pub plugin: Option<&'static str>,
    /// The place and form of its loops' documents.
    pub state: &'static StateSpec,
    /// The machine.
    pub table: &'static Table,
    /// The program's command that imports another program's document; `None` means `import`.
    pub import_command: Option<&'static str>,
    /// The program's command that starts a loop; `None` means `start`.
    pub start_command: Option<&'static str>,
}

impl ProgramInfo {
    /// Returns the program of a machine.
    pub const fn new(table: &'static Table) -> Self {
        let program = table.state.program;
        Self {
            name: match table.plugin {
                Some(plugin) => plugin,
                None => program,
            },
            program,
            plugin: table.plugin,
            state: table.state,
            table,
            import_command: None,
            start_command: None,
        }
    }

    pub(super) fn reviews(&self) -> bool {
        let mut phases = self.table.phases.iter();
        phases.any(|phase| phase.review().is_some())
    }

    pub(super) fn home(&self) -> Option<Utf8PathBuf> {
        let home = StateHome::for_user(self.program);
        home.folder().ok().map(Into::into)
    }

    /// Returns the name of an environment variable of this program: `CLAUDEX_REVIEWER`.
    pub fn variable(&self, name: &str) -> String {
        format!("{}_{name}", self.name.replace('-', "_").to_uppercase())
    }

    /// Returns a note for the user: `release-train: …`.
    pub fn line(&self, text: &str) -> String {
        format!("{}: {text}", self.name)
    }

    /// Returns a command for the end of a sentence, as a slash command and for a terminal. It is on
    /// its own line, so that pasting the sentence into a shell's quotes runs nothing.
    pub fn command(&self, words: &str) -> String {
        self.named_command(words, words)
    }

    /// Returns a command like [`Self::command`], with another name as a slash command.
    pub fn named_command(&self, slash: &str, words: &str) -> String {
        text::command_lines(&[self.terminal_and_slash(words, slash)])
    }

    /// Returns a command for a terminal and, if the plugin has it, as a slash command. The one that
    /// the reader can type here comes first.
    pub(super) fn terminal_and_slash(&self, words: &str, slash: &str) -> String {
        let line = format!("{} {words}", self.program);
        match self.slash(slash) {
            None => line,
            Some(slash) if Caller::from_env().inside => format!("{slash} (in a terminal: {line})"),
            Some(slash) => format!("{line} (in Claude Code: {slash})"),
        }
    }

    /// Returns the command that starts a loop in this mode, with a placeholder for its text.
    pub(super) fn start(&self, mode: &str) -> String {
        let mut fields = self.table.state.declared.iter();
        let field = fields.find(|field| field.required && matches!(field.kind, FieldKind::Text));
        let text = field.map_or_else(String::new, |field| {
            format!(" {}", field.name.replace('_', "-").to_uppercase())
        });
        match self.start_command {
            Some(begin) => self.command(&format!("{begin}{text}")),
            None if self.table.modes.len() > 1 => {
                let command = format!("{mode}{text}");
                self.named_command(&command, &format!("start {command}"))
            }
            None => self.command(&format!("start{text}")),
        }
    }

    /// Returns the slash command, or `None` if the plugin lacks it.
    pub fn slash(&self, words: &str) -> Option<String> {
        let name = words.split(' ').next().unwrap_or(words);
        let is_there = self.start_command == Some(name) || self.table.slash.contains(&name);
        let plugin = self.plugin.filter(|_| is_there)?;
        Some(format!("/{plugin}:{words}"))
    }
}

/// A program's plugin as its machine file declares it. `claudex-build` generates it.
#[derive(Debug, Clone, Copy)]
pub struct PluginInfo {
    /// The slash commands.
    pub commands: &'static [CommandInfo],
    /// Files that are copied unchanged, named by their paths.
    pub files: &'static [Message],
    /// More permission rules of each command after which a loop can continue.
    pub permits: &'static [&'static str],
    /// The machine as Markdown.
    pub spec: &'static str,
    /// Keys of the manifest, such as `license`, each with the last text that is not empty.
    pub package: &'static [(&'static str, &'static str)],
}

/// A slash command.
#[derive(Debug, Clone, Copy)]
pub struct CommandInfo {
    /// The name, as it is typed.
    pub name: &'static str,
    /// The command of the program that it calls, such as `start plan`.
    pub call: &'static str,
    /// The transition that it takes, or `None` for a start or a common command.
    pub transition: Option<&'static str>,
    /// The description in the menu; empty for common commands.
    pub doc: &'static str,
    /// The arguments in the menu; `None` means those of the command line.
    pub arguments: Option<&'static str>,
    /// The text for the agent; `None` means the engine's text.
    pub text: Option<Message>,
}
