//! A loop without its type: what was read from disk, who holds it, and the commit that is the only way on.
//!
//! Generated types wrap a [`Raw`]; they alone know which phase it is in at compile time. The commit here checks the
//! edge once more against the machine's table, so that not even a wrong adapter could take one that is not declared.

use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;

use crate::machine::guard::{self, FieldError};
use crate::machine::table::{EdgeInfo, FieldInfo, FieldKind, ModeInfo, Table};
use crate::machine::{Claim, Machine, Refusal, Refused, Snapshot};
use crate::store::{
    Change, CommitError, LoopId, Record, Repair, StartError, StartPlan, Started, Store, StoreError, Value,
};

/// Who acts on a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Actor {
    /// The loop's own driver: the Stop hook, or `run` in its place.
    Hook,
    /// The coding agent.
    Agent,
    /// A person.
    Person,
}

/// A loop as the store handed it out.
#[derive(Debug)]
pub struct Raw(Box<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    record: Record,
    table: &'static Table,
    phase: usize,
    actor: Actor,
    cause: Option<String>,
    taken: Option<&'static EdgeInfo>,
    repairs: Vec<Repair>,
    swept: Vec<LoopId>,
}

/// What a start needs besides the fields: when, for whom, and what counts as stale.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The time of the start.
    pub now: Timestamp,
    /// The age at which another loop that is not over is swept first; None: none is.
    pub stale_after: Option<Duration>,
    /// The session that owns the loop, or `unknown`.
    pub session: String,
}

impl Beginning {
    /// A start now, for a session, that sweeps nothing.
    pub fn now(session: impl Into<String>) -> Self {
        Self {
            now: Timestamp::now(),
            stale_after: None,
            session: session.into(),
        }
    }
}

/// Starts a loop of a machine in the first phase of a mode, with the values that were given at the start.
///
/// # Errors
/// Another loop is active, or the store could not write; nothing is left behind.
pub fn begin<M: Machine>(
    store: &Store,
    mode: &ModeInfo,
    given: Vec<(&'static str, Value)>,
    how: Beginning,
    actor: Actor,
) -> Result<Raw, StartError> {
    let table = M::TABLE;
    let held = &table.state.fields;
    let phase = table.phases[mode.start].stored;
    let root = store.root().to_string();
    let Beginning {
        now,
        stale_after,
        session,
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
            if let Some((_, value)) = given.iter().find(|(of, _)| *of == field.name) {
                value.clone()
            } else if field.kind != FieldKind::Held {
                let value = own.unwrap_or(&field.initial).value();
                if field.kind == FieldKind::Text {
                    Value::Text(value.to_plain().into_owned())
                } else {
                    value
                }
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
    let plan = StartPlan {
        by: actor.to_string(),
        now,
        stale_after,
        id: None,
        fields,
    };
    Raw::start::<M>(store, plan, actor)
}

/// A state document that cannot be opened as a loop of this machine.
#[derive(Debug, derive_more::Display, derive_more::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum OpenError {
    /// The store could not hand it out.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(StoreError),
    /// Its phase is none of the machine's.
    #[display("loop {id}: phase `{found}` is none of {machine}'s ({known})")]
    #[diagnostic(
        code(claudex::open::phase),
        help("`claudex-loop journal {id}` shows the last good phase")
    )]
    Phase {
        /// The loop.
        id: String,
        /// What stands there.
        found: String,
        /// The machine.
        machine: &'static str,
        /// Its phases.
        known: String,
    },
    /// A field is not of its kind.
    #[display("loop {id}: {problem}")]
    #[diagnostic(
        code(claudex::open::field),
        help("`claudex-loop journal {id}` shows the last good values")
    )]
    Field {
        /// The loop.
        id: String,
        /// The field, what stands there, what should.
        problem: FieldError,
    },
}

impl Raw {
    /// Opens a loop: heals what a crash left, checks the phase and every field.
    ///
    /// # Errors
    /// The loop is not there, belongs to another machine, or holds what the machine does not know.
    pub fn open<M: Machine>(store: &Store, id: &LoopId, actor: Actor) -> Result<Self, OpenError> {
        let opened = store.open(id).map_err(OpenError::Store)?;
        Self::of::<M>(store, opened.record, opened.repairs, actor)
    }

    /// Starts a loop in the first phase of a mode.
    ///
    /// # Errors
    /// Another loop is active, or the store could not write.
    pub fn start<M: Machine>(
        store: &Store,
        plan: StartPlan<impl FnOnce(&LoopId) -> Vec<(String, Value)>>,
        actor: Actor,
    ) -> Result<Self, StartError> {
        let Started {
            record,
            repairs,
            swept,
        } = store.start_telling(plan)?;
        let table = M::TABLE;
        let phase = table.stored(record.phase()).unwrap_or_default();
        let mut started = Self::in_phase(store, record, repairs, table, phase, actor);
        started.0.swept = swept.moved;
        Ok(started)
    }

