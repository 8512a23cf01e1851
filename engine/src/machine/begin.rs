//! The start of a loop: every field of its first document, from what was given, the mode and the machine.

use std::time::Duration;

use jiff::Timestamp;

use crate::machine::table::{FieldInfo, FieldKind, ModeInfo};
use crate::machine::{Actor, Machine, Raw};
use crate::store::{LoopId, StartError, StartPlan, Store, Value};

/// What a start needs besides the fields: when, for whom, and what counts as stale.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The time of the start.
    pub now: Timestamp,
    /// The age at which another loop that is not over is swept first; None: none is.
    pub stale_after: Option<Duration>,
    /// The session that owns the loop, or `unknown`.
    pub session: String,
    /// The loop's id, where a field has to name it; None: one is made.
    pub id: Option<LoopId>,
}

impl Beginning {
    /// Makes a start now, for a session, that sweeps nothing.
    pub fn now(session: impl Into<String>) -> Self {
        Self {
            now: Timestamp::now(),
            stale_after: None,
            session: session.into(),
            id: None,
        }
    }
}

fn named(actor: &Actor) -> &'static str {
    match actor {
        Actor::Hook => "the hook",
        Actor::Agent => "an agent",
        Actor::Person => "a person",
    }
}

/// Starts a loop of a machine in the first phase of a mode, with the values that were given at the start.
///
/// # Errors
/// [`StartError::Actor`] where the mode is not that actor's to start, another loop is active, or the store could not write; nothing is
/// left behind.
pub fn begin<M: Machine>(
    store: &Store,
    mode: &'static ModeInfo,
    given: Vec<(&'static str, Value)>,
    how: Beginning,
    actor: Actor,
) -> Result<Raw, StartError> {
    Raw::start::<M>(
        store,
        plan::<M>(mode, mode.start, given, how, actor)?,
        actor,
    )
}

/// Plans the start of a loop that is in this phase at first.
pub(super) fn plan<M: Machine>(
    mode: &'static ModeInfo,
    first: usize,
    given: Vec<(&'static str, Value)>,
    how: Beginning,
    actor: Actor,
) -> Result<StartPlan, StartError> {
    if !mode.by.is_empty() && !mode.by.contains(&actor) {
        return Err(StartError::Actor {
            mode: mode.name,
            by: mode.by.iter().map(named).collect::<Vec<_>>().join(" or "),
            actor: named(&actor).to_owned(),
        });
    }
    let table = M::TABLE;
    let held = &table.state.fields;
    let Beginning {
        now,
        stale_after,
        session,
        id,
    } = how;
    let word = |text: &str| Value::Word(text.to_owned());
    let value = |field: &FieldInfo| {
        let given = given.iter().find(|(name, _)| *name == field.name);
        let own = mode.initial.iter().find(|(name, _)| *name == field.name);
        match (given, own) {
            _ if !field.exists_in(first) => Value::Null,
            (Some((_, value)), _) => value.clone(),
            _ if field.name == held.phase => word(table.phases[first].stored),
            _ if field.name == held.session => word(&session),
            _ if Some(field.name) == held.mode => word(mode.name),
            _ if Some(field.name) == held.run => word(""),
            // The store writes what else the engine keeps.
            _ if field.kind == FieldKind::Held => Value::Null,
            (None, Some((_, value))) => field.written(value.value()),
            (None, None) => field.first(),
        }
    };
    let fields = table.fields.iter();
    let fields = fields
        .map(|field| (field.name.to_owned(), value(field)))
        .collect();
    Ok(StartPlan {
        by: actor.to_string(),
        now,
        stale_after,
        id,
        fields,
    })
}
