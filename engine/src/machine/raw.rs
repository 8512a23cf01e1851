//! A loop without its type: what was read from disk, who holds it, and how it got there.
//!
//! Generated types wrap a [`Raw`]; they alone know which phase it is in at compile time.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use crate::files::{Folder, MAX_BYTES, folder_of};
use crate::machine::data::Own;
use crate::machine::edge::EdgeAt;
use crate::machine::evidence_record::EvidencePolicy;
use crate::machine::fields::{self, FieldError};
use crate::machine::table::{Subject, Table};
use crate::machine::{Actor, Machine, Permissions};
use crate::store::{
    Entry, Import, LoopId, Record, Repair, StartError, StartPlan, Started, Store, StoreError, Value,
};
use crate::text;

/// The most characters of a violation. It may quote a file.
const MAX_VIOLATION: usize = 1000;

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
    own: Own,
    taken: Option<EdgeAt>,
    repairs: Vec<Repair>,
    archived: Vec<LoopId>,
    told: Told,
    journal: Mutex<Option<Read>>,
}

/// A journal as it was read.
#[derive(Debug)]
struct Read {
    length: Option<u64>,
    since: Option<u64>,
    entries: Arc<Vec<Entry>>,
}

/// What the program tells of a loop in hand. Each is set once: what a loop is judged by does not change under it.
#[derive(Debug, Default)]
pub struct Told {
    /// What the user's configuration permits. If nobody says it, evidence is required and no command runs.
    pub permissions: OnceLock<Permissions>,
    /// What breaks the machine's rules.
    pub violations: OnceLock<Vec<String>>,
    /// The commands that verify the work in the loop's phase, or why they are not known.
    pub commands: OnceLock<Result<Vec<String>, String>>,
    /// What is reviewed in the loop's phase, or why it is not known.
    pub subjects: OnceLock<Result<Vec<Subject>, String>>,
}

/// A state document that cannot be opened as a loop of this machine.
#[derive(Debug, derive_more::Display, derive_more::Error, miette::Diagnostic)]
pub enum OpenError {
    /// The store could not hand it out.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(StoreError),
    /// Its phase is none of the machine's.
    #[display("loop {id}: phase `{found}` is none of {machine}'s ({known})")]
    #[diagnostic(
        code(claudex::open::phase),
        help("the last good phase is in its journal: `journal {id}`")
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
        help("the last good values are in its journal: `journal {id}`")
    )]
    Field {
        /// The loop.
        id: String,
        /// The field, what stands there, what should.
        problem: FieldError,
    },
}