    fn of<M: Machine>(
        store: &Store,
        record: Record,
        repairs: Vec<Repair>,
        actor: Actor,
    ) -> Result<Self, OpenError> {
        let table = M::TABLE;
        let Some(phase) = table.stored(record.phase()) else {
            return Err(OpenError::Phase {
                id: record.id().to_string(),
                found: record.phase().to_owned(),
                machine: table.name,
                known: table
                    .phases
                    .iter()
                    .map(|phase| phase.stored)
                    .collect::<Vec<_>>()
                    .join(", "),
            });
        };
        for field in table.fields.iter().filter(|field| field.kind != FieldKind::Held) {
            guard::read(table, &record, field.name).map_err(|problem| OpenError::Field {
                id: record.id().to_string(),
                problem,
            })?;
        }
        Ok(Self::in_phase(store, record, repairs, table, phase, actor))
    }

    fn in_phase(
        store: &Store,
        record: Record,
        repairs: Vec<Repair>,
        table: &'static Table,
        phase: usize,
        actor: Actor,
    ) -> Self {
        let store = store.clone();
        Self(Box::new(Inner {
            store,
            record,
            table,
            phase,
            actor,
            cause: None,
            taken: None,
            repairs,
            swept: Vec::new(),
        }))
    }

    /// The loop's id.
    pub fn id(&self) -> &LoopId {
        self.0.record.id()
    }

    /// Index of its phase in the machine's table.
    pub fn phase(&self) -> usize {
        self.0.phase
    }

