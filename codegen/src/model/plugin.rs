//! `[plugin]`, and the slash commands in a machine's plugin.

use serde::{Deserialize, Serialize};

use super::tables::{self, many};
use super::texts::{Path, PluginName};
use super::{Actor, At, Entry, Machine, Mode, Named};

/// `[plugin]`: the plugin of a client whose hooks and slash commands call the machine's program.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Plugin {
    /// The name that slash commands and lines for users begin with.
    name: At<PluginName>,
    #[serde(default, deserialize_with = "tables::table")]
    pub(crate) commands: Vec<Named<PluginCommand>>,
    /// The other files of the plugin's folder, as paths below the messages' folder.
    #[serde(default, deserialize_with = "many")]
    pub(crate) files: Vec<At<Path>>,
    /// The rules that a command also permits if the loop can continue after it.
    #[serde(default, deserialize_with = "many")]
    permits: Vec<At<String>>,
}

/// `[plugin.commands.x]`: the text of a slash command.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct PluginCommand {
    #[serde(default)]
    doc: String,
    /// The hint for the arguments in the menu.
    arguments: Option<String>,
    /// The file of the instructions for the agent.
    pub(crate) text: Option<At<Path>>,
}

/// A slash command that a machine's plugin can have.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SlashCommand<'m> {
    /// The name, with `_`.
    pub(crate) name: &'m str,
    /// The mode in which it starts a loop.
    pub(crate) start: Option<&'m Named<Mode>>,
    /// The transition that it takes. A command that does neither is the engine's own.
    pub(crate) take: Option<&'m Entry>,
    /// The entry in `[plugin.commands]`, if there is one.
    declared: Option<&'m Named<PluginCommand>>,
}

/// The slash commands of every program, except those that start a loop.
const OWN: [&str; 7] = [
    "status", "history", "resume", "pause", "adopt", "rollback", "doctor",
];

impl Machine {
    /// Returns the plugin's slash commands: one for each mode, the engine's own, and one for each
    /// transition that only the user may take or the file names. `check` reports duplicates.
    pub(crate) fn slash_commands(&self) -> Vec<SlashCommand<'_>> {
        let plugin = self.plugin.as_ref();
        let declared = plugin.map_or(&[][..], |plugin| &plugin.commands);
        let new = |name, start, take| SlashCommand {
            name,
            start,
            take,
            declared: Named::find(declared, name),
        };
        let mut commands = Vec::new();
        for mode in &self.modes {
            let is_only = self.modes.len() == 1;
            let name = if is_only { "start" } else { &mode.name };
            commands.push(new(name, Some(mode), None));
        }
        let mut verbs = self.first_entries();
        verbs.retain(|entry| entry.is_verb() && entry.is_by(Actor::Person));
        for name in OWN {
            // A machine can have a `pause` of its own.
            if name != "pause" || verbs.iter().all(|entry| *entry.name != *name) {
                commands.push(new(name, None, None));
            }
        }
        for entry in verbs {
            let is_declared = Named::find(declared, &entry.name).is_some();
            if (is_declared || entry.is_by_user_alone()) && *entry.name != *"resume" {
                commands.push(new(&entry.name, None, Some(entry)));
            }
        }
        commands
    }
}
