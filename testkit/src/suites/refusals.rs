//! What is refused changes nothing: every verb that is not open, to an agent and to a person, and stops that are not the loop's own.

use std::fs;
use std::io;

use claudex_build::model::{Actor, Evidence, Held, Transition};

use super::input::answer;
use crate::error::Wrong;
use crate::project::{Output, SESSION};
use crate::runs::Loop;
use crate::search::Visit;

/// The engine's own verb of this name does more than the transition.
const RESUME: &str = "resume";

/// Tries everything that the loop's state refuses, and returns how much that was.
pub(crate) fn run(held: &Loop<'_>) -> Result<usize, Wrong> {
    let (machine, search) = (&held.setup.machine, held.setup.search());
    let mut tried = 0;
    for name in machine.transition_names() {
        let mut declared = machine.transitions.iter();
        let declared = declared.find(|declared| declared.name.value == name && declared.is_verb());
        let Some(first) = declared.filter(|_| name != RESUME) else {
            continue;
        };
        for actor in [Actor::Agent, Actor::Person] {
            if search.is_open(&held.state, name) && may(first, actor) && has_evidence(held, first) {
                continue;
            }
            let line = held.verb_line(name, &search.plain_arguments(first), false);
            let called = format!("`{}` by the {actor:?}", line.join(" "));
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let said = unchanged(held, &called, || held.by(actor, &line))?;
            if said.code == Some(0) {
                return Err(
                    format!("{called} is not open, and exits with 0: {}", said.short()).into(),
                );
            }
            tried += 1;
        }
    }
    let session = machine.holder(Held::Session).unwrap_or_default();
    let owner = held.journal()?.fields().remove(session);
    // A loop that nobody has taken yet is any session's.
    if owner.is_some_and(|owner| owner == SESSION) {
        let root = held.project.root();
        let reviewer = Some("CLAUDEX_REVIEWER_CHILD");
        for (whose, key, value, variable) in [
            (
                "another session",
                "session_id",
                "another-session".into(),
                None,
            ),
            ("a subagent", "agent_id", "a1".into(), None),
            ("a reviewer", "cwd", root.to_string_lossy(), reviewer),
        ] {
            let what = format!("a stop of {whose}");
            let said = unchanged(held, &what, || held.stop_with(key, &value, variable))?;
            if answer(&said)?["decision"] == "block" {
                return Err(format!("{what} was held: {}", said.short()).into());
            }
            tried += 1;
        }
    }
    Ok(tried)
}

fn may(declared: &Transition, actor: Actor) -> bool {
    declared.by.iter().any(|by| by.value == actor)
}

/// Whether what the phase's reviews have come to is what a transition asks for.
fn has_evidence(held: &Loop<'_>, declared: &Transition) -> bool {
    match declared.requires.as_ref().map(|evidence| evidence.value) {
        None => true,
        Some(Evidence::Verified) => false,
        Some(Evidence::Settled) => held.state.visit == Visit::Clean,
        Some(Evidence::Reviewed) => matches!(held.state.visit, Visit::Clean | Visit::Findings),
    }
}

/// Makes a call and holds document and journal against what they were: not a byte of the document, and no change in the journal. That
/// something was tried may be noted there.
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
    Err(format!(
        "{what} is refused, and the {changed} has changed: {}",
        said.short()
    )
    .into())
}
