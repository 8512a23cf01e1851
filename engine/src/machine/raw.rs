//! A loop without its type: its newest entry, who holds it, and how it got there.
//!
//! Generated types wrap a [`Raw`]; they alone know which phase it is in at compile time.

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

use crate::files::{Folder, MAX_BYTES, folder_of};
use crate::machine::Actor;
use crate::machine::edge::EdgeAt;
use crate::machine::fields;
use crate::machine::table::Table;
use crate::store::{Entry, FieldValue as _, Fields, LoopId, Record, Store, StoreError};

/// A loop as the store handed it out.
#[derive(Debug)]
pub struct Raw(pub(super) Box<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) record: Record,
    table: &'static Table,
    phase: usize,
    actor: Actor,
    /// The run that the next change counts.
    pub(super) run: Option<String>,
    /// Edits that Rust adds to the next transition.
    pub(super) edits: Fields,
    /// Lines that Rust adds to the document with it.
    pub(super) text: Vec<String>,
    taken: Option<EdgeAt>,
    pub(super) repairs: Vec<String>,
    pub(super) archived: Vec<LoopId>,
    facts: OnceLock<Box<dyn Facts>>,
    journal: Mutex<Option<Read>>,
}

/// A journal as it was read.
#[derive(Debug)]
struct Read {
    length: Option<u64>,
    since: Option<u64>,
    entries: Arc<Vec<Entry>>,
}

/// Facts that a program keeps with a loop in hand.
pub trait Facts: Any + Debug + Send + Sync {
    /// Returns the facts that are also true after a transition.
    fn after_transition(&self) -> Box<dyn Facts>;
}

impl Raw {
    pub(super) fn new(
        store: Store,
        record: Record,
        table: &'static Table,
        phase: usize,
        actor: Actor,
    ) -> Self {
        Self(Box::new(Inner {
            store,
            record,
            table,
            phase,
            actor,
            run: None,
            edits: Fields::new(),
            text: Vec::new(),
            taken: None,
            repairs: Vec::new(),
            archived: Vec::new(),
            facts: OnceLock::new(),
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

    /// Returns the store that it is in.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Returns the record that was read from disk.
    pub fn record(&self) -> &Record {
        &self.0.record
    }

    /// Returns who holds it.
    pub fn actor(&self) -> Actor {
        self.0.actor
    }

    /// Returns the repairs of opening or starting it; at a start, in other loops of the folder.
    pub fn repairs(&self) -> &[String] {
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
    /// Returns an error if it is not this user's, or cannot be read.
    pub fn journal(&self) -> Result<Arc<Vec<Entry>>, StoreError> {
        self.read_journal(None)
    }

    /// Returns at least the entries since the visit began.
    ///
    /// # Errors
    /// Returns the errors of [`Raw::journal`].
    pub fn recent(&self) -> Result<Arc<Vec<Entry>>, StoreError> {
        self.read_journal(self.record().visit())
    }

    fn read_journal(&self, since: Option<u64>) -> Result<Arc<Vec<Entry>>, StoreError> {
        let mut kept = self
            .0
            .journal
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let length = self.store().journal_of().length(self.id());
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
        (self.0.table.rules.open)(self)
    }

    /// Returns the facts of one type that the program keeps with this loop, which are its defaults at first.
    pub fn facts<T: Facts + Default>(&self) -> &T {
        let facts: &dyn Any = &**self.0.facts.get_or_init(|| Box::<T>::default());
        let facts = facts.downcast_ref();
        facts.unwrap_or_else(|| unreachable!("a program keeps facts of one type"))
    }

    /// Returns the loop after an edge was committed.
    pub(super) fn moved(self, record: Record, edge: EdgeAt) -> Self {
        let old = *self.0;
        let mut next = Self::new(old.store, record, old.table, edge.to, old.actor);
        next.0.taken = Some(edge);
        next.0.journal = old.journal;
        if let Some(facts) = old.facts.get() {
            next.0.facts = facts.after_transition().into();
        }
        next
    }

    /// Returns a field's value, or its initial one. Opening has checked its kind.
    pub fn value(&self, name: &str) -> Json {
        let field = self.0.table.field(name);
        let value = field.and_then(|field| fields::value(&self.0.record, field).ok());
        value.unwrap_or_default()
    }

    /// Returns a count field; 0 for one that is none.
    pub fn count(&self, name: &str) -> u64 {
        self.value(name).as_count().unwrap_or_default()
    }

    /// Returns a field as text.
    pub fn text(&self, name: &str) -> String {
        self.value(name).to_plain().into_owned()
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

    /// Opens the folder of the file that a template names, and returns it with the file's name. No symlink is followed below
    /// the loop's root and below the state folder.
    ///
    /// # Errors
    /// Returns an error if the folder is not there or not trusted, or the template names no file.
    pub fn folder_of(&self, template: &str) -> io::Result<(Folder, String)> {
        self.folder_at(&self.path(template))
    }

    /// Opens the folder of a file. See [`Raw::folder_of`].
    ///
    /// # Errors
    /// Returns the errors of [`Raw::folder_of`].
    pub fn folder_at(&self, path: &Utf8Path) -> io::Result<(Folder, String)> {
        let root = self.root();
        folder_of(&[&root, self.store().folder()], path)
    }

    /// Reads the file that a template names. See [`Raw::folder_of`].
    ///
    /// # Errors
    /// Returns an error if it is not there, is not trusted, is larger than 64 MiB, or the system refuses.
    pub fn read(&self, template: &str) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(template)?;
        folder.read(&name, MAX_BYTES)
    }
}
