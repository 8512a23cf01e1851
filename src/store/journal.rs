//! The journal of a loop, `<id>/journal.jsonl`: one JSON object a line, only ever appended to.
//!
//! This file reads and writes lines; what a journal means for a state document is the subject of `recover`.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use super::entry::{ChangeEntry, Entry};
use super::error::{StoreError, io_error};
use super::fault::{self, Point};
use crate::files::{Folder, if_there};

/// Name of the journal in a loop's folder.
pub(super) const FILE: &str = "journal.jsonl";

/// The largest journal that is read, in bytes: some ten thousand changes.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// How much of its end [`Loaded::newest`] looks at first, in bytes.
const TAIL: u64 = 16 * 1024;

/// Holds a journal as it was read.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(super) entries: Arc<Vec<Entry>>,
    /// What is wrong with the file, if anything.
    pub(super) damage: Option<Damage>,
    /// The bytes of the whole lines that could be read.
    good: Vec<u8>,
}

/// Whether a change can have come after another one; none before it: it is the first that is known.
pub(super) type Possible<'p> = &'p dyn Fn(Option<&ChangeEntry>, &ChangeEntry) -> bool;

/// What is wrong with a journal's file. None of it loses a change that was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Damage {
    /// The last line was not written to its end.
    Torn,
    /// Lines in the middle that cannot be read, counted from 1.
    Lines(Vec<usize>),
}

impl Loaded {
    /// Reads the journal in a loop's folder; `None` if there is none. A change that is not `possible` after the one before it
    /// is a line that cannot be read.
    pub(super) fn read(folder: &Folder, possible: Possible<'_>) -> Result<Option<Self>, StoreError> {
        let bytes =
            if_there(folder.read(FILE, MAX_BYTES)).map_err(io_error("read", &folder.path().join(FILE)))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let mut loaded = Self::default();
        loaded.take(&bytes, possible);
        Ok(Some(loaded))
    }

    /// Reads what was appended since. Returns `false`, and changes nothing, where the file does not go on from what was read.
    pub(super) fn read_on(&mut self, folder: &Folder, possible: Possible<'_>) -> io::Result<bool> {
        let Some(end) = self.good.len().checked_sub(1).filter(|_| self.damage.is_none()) else {
            return Ok(false);
        };
        let last = self.good[..end].iter().rposition(|byte| *byte == b'\n');
        let last = last.map_or(0, |at| at + 1);
        let mut file = folder.file(FILE)?;
        if file.metadata()?.len() > MAX_BYTES {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(last as u64))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        let Some(new) = bytes.strip_prefix(&self.good[last..]) else {
            return Ok(false);
        };
        self.take(new, possible);
        Ok(true)
    }

    /// Takes the lines of these bytes.
    fn take(&mut self, bytes: &[u8], possible: Possible<'_>) {
        let mut bad = Vec::new();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for (at, line) in lines.iter().enumerate() {
            let whole = line.ends_with(b"\n");
            match Entry::parse(line) {
                Some(Entry::Change(change)) if !possible(self.changes().next(), &change) => bad.push(at + 1),
                Some(entry) => {
                    Arc::make_mut(&mut self.entries).push(entry);
                    self.good.extend_from_slice(line);
                    // A last line that lacks nothing but its end is kept: an editor may have taken that away.
                    if !whole {
                        self.good.push(b'\n');
                        self.damage = Some(Damage::Torn);
                    }
                }
                None if at + 1 == lines.len() => self.damage = Some(Damage::Torn),
                None => bad.push(at + 1),
            }
        }
        if !bad.is_empty() {
            self.damage = Some(Damage::Lines(bad));
        }
    }

    /// Reads only as much as tells where the loop is: the newest two changes, and what stands behind them. What is damaged
    /// is passed over as [`Loaded::read`] does, but not said. A stop looks at every loop of the folder, also at those that
    /// have long been over, and should not read their whole history for it.
    pub(super) fn newest(folder: &Folder, possible: Possible<'_>) -> Result<Option<Self>, StoreError> {
        let tail = if_there(read_tail(folder, TAIL)).map_err(io_error("read", &folder.path().join(FILE)))?;
        let Some((tail, is_whole)) = tail else {
            return Ok(None);
        };
        let mut lines: Vec<&[u8]> = tail.split_inclusive(|byte| *byte == b'\n').collect();
        if !is_whole && !lines.is_empty() {
            // The first of them most likely begins in the middle.
            lines.remove(0);
        }
        let mut entries = Vec::new();
        let mut changes = 0;
        for line in lines.into_iter().rev() {
            let Some(entry) = Entry::parse(line) else { continue };
            changes += usize::from(matches!(entry, Entry::Change(_)));
            entries.push(entry);
            if changes == 2 {
                break;
            }
        }
        if changes < 2 && !is_whole {
            return Self::read(folder, possible);
        }
        entries.reverse();
        let newest = Self {
            entries: Arc::new(entries),
            ..Self::default()
        };
        let holds = {
            let mut changes = newest.changes();
            let (last, before) = (changes.next(), changes.next());
            last.is_none_or(|last| possible(before, last))
        };
        if holds {
            Ok(Some(newest))
        } else {
            Self::read(folder, possible)
        }
    }

