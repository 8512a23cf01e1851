//! What a person typed after `/claudex:<command>`, handed from the client's prompt hook to the command itself without a
//! shell in between; at the same time a one-use ticket that a person, not the agent, gave this command.
//!
//! One record per session and command, in the user's own state folder: `prompts/<sha256 of the session
//! id>-<command>.json`, readable by its owner only, valid for ten minutes, removed when it is taken.
//!
//! The client fires two events with one prompt id for one command: UserPromptSubmit with the raw
//! prompt, and UserPromptExpansion with the name and the arguments. 2.1.330 fires them in this order;
//! 2.1.198 expands first, and submits after the command has run. The second event replaces the record
//! of the first. If the record was taken in between, the second event must not store it again: taking
//! a record leaves a `.taken` mark, and an event with the same prompt id stores nothing.
//!
//! What the arguments mean, and which commands are for persons only, is not known here.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use jiff::Timestamp;
use miette::Diagnostic;
use serde::{Deserialize, Serialize};

use super::input::Input;
use crate::digest::sha256;
use crate::files::{Distrust, Folder, Lock, UntrustedError, if_there, make_private, open_private};

/// The folder of the records, in the user's own.
const PROMPTS: &str = "prompts";
/// The file in it that is locked.
const LOCK: &str = ".lock";
/// How long a record can be taken.
const VALID: Duration = Duration::from_secs(600);
/// The longest arguments that are kept, in bytes.
const MAX_ARGUMENTS: usize = 1024 * 1024;
/// The longest file that is read: escapes make of one byte six.
const MAX_FILE: u64 = 8 * 1024 * 1024;
/// How long to wait for another process that stores or takes.
const PATIENCE: Duration = Duration::from_secs(2);

/// A command that a person gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its name without the plugin's, such as `plan`.
    pub command: String,
    /// Its arguments, byte for byte, without line ends at either end.
    pub arguments: String,
}

/// Why a prompt could not be stored or taken.
#[derive(Debug, Display, Error, Diagnostic)]
pub enum PromptError {
    /// The system was in the way.
    #[display("cannot use {path}: {source}", path = crate::text::shown(path), source = crate::text::shown(source.to_string()))]
    #[diagnostic(
        code(claudex::prompt::io),
        help("see who owns it and whether the disk is full")
    )]
    Io {
        /// The file or folder.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder is not safely ours.
    #[display("{path} is not trusted, since {why}: nothing was stored or taken", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::prompt::refused),
        help("move it away; it is made again when it is needed")
    )]
    Refused {
        /// The folder.
        path: Utf8PathBuf,
        /// Why.
        #[error(not(source))]
        why: Distrust,
    },
    /// Another process held the folder for too long.
    #[display("{path} is held by another process", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::prompt::busy),
        help("try again; if it stays, end the process that hangs")
    )]
    Busy {
        /// The lock file.
        path: Utf8PathBuf,
    },
    /// A record that is none; it has been removed.
    #[display("{path} is not a stored prompt and was removed", path = crate::text::shown(path))]
    #[diagnostic(code(claudex::prompt::corrupt), help("type the command again"))]
    Corrupt {
        /// The record.
        path: Utf8PathBuf,
    },
    /// Nobody types that much.
    #[display("the command's arguments are {bytes} bytes long, more than {MAX_ARGUMENTS}")]
    #[diagnostic(
        code(claudex::prompt::too_long),
        help("put the text into a file and name the file")
    )]
    TooLong {
        /// How long they are.
        bytes: usize,
    },
}

/// A record as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    command: String,
    arguments: String,
    stored_at: Timestamp,
    prompt_id: String,
}

/// What stays of a record that was taken.
#[derive(Debug, Serialize, Deserialize)]
struct Taken {
    taken_at: Timestamp,
    prompt_id: String,
}

