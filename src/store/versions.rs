//! Loops of other versions of the machine: what their version was, kept as `machines/<graph hash>.json`, and whether they
//! go on with this one.
//!
//! A start writes the shape of its machine once, and so does the first change of a loop that another version wrote. The
//! files are never removed: a loop that was moved aside may come back. What one says is believed only if its digest is the
//! hash that the loop's journal names.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::sync::Arc;

use super::error::{StoreError, io_error};
use super::shape::{Migrations, Shape, Verdict, compare, hash_of};
use super::spec::StateSpec;
use super::store::Store;
use super::value::is_hidden;
use crate::files::{Folder, UntrustedError};

/// The folder of the shapes, in the state folder.
const FOLDER: &str = "machines";

/// The largest shape that is kept and read, in bytes: some fifty thousand edges.
const LARGEST: u64 = 8 << 20;

/// The most reasons that a refusal names.
const REASONS: usize = 3;

/// What is known of other versions, each looked up once.
#[derive(Debug, Default)]
pub(super) struct Versions {
    own: OnceCell<Result<Own, String>>,
    known: RefCell<HashMap<String, Rc<Version>>>,
}

/// This version.
#[derive(Debug)]
struct Own {
    shape: Shape,
    migrations: Migrations,
}

/// Another version of the machine.
#[derive(Debug)]
pub(super) struct Version {
    /// What it was, if that can be told.
    pub(super) shape: Option<Arc<Shape>>,
    /// How its loops go on.
    pub(super) way: Result<Acceptance, String>,
}

/// How loops of another version go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acceptance {
    /// As they are.
    Accepted,
    /// As a `[[migrations]]` entry says.
    Migrated,
}

impl Versions {
    /// Returns the version of this hash, which is not ours.
    pub(super) fn of(&self, store: &Store, hash: &str) -> Rc<Version> {
        if let Some(known) = self.known.borrow().get(hash) {
            return Rc::clone(known);
        }
        let version = Rc::new(self.look(store, hash));
        self.known
            .borrow_mut()
            .insert(hash.to_owned(), Rc::clone(&version));
        version
    }

    /// Returns the shape of another version, where it is known and tells edges.
    pub(super) fn shape_of(&self, store: &Store, hash: &str) -> Option<Arc<Shape>> {
        let shape = self.of(store, hash).shape.clone();
        shape.filter(|shape| !shape.edges.is_empty())
    }

    fn look(&self, store: &Store, hash: &str) -> Version {
        let old = match kept(store, hash) {
            Ok(old) => old,
            Err(why) => {
                return Version {
                    shape: None,
                    way: Err(why),
                };
            }
        };
        let way = match self.own(store.spec()) {
            Ok(own) => judge(&old, own),
            Err(why) => Err(why.to_owned()),
        };
        Version {
            shape: Some(Arc::new(old)),
            way,
        }
    }

    fn own(&self, spec: &StateSpec) -> Result<&Own, &str> {
        let read = || {
            if spec.shape.is_empty() {
                return Err("this program does not know its own machine".to_owned());
            }
            let shape = Shape::read(spec.shape.as_bytes()).map_err(|error| error.to_string())?;
            let migrations =
                Migrations::read(spec.migrations).map_err(|error| error.to_string())?;
            Ok(Own { shape, migrations })
        };
        self.own.get_or_init(read).as_ref().map_err(String::as_str)
    }

    /// Makes a document of another version one of ours, and returns the stored form of its phase.
    ///
    /// # Errors
    /// Why it cannot be done; the document is of no use then.
    pub(super) fn migrate(
        &self,
        spec: &StateSpec,
        version: &Version,
        stored: &str,
        document: &mut dyn super::Document,
    ) -> Result<String, String> {
        let own = self.own(spec).map_err(str::to_owned)?;
        let Some(old) = &version.shape else {
            return Err("its version is not known".to_owned());
        };
        own.migrations
            .migrate(old, &own.shape, stored, document)
            .map_err(|why| {
                plain(&format!(
                    "the migration would leave what does not open: {why}"
                ))
            })
    }
}

impl Version {
    /// Returns whether the journal's value of a field wins over an edit by hand, by what that version said.
    pub(super) fn is_protected(&self, field: &str) -> bool {
        self.shape
            .as_ref()
            .is_some_and(|shape| shape.is_protected(field))
    }

