//! The start of a loop: the fields of its first entry, from the arguments, the mode and the machine.

use std::time::Duration;

use jiff::Timestamp;

use serde_json::Value as Json;

use crate::machine::Actor;
use crate::machine::table::{FieldInfo, FieldKind, ModeInfo, Table};
use crate::store::{Fields, LoopId, StartError, StartPlan};

/// The circumstances of a start: the time, the session, the age of stale loops, the id.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The time of the start.
    pub now: Timestamp,
    /// The age at which another loop that is not over is archived first, or `None` to archive none.
    pub stale_after: Option<Duration>,
    /// The session that owns the loop, or `unknown`.
    pub session: String,
    /// The loop's id if a field has to name it, or `None` to make one.
    pub id: Option<LoopId>,
}

impl Beginning {
    /// Makes a start now, for a session, that archives nothing.
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
        Actor::Person => "the user",
    }
}

/// Plans the start of a loop that is in this phase at first.
pub(super) fn plan(
    table: &Table,
    mode: &'static ModeInfo,
    first: usize,
    values: Vec<(&'static str, Json)>,
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
    let held = &table.state.fields;
    let value = |field: &FieldInfo| {
        let start = values.iter().find(|(name, _)| *name == field.name);
        let own = mode.initial.iter().find(|(name, _)| *name == field.name);
        match (start, own) {
            _ if !field.exists_in(first) => Json::Null,
            (Some((_, value)), _) => value.clone(),
            _ if field.name == held.phase => table.phases[first].stored.into(),
            _ if field.name == held.session => how.session.as_str().into(),
            _ if Some(field.name) == held.mode => mode.name.into(),
            _ if Some(field.name) == held.run => "".into(),
            // The store writes the engine's other fields.
            _ if field.kind == FieldKind::Held => Json::Null,
            (None, Some((_, value))) => value.value(),
            (None, None) => field.first(),
        }
    };
    let fields = table.fields.iter();
    let fields: Fields = fields
        .map(|field| (field.name.to_owned(), value(field)))
        .collect();
    Ok(StartPlan {
        by: actor.to_string(),
        now: how.now,
        stale_after: how.stale_after,
        id: how.id,
        fields,
    })
}