    /// Returns the file's bytes without the damage.
    pub(super) fn repaired(&self) -> &[u8] {
        &self.good
    }

    /// Changes, the newest first.
    pub(super) fn changes(&self) -> impl Iterator<Item = &ChangeEntry> {
        self.entries.iter().rev().filter_map(|entry| match entry {
            Entry::Change(change) => Some(change),
            Entry::Note(_) => None,
        })
    }
}

/// Reads the last bytes of the journal, and says whether they are all that it has.
fn read_tail(folder: &Folder, most: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut file = folder.file(FILE)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(most);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(most).read_to_end(&mut tail)?;
    Ok((tail, from == 0))
}

/// Appends `entry` and syncs it. Returns the file's length before, for [`cut`]. A failed append leaves the file as it
/// was. The file must end with a whole line, which `repair` sees to.
pub(super) fn append(folder: &Folder, entry: &Entry) -> Result<u64, StoreError> {
    let path = &folder.path().join(FILE);
    let mut line = serde_json::to_vec(entry).map_err(|error| io_error("write", path)(error.into()))?;
    line.push(b'\n');
    let mut file = folder.file_to_append(FILE).map_err(io_error("open", path))?;
    let before = file.metadata().map_err(io_error("look at", path))?.len();
    if fault::is_armed(Point::HalfLine) {
        line.truncate(line.len() / 2);
    }
    let written = file.write_all(&line).and_then(|()| {
        fault::point(Point::HalfLine);
        file.sync_data()
    });
    if let Err(error) = written {
        let _ = file.set_len(before);
        return Err(io_error("write", path)(error));
    }
    Ok(before)
}

/// Makes what stands in the journal survive a power loss, and its name too.
pub(super) fn sync(folder: &Folder) -> Result<(), StoreError> {
    folder
        .file(FILE)
        .and_then(|file| file.sync_data())
        .and_then(|()| folder.sync())
        .map_err(io_error("sync", &folder.path().join(FILE)))
}