    /// Returns whether a loop was over in a phase, by what that version said; None if it cannot be told.
    pub(super) fn is_terminal(&self, stored: &str) -> Option<bool> {
        self.shape
            .as_ref()?
            .stored(stored)
            .map(|phase| phase.terminal)
    }
}

/// Returns whether loops of an older machine go on, and how; else the first reasons why not.
fn judge(old: &Shape, own: &Own) -> Result<Acceptance, String> {
    let found = compare(old, &own.shape, &own.migrations);
    let in_the_way: Vec<String> = found
        .iter()
        .filter(|one| one.verdict > Verdict::Migrated && !one.place)
        .map(|one| plain(&one.what))
        .collect();
    if in_the_way.is_empty() {
        return Ok(if own.migrations.takes(&old.hash) {
            Acceptance::Migrated
        } else {
            Acceptance::Accepted
        });
    }
    let mut reasons = in_the_way;
    let more = reasons.len().saturating_sub(REASONS);
    reasons.truncate(REASONS);
    let mut why = reasons.join("; ");
    if more > 0 {
        why.push_str(&format!("; and {more} more"));
    }
    Err(why)
}

/// Opens the folder of the shapes.
pub(super) fn open(store: &Store) -> io::Result<Folder> {
    store.open_top()?.below(FOLDER)
}

/// Returns the shape that is kept under a hash, if it can be believed; else why not.
fn kept(store: &Store, hash: &str) -> Result<Shape, String> {
    if !is_hash(hash) {
        return Err("its version cannot be looked up".to_owned());
    }
    let name = format!("{hash}.json");
    // The folder stands in every message already.
    let short = format!("{FOLDER}/{name}");
    let read = |folder: Folder| {
        let bytes = folder.read(&name, LARGEST)?;
        Ok((bytes, folder.path().join(&name)))
    };
    let (bytes, path) = match open(store).and_then(read) {
        Ok(read) => read,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!(
                "{short}, which would say what that version was, is missing"
            ));
        }
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(format!("{short} is larger than {LARGEST} bytes"));
        }
        Err(error) => {
            return Err(match UntrustedError::of(&error) {
                Some(UntrustedError { why, .. }) => format!("{short} is not trusted: {why}"),
                None => format!("{short} cannot be read: {error}"),
            });
        }
    };
    if let Err(StoreError::Untrusted { why, .. }) = store.tracking().untracked(&path) {
        return Err(format!("{short} is not trusted: {why}"));
    }
    if hash_of(&bytes) != hash {
        return Err(format!("{short} was damaged: its digest is not its name"));
    }
    Shape::read(&bytes).map_err(|error| format!("{short}: {error}"))
}

/// Writes the shape of our own machine, unless it is there as it should be. Returns whether it was written.
pub(super) fn keep(store: &Store) -> Result<bool, StoreError> {
    let spec = store.spec();
    if spec.shape.is_empty() || spec.shape.len() as u64 > LARGEST || !is_hash(spec.graph_hash) {
        return Ok(false);
    }
    let failed = |error| io_error("write", &store.folder().join(FOLDER))(error);
    let (folder, name) = (
        store
            .open_top()
            .and_then(|top| top.make(FOLDER))
            .map_err(failed)?,
        own_name(spec),
    );
    let is_kept = folder
        .read(&name, LARGEST)
        .is_ok_and(|bytes| bytes == spec.shape.as_bytes());
    if is_kept
        && store
            .tracking()
            .untracked(&folder.path().join(&name))
            .is_ok()
    {
        return Ok(false);
    }
    folder
        .replace(&name, spec.shape.as_bytes())
        .map_err(failed)?;
    Ok(true)
}

/// Takes our own shape away again, after a start that failed.
pub(super) fn remove_own_shape(store: &Store, here: &Folder) {
    if let Ok(folder) = open(store) {
        let _ = folder.remove(&own_name(store.spec()));
    }
    let _ = here.remove_folder(FOLDER);
}

fn own_name(spec: &StateSpec) -> String {
    format!("{}.json", spec.graph_hash)
}

/// Returns whether it can name a file of the folder: what stands in a journal is not to lead elsewhere.
fn is_hash(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 16 && text.bytes().all(digit)
}

/// On one line, and without what turns a terminal's text around.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if is_hidden(c) { ' ' } else { c })
        .collect()
}
