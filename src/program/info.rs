//! Who speaks to people: what a program's lines begin with, and what is typed to call it.

use crate::machine::Table;
use crate::review::reviewer::Reviewer;
use crate::store::StateSpec;
use crate::text::COMMAND;

/// The name of a program in its own messages.
#[derive(Debug, Clone, Copy)]
pub struct ProgramInfo {
    /// What its lines to people begin with.
    pub name: &'static str,
    /// What is typed in a terminal.
    pub program: &'static str,
    /// The plugin whose slash commands call it, where there is one.
    pub plugin: Option<&'static str>,
    /// Where its loops lie.
    pub state: &'static StateSpec,
    /// Its machine.
    pub table: &'static Table,
    /// The reviewers that it has besides those of every program: each made anew for a review.
    pub reviewers: &'static [fn() -> Box<dyn Reviewer>],
    /// The command of its own by which a person takes up a document of another program; `None`: `import` and the document's path.
    pub take_up: Option<&'static str>,
    /// The command of its own, here and in its plugin, by which a loop begins; `None`: `start`.
    pub begin: Option<&'static str>,
}

impl PartialEq for ProgramInfo {
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program
    }
}

impl Eq for ProgramInfo {}

impl ProgramInfo {
    /// Returns the program of a machine.
    pub const fn of(table: &'static Table) -> Self {
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
            reviewers: &[],
            take_up: None,
            begin: None,
        }
    }

    /// Returns the names of its own reviewers.
    pub(super) fn own_reviewers(&self) -> Vec<String> {
        let named = |make: &fn() -> Box<dyn Reviewer>| make().name().to_owned();
        self.reviewers.iter().map(named).collect()
    }

    /// Returns the name of one of the program's variables of the environment: `CLAUDEX_REVIEWER`.
    pub fn variable(&self, name: &str) -> String {
        format!("{}_{name}", self.name.replace('-', "_").to_uppercase())
    }

    /// Makes a line for a person: `release-train: …`.
    pub fn line(&self, text: &str) -> String {
        format!("{}: {text}", self.name)
    }

    /// Returns how a command is called, in a client with the plugin and in a terminal: each on a line of its own, where nothing
    /// runs it that pastes the message. It stands at the end of a sentence.
    pub fn command(&self, words: &str) -> String {
        self.named_command(words, words)
    }

    /// Returns the same for a command that has another name as a slash command.
    pub fn named_command(&self, slash: &str, words: &str) -> String {
        let program = self.program;
        let typed = self.slash(slash).map(|typed| format!("\n{COMMAND}{typed}"));
        format!("{}\n{COMMAND}{program} {words}", typed.unwrap_or_default())
    }

    /// Returns how a loop is started in this mode.
    pub(super) fn start(&self, mode: &str) -> String {
        if let Some(own) = self.begin {
            let slash = self
                .plugin
                .map(|plugin| format!("\n{COMMAND}/{plugin}:{own}"));
            return format!(
                "{}\n{COMMAND}{} {own}",
                slash.unwrap_or_default(),
                self.program
            );
        }
        match self.table.modes.len() > 1 {
            true => self.named_command(mode, &format!("start {mode}")),
            false => self.command("start"),
        }
    }

    /// Returns how a command is typed in a client, where the plugin has it as a slash command.
    pub fn slash(&self, words: &str) -> Option<String> {
        let name = words.split(' ').next().unwrap_or(words);
        let plugin = self.plugin.filter(|_| self.table.slash.contains(&name))?;
        Some(format!("/{plugin}:{words}"))
    }
}
