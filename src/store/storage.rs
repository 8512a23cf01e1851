//! Where the document and the journal of one loop are kept. The commit and its reads go through [`Storage`] alone: files here, and
//! in tests memory that can lose its power (`memory`).

use std::fmt::Debug;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};

use camino::Utf8PathBuf;

use super::document;
use super::error::{StoreError, io_error};
use super::fault::{self, Point};
use super::id::LoopId;
use super::store::Store;
use crate::files::kill_point::kill_point;
use crate::files::{Folder, Prepared, if_there, make_all};

/// Names the journal in a loop's folder.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// Largest journal, in bytes: some ten thousand changes. A stop parses it several times, within 2 s of CPU.
pub(super) const MOST_JOURNAL: u64 = 12 * 1024 * 1024;

/// Tells a file from another one, and from what it was before.
pub(super) type Stamp = [i128; 4];

/// Says which part of a journal is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// From this byte on.
    From(u64),
    /// The last bytes, this many at most.
    Last(u64),
}

/// Holds a part of a journal as it was read.
#[derive(Debug)]
pub(super) struct Piece {
    /// Where it begins, in bytes.
    pub(super) from: u64,
    pub(super) bytes: Vec<u8>,
    /// Tells whether something was written since.
    pub(super) stamp: Stamp,
}

/// Holds the document and the journal of one loop.
///
/// What a power loss does is part of it: what was not synced may be lost, or cut off anywhere, and a document that was
/// replaced may be any that stood there since.
pub(super) trait Storage: Debug + Send + Sync {
    /// Returns where the document is, for messages.
    fn document_path(&self) -> Utf8PathBuf;
    /// Returns where the journal is, for messages.
    fn journal_path(&self) -> Utf8PathBuf;
    /// Reads the document.
    ///
    /// # Errors
    /// `NotFound` where there is none, `FileTooLarge` above [`document::MAX_BYTES`].
    fn document(&self) -> io::Result<Vec<u8>>;
    /// Writes a new document beside the old one, and syncs it where it is to be `durable`.
    fn stage(&self, bytes: &[u8], durable: bool) -> io::Result<Box<dyn Staged + '_>>;
    /// Returns what the journal looks like from outside: it is another value once something was written; `None` where there is none.
    fn stamp(&self) -> io::Result<Option<Stamp>>;
    /// Reads a part of the journal.
    ///
    /// # Errors
    /// `NotFound` where there is none, [`TooLong`] where the part has more than [`MOST_JOURNAL`] bytes.
    fn journal(&self, part: Part) -> io::Result<Piece>;
    /// Appends a line to the journal, which then has `most` bytes at most, and syncs it. Returns how long it was before.
    ///
    /// # Errors
    /// The journal is as it was; [`TooLong`] where it would be longer.
    fn append(&self, line: &[u8], most: u64) -> io::Result<u64>;
    /// Cuts the journal to this length, and syncs it.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Replaces the journal, and syncs it.
    fn replace_journal(&self, bytes: &[u8]) -> io::Result<()>;
    /// Makes all lines of the journal survive a power loss, its name, and that of the folder that it lies in.
    fn sync_journal(&self) -> io::Result<()>;
}

/// A document that is written and cannot be seen yet. Dropping it removes it.
pub(super) trait Staged {
    /// Puts it in the place of the old one. Not synced: a power loss may bring the old one back.
    fn publish(self: Box<Self>) -> io::Result<()>;
}

impl Staged for Prepared<'_> {
    fn publish(self: Box<Self>) -> io::Result<()> {
        self.swap()
    }
}

impl Store {
    /// Opens what is kept of a loop in the state folder, which the caller holds open.
    pub(super) fn storage(
        &self,
        here: &Folder,
        id: &LoopId,
    ) -> Result<Box<dyn Storage>, StoreError> {
        #[cfg(test)]
        if let Some(disk) = &self.disk {
            return Ok(Box::new(disk.clone()));
        }
        let folder =
            if_there(here.below(id.as_str())).map_err(io_error("open", &self.loop_folder(id)))?;
        let path = self.path_of(id);
        let of_the_user = match self.spec().file {
            Some(_) => Some(if_there(self.folder_of(&path)).map_err(io_error("open", &path))?),
            None => None,
        };
        Ok(Box::new(Files {
            here: here.clone(),
            name: path.file_name().unwrap_or_default().to_owned(),
            base: self.root().to_owned(),
            of_the_user: of_the_user.map(|found| found.map(|(folder, _)| folder)),
            path,
            folder,
            folder_name: id.to_string(),
        }))
    }
}

