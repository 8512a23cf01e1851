//! Refused calls change nothing: verbs that are not open in this phase or to this actor, and stops of others.

use std::borrow::Cow;
use std::fs;
use std::io;

use super::input::{answer, holds};
use crate::error::Wrong;
use crate::machine::Actor;
use crate::project::{Output, SESSION, feed};
use crate::run::{Loop, Move};

/// The verb of this name does more than its transition.
const RESUME: &str = "resume";

/// Tries everything that the loop's state refuses, and returns how many calls that were.
pub(crate) fn run(held: &Loop<'_>, is_reviewed: bool) -> Result<usize, Wrong> {
    let machine = &held.setup.machine;
    let fields = held.journal()?.fields();
    let phase = held.phase(&fields).map_or("", |phase| &phase.name);
    let mut tried = 0;
    for name in machine.transition_names() {
        let mut entries = machine.entries(name);
        if name == RESUME || !entries.next().is_some_and(|one| one.is_plain_verb()) {
            continue;
        }
        for actor in [Actor::Agent, Actor::Person] {
            // Whether its guard holds is not for the kit to say.
            let may_be_open = machine.entries(name).any(|one| {
                let has_evidence = is_reviewed || one.requires.is_none();
                one.leaves(phase) && one.by.contains(&actor) && has_evidence
            });
            if may_be_open {
                continue;
            }
            let one = Move::Verb {
                transition: name.to_owned(),
                by: actor,
            };
            let call = held.call(&one)?;
            let called = one.to_string();
            let said = unchanged(held, &called, || call.make(&held.project, &[]))?;
            if said.code == Some(0) {
                return Err(
                    format!("{called} is not open, and exits with 0: {}", said.short()).into(),
                );
            }
            tried += 1;
        }
    }
    let session = machine.holder("session").unwrap_or_default();
    // A loop that no session has taken yet belongs to any.
    if fields.get(session).is_none_or(|owner| owner != SESSION) {
        return Ok(tried);
    }
    let root = held.project.root();
    let reviewer = Some("CLAUDEX_REVIEWER_CHILD");
    let another = Cow::Borrowed("another-session");
    for (whose, key, value, variable) in [
        ("another session", "session_id", another, None),
        ("a subagent", "agent_id", "a1".into(), None),
        ("a reviewer", "cwd", root.to_string_lossy(), reviewer),
    ] {
        let what = format!("a stop of {whose}");
        let mut event = held.project.event(SESSION);
        event[key] = value.as_ref().into();
        let mut command = held.project.command(&["hook", "stop"]);
        command.envs(variable.map(|name| (name, "1")));
        let said = unchanged(held, &what, || feed(command, event.to_string().as_bytes()))?;
        if holds(&answer(&said)?) {
            return Err(format!("{what} was held: {}", said.short()).into());
        }
        tried += 1;
    }
    Ok(tried)
}

/// Makes a call and checks that document and changes stay as they were. The journal may have a note that something was tried.
pub(crate) fn unchanged(
    held: &Loop<'_>,
    what: &str,
    call: impl FnOnce() -> io::Result<Output>,
) -> Result<Output, Wrong> {
    let (document, before) = (fs::read(held.document_path())?, held.journal()?);
    let said = call()?;
    let after = held.journal()?;
    let changed = match fs::read(held.document_path())? {
        found if found != document => "document",
        _ if !after.bytes.starts_with(&before.bytes) => "journal",
        _ if after.changes.len() != before.changes.len() => "journal",
        _ => return Ok(said),
    };
    let said = said.short();
    Err(format!("{what} is refused, and the {changed} has changed: {said}").into())
}
