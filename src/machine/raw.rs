//! A loop without its type: what was read from disk, who holds it, and how it got there.
//!
//! Generated types wrap a [`Raw`]; they alone know which phase it is in at compile time.

use std::io;

use camino::Utf8PathBuf;
use jiff::Timestamp;

use crate::files::{Folder, MOST, folder_of};
use crate::machine::guard::{self, FieldError};
use crate::machine::table::{EdgeInfo, FieldInfo, FieldKind, Table};
use crate::machine::time;
use crate::machine::{Actor, Machine};
use crate::store::{
    IdForm, LoopId, Record, Repair, StartError, StartPlan, Started, Store, StoreError, Value,
};

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
        let there = |field: &&FieldInfo| field.kind != FieldKind::Held && field.exists_in(phase);
        for field in table.fields.iter().filter(there) {
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

    /// The run that the next change is counted for.
    pub(super) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// The loop after an edge was committed.
    pub(super) fn moved(self, record: Record, edge: &'static EdgeInfo) -> Self {
        let Inner {
            store, table, actor, ..
        } = *self.0;
        let mut next = Self::in_phase(&store, record, Vec::new(), table, edge.to, actor);
        next.0.taken = Some(edge);
        next
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

    /// A time field; None for one that is not set.
    pub fn time(&self, name: &str) -> Option<Timestamp> {
        time::timestamp(&self.value(name))
    }

    /// An id field; None for one that names nothing.
    pub fn named_id(&self, name: &str) -> Option<LoopId> {
        LoopId::parse(&self.text(name), IdForm::Name).ok()
    }

    /// The texts of a list field.
    pub fn list(&self, name: &str) -> Vec<String> {
        self.value(name)
            .as_list()
            .map(<[String]>::to_vec)
            .unwrap_or_default()
    }

    /// Whether a field exists in the loop's phase.
    pub fn exists(&self, name: &str) -> bool {
        self.0
            .table
            .field(name)
            .is_some_and(|field| field.exists_in(self.0.phase))
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

    /// The loop's root: what its document says, else the store's.
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

    /// A template filled in as a path, from the loop's root where it is relative.
    pub fn path(&self, template: &str) -> Utf8PathBuf {
        self.root().join(self.fill(template))
    }

    /// Opens the folder of the file that a template names, and returns it with the file's name. No symlink is followed below
    /// the loop's root and below the state folder.
    ///
    /// # Errors
    /// The folder is not there or not trusted, or the template names no file.
    pub fn folder_of(&self, template: &str) -> io::Result<(Folder, String)> {
        let root = self.root();
        folder_of(&[&root, self.store().folder()], &self.path(template))
    }

    /// Reads the file that a template names. See [`Raw::folder_of`].
    ///
    /// # Errors
    /// It is not there, is not trusted, is larger than 64 MiB, or the system refuses.
    pub fn read(&self, template: &str) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(template)?;
        folder.read(&name, MOST)
    }
}