/// Stores the command of a prompt event for its session, below `base`, the user's folder of the program; says whether it did.
/// Other events, other plugins' commands, subagents, and inputs without a session or a prompt id store nothing.
///
/// # Errors
/// The folder cannot be used, is not safely ours, or is held; the arguments are longer than a mebibyte.
pub fn store(
    input: &Input,
    plugin: &str,
    now: Timestamp,
    base: &Utf8Path,
) -> Result<bool, PromptError> {
    let (Some(session), Some(prompt_id)) = (&input.session_id, &input.prompt_id) else {
        return Ok(false);
    };
    let Some((prompt, expanded)) = command_of(input, plugin) else {
        return Ok(false);
    };
    if input.is_subagent() {
        return Ok(false);
    }
    if prompt.arguments.len() > MAX_ARGUMENTS {
        return Err(PromptError::TooLong {
            bytes: prompt.arguments.len(),
        });
    }
    let folder = make_private(base, PROMPTS).map_err(failed(base))?;
    let folder = Records { folder };
    folder.locked(|| {
        folder.sweep(now);
        let (record, mark) = Records::names(session, &prompt.command);
        if let Ok(Some(taken)) = folder.load::<Taken>(&mark)
            && is_fresh(taken.taken_at, now)
            && *prompt_id == taken.prompt_id
        {
            if expanded {
                folder.remove(&mark)?;
            }
            return Ok(false);
        }
        folder.remove(&mark)?;
        let Prompt { command, arguments } = prompt;
        folder.save(
            &record,
            &Record {
                command,
                arguments,
                stored_at: now,
                prompt_id: prompt_id.clone(),
            },
        )?;
        Ok(true)
    })
}

/// Takes what a session's person typed after `/claudex:<command>`, once. Nothing there, expired, or of another session
/// or command: `None`.
///
/// # Errors
/// The folder cannot be used, is not safely ours, or is held; the record is damaged.
pub fn take(
    session: &str,
    command: &str,
    now: Timestamp,
    base: &Utf8Path,
) -> Result<Option<Prompt>, PromptError> {
    if session.trim().is_empty() || !is_name(command) {
        return Ok(None);
    }
    let Some(folder) = if_there(open_private(base, PROMPTS)).map_err(failed(base))? else {
        return Ok(None);
    };
    let folder = Records { folder };
    folder.locked(|| {
        folder.sweep(now);
        let (record, mark) = Records::names(session, command);
        let loaded = folder.load::<Record>(&record);
        // Gone before anyone can have it: a crash from here on costs a prompt, but never gives it out twice.
        folder.remove(&record)?;
        let Some(found) =
            loaded?.filter(|found| found.command == command && is_fresh(found.stored_at, now))
        else {
            return Ok(None);
        };
        folder.save(
            &mark,
            &Taken {
                taken_at: now,
                prompt_id: found.prompt_id,
            },
        )?;
        Ok(Some(Prompt {
            command: found.command,
            arguments: found.arguments,
        }))
    })
}

/// The command that a prompt event carries, where it is one of ours, and whether it is the second of the two events.
fn command_of(input: &Input, plugin: &str) -> Option<(Prompt, bool)> {
    let typed = input.prompt.as_deref();
    let typed = typed.and_then(|prompt| split(prompt, plugin));
    let prompt = |command: &str, arguments: &str| Prompt {
        command: command.to_owned(),
        arguments: arguments.trim_matches(['\n', '\r']).to_owned(),
    };
    match input.hook_event_name.as_deref()? {
        "UserPromptSubmit" => typed.map(|(command, arguments)| (prompt(command, arguments), false)),
        "UserPromptExpansion" => {
            let name = input.command_name.as_deref()?;
            let command = match name
                .strip_prefix(plugin)
                .and_then(|name| name.strip_prefix(':'))
            {
                Some(command) => command,
                // A bare name is ours only where the person typed it with ours before it.
                None => typed
                    .map(|(command, _)| command)
                    .filter(|command| *command == name)?,
            };
            let arguments = input
                .command_args
                .as_deref()
                .or(typed.map(|(_, arguments)| arguments));
            is_name(command).then(|| (prompt(command, arguments.unwrap_or_default()), true))
        }
        _ => None,
    }
}

