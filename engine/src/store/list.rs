//! Listing the loops of a state folder, without a lock and without a change.

use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use super::document::MAX_BYTES;
use super::entry::ChangeEntry;
use super::error::{StoreError, WhyNotOurs};
use super::files::JOURNAL;
use super::id::LoopId;
use super::store::Store;
use super::value::FieldValue as _;

/// A loop as [`Store::list`] sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its id.
    pub id: LoopId,
    /// Its document.
    pub path: Utf8PathBuf,
    /// The time when it was last changed or touched.
    pub modified: SystemTime,
    /// The stored form of its phase. `None` if that is not known.
    pub phase: Option<String>,
    /// Whether that phase is terminal.
    pub terminal: bool,
    /// The session that owns it, or `unknown`.
    pub session: Option<String>,
    /// The folder that it belongs to.
    pub root: Option<String>,
    /// Whether it is a loop of this user and machine that can be opened.
    pub ours: bool,
    /// Whether it is a loop of our machine that is not this user's, so that nothing drives it.
    pub left_alone: bool,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// Its newest change, if it can be opened.
    pub newest: Option<ChangeEntry>,
}

/// A state file whose name is not an id: made by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The file.
    pub path: Utf8PathBuf,
    /// The time when it was last written.
    pub modified: SystemTime,
    /// Its phase, if it has one that can be read.
    pub phase: Option<String>,
    /// Whether that phase is terminal.
    pub terminal: bool,
    /// What is wrong with it.
    pub problem: Option<String>,
}

impl Store {
    /// Returns every loop that has a journal or a document, newest first. Reads without a lock, writes nothing, and names what
    /// is wrong with a loop instead of failing. If the call's [`Budget`](super::Budget) ends first, the rest is left out.
    pub fn list(&self) -> Vec<Listed> {
        let mut ids = self.journal_of().list().unwrap_or_default();
        if self.spec().file.is_none() {
            let stems = self.stems().into_iter();
            ids.extend(stems.filter_map(|stem| LoopId::parse(&stem, self.spec().ids).ok()));
        }
        ids.sort();
        ids.dedup();
        let mut listed: Vec<Listed> = ids
            .into_iter()
            .take_while(|_| !self.budget().is_over())
            .filter_map(|id| self.listed(id))
            .collect();
        listed.sort_by(|one, other| (other.modified, &other.id).cmp(&(one.modified, &one.id)));
        listed
    }

    /// Returns the loops that are not over, newest first.
    pub fn list_active(&self) -> Vec<Listed> {
        let mut listed = self.list();
        listed.retain(|one| !one.terminal);
        listed
    }

    /// Returns the loop of this root that was over last.
    pub fn last_over(&self) -> Option<Listed> {
        let is_it = |one: &Listed| one.terminal && self.is_for(one.root.as_deref());
        self.list().into_iter().find(is_it)
    }

    /// Returns the other state files in the folder, newest first.
    pub fn list_foreign(&self) -> Vec<Foreign> {
        let is_id = |stem: &String| LoopId::parse(stem, self.spec().ids).is_ok();
        let stems = self.stems().into_iter().filter(|stem| !is_id(stem));
        let mut foreign: Vec<Foreign> = stems.filter_map(|stem| self.foreign(&stem)).collect();
        foreign.sort_by(|one, other| (other.modified, &other.path).cmp(&(one.modified, &one.path)));
        foreign
    }

    /// Returns the names of the documents in the state folder, without their extension.
    fn stems(&self) -> Vec<String> {
        if self.spec().file.is_some() {
            return Vec::new();
        }
        let extension = self.spec().extension;
        let is_document = |name: &str| Utf8Path::new(name).extension() == Some(extension);
        let names = self.files().open().and_then(|here| here.names(is_document));
        let mut names = names.unwrap_or_default();
        for name in &mut names {
            name.truncate(name.len() - extension.len() - 1);
        }
        names
    }

    fn foreign(&self, stem: &str) -> Option<Foreign> {
        let name = format!("{stem}.{}", self.spec().extension);
        let here = self.files().open().ok()?;
        let found = here.look(&name).ok()??;
        let read = here
            .read(&name, MAX_BYTES as u64)
            .map_err(|error| error.to_string());
        let parsed =
            read.and_then(|bytes| self.spec().parse(&bytes).map_err(|error| error.to_string()));
        let (phase, problem) = match parsed {
            Ok(document) => {
                let phase = document.get(self.spec().fields.phase);
                (phase.map(|phase| phase.to_plain().into_owned()), None)
            }
            Err(problem) => (None, Some(problem)),
        };
        let terminal = phase
            .as_deref()
            .is_some_and(|phase| self.spec().is_terminal(phase));
        (!found.is_folder()).then(|| Foreign {
            path: self.folder().join(name),
            modified: found.modified(),
            phase,
            terminal,
            problem,
        })
    }

    fn listed(&self, id: LoopId) -> Option<Listed> {
        let spec = self.spec();
        let path = self.path_of(&id);
        let mut listed = Listed {
            modified: self.modified(&id)?,
            id,
            path,
            phase: None,
            terminal: false,
            session: None,
            root: None,
            ours: false,
            left_alone: false,
            problem: None,
            newest: None,
        };
        let found = self
            .journal_of()
            .tail(&listed.id)
            .and_then(|tail| match tail {
                Some(tail) => self.newest(&listed.id, &tail),
                None => Err(self.why_none(&listed.id)),
            });
        match found {
            Ok(newest) => {
                let text = |name: &str| {
                    newest
                        .field(name)
                        .map(|value| value.to_plain().into_owned())
                };
                listed.phase = newest.to.clone();
                listed.session = text(spec.fields.session);
                listed.root = text(spec.fields.root);
                listed.ours = true;
                listed.newest = Some(newest);
            }
            // A start died before its line was whole.
            Err(StoreError::NotFound { .. }) => return None,
            Err(error) => {
                let document = self.files().read_document(&listed.id).ok();
                let document = document.and_then(|bytes| spec.parse(&bytes).ok());
                let text = |name: &str| {
                    let value = document.as_ref()?.get(name)?;
                    Some(value.to_plain().into_owned())
                };
                listed.phase = text(spec.fields.phase);
                listed.session = text(spec.fields.session);
                listed.root = text(spec.fields.root);
                listed.left_alone = matches!(
                    error,
                    StoreError::NotOurs {
                        why: WhyNotOurs::Journal(_),
                        ..
                    }
                );
                listed.problem = Some(error.to_string());
            }
        }
        let phase = listed.phase.as_deref();
        listed.terminal = phase.is_some_and(|phase| spec.is_terminal(phase));
        Some(listed)
    }

    /// Returns the time when a loop was last changed or touched: that of its document, as `sweep_stale` of the shell helpers
    /// reads it. A document of the user's says nothing of that alone, so its loop has the later time of journal and document.
    fn modified(&self, id: &LoopId) -> Option<SystemTime> {
        if self.is_in_memory() {
            return Some(SystemTime::UNIX_EPOCH);
        }
        let journal = || {
            let folder = self.files().open_loop(id);
            let found = folder.and_then(|folder| folder.look(JOURNAL));
            Some(found.ok()??.modified())
        };
        let document = || {
            let folder = self.files().open();
            let folder = folder.and_then(|here| self.files().document_in(&here, id));
            let found = folder.and_then(|(folder, name)| folder.look(&name));
            Some(found.ok()??.modified())
        };
        match self.spec().file {
            Some(_) => journal().max(document()),
            None => document().or_else(journal),
        }
    }
}