impl Raw {
    /// Opens a loop: repairs what a crash left, checks the phase and every field.
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
        plan: StartPlan,
        actor: Actor,
    ) -> Result<Self, StartError> {
        store
            .start_telling(plan, None)
            .map(|started| Self::started::<M>(store, started, actor))
    }

    /// Starts a loop from a document that the engine did not write, in the phase that the plan names.
    ///
    /// # Errors
    /// Another loop is active, or the store could not write.
    pub fn import<M: Machine>(
        store: &Store,
        plan: StartPlan,
        import: Import,
        actor: Actor,
    ) -> Result<Self, StartError> {
        store
            .start_telling(plan, Some(import))
            .map(|started| Self::started::<M>(store, started, actor))
    }

    fn started<M: Machine>(store: &Store, started: Started, actor: Actor) -> Self {
        let Started { record, archived } = started;
        let table = M::TABLE;
        let phase = table.stored(record.phase()).unwrap_or_default();
        let mut started = Self::in_phase(store, record, Vec::new(), table, phase, actor);
        started.0.archived = archived;
        started
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
            own: Own::default(),
            taken: None,
            repairs,
            archived: Vec::new(),
            told: Told::default(),
            journal: Mutex::default(),
        }))
    }

    /// Returns the loop's id.
    pub fn id(&self) -> &LoopId {
        self.0.record.id()
    }

    /// Returns the index of its phase in the machine's table.
    pub fn phase(&self) -> usize {
        self.0.phase
    }

    /// Returns the machine's table.
    pub fn table(&self) -> &'static Table {
        self.0.table
    }

    /// Returns the store that it lies in.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Returns what was read from disk.
    pub fn record(&self) -> &Record {
        &self.0.record
    }

    /// Returns who holds it.
    pub fn actor(&self) -> Actor {
        self.0.actor
    }

    /// Returns what opening it, or starting it, had to mend; at a start, in other loops of the folder.
    pub fn repairs(&self) -> &[Repair] {
        &self.0.repairs
    }

    /// Returns the loops that were archived before this one was started.
    pub fn archived(&self) -> &[LoopId] {
        &self.0.archived
    }

    /// Returns the edge that led here, if this process took one.
    pub fn taken(&self) -> Option<EdgeAt> {
        self.0.taken
    }

    /// Returns the loop's journal as it is now, oldest entry first. It is read again only if it became longer.
    ///
    /// # Errors
    /// It is not this user's, or cannot be read.
    pub fn journal(&self) -> Result<Arc<Vec<Entry>>, StoreError> {
        self.read_journal(None)
    }

    /// Returns at least the entries since the visit began.
    ///
    /// # Errors
    /// As [`Raw::journal`].
    pub fn recent(&self) -> Result<Arc<Vec<Entry>>, StoreError> {
        self.read_journal(self.record().visit())
    }

    fn read_journal(&self, since: Option<u64>) -> Result<Arc<Vec<Entry>>, StoreError> {
        let mut kept = self
            .0
            .journal
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let length = self.store().journal_length(self.id());
        if let Some(read) = &*kept
            && read.length == length
            && (read.since.is_none() || read.since <= since && since.is_some())
        {
            return Ok(Arc::clone(&read.entries));
        }
        let entries = Arc::new(self.store().journal_since(self.id(), since)?);
        *kept = Some(Read {
            length,
            since,
            entries: Arc::clone(&entries),
        });
        Ok(entries)
    }

    /// Returns the edges that are open as far as the loop's fields decide.
    pub fn open_edges(&self) -> Vec<EdgeAt> {
        self.0.table.rules.open(self)
    }

    /// Returns what the program has told of this loop while it is in hand.
    pub fn told(&self) -> &Told {
        &self.0.told
    }

    /// Keeps what breaks the machine's rules, and returns whether anything does.
    pub fn violated(&self, violations: Vec<String>) -> bool {
        let plain = violations
            .iter()
            .map(|one| text::one_line(one, MAX_VIOLATION));
        let plain: Vec<String> = plain.collect();
        let any = !plain.is_empty();
        let _ = self.0.told.violations.set(plain);
        any
    }

    /// Returns what the stop found to break the machine's rules, each a sentence.
    pub fn violations(&self) -> &[String] {
        self.0.told.violations.get().map_or(&[], Vec::as_slice)
    }

    /// Returns what the user's configuration says of evidence. By default it is required.
    pub fn policy(&self) -> EvidencePolicy {
        let permissions = self.0.told.permissions.get();
        permissions
            .map(|permissions| permissions.evidence)
            .unwrap_or_default()
    }

    /// Returns the run that the next change is counted for: the journal's line names it.
    pub fn noting(mut self, run: Option<String>) -> Self {
        self.0.cause = run;
        self
    }

    /// Returns the run that the next change is counted for.
    pub(super) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// Returns what Rust has the next change set besides.
    pub(super) fn given(&self) -> &Own {
        &self.0.own
    }

    pub(super) fn own(&mut self) -> &mut Own {
        &mut self.0.own
    }

    /// Returns the loop after an edge was committed.
    pub(super) fn moved(self, record: Record, edge: EdgeAt) -> Self {
        let Inner {
            store,
            table,
            actor,
            told,
            journal,
            ..
        } = *self.0;
        let mut next = Self::in_phase(&store, record, Vec::new(), table, edge.to, actor);
        next.0.taken = Some(edge);
        // Commands and subjects are those of a phase.
        next.0.told.permissions = told.permissions;
        next.0.told.violations = told.violations;
        next.0.journal = journal;
        next
    }

    /// Returns a field's value, or its initial one. Opening has checked its kind.
    pub fn value(&self, name: &str) -> Value {
        fields::value(self.0.table, &self.0.record, name).unwrap_or(Value::Null)
    }

    /// Returns a count field; 0 for one that is none.
    pub fn count(&self, name: &str) -> u64 {
        self.value(name).as_count().unwrap_or_default()
    }

    /// Returns a field as text.
    pub fn text(&self, name: &str) -> String {
        self.value(name).to_plain().into_owned()
    }

    /// Returns a flag field.
    pub fn flag(&self, name: &str) -> bool {
        self.value(name).as_flag().unwrap_or_default()
    }

    /// Returns whether a field exists in the loop's phase.
    pub fn exists(&self, name: &str) -> bool {
        self.0
            .table
            .field(name)
            .is_some_and(|field| field.exists_in(self.0.phase))
    }

    /// Returns a template such as `{plan}` or `reviews/{review_id}.md`, its fields filled in.
    pub fn fill(&self, template: &str) -> String {
        Self::fill_with(template, |name| self.text(name))
    }

    /// Returns a template with what these values are for its fields.
    pub fn fill_with(template: &str, value: impl Fn(&str) -> String) -> String {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            match after.split_once('}') {
                Some((name, after)) => {
                    filled.push_str(&value(name));
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

    /// Returns the loop's root: what its document says, else the store's.
    pub fn root(&self) -> Utf8PathBuf {
        let root = self
            .record()
            .text(self.table().state.fields.root)
            .unwrap_or_default();
        if root.is_empty() {
            self.store().root().to_owned()
        } else {
            Utf8PathBuf::from(root)
        }
    }

    /// Returns a template filled in as a path, from the loop's root where it is relative.
    pub fn path(&self, template: &str) -> Utf8PathBuf {
        self.root().join(self.fill(template))
    }

    /// Opens the folder of the file that a template names, and returns it with the file's name. No symlink is followed below
    /// the loop's root and below the state folder.
    ///
    /// # Errors
    /// The folder is not there or not trusted, or the template names no file.
    pub fn folder_of(&self, template: &str) -> io::Result<(Folder, String)> {
        self.folder_at(&self.path(template))
    }

    /// Opens the folder of a file. See [`Raw::folder_of`].
    ///
    /// # Errors
    /// As there.
    pub fn folder_at(&self, path: &Utf8Path) -> io::Result<(Folder, String)> {
        let root = self.root();
        folder_of(&[&root, self.store().folder()], path)
    }

    /// Reads the file that a template names. See [`Raw::folder_of`].
    ///
    /// # Errors
    /// It is not there, is not trusted, is larger than 64 MiB, or the system refuses.
    pub fn read(&self, template: &str) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(template)?;
        folder.read(&name, MAX_BYTES)
    }
}
