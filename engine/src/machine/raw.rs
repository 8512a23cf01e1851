//! A loop without its type: its newest entry, the actor who holds it, and the edge that led there.

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::edge::{EdgeAt, open_edges};
use super::table::{PhaseInfo, Table};
use super::{Actor, EvidenceRecord, Machine, Refusal};
use crate::files::{Folder, MAX_BYTES, folder_of};
use crate::store::{
    Change, Entry, Fields, LoopId, Record, Store, StoreError, lock_mutex, to_count, to_plain,
};

/// A loop from the store. Generated types wrap it and know its phase at compile time.
#[derive(Debug)]
pub struct Raw {
    store: Store,
    record: Record,
    table: &'static Table,
    /// Returns the edges that are open as far as the loop's fields decide.
    open_edges: fn(&Self) -> Vec<EdgeAt>,
    phase: usize,
    actor: Actor,
    /// The run, the edits and the lines that Rust adds to the next change.
    pub(super) draft: Change,
    last_edge: Option<EdgeAt>,
    facts: OnceLock<Box<dyn Facts>>,
    /// The entries of the journal that were read, and the revision from which they were.
    journal: Mutex<Option<(u64, Arc<[Entry]>)>>,
}

/// Facts that a program keeps with a held loop.
pub trait Facts: Any + Debug + Send + Sync {
    /// Returns the facts that are also true after a transition.
    fn after_transition(&self) -> Box<dyn Facts>;
}

impl Raw {
    /// Makes the loop of a record in a phase of the machine.
    pub(super) fn new<M: Machine>(
        store: Store,
        record: Record,
        phase: usize,
        actor: Actor,
    ) -> Self {
        Self {
            store,
            record,
            table: M::TABLE,
            open_edges: open_edges::<M>,
            phase,
            actor,
            draft: Change::default(),
            last_edge: None,
            facts: OnceLock::new(),
            journal: Mutex::default(),
        }
    }

    /// Checks actor and evidence for an open edge, and commits it with its changed fields.
    pub(super) fn commit(
        &self,
        edge: EdgeAt,
        args: Option<Json>,
        mut edits: Fields,
        evidence: Option<&EvidenceRecord>,
    ) -> Result<Record, Refusal> {
        let actor = self.actor;
        let is_hooks = edge.by.is_empty() && actor == Actor::Hook;
        if !is_hooks && !edge.by.contains(&actor) {
            let name = format!("‘{}’", edge.transition);
            return Err(Refusal::actor(&name, actor, edge.by));
        }
        if let Some(requirement) = edge.requires
            && let Some(problem) = EvidenceRecord::problem(evidence, self, requirement)
        {
            let transition = edge.transition;
            return Err(Refusal::Evidence {
                transition,
                problem,
            });
        }
        edits.extend(self.draft.edits.clone());
        let to = &self.table.phases[edge.to];
        let findings = evidence.and_then(|evidence| evidence.findings);
        if let Some((name, number)) = self.table.state.fields.findings.zip(findings) {
            edits.insert(name.to_owned(), number.into());
        }
        let run = evidence.and_then(|evidence| evidence.run.clone());
        let change = Change {
            what: edge.transition.to_owned(),
            by: actor.to_string(),
            args,
            to: Some(to.name.to_owned()),
            begins_visit: edge.from != edge.to || self.begins_round(&edits, to),
            edits,
            run: self.draft.run.clone().or(run),
            evidence: evidence.and_then(|evidence| serde_json::to_value(evidence).ok()),
            ..self.draft.clone()
        };
        let committed = self.store.commit(&self.record, change);
        committed.map_err(Refusal::Store)
    }

    /// Returns whether edits begin another round of a phase.
    fn begins_round(&self, edits: &Fields, phase: &PhaseInfo) -> bool {
        let behaviour = phase.on_stop;
        let round = behaviour.and_then(|behaviour| behaviour.parameter("round"));
        let after = round.and_then(|round| Some((round, edits.get(round)?)));
        after.is_some_and(|(round, value)| to_count(value) != Some(self.count(round)))
    }

    /// Returns the loop after an edge was committed.
    pub(super) fn into_next(self, record: Record, edge: EdgeAt) -> Self {
        let facts = self.facts.get().map(|facts| facts.after_transition());
        Self {
            record,
            phase: edge.to,
            draft: Change::default(),
            last_edge: Some(edge),
            facts: facts.map_or_else(OnceLock::new, OnceLock::from),
            journal: Mutex::default(),
            ..self
        }
    }

