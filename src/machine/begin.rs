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
        plan::<M>(store, mode, mode.start, given, how, actor)?,
        actor,
    )
}

/// The fields of a document, in their order.
type Fields = Vec<(String, Value)>;

/// Plans the start of a loop that is in this phase at first.
pub(super) fn plan<M: Machine>(
    store: &Store,
    mode: &'static ModeInfo,
    first: usize,
    given: Vec<(&'static str, Value)>,
    how: Beginning,
    actor: Actor,
) -> Result<StartPlan<impl FnOnce(&LoopId) -> Fields>, StartError> {
    if !mode.by.is_empty() && !mode.by.contains(&actor) {
        return Err(StartError::Actor {
            mode: mode.name,
            by: mode.by.iter().map(named).collect::<Vec<_>>().join(" or "),
            actor: named(&actor).to_owned(),
        });
    }
    let table = M::TABLE;
    let held = &table.state.fields;
    let phase = table.phases[first].stored;
    let root = store.root().to_string();
    let Beginning {
        now,
        stale_after,
        session,
        id,
    } = how;
    let fields = move |id: &LoopId| {
        let word = |text: &str| Value::Word(text.to_owned());
        let value = |field: &FieldInfo| {
            let name = Some(field.name);
            let own = mode
                .initial
                .iter()
                .find(|(of, _)| *of == field.name)
                .map(|(_, value)| value);
            if !field.exists_in(first) {
                Value::Null
            } else if let Some((_, value)) = given.iter().find(|(of, _)| *of == field.name) {
                value.clone()
            } else if field.kind != FieldKind::Held {
                own.map_or_else(|| field.first(), |own| field.written(own.value()))
            } else if name == Some(held.phase) {
                word(phase)
            } else if name == Some(held.id) {
                word(id.as_str())
            } else if name == Some(held.root) {
                word(&root)
            } else if name == Some(held.session) {
                word(&session)
            } else if name == Some(held.machine) {
                word(table.state.machine)
            } else if name == held.graph_hash {
                word(table.state.graph_hash)
            } else if name == held.mode {
                word(mode.name)
            } else if name == held.started || name == held.updated {
                Value::Word(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
            } else if name == held.run {
                word("")
            } else if name == held.started_epoch {
                Value::Count(u64::try_from(now.as_second()).unwrap_or_default())
            } else {
                Value::Count(1)
            }
        };
        table
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), value(field)))
            .collect()
    };
    Ok(StartPlan {
        by: actor.to_string(),
        now,
        stale_after,
        id,
        fields,
    })
}
