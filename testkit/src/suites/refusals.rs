//! What is refused changes nothing: every verb that is not open, to an agent and to a person, and stops that are not the loop's own.

use std::fs;
use std::io;

use claudex_build::model::{Actor, Evidence};

use crate::error::{Failure, Suite};
use crate::project::Output;
use crate::runs::Loop;
use crate::search::Visit;

/// The engine's own verb of this name does more than the transition.
const RESUME: &str = "resume";

/// Tries everything that the loop's state refuses, and returns how much that was.
pub(crate) fn run(held: &Loop<'_>) -> Result<usize, Failure> {
    let machine = &held.setup.machine;
    let mut tried = 0;
    for name in machine.transition_names() {
        let declared = machine
            .transitions
            .iter()
            .filter(|declared| declared.name.value == name);
        let Some(first) = declared
            .clone()
            .next()
            .filter(|first| !first.by.is_empty() && name != RESUME)
        else {
            continue;
        };
        for actor in [Actor::Agent, Actor::Person] {
            if held.setup.search().is_open(&held.state, name)
                && may(first, actor)
                && has_evidence(held, first)
            {
                continue;
            }
            let arguments = held.setup.search().plain_arguments(first);
            let line = held.verb_line(name, &arguments, false);
            let called = line.join(" ");
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let said = unchanged(held, &format!("`{called}` by the {actor:?}"), || {
                held.by(actor, &line)
            })?;
            if said.code == Some(0) {
                return Err(fail(
                    held,
                    format!(
                        "`{called}` is not open to the {actor:?}, and exits with 0: {}",
                        said.short()
                    ),
                ));
            }
            tried += 1;
        }
    }
    let journal = held.journal().map_err(|error| fail(held, error.to_string()))?;
    let session = machine
        .holder(claudex_build::model::Held::Session)
        .unwrap_or_default();
    // A loop that nobody has taken yet is any session's.
    if journal.fields().get(session).and_then(|session| session.as_str()) == Some(crate::project::SESSION) {
        unchanged(held, "a stop of another session", || {
            held.stop_of("another-session")
        })?;
        unchanged(held, "a stop of a subagent", || {
            held.stop_with("agent_id", "a1", None)
        })?;
        unchanged(held, "a stop within a reviewer", || {
            held.stop_with(
                "cwd",
                &held.project.root().to_string_lossy(),
                Some("CLAUDEX_REVIEWER_CHILD"),
            )
        })?;
        tried += 3;
    }
    Ok(tried)
}

fn may(declared: &claudex_build::model::Transition, actor: Actor) -> bool {
    declared.by.iter().any(|by| by.value == actor)
}

/// Whether what the phase's reviews have come to is what a transition asks for.
fn has_evidence(held: &Loop<'_>, declared: &claudex_build::model::Transition) -> bool {
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
) -> Result<Output, Failure> {
    let system = |error: io::Error| fail(held, error.to_string());
    let (document, before) = (
        fs::read(held.document_path()).map_err(system)?,
        held.journal().map_err(system)?,
    );
    let said = call().map_err(system)?;
    let after = held.journal().map_err(system)?;
    if fs::read(held.document_path()).map_err(system)? != document {
        return Err(fail(
            held,
            format!(
                "{what} is refused, and the document has changed: {}",
                said.short()
            ),
        ));
    }
    if !after.bytes.starts_with(&before.bytes) || after.changes.len() != before.changes.len() {
        return Err(fail(
            held,
            format!("{what} is refused, and the journal has changed: {}", said.short()),
        ));
    }
    Ok(said)
}

fn fail(held: &Loop<'_>, what: String) -> Failure {
    held.failure(
        Suite::Refusals,
        what,
        "let nothing be written before the machine has said yes",
    )
}