    /// Returns the loop's id.
    pub fn id(&self) -> &LoopId {
        self.record.id()
    }

    /// Returns the index of its phase in the machine's table.
    pub fn phase(&self) -> usize {
        self.phase
    }

    /// Returns its phase as the machine's table describes it.
    pub fn phase_info(&self) -> &'static PhaseInfo {
        &self.table.phases[self.phase]
    }

    /// Returns the machine's table.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// Returns the store that it is in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the record that was read from disk.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the actor who holds it.
    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// Returns the edge that led here, if this process took one.
    pub fn last_edge(&self) -> Option<EdgeAt> {
        self.last_edge
    }

    /// Returns the loop's journal, oldest entry first. It is read once, and again after
    /// [`note`](Self::note) and [`forget_journal`](Self::forget_journal).
    pub fn journal(&self) -> Result<Arc<[Entry]>, StoreError> {
        self.journal_since(0)
    }

    /// Returns at least the entries since the visit began.
    pub fn visit_journal(&self) -> Result<Arc<[Entry]>, StoreError> {
        self.journal_since(self.record().visit.unwrap_or_default())
    }

    fn journal_since(&self, since: u64) -> Result<Arc<[Entry]>, StoreError> {
        let mut known = lock_mutex(&self.journal);
        if let Some((_, entries)) = known.as_ref().filter(|(from, _)| *from <= since) {
            return Ok(entries.clone());
        }
        let entries: Arc<[Entry]> = self.store().journal_since(self.id(), since)?.into();
        *known = Some((since, entries.clone()));
        Ok(entries)
    }

    /// Adds a note to the loop's journal. See [`Store::note`].
    pub fn note(&self, note: &str, data: &impl Serialize) -> Result<(), StoreError> {
        self.forget_journal();
        self.store().note(self.id(), note, data)
    }

    /// Has the journal read again, after a wait for another process.
    pub fn forget_journal(&self) {
        *lock_mutex(&self.journal) = None;
    }

    /// Returns the edges that are open as far as the loop's fields decide.
    pub fn open_edges(&self) -> Vec<EdgeAt> {
        (self.open_edges)(self)
    }

    /// Returns the program's facts of one type about this loop, at first their default.
    pub fn facts<T: Facts + Default>(&self) -> &T {
        let facts: &dyn Any = &**self.facts.get_or_init(|| Box::<T>::default());
        facts
            .downcast_ref()
            .unwrap_or_else(|| unreachable!("a program keeps facts of one type"))
    }

    /// Returns a field's value, or its initial one. Opening has checked its kind.
    pub fn value(&self, name: &str) -> Json {
        let field = self.table.state.field(name);
        let value = field.and_then(|field| self.record.value(field).ok());
        value.unwrap_or_default()
    }

    /// Returns the data of a field. Opening has checked that it can be read.
    pub fn data<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        serde_json::from_value(self.value(name)).unwrap_or_default()
    }

    /// Returns a count field; 0 for one that is none.
    pub fn count(&self, name: &str) -> u64 {
        to_count(&self.value(name)).unwrap_or_default()
    }

    /// Returns a field as text.
    pub fn text(&self, name: &str) -> String {
        to_plain(&self.value(name))
    }

    /// Returns a template such as `{plan}` or `reviews/{review_id}.md` with its fields filled in.
    pub fn fill(&self, template: &str) -> String {
        let mut parts = template.split('{');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once('}') {
                Some((name, after)) => filled += &(self.text(name) + after),
                None => filled.extend(["{", part]),
            }
        }
        filled
    }

    /// Returns the root that the document has, or the store's.
    pub fn root(&self) -> Utf8PathBuf {
        match self.record().root() {
            Some(root) if !root.is_empty() => root.into(),
            _ => self.store().root().to_owned(),
        }
    }

    /// Returns a template filled in as a path, from the loop's root if it is relative.
    pub fn path(&self, template: &str) -> Utf8PathBuf {
        self.root().join(self.fill(template))
    }

    /// Opens the folder of a file. No symlink is followed below the root and the state folder.
    pub fn folder_at(&self, path: &Utf8Path) -> io::Result<(Folder, String)> {
        folder_of(&[&self.root(), self.store().folder()], path)
    }

    /// Reads the file that a template names. See [`Raw::folder_at`].
    pub fn read(&self, template: &str) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_at(&self.path(template))?;
        folder.read(&name, MAX_BYTES)
    }
}
