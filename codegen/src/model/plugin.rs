//! `[plugin]`, and which slash commands a machine's plugin has.

use std::collections::{HashMap, HashSet};

use super::{Actor, At, Machine, Mode};

/// `[plugin]`: the plugin of a client whose hooks and slash commands call the machine's program.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// `name`: what slash commands and lines for people begin with.
    pub name: At<String>,
    /// `[plugin.commands.x]`, in the order of the file.
    pub commands: Vec<PluginCommand>,
    /// `files`: what the plugin's folder has besides, as it lies among the messages.
    pub files: Vec<At<String>>,
    /// `permits`: what a command permits besides, where the loop can go on after it.
    pub permits: Vec<At<String>>,
}

/// `[plugin.commands.x]`: what a slash command says.
#[derive(Debug, Clone)]
pub struct PluginCommand {
    /// Holds the table's name.
    pub name: At<String>,
    /// `doc`, or empty.
    pub doc: String,
    /// `arguments`: what the menu says of them.
    pub arguments: Option<String>,
    /// `text`: the file of what the agent is told.
    pub text: Option<At<String>>,
}

/// Describes a slash command that a machine's plugin can have.
#[derive(Debug, Clone, Copy)]
pub struct SlashCommand<'m> {
    /// Its name, with `_`.
    pub name: &'m str,
    /// Tells what it does.
    pub does: Does<'m>,
    /// Holds what `[plugin.commands]` says of it.
    pub declared: Option<&'m PluginCommand>,
}

/// Names what a slash command does.
#[derive(Debug, Clone, Copy)]
pub enum Does<'m> {
    /// It starts a loop in this mode.
    Start(&'m Mode),
    /// It takes the transition of its name.
    Take,
    /// It is the engine's own.
    Own,
}

/// Lists the slash commands that every program has, but for those that start.
const OWN: [&str; 7] = [
    "status", "history", "resume", "pause", "adopt", "rollback", "doctor",
];

impl Machine {
    /// Returns the slash commands that the plugin can have: one for each mode, the engine's own, and one for each transition that a
    /// person may take. Names may be there twice; `check` reports them.
    pub fn possible_slash_commands(&self) -> Vec<SlashCommand<'_>> {
        let is_only = self.modes.len() == 1;
        let starts = self.modes.iter().map(|mode| {
            let name = if is_only {
                "start"
            } else {
                mode.name.value.as_str()
            };
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
            .map(|command| (command.name.value.as_str(), command))
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
        entries.map(|entry| entry.name.value.as_str()).collect()
    }
}
