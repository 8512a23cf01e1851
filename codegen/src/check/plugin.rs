//! The slash commands of the plugin: each name means one of them, and each that the file names is there.

use std::collections::HashSet;

use super::ENOUGH;
use crate::diagnostic::{Diagnostic, suggest};
use crate::model::{Does, Machine};

pub(super) fn commands(machine: &Machine, found: &mut Vec<Diagnostic>) {
    let Some(plugin) = &machine.plugin else {
        return;
    };
    let possible = machine.possible_slash_commands();
    for declared in &plugin.commands {
        let name = &declared.name;
        if found.len() > ENOUGH {
            return;
        }
        if possible.iter().any(|command| command.name == name.value) {
            continue;
        }
        let hint = suggest(&name.value, possible.iter().map(|command| command.name));
        let hint = hint.unwrap_or_else(|| {
            "it is a mode, a transition of a person, or one of the engine’s: status, history, resume, adopt, rollback, doctor"
                .to_owned()
        });
        let message = format!("no slash command is named `{}`", name);
        let one = name.problem("unknown_command", message);
        found.push(one.help(hint));
    }
    let mut seen = HashSet::new();
    for command in machine.slash_commands() {
        if seen.insert(command.name) {
            continue;
        }
        // The engine's come after the modes: what is there twice is a mode's and another's.
        let mode = machine
            .modes
            .iter()
            .find(|mode| mode.name.value == command.name);
        let span = mode.map_or(&plugin.name.span, |mode| &mode.name.span);
        let other = match command.does {
            Does::Take => "the transition",
            Does::Start(_) | Does::Own => "the engine",
        };
        let message = format!(
            "the slash command `{}` would be this mode’s and that of {other}",
            command.name
        );
        let one = Diagnostic::new("command_twice", span.clone(), message);
        found.push(one.help("rename one of them"));
    }
}
