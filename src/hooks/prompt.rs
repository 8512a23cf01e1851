//! The arguments that a user types after `/claudex:<command>`, handed from the client's prompt hook
//! to the command without a shell. They prove once that the user, not the agent, gave it.
//!
//! The client fires two events with one prompt id for a command: UserPromptSubmit with the raw
//! prompt, and UserPromptExpansion with name and arguments. 2.1.330 fires them in this order;
//! 2.1.198 expands first, and submits after the command has run. The second event replaces the
//! record of the first, unless that was taken: a prompt whose id was taken is not stored again.

use std::io;
use std::time::Duration;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::input::{Event, Input};
use super::session_records::SessionRecord;

/// A command that the user typed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct TypedCommand {
    prompt_id: String,
    /// The arguments, or `None` once they were taken.
    arguments: Option<String>,
}

impl SessionRecord for TypedCommand {
    const FOLDER: &str = "prompts";
    const PREFIX: &str = "";
    const MAX_AGE: Duration = Duration::from_secs(600);
}

/// Stores the command of a prompt event in `home`, the user's folder of the program. Returns
/// `false` for other events, commands of other plugins, subagents, inputs without a session and
/// prompts without an id. An expansion counts without one: a client without ids fires only that.
///
/// # Errors
/// Returns an error if the folder is not trusted, or the system refuses.
pub fn store(input: &Input, plugin: &str, home: &Utf8Path) -> io::Result<bool> {
    let parts = command_of(input, plugin).filter(|_| !input.is_subagent());
    let (Some(session), Some((command, arguments))) = (&input.session_id, parts) else {
        return Ok(false);
    };
    let id = record_id(session, command);
    let earlier = TypedCommand::load(&taken_id(&id), home);
    if earlier.is_some_and(|earlier| Some(&earlier.prompt_id) == input.prompt_id.as_ref()) {
        return Ok(false);
    }
    let prompt = TypedCommand {
        prompt_id: input.prompt_id.clone().unwrap_or_default(),
        arguments: Some(arguments.to_owned()),
    };
    prompt.save(&id, home)?;
    Ok(true)
}

/// Takes a session's arguments that were typed after `/claudex:<command>` within ten minutes, byte
/// for byte without outer line ends. Returns `None` if there are none, or they were taken before.
///
/// # Errors
/// Returns an error if the system refuses.
pub fn take(session: &str, command: &str, home: &Utf8Path) -> io::Result<Option<String>> {
    let id = record_id(session, command);
    let Some(typed) = TypedCommand::load(&id, home) else {
        return Ok(None);
    };
    let mark = TypedCommand {
        prompt_id: typed.prompt_id,
        arguments: None,
    };
    mark.save(&taken_id(&id), home)?;
    // A crash from here on loses a prompt, but never uses it twice.
    let is_first = TypedCommand::remove(&id, home)?;
    Ok(typed.arguments.filter(|_| is_first))
}

fn record_id(session: &str, command: &str) -> String {
    format!("{session}\n{command}")
}

fn taken_id(id: &str) -> String {
    format!("{id}\ntaken")
}

/// Returns the command and the arguments of a prompt event, if the command is ours.
fn command_of<'i>(input: &'i Input, plugin: &str) -> Option<(&'i str, &'i str)> {
    let prefix = format!("{plugin}:");
    let prompt = input.prompt.as_deref().unwrap_or_default();
    let after = prompt.strip_prefix('/');
    let parts = after.and_then(|rest| rest.strip_prefix(&prefix)).map(split);
    let (command, arguments) = match input.event? {
        Event::UserPromptSubmit if input.prompt_id.is_some() => parts?,
        Event::UserPromptExpansion => {
            let name = input.command_name.as_deref()?;
            // A bare name is ours only if the user typed it with ours before it.
            let is_typed = parts.is_some_and(|(command, _)| command == name);
            let command = name.strip_prefix(&prefix).or(is_typed.then_some(name))?;
            let arguments = input
                .command_args
                .as_deref()
                .or(parts.map(|(_, arguments)| arguments));
            (command, arguments.unwrap_or_default())
        }
        _ => return None,
    };
    (!command.is_empty()).then(|| (command, arguments.trim_matches(['\n', '\r'])))
}

/// Splits `plan fix it` into `plan` and `fix it`, without the one blank between them.
fn split(typed: &str) -> (&str, &str) {
    let end = typed.find(char::is_whitespace).unwrap_or(typed.len());
    let (command, arguments) = typed.split_at(end);
    let separated = arguments.strip_prefix([' ', '\t']);
    (command, separated.unwrap_or(arguments))
}

#[cfg(test)]
mod tests;
