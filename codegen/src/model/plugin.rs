//! `[plugin]`, and the slash commands of a machine's plugin.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::tables::{self, named};
use super::texts::{Path, PluginName};
use super::{Actor, At, Machine, Many, Mode};

/// `[plugin]`: the plugin of a client whose hooks and slash commands call the machine's program.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plugin {
    /// The name that slash commands and lines for users begin with.
    pub(crate) name: At<PluginName>,
    #[serde(default, deserialize_with = "tables::table")]
    pub(crate) commands: Vec<PluginCommand>,
    /// The other files of the plugin's folder, as paths below the messages' folder.
    #[serde(default)]
    pub(crate) files: Many<At<Path>>,
    /// The rules that a command also permits if the loop can go on after it.
    #[serde(default)]
    pub(crate) permits: Many<At<String>>,
}

/// `[plugin.commands.x]`: the text of a slash command.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginCommand {
    #[serde(skip_deserializing)]
    pub(crate) name: At<String>,
    #[serde(default)]
    pub(crate) doc: String,
    /// The hint for the arguments in the menu.
    pub(crate) arguments: Option<String>,
    /// The file of the instructions for the agent.
    pub(crate) text: Option<At<Path>>,
}

named!(PluginCommand);

/// A slash command that a machine's plugin can have.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct SlashCommand<'m> {
    /// The name, with `_`.
    pub(crate) name: &'m str,
    pub(crate) does: Does<'m>,
    /// The entry in `[plugin.commands]`, if there is one.
    pub(crate) declared: Option<&'m PluginCommand>,
}

/// The action of a slash command.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) enum Does<'m> {
    /// Starts a loop in this mode.
    Start(&'m Mode),
    /// Takes the transition of its name.
    Take,
    /// A command of the engine.
    Own,
}

/// The slash commands of every program, except those that start a loop.
const OWN: [&str; 7] = [
    "status", "history", "resume", "pause", "adopt", "rollback", "doctor",
];

impl Machine {
    /// Returns the slash commands that the plugin can have: one for each mode, the engine's own, and one for each transition
    /// that the user may take. Names may be there twice; `check` reports them.
    pub(crate) fn possible_slash_commands(&self) -> Vec<SlashCommand<'_>> {
        let taken = self.verbs_of(Actor::Person);
        let mut all = Vec::new();
        for mode in &self.modes {
            let is_only = self.modes.len() == 1;
            all.push((
                if is_only { "start" } else { &mode.name },
                Does::Start(mode),
            ));
        }
        let own = OWN
            .iter()
            .filter(|name| **name != "pause" || !taken.contains(name));
        all.extend(own.map(|name| (*name, Does::Own)));
        let taken = taken.into_iter().filter(|name| *name != "resume");
        all.extend(taken.map(|name| (name, Does::Take)));

        let commands = self.plugin.iter().flat_map(|plugin| &plugin.commands);
        let all = all.into_iter().map(|(name, does)| SlashCommand {
            name,
            does,
            declared: commands.clone().find(|command| command.name.value == name),
        });
        all.collect()
    }

    /// Returns the slash commands that the plugin has: of the transitions that an agent may take as well, those that the file
    /// names.
    pub(crate) fn slash_commands(&self) -> Vec<SlashCommand<'_>> {
        let agents = self.verbs_of(Actor::Agent);
        let mut commands = self.possible_slash_commands();
        commands.retain(|command| {
            !matches!(command.does, Does::Take)
                || command.declared.is_some()
                || !agents.contains(&command.name)
        });
        commands
    }

    /// Returns the transitions that an actor may take by a verb, each once, in the order of the file.
    fn verbs_of(&self, actor: Actor) -> Vec<&str> {
        let entries = self.transitions.iter();
        let open =
            entries.filter(|entry| entry.is_verb() && entry.by.iter().any(|by| by.value == actor));
        let open: HashSet<&str> = open.map(|entry| entry.name.as_str()).collect();
        let mut names = self.transition_names();
        names.retain(|name| open.contains(name));
        names
    }
}