/// Takes the last line back: the change that it announced was not made.
pub(super) fn cut(folder: &Folder, length: u64) -> io::Result<()> {
    let file = folder.file_to_change(FILE)?;
    file.set_len(length)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{fields, folder};
    use crate::store::{NoteEntry, Value};

    fn any(_: Option<&ChangeEntry>, _: &ChangeEntry) -> bool {
        true
    }

    fn change(revision: u64) -> Entry {
        Entry::Change(ChangeEntry {
            revision,
            at: "2026-11-22T00:53:33Z".parse().unwrap(),
            what: "revise".into(),
            by: "hook".into(),
            from: Some("a".into()),
            to: None,
            run: Some("r1".into()),
            evidence: Some(serde_json::json!({"digest": "x\ny"})),
            fields: fields(),
        })
    }

    fn note() -> Entry {
        let data = serde_json::json!({"hash": "é\u{2028}"})
            .as_object()
            .unwrap()
            .clone();
        Entry::Note(NoteEntry {
            at: "2026-11-22T00:53:33Z".parse().unwrap(),
            note: "run-began".into(),
            data,
        })
    }

    #[test]
    fn the_newest_changes_are_those_of_the_whole_journal() {
        let (_kept, folder) = folder();
        let path = folder.join(FILE);
        let folder = Folder::open(&folder).unwrap();
        let newest = |most: usize| -> Vec<u64> {
            let whole = Loaded::read(&folder, &any).unwrap().unwrap();
            let newest = Loaded::newest(&folder, &any).unwrap().unwrap();
            let of = |loaded: &Loaded| {
                loaded
                    .changes()
                    .map(|change| change.revision)
                    .take(most)
                    .collect()
            };
            let (whole, newest): (Vec<u64>, Vec<u64>) = (of(&whole), of(&newest));
            assert_eq!(whole, newest);
            newest
        };
        assert!(Loaded::newest(&folder, &any).unwrap().is_none());
        append(&folder, &change(1)).unwrap();
        assert_eq!(newest(2), [1]);
        for revision in 2..200 {
            append(&folder, &change(revision)).unwrap();
        }
        assert!(
            std::fs::metadata(&path).unwrap().len() > TAIL,
            "more than one look reads"
        );
        assert_eq!(newest(2), [199, 198]);
        // Damage at the end, and one line that is longer than the look.
        let mut text = std::fs::read(&path).unwrap();
        text.extend_from_slice(b"not json\n{\"revision\":");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(newest(2), [199, 198]);
        text.extend(std::iter::repeat_n(b'x', usize::try_from(TAIL).unwrap() * 2));
        std::fs::write(&path, &text).unwrap();
        assert_eq!(newest(2), [199, 198]);
    }

    #[test]
    fn what_is_appended_is_read_with_its_order_and_its_quotes() {
        let (_kept, folder) = folder();
        let path = folder.join(FILE);
        let folder = Folder::open(&folder).unwrap();
        assert!(Loaded::read(&folder, &any).unwrap().is_none());
        for entry in [change(1), note(), change(2)] {
            append(&folder, &entry).unwrap();
        }
        let loaded = Loaded::read(&folder, &any).unwrap().unwrap();
        assert_eq!(*loaded.entries, [change(1), note(), change(2)]);
        assert_eq!(loaded.damage, None);
        assert_eq!(loaded.repaired(), std::fs::read(&path).unwrap());
        let Entry::Change(read) = &loaded.entries[0] else {
            panic!()
        };
        assert!(matches!(&read.fields[2], (name, Value::Text(_)) if name == "topic"));
        assert!(matches!(&read.fields[1], (name, Value::Word(_)) if name == "phase"));
        assert_eq!(
            loaded.changes().map(|change| change.revision).collect::<Vec<_>>(),
            [2, 1]
        );
    }

    #[test]
    fn a_torn_tail_and_bad_lines_are_told_apart() {
        let (_kept, folder) = folder();
        let path = folder.join(FILE);
        let folder = Folder::open(&folder).unwrap();
        append(&folder, &change(1)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for tail in [
            &b"{\"revis"[..],
            b"\0\0\0\0",
            b"{}\n",
            b"\xff\n",
            b"{\"revision\":-1}",
        ] {
            std::fs::write(&path, [&whole, tail].concat()).unwrap();
            let loaded = Loaded::read(&folder, &any).unwrap().unwrap();
            assert_eq!(
                (loaded.damage.clone(), loaded.repaired()),
                (Some(Damage::Torn), &whole[..]),
                "{tail:?}"
            );
        }
        std::fs::write(&path, [b"nonsense\n", &whole[..]].concat()).unwrap();
        let loaded = Loaded::read(&folder, &any).unwrap().unwrap();
        assert_eq!(
            (loaded.damage.clone(), loaded.repaired()),
            (Some(Damage::Lines(vec![1])), &whole[..])
        );
        std::fs::write(&path, whole.trim_ascii_end()).unwrap();
        let loaded = Loaded::read(&folder, &any).unwrap().unwrap();
        assert_eq!(
            (loaded.entries.len(), loaded.repaired()),
            (1, &whole[..]),
            "only the line's end was missing"
        );
    }

    #[test]
    fn what_was_read_goes_on_only_where_the_file_does() {
        let (_kept, folder) = folder();
        let here = Folder::open(&folder).unwrap();
        append(&here, &change(1)).unwrap();
        let mut loaded = Loaded::read(&here, &any).unwrap().unwrap();
        assert!(loaded.read_on(&here, &any).unwrap());
        append(&here, &note()).unwrap();
        append(&here, &change(2)).unwrap();
        assert!(loaded.read_on(&here, &any).unwrap());
        assert_eq!(*loaded.entries, [change(1), note(), change(2)]);
        assert_eq!(loaded.repaired(), std::fs::read(folder.join(FILE)).unwrap());
        // A line that was taken back, and another one in its place.
        let length = std::fs::metadata(folder.join(FILE)).unwrap().len();
        append(&here, &change(3)).unwrap();
        assert!(loaded.read_on(&here, &any).unwrap());
        cut(&here, length).unwrap();
        assert!(!loaded.read_on(&here, &any).unwrap());
        append(&here, &note()).unwrap();
        append(&here, &change(3)).unwrap();
        assert!(!loaded.read_on(&here, &any).unwrap());
        assert_eq!(loaded.entries.len(), 4, "what was read stays as it was");
    }

    #[test]
    fn a_symlink_is_no_journal() {
        let (_kept, folder) = folder();
        let path = folder.join(FILE);
        let folder = Folder::open(&folder).unwrap();
        std::os::unix::fs::symlink("target", &path).unwrap();
        std::fs::write(path.with_file_name("target"), "").unwrap();
        assert!(append(&folder, &change(1)).is_err());
        assert!(Loaded::read(&folder, &any).is_err());
        assert_eq!(std::fs::read(path.with_file_name("target")).unwrap(), b"");
    }
}