/// A document and a journal that are files.
#[derive(Debug)]
struct Files {
    here: Folder,
    /// The document's, and its name.
    path: Utf8PathBuf,
    name: String,
    /// The folder of a document that is the user's own; `Some(None)` where it is not there.
    of_the_user: Option<Option<Folder>>,
    /// The project's root, below which that folder is made.
    base: Utf8PathBuf,
    /// The loop's own folder; `None` where it is not there.
    folder: Option<Folder>,
    folder_name: String,
}

impl Files {
    fn folder(&self) -> io::Result<&Folder> {
        self.folder
            .as_ref()
            .ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Storage for Files {
    fn document_path(&self) -> Utf8PathBuf {
        self.path.clone()
    }

    fn journal_path(&self) -> Utf8PathBuf {
        self.here.path().join(&self.folder_name).join(JOURNAL)
    }

    fn document(&self) -> io::Result<Vec<u8>> {
        let folder = match &self.of_the_user {
            Some(found) => found.as_ref().ok_or(ErrorKind::NotFound)?,
            None => &self.here,
        };
        folder.read(&self.name, document::MAX_BYTES as u64)
    }

    fn stage(&self, bytes: &[u8], durable: bool) -> io::Result<Box<dyn Staged + '_>> {
        let staged = match &self.of_the_user {
            Some(Some(folder)) => self.here.prepare_for(folder.clone(), &self.name, bytes)?,
            Some(None) => {
                let parent = self.path.parent().unwrap_or(&self.base);
                let (folder, _) = make_all(&self.base, parent)?;
                self.here.prepare_for(folder, &self.name, bytes)?
            }
            None => self.here.prepare(&self.name, bytes)?,
        };
        if durable {
            staged.sync()?;
        }
        Ok(Box::new(staged))
    }

    fn stamp(&self) -> io::Result<Option<Stamp>> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        Ok(folder.look(JOURNAL)?.map(|found| found.stamp()))
    }

    fn journal(&self, part: Part) -> io::Result<Piece> {
        let (mut file, found) = self.folder()?.found_file(JOURNAL)?;
        let length = found.size();
        let from = match part {
            Part::Whole => 0,
            Part::From(from) => from,
            Part::Last(most) => length.saturating_sub(most),
        };
        if length.saturating_sub(from) > MOST_JOURNAL {
            return Err(TooLong::error());
        }
        file.seek(SeekFrom::Start(from))?;
        let wanted = length.saturating_sub(from);
        let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
        file.take(wanted).read_to_end(&mut bytes)?;
        Ok(Piece {
            from,
            bytes,
            stamp: found.stamp(),
        })
    }

    fn append(&self, line: &[u8], most: u64) -> io::Result<u64> {
        let (mut file, found) = self.folder()?.file_to_append(JOURNAL)?;
        let before = found.size();
        if before + line.len() as u64 > most {
            return Err(TooLong::error());
        }
        kill_point();
        let half = fault::is_armed(Point::HalfLine).then_some(line.len() / 2);
        let written = file
            .write_all(&line[..half.unwrap_or(line.len())])
            .and_then(|()| {
                if half.is_some() {
                    fault::die();
                }
                file.sync_data()
            });
        if let Err(error) = written {
            let _ = file.set_len(before);
            return Err(error);
        }
        Ok(before)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        let file = self.folder()?.file_to_change(JOURNAL)?;
        file.set_len(length)?;
        file.sync_data()
    }

    fn replace_journal(&self, bytes: &[u8]) -> io::Result<()> {
        self.folder()?.replace(JOURNAL, bytes)
    }

    fn sync_journal(&self) -> io::Result<()> {
        let folder = self.folder()?;
        folder.file(JOURNAL)?.sync_data()?;
        folder.sync()?;
        self.here.sync()
    }
}

/// A journal that is longer than [`MOST_JOURNAL`], or would be.
#[derive(Debug, derive_more::Display, derive_more::Error)]
#[display("it has more than {MOST_JOURNAL} bytes")]
pub(super) struct TooLong;

impl TooLong {
    /// Returns whether an error of a [`Storage`] is this one.
    pub(super) fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|error| error.is::<Self>())
    }

    pub(super) fn error() -> io::Error {
        io::Error::new(ErrorKind::FileTooLarge, Self)
    }
}
