//! `[plugin]`, and the slash commands of a machine's plugin.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::tables::{self, named};
use super::texts::{Path, PluginName};
use super::{Actor, At, Machine, Many, Mode};

/// `[plugin]`: the plugin of a client whose hooks and slash commands call the machine's program.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Plugin {
    /// The name that slash commands and lines for users begin with.
    pub name: At<PluginName>,
    /// `[plugin.commands.x]`, in the order of the file.
    #[serde(default, deserialize_with = "tables::table")]
    pub commands: Vec<PluginCommand>,
    /// The other files of the plugin's folder, as paths below the messages' folder.
    #[serde(default)]
    pub files: Many<At<Path>>,
    /// What a command also permits if the loop can go on after it.
    #[serde(default)]
    pub permits: Many<At<String>>,
}

/// `[plugin.commands.x]`: the text of a slash command.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PluginCommand {
    /// The name of the table.
    #[serde(skip_deserializing)]
    pub name: At<String>,
    /// The documentation, or an empty text.
    #[serde(default)]
    pub doc: String,
    /// The hint for the arguments in the menu.
    pub arguments: Option<String>,
    /// The file of the instructions for the agent.
    pub text: Option<At<Path>>,
}

named!(PluginCommand);

/// A slash command that a machine's plugin can have.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SlashCommand<'m> {
    /// Its name, with `_`.
    pub name: &'m str,
    /// What it does.
    pub does: Does<'m>,
    /// Its entry in `[plugin.commands]`, if there is one.
    pub declared: Option<&'m PluginCommand>,
}

/// What a slash command does.
#[derive(Debug, Clone, Copy, Serialize)]
pub enum Does<'m> {
    /// It starts a loop in this mode.
    Start(&'m Mode),
    /// It takes the transition of its name.
    Take,
    /// It is the engine's own.
    Own,
}

/// The slash commands of every program, except those that start a loop.
const OWN: [&str; 7] = [
    "status", "history", "resume", "pause", "adopt", "rollback", "doctor",
];

impl Machine {
    /// Returns the slash commands that the plugin can have: one for each mode, the engine's own, and one for each transition that a
    /// person may take. Names may be there twice; `check` reports them.
    pub fn possible_slash_commands(&self) -> Vec<SlashCommand<'_>> {
        let is_only = self.modes.len() == 1;
        let starts = self.modes.iter().map(|mode| {
            let name = if is_only { "start" } else { mode.name.as_str() };
            (name, Does::Start(mode))
        });
        let persons = self.open_to(Actor::Person);
        let has_pause = persons.contains("pause");
        let own = OWN
            .into_iter()
            .filter(move |name| *name != "pause" || !has_pause);
        let own = own.map(|name| (name, Does::Own));
        let taken = self.transition_names().into_iter();
        let taken = taken
            .filter(|name| *name != "resume" && persons.contains(name))
            .map(|name| (name, Does::Take));
        let declared: HashMap<&str, &PluginCommand> = self
            .plugin
            .iter()
            .flat_map(|plugin| &plugin.commands)
            .map(|command| (command.name.as_str(), command))
            .collect();
        let all = starts.chain(own).chain(taken);
        all.map(|(name, does)| SlashCommand {
            name,
            does,
            declared: declared.get(name).copied(),
        })
        .collect()
    }

    /// Returns the slash commands that the plugin has: of the transitions that an agent may take as well, those that the file names.
    pub fn slash_commands(&self) -> Vec<SlashCommand<'_>> {
        let agents = self.open_to(Actor::Agent);
        let mut commands = self.possible_slash_commands();
        commands.retain(|command| {
            !matches!(command.does, Does::Take)
                || command.declared.is_some()
                || !agents.contains(command.name)
        });
        commands
    }

    /// Returns the transitions that an actor may take by a verb.
    fn open_to(&self, actor: Actor) -> HashSet<&str> {
        let entries = self.transitions.iter();
        let entries =
            entries.filter(|entry| entry.is_verb() && entry.by.iter().any(|by| by.value == actor));
        entries.map(|entry| entry.name.as_str()).collect()
    }
}
