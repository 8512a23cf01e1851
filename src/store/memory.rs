//! A document and a journal in memory, on a disk that forgets what was not synced when its power goes.
//!
//! It is crueller than file systems are: of what was not synced any part may be lost, whatever came later, and a document may be
//! any that stood there since the last one that is safe, cut off anywhere, or empty, or with zeros at its end.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard};

use camino::Utf8PathBuf;

use super::storage::{Part, Piece, Staged, Stamp, Storage, TooLong};

/// The disk of one loop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Held>>);

#[derive(Debug, Clone, Default)]
struct Held {
    document: Option<Vec<u8>>,
    journal: Option<Vec<u8>>,
    /// How much of the journal is safe.
    synced: usize,
    /// The documents that may stand there after a power loss, and whether each is safe itself. The last one is what stands there.
    documents: Vec<(Vec<u8>, bool)>,
    /// How many steps are left until the power goes.
    left: Option<usize>,
}

/// What a power loss does with what was not synced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    /// Which of the documents stands there.
    pub(crate) document: usize,
    /// How much of it, and of the journal's unsynced end, is there, of 255 parts.
    pub(crate) part: u8,
    /// Whether the rest is zeros.
    pub(crate) zeros: bool,
}

impl Disk {
    /// Makes one on which this stands, and is safe.
    pub(crate) fn of(document: &[u8], journal: &[u8]) -> Self {
        let disk = Self::default();
        {
            let mut held = disk.held();
            held.documents.push((document.to_vec(), true));
            held.document = Some(document.to_vec());
            held.journal = Some(journal.to_vec());
            held.synced = journal.len();
        }
        disk
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap()
    }

    /// Lets the power go after so many steps.
    pub(crate) fn power_goes_after(&self, steps: usize) {
        self.held().left = Some(steps);
    }

    /// Returns what stands there.
    pub(crate) fn content(&self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let held = self.held();
        (held.document.clone(), held.journal.clone())
    }

    /// Writes a document as a person does, with an editor that syncs.
    pub(crate) fn edit(&self, document: Vec<u8>) {
        let mut held = self.held();
        held.documents = vec![(document.clone(), true)];
        held.document = Some(document);
    }

    /// Takes the power away, and gives it back.
    pub(crate) fn lose_power(&self, loss: Loss) {
        let cut = |bytes: &[u8]| {
            let mut kept = bytes[..bytes.len() * usize::from(loss.part) / 255].to_vec();
            if loss.zeros {
                kept.resize(bytes.len(), 0);
            }
            kept
        };
        let mut held = self.held();
        held.left = None;
        if !held.documents.is_empty() {
            let (document, is_safe) = &held.documents[loss.document % held.documents.len()];
            let document = if *is_safe {
                document.clone()
            } else {
                cut(document)
            };
            held.documents = vec![(document.clone(), true)];
            held.document = Some(document);
        }
        let synced = held.synced;
        if let Some(journal) = &mut held.journal {
            let end = cut(&journal[synced..]);
            journal.truncate(synced);
            journal.extend(end);
            held.synced = held.journal.as_ref().map_or(0, Vec::len);
        }
    }

    /// Does one step, unless the power is gone.
    fn step<R>(&self, work: impl FnOnce(&mut Held) -> R) -> io::Result<R> {
        let mut held = self.held();
        match &mut held.left {
            Some(0) => return Err(io::Error::other("the power is gone")),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(work(&mut held))
    }
}

impl Storage for Disk {
    fn document_path(&self) -> Utf8PathBuf {
        Utf8PathBuf::from("/memory/document")
    }

    fn journal_path(&self) -> Utf8PathBuf {
        Utf8PathBuf::from("/memory/journal")
    }

    fn document(&self) -> io::Result<Vec<u8>> {
        self.held()
            .document
            .clone()
            .ok_or(ErrorKind::NotFound.into())
    }

    fn stage(&self, bytes: &[u8], durable: bool) -> io::Result<Box<dyn Staged + '_>> {
        self.step(|_| ())?;
        if durable {
            self.step(|_| ())?;
        }
        Ok(Box::new(New {
            disk: self,
            bytes: bytes.to_vec(),
            durable,
        }))
    }

    fn stamp(&self) -> io::Result<Option<Stamp>> {
        Ok(self.held().journal.as_deref().map(stamp))
    }

    fn journal(&self, part: Part) -> io::Result<Piece> {
        let held = self.held();
        let journal = held.journal.as_deref().ok_or(ErrorKind::NotFound)?;
        let from = match part {
            Part::Whole => 0,
            Part::From(from) => journal.len().min(from.try_into().unwrap()),
            Part::Last(most) => journal.len().saturating_sub(most.try_into().unwrap()),
        };
        Ok(Piece {
            from: from as u64,
            bytes: journal[from..].to_vec(),
            stamp: stamp(journal),
        })
    }

    fn append(&self, line: &[u8], most: u64) -> io::Result<u64> {
        let before = self.step(|held| {
            let journal = held.journal.get_or_insert_default();
            let before = journal.len();
            if (before + line.len()) as u64 > most {
                return Err(TooLong::error());
            }
            journal.extend_from_slice(line);
            Ok(before as u64)
        })??;
        self.sync_journal()?;
        Ok(before)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.step(|held| {
            let length = length.try_into().unwrap();
            held.journal.get_or_insert_default().truncate(length);
            held.synced = held.synced.min(length);
        })?;
        self.sync_journal()
    }

    fn replace_journal(&self, bytes: &[u8]) -> io::Result<()> {
        self.step(|held| {
            held.journal = Some(bytes.to_vec());
            held.synced = bytes.len();
        })
    }

    fn sync_journal(&self) -> io::Result<()> {
        self.step(|held| held.synced = held.journal.as_ref().map_or(0, Vec::len))
    }
}

/// Tells a journal from another one by its length: nothing else changes here.
fn stamp(journal: &[u8]) -> Stamp {
    [i128::try_from(journal.len()).unwrap(), 0, 0, 0]
}

/// A document that is not there yet.
struct New<'d> {
    disk: &'d Disk,
    bytes: Vec<u8>,
    durable: bool,
}

impl Staged for New<'_> {
    fn publish(self: Box<Self>) -> io::Result<()> {
        let Self {
            disk,
            bytes,
            durable,
        } = *self;
        disk.step(|held| {
            held.documents.push((bytes.clone(), durable));
            held.document = Some(bytes);
        })
    }
}