/// `/claudex:plan fix it` as `plan` and `fix it`. One blank after the name is the separator and belongs to neither.
fn split<'p>(prompt: &'p str, plugin: &str) -> Option<(&'p str, &'p str)> {
    let rest = prompt
        .strip_prefix('/')?
        .strip_prefix(plugin)?
        .strip_prefix(':')?;
    let (command, arguments) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
    is_name(command).then(|| {
        (
            command,
            arguments.strip_prefix([' ', '\t']).unwrap_or(arguments),
        )
    })
}

/// Returns whether it can be a command of ours; such a name is safe in a file's name.
fn is_name(command: &str) -> bool {
    (1..=64).contains(&command.len())
        && command.starts_with(|c: char| c.is_ascii_lowercase())
        && command
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Returns whether something of that time is still valid. A time far ahead is as wrong as one long past.
fn is_fresh(then: Timestamp, now: Timestamp) -> bool {
    now.duration_since(then).unsigned_abs() <= VALID
}

/// The folder with the records.
struct Records {
    folder: Folder,
}

impl Records {
    /// Returns the names of the record and of the mark of a session's command.
    fn names(session: &str, command: &str) -> (String, String) {
        let digest = sha256(session);
        let name = |suffix| format!("{digest}-{command}.{suffix}");
        (name("json"), name("taken"))
    }

    /// Runs it while no other process stores or takes.
    fn locked<T>(&self, work: impl FnOnce() -> Result<T, PromptError>) -> Result<T, PromptError> {
        let path = self.folder.path().join(LOCK);
        let lock = Lock::take(&self.folder, LOCK, PATIENCE).map_err(failed(&path))?;
        let Some(_lock) = lock else {
            return Err(PromptError::Busy { path });
        };
        work()
    }

    /// Removes what is past its time, half-written files included. What cannot be removed is left: it is not valid.
    fn sweep(&self, now: Timestamp) {
        for (name, found) in self.folder.list().unwrap_or_default() {
            let written = Timestamp::try_from(found.modified());
            if name != LOCK && written.is_ok_and(|written| !is_fresh(written, now)) {
                let _ = self.folder.remove(&name);
            }
        }
    }

    fn load<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>, PromptError> {
        let path = self.folder.path().join(name);
        match if_there(self.folder.read(name, MAX_FILE)) {
            Ok(Some(bytes)) => {
                serde_json::from_slice(&bytes).map_err(|_| PromptError::Corrupt { path })
            }
            Ok(None) => Ok(None),
            Err(error) if is_foreign(&error) => Err(PromptError::Corrupt { path }),
            Err(error) => Err(failed(&path)(error)),
        }
    }

    fn save(&self, name: &str, value: &impl Serialize) -> Result<(), PromptError> {
        let saved = serde_json::to_vec(value)
            .map_err(Into::into)
            .and_then(|bytes| self.folder.replace(name, &bytes));
        saved.map_err(failed(&self.folder.path().join(name)))
    }

    fn remove(&self, name: &str) -> Result<(), PromptError> {
        let removed = if_there(self.folder.remove(name));
        removed
            .map(drop)
            .map_err(failed(&self.folder.path().join(name)))
    }
}

/// Returns whether something else than a file of ours is there.
fn is_foreign(error: &io::Error) -> bool {
    UntrustedError::of(error).is_some() || error.kind() == io::ErrorKind::FileTooLarge
}

/// Turns an error of the system into ours, with the path.
fn failed(path: &Utf8Path) -> impl Fn(io::Error) -> PromptError {
    move |source| match UntrustedError::of(&source) {
        Some(UntrustedError { path, why }) => PromptError::Refused {
            path: path.clone(),
            why: *why,
        },
        None => PromptError::Io {
            path: path.to_owned(),
            source,
        },
    }
}

#[cfg(test)]
mod tests;