    /// The machine's table.
    pub fn table(&self) -> &'static Table {
        self.0.table
    }

    /// The store that it lies in.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// What was read from disk.
    pub fn record(&self) -> &Record {
        &self.0.record
    }

    /// Who holds it.
    pub fn actor(&self) -> Actor {
        self.0.actor
    }

    /// What opening it, or starting it, had to mend; at a start, in other loops of the folder.
    pub fn repairs(&self) -> &[Repair] {
        &self.0.repairs
    }

    /// The loops that were put aside before this one was started.
    pub fn swept(&self) -> &[LoopId] {
        &self.0.swept
    }

    /// The edge that led here, when this process took one.
    pub fn taken(&self) -> Option<&'static EdgeInfo> {
        self.0.taken
    }

    /// The run that the next change is counted for: the journal's line names it.
    pub fn noting(mut self, run: Option<String>) -> Self {
        self.0.cause = run;
        self
    }

    /// A field's value, or its initial one. Opening has checked its kind.
    pub fn value(&self, name: &str) -> Value {
        guard::read(self.0.table, &self.0.record, name).unwrap_or(Value::Null)
    }

    /// A count field; 0 for one that is none.
    pub fn count(&self, name: &str) -> u64 {
        self.value(name).as_count().unwrap_or_default()
    }

    /// A field as text.
    pub fn text(&self, name: &str) -> String {
        self.value(name).to_plain().into_owned()
    }

    /// A flag field.
    pub fn flag(&self, name: &str) -> bool {
        self.value(name).as_flag().unwrap_or_default()
    }

    /// A template such as `{plan}` or `reviews/{review_id}.md`, its fields filled in.
    pub fn fill(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            match after.split_once('}') {
                Some((name, after)) => {
                    filled.push_str(&self.text(name));
                    rest = after;
                }
                None => {
                    filled.push('{');
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// A template filled in as a path, from the loop's root where it is relative.
    pub fn path(&self, template: &str) -> Utf8PathBuf {
        let root = self
            .record()
            .text(self.table().state.fields.root)
            .unwrap_or_default();
        let root = if root.is_empty() {
            self.store().root().to_owned()
        } else {
            Utf8PathBuf::from(root)
        };
        root.join(self.fill(template))
    }

    fn refused(self, refusal: Refusal) -> Refused<Self> {
        Refused::new(self, refusal)
    }

    /// Takes a transition: finds the edge whose guard holds, checks who takes it and what it needs, and commits by
    /// compare-and-swap.
    ///
    /// # Errors
    /// See [`Refusal`]; the loop is handed back.
    pub(crate) fn commit(
        self,
        transition: &'static str,
        arguments: &[(&'static str, Value)],
        claim: Option<&Claim>,
    ) -> Result<Self, Refused<Self>> {
        let edge = match self.choose(transition) {
            Ok(edge) => edge,
            Err(refusal) => return Err(self.refused(refusal)),
        };
        if let Err(refusal) = self.permits(edge, claim) {
            return Err(self.refused(refusal));
        }
        let edits = edge
            .set
            .iter()
            .map(|(name, update)| {
                let value = update.value(self.table(), self.record(), arguments)?;
                Ok(((*name).to_owned(), value))
            })
            .collect::<Result<Vec<_>, FieldError>>();
        let mut edits = match edits {
            Ok(edits) => edits,
            Err(problem) => return Err(self.refused(Refusal::Field(problem))),
        };
        let table = self.table();
        let (from, to) = (&table.phases[edge.from], &table.phases[edge.to]);
        edits.push((
            table.state.fields.phase.to_owned(),
            Value::Word(to.stored.to_owned()),
        ));
        let run = self
            .0
            .cause
            .clone()
            .or_else(|| claim.and_then(|claim| claim.run().map(str::to_owned)));
        let change = Change {
            what: transition.to_owned(),
            by: self.actor().to_string(),
            from: Some(from.stored.to_owned()),
            to: Some(to.stored.to_owned()),
            edits,
            run,
            evidence: claim.and_then(|claim| serde_json::to_value(claim).ok()),
        };
        match self.0.store.commit(&self.0.record, change) {
            Ok(record) => {
                let Inner {
                    store,
                    actor,
                    mut repairs,
                    ..
                } = *self.0;
                repairs.clear();
                let mut next = Self::in_phase(&store, record, repairs, table, edge.to, actor);
                next.0.taken = Some(edge);
                Ok(next)
            }
            Err(error) => {
                let refusal = refusal_of(error);
                Err(self.refused(refusal))
            }
        }
    }

    /// The edge of a transition that is open here.
    fn choose(&self, transition: &'static str) -> Result<&'static EdgeInfo, Refusal> {
        let table = self.table();
        let edges: Vec<_> = table.edges_at(transition, self.phase()).collect();
        if edges.is_empty() {
            return Err(Refusal::Undeclared {
                transition,
                phase: self.record().phase().to_owned(),
                legal: table.legal_in(transition).join(", "),
            });
        }
        for edge in &edges {
            let open = match &edge.when {
                None => true,
                Some(guard) => guard.holds(table, self.record()).map_err(Refusal::Field)?,
            };
            if open {
                return Ok(edge);
            }
        }
        let mut read = Vec::new();
        for guard in edges.iter().filter_map(|edge| edge.when.as_ref()) {
            guard.fields(&mut read);
        }
        let values: Vec<_> = read
            .iter()
            .map(|name| format!("{name} is {}", self.text(name)))
            .collect();
        Err(Refusal::Guard {
            transition,
            phase: table.phases[self.phase()].name,
            needs: edges
                .iter()
                .map(|edge| edge.when_text)
                .collect::<Vec<_>>()
                .join(", or "),
            values: values.join(", "),
        })
    }

    /// Whether this actor may take the edge, with this evidence.
    fn permits(&self, edge: &'static EdgeInfo, claim: Option<&Claim>) -> Result<(), Refusal> {
        let allowed = if edge.by.is_empty() {
            self.actor() == Actor::Hook
        } else {
            edge.by.contains(&self.actor())
        };
        if !allowed {
            let names: Vec<String> = edge.by.iter().map(ToString::to_string).collect();
            let allowed = if names.is_empty() {
                "only the Stop hook takes it".to_owned()
            } else {
                format!("only for {}", names.join(" or "))
            };
            return Err(Refusal::Actor {
                transition: edge.transition,
                actor: self.actor(),
                allowed,
            });
        }
        let Some(requirement) = edge.requires else {
            return Ok(());
        };
        let problem = match claim {
            None => "none was shown".to_owned(),
            Some(claim) if claim.loop_id() != self.id().as_str() => {
                format!("what was shown belongs to loop {}", claim.loop_id())
            }
            Some(claim) if !claim.satisfies(requirement) => format!("only {} was shown", claim.kind()),
            Some(claim) if claim.revision_bound() != self.record().revision() => {
                "what was shown was gathered at another revision of the loop".to_owned()
            }
            Some(_) => return Ok(()),
        };
        Err(Refusal::Evidence {
            transition: edge.transition,
            requirement,
            problem,
        })
    }
}

fn refusal_of(error: CommitError) -> Refusal {
    match error {
        CommitError::Stale {
            expected_phase,
            found_phase,
            expected_revision,
            found_revision,
        } => Refusal::Stale {
            expected: Snapshot {
                phase: expected_phase,
                revision: expected_revision,
            },
            found: Snapshot {
                phase: found_phase,
                revision: found_revision,
            },
        },
        CommitError::Store(error) => Refusal::Store(error),
    }
}
