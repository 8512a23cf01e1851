//! The journal of a loop, `<id>/journal.jsonl`: one JSON object a line, only ever appended to.
//!
//! This file reads and writes lines; what a journal means for a state document is the subject of `recover`.

use std::io;
use std::sync::Arc;

use serde::Serialize;

use super::entry::{ChangeEntry, Entry, NoteEntry};
use super::error::{StoreError, io_error};
use super::storage::{MOST_JOURNAL, Part, Piece, Stamp, Storage, TooLong};
use crate::files::if_there;

/// How much of its end [`Loaded::newest`] reads, in bytes: the next where the one before has no two changes.
const TAILS: [u64; 3] = [4 << 10, 64 << 10, 1 << 20];

/// Limits the lines that are named as bad.
const MOST_BAD: usize = 1000;

/// Holds a journal as it was read.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) entries: Arc<Vec<Entry>>,
    /// What is wrong with the file, if anything.
    pub(super) damage: Option<Damage>,
    /// Where in the file what was read begins, in bytes.
    begin: u64,
    /// The bytes of the whole lines that could be read.
    good: Vec<u8>,
    /// Tells whether something was written since; `None` where it was not read from a file.
    pub(super) stamp: Option<Stamp>,
}

/// Holds a journal that was read, and where it is.
#[derive(Debug)]
pub(crate) struct Known {
    pub(super) storage: Box<dyn Storage>,
    pub(super) loaded: Loaded,
}

/// Whether a change can have come after another one; none before it: it is the first that is known.
pub(super) type Possible<'p> = &'p dyn Fn(Option<&ChangeEntry>, &ChangeEntry) -> bool;

/// What is wrong with a journal's file. None of it loses a change that was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Damage {
    /// The last line was not written to its end.
    Torn,
    /// Lines in the middle that cannot be read, counted from 1; no more of them than [`MOST_BAD`].
    Lines(Vec<usize>),
}

/// Says how many lines are bad: `1 line`, `12 lines`, `1000 lines or more`.
pub(super) fn counted(bad: &[usize]) -> String {
    match bad.len() {
        1 => "1 line".to_owned(),
        MOST_BAD.. => format!("{MOST_BAD} lines or more"),
        count => format!("{count} lines"),
    }
}

impl Loaded {
    /// Reads the whole journal; `None` if there is none. A change that is not `possible` after the one before it is a line that
    /// cannot be read.
    pub(super) fn read(
        storage: &dyn Storage,
        possible: Possible<'_>,
    ) -> Result<Option<Self>, StoreError> {
        let bytes = if_there(storage.journal(Part::Whole));
        let bytes = bytes.map_err(|error| failed("read", storage, error))?;
        let Some(Piece { bytes, stamp, .. }) = bytes else {
            return Ok(None);
        };
        let mut loaded = Self {
            stamp: Some(stamp),
            ..Self::default()
        };
        loaded.take(&bytes, possible);
        Ok(Some(loaded))
    }

    /// Reads what was appended since. Returns `false`, and changes nothing, where the file does not go on from what was read.
    pub(super) fn read_on(
        &mut self,
        storage: &dyn Storage,
        possible: Possible<'_>,
    ) -> io::Result<bool> {
        let Some(end) = self
            .good
            .len()
            .checked_sub(1)
            .filter(|_| self.damage.is_none())
        else {
            return Ok(false);
        };
        let last = self.good[..end].iter().rposition(|byte| *byte == b'\n');
        let last = last.map_or(0, |at| at + 1);
        let Piece { bytes, stamp, .. } = storage.journal(Part::From(self.begin + last as u64))?;
        let Some(new) = bytes.strip_prefix(&self.good[last..]) else {
            return Ok(false);
        };
        if self.begin + self.good.len() as u64 + new.len() as u64 > MOST_JOURNAL {
            return Ok(false);
        }
        self.take(new, possible);
        self.stamp = Some(stamp);
        Ok(true)
    }

    /// Takes the lines of these bytes.
    pub(super) fn take(&mut self, bytes: &[u8], possible: Possible<'_>) {
        let mut bad = Vec::new();
        let mut add = |line| {
            if bad.len() < MOST_BAD {
                bad.push(line);
            }
        };
        let mut lines = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .zip(1..)
            .peekable();
        while let Some((line, at)) = lines.next() {
            let whole = line.ends_with(b"\n");
            let entry = Entry::parse(line);
            match entry {
                Some(Entry::Change(change)) if !possible(self.changes().next(), &change) => add(at),
                Some(entry) => {
                    Arc::make_mut(&mut self.entries).push(entry);
                    self.good.extend_from_slice(line);
                    // A last line that lacks nothing but its end is kept: an editor may have taken that away.
                    if !whole {
                        self.good.push(b'\n');
                        self.damage = Some(Damage::Torn);
                    }
                }
                None if lines.peek().is_none() => self.damage = Some(Damage::Torn),
                None => add(at),
            }
        }
        if !bad.is_empty() {
            self.damage = Some(Damage::Lines(bad));
        }
    }

    /// Reads only as much as tells where the loop is: the newest two changes, and what stands behind them. Where long notes lie
    /// between them, the newest alone has to do. Returns `None` where the end does not tell: there is no journal, or it is damaged.
    pub(super) fn newest(
        storage: &dyn Storage,
        possible: Possible<'_>,
    ) -> Result<Option<Self>, StoreError> {
        for most in TAILS {
            let tail = if_there(storage.journal(Part::Last(most)));
            let tail = tail.map_err(io_error("read", &storage.journal_path()))?;
            let Some(Piece {
                from,
                bytes: tail,
                stamp,
            }) = tail
            else {
                return Ok(None);
            };
            let Some(entries) = last_entries(&tail, from == 0) else {
                return Ok(None);
            };
            let newest = Self {
                entries: Arc::new(entries),
                stamp: Some(stamp),
                ..Self::default()
            };
            let mut changes = newest.changes();
            let (last, before) = (changes.next(), changes.next());
            if before.is_none() && from > 0 && most < TAILS[2] {
                continue;
            }
            let tells = last.is_some_and(|last| possible(before, last));
            drop(changes);
            return Ok(tells.then_some(newest));
        }
        Ok(None)
    }

    /// Reads the end of the journal, from this change on or from an earlier one. Returns `None` where that does not tell: there is no
    /// journal, or its end is damaged.
    pub(super) fn since(
        storage: &dyn Storage,
        revision: u64,
        possible: Possible<'_>,
    ) -> Result<Option<Self>, StoreError> {
        let mut most = TAILS[1];
        loop {
            let tail = if_there(storage.journal(Part::Last(most)));
            let tail = tail.map_err(|error| failed("read", storage, error))?;
            let Some(Piece {
                from,
                bytes: tail,
                stamp,
            }) = tail
            else {
                return Ok(None);
            };
            // The first line most likely begins before.
            let cut = match from {
                0 => 0,
                _ => memchr::memchr(b'\n', &tail).map_or(tail.len(), |at| at + 1),
            };
            let mut loaded = Self {
                begin: from + cut as u64,
                stamp: Some(stamp),
                ..Self::default()
            };
            loaded.take(&tail[cut..], possible);
            if loaded.damage.is_some() {
                return Ok(None);
            }
            let first = loaded.changes().last().map(|first| first.revision);
            if from == 0 || first.is_some_and(|first| first <= revision) {
                return Ok(Some(loaded));
            }
            most *= 16;
        }
    }

    /// Returns whether it was read from its begin.
    pub(super) fn is_whole(&self) -> bool {
        self.begin == 0
    }

    /// Returns the file's bytes without the damage.
    pub(super) fn repaired(&self) -> &[u8] {
        &self.good
    }

    /// Changes, the newest first.
    pub(super) fn changes(&self) -> impl Iterator<Item = &ChangeEntry> {
        self.entries.iter().rev().filter_map(Entry::change)
    }
}

/// Returns the newest two changes of a journal's end, and what stands behind them; `None` where a line cannot be read.
pub(super) fn last_entries(tail: &[u8], is_whole: bool) -> Option<Vec<Entry>> {
    if !tail.ends_with(b"\n") {
        return None;
    }
    let lines: Vec<&[u8]> = tail.split_inclusive(|byte| *byte == b'\n').collect();
    // The first of them most likely begins in the middle.
    let whole = lines.get(usize::from(!is_whole)..).unwrap_or_default();
    let (mut entries, mut changes) = (Vec::new(), 0);
    for line in whole.iter().rev() {
        let entry = Entry::parse(line)?;
        changes += usize::from(matches!(entry, Entry::Change(_)));
        entries.push(entry);
        if changes == 2 {
            break;
        }
    }
    entries.reverse();
    Some(entries)
}

/// Makes a note of now.
pub(super) fn note(
    storage: &dyn Storage,
    note: &str,
    data: &impl Serialize,
) -> Result<NoteEntry, StoreError> {
    NoteEntry::now(note, data).map_err(|error| failed("write", storage, error.into()))
}

/// Appends `entry` and syncs it. Returns the journal's length before, for [`Storage::cut`]. A failed append leaves the journal as
/// it was. It must end with a whole line, which `repair` sees to.
pub(super) fn append(storage: &dyn Storage, entry: &Entry) -> Result<u64, StoreError> {
    append_up_to(storage, entry, MOST_JOURNAL)
}

/// Does the same to a journal that may have another length than [`MOST_JOURNAL`] then.
pub(super) fn append_up_to(
    storage: &dyn Storage,
    entry: &Entry,
    most: u64,
) -> Result<u64, StoreError> {
    let mut line =
        serde_json::to_vec(entry).map_err(|error| failed("write", storage, error.into()))?;
    line.push(b'\n');
    (storage.append(&line, most)).map_err(|error| failed("write", storage, error))
}

fn failed(doing: &'static str, storage: &dyn Storage, error: io::Error) -> StoreError {
    let path = storage.journal_path();
    if TooLong::is(&error) {
        StoreError::JournalFull { path }
    } else {
        io_error(doing, &path)(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::memory::Disk;
    use crate::store::testing::fields;
    use crate::store::{JsonText, Value};

    fn any(_: Option<&ChangeEntry>, _: &ChangeEntry) -> bool {
        true
    }

    fn change(revision: u64) -> Entry {
        Entry::Change(ChangeEntry {
            revision,
            at: "2026-11-22T00:53:33Z".parse().unwrap(),
            what: "revise".into(),
            by: "hook".into(),
            args: JsonText::of(&serde_json::json!({"rounds": 2})).ok(),
            from: Some("a".into()),
            to: None,
            append: Some("text\n".into()),
            run: Some("r1".into()),
            evidence: JsonText::of(&serde_json::json!({"digest": "x\ny"})).ok(),
            visit: Some(revision),
            fields: fields(),
        })
    }

    fn note() -> Entry {
        let data = serde_json::json!({"hash": "é\u{2028}"});
        let mut note = NoteEntry::now("run-began", &data).unwrap();
        note.at = "2026-11-22T00:53:33Z".parse().unwrap();
        Entry::Note(note)
    }

    fn revisions(loaded: &Loaded) -> Vec<u64> {
        loaded.changes().map(|change| change.revision).collect()
    }

    /// A disk with these bytes as its journal.
    fn journal(bytes: &[u8]) -> Disk {
        Disk::of(b"", bytes)
    }

    fn bytes(disk: &Disk) -> Vec<u8> {
        disk.content().1.unwrap()
    }

    fn read(disk: &Disk) -> Loaded {
        Loaded::read(disk, &any).unwrap().unwrap()
    }

    #[test]
    fn the_newest_changes_are_those_of_the_whole_journal_or_it_is_not_said() {
        let disk = Disk::default();
        let newest = |disk: &Disk| Loaded::newest(disk, &any).unwrap();
        assert!(newest(&disk).is_none());
        append(&disk, &change(1)).unwrap();
        assert_eq!(revisions(&newest(&disk).unwrap()), [1]);
        for revision in 2..200 {
            append(&disk, &change(revision)).unwrap();
        }
        append(&disk, &note()).unwrap();
        let whole = bytes(&disk);
        assert!(
            whole.len() as u64 > TAILS[0],
            "it does not look at all of it"
        );
        assert_eq!(revisions(&newest(&disk).unwrap()), [199, 198]);
        assert_eq!(newest(&disk).unwrap().entries.last(), Some(&note()));
        let long = vec![b'x'; usize::try_from(TAILS[0]).unwrap() * 2];
        for end in [&b"not json\n"[..], b"{\"revision\":", b"\0\0", &long] {
            assert!(
                newest(&journal(&[&whole, end].concat())).is_none(),
                "{end:?}"
            );
        }
        let never = |before: Option<&ChangeEntry>, _: &ChangeEntry| before.is_none();
        assert!(Loaded::newest(&disk, &never).unwrap().is_none());
    }

    #[test]
    fn what_is_read_from_a_change_on_goes_on_as_the_whole_does() {
        let lines: Vec<u8> = (1..1000)
            .flat_map(|revision| {
                let mut line = serde_json::to_vec(&change(revision)).unwrap();
                line.push(b'\n');
                line
            })
            .collect();
        let disk = journal(&lines);
        let since = |revision| Loaded::since(&disk, revision, &any).unwrap();
        let mut end = since(998).unwrap();
        assert!(!end.is_whole() && end.entries.len() < 900);
        assert!(revisions(&end).starts_with(&[999, 998]));
        append(&disk, &change(1000)).unwrap();
        assert!(end.read_on(&disk, &any).unwrap());
        assert!(revisions(&end).starts_with(&[1000, 999, 998]));
        let whole = since(1).unwrap();
        assert!(whole.is_whole() && whole.entries == read(&disk).entries);
        append(&disk, &note()).unwrap();
        assert!(since(1000).is_some());
        assert!(
            Loaded::since(&journal(&[&lines, &b"x\n"[..]].concat()), 999, &any)
                .unwrap()
                .is_none()
        );
        assert!(Loaded::since(&Disk::default(), 1, &any).unwrap().is_none());
    }

    #[test]
    fn what_is_appended_is_read_with_its_order_and_its_quotes() {
        let disk = Disk::default();
        assert!(Loaded::read(&disk, &any).unwrap().is_none());
        for entry in [change(1), note(), change(2)] {
            append(&disk, &entry).unwrap();
        }
        let loaded = read(&disk);
        assert_eq!(*loaded.entries, [change(1), note(), change(2)]);
        assert_eq!(loaded.damage, None);
        assert_eq!(loaded.repaired(), bytes(&disk));
        let Entry::Change(read) = &loaded.entries[0] else {
            panic!()
        };
        assert!(matches!(&read.fields[2], (name, Value::Text(_)) if name == "topic"));
        assert!(matches!(&read.fields[1], (name, Value::Word(_)) if name == "phase"));
        assert_eq!(revisions(&loaded), [2, 1]);
    }

    #[test]
    fn a_torn_tail_and_bad_lines_are_told_apart() {
        let disk = Disk::default();
        append(&disk, &change(1)).unwrap();
        let whole = bytes(&disk);
        for tail in [
            &b"{\"revis"[..],
            b"\0\0\0\0",
            b"{}\n",
            b"\xff\n",
            b"{\"revision\":-1}",
        ] {
            let loaded = read(&journal(&[&whole, tail].concat()));
            assert_eq!(
                (loaded.damage.clone(), loaded.repaired()),
                (Some(Damage::Torn), &whole[..]),
                "{tail:?}"
            );
        }
        let loaded = read(&journal(&[b"nonsense\n", &whole[..]].concat()));
        assert_eq!(
            (loaded.damage.clone(), loaded.repaired()),
            (Some(Damage::Lines(vec![1])), &whole[..])
        );
        let loaded = read(&journal(whole.trim_ascii_end()));
        assert_eq!(
            (loaded.entries.len(), loaded.repaired()),
            (1, &whole[..]),
            "only the line's end was missing"
        );
    }

    #[test]
    fn a_hostile_journal_costs_no_more_than_its_bytes() {
        let disk = Disk::default();
        append(&disk, &change(1)).unwrap();
        let whole = bytes(&disk);
        let deep = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!(
                "{{\"at\":\"2026-11-22T00:53:33Z\",\"note\":\"x\",\"data\":{{\"x\":{open}{close}}}}}\n"
            )
        };
        let wide = serde_json::to_string(&change(2))
            .unwrap()
            .replace("\"fields\":{", "\"fields\":{WIDE");
        let wide = wide.replace(
            "WIDE",
            &(0..2048)
                .map(|n| format!("\"k{n}\":{n},"))
                .collect::<String>(),
        ) + "\n";
        let quoted = serde_json::to_string(&change(2))
            .unwrap()
            .replace("\"quoted\":[", "\"quoted\":[QUOTED");
        let quoted = quoted.replace("QUOTED", &"\"k\",".repeat(2048)) + "\n";
        for part in [
            deep(15),
            wide,
            quoted,
            "\n".to_owned(),
            format!("{{{}\n", "[],".repeat(200_000)),
        ] {
            let count = (8 << 20) / part.len();
            let (hostile, lines) = (part.repeat(count), count.min(MOST_BAD));
            let loaded = read(&journal(
                &[whole.as_slice(), hostile.as_bytes(), &whole].concat(),
            ));
            assert!(
                matches!(&loaded.damage, Some(Damage::Lines(bad)) if bad.len() == lines),
                "{lines}"
            );
            assert_eq!(loaded.repaired(), whole.repeat(2), "what is ours is kept");
        }
        let notes = read(&journal(
            &[whole.as_slice(), deep(14).repeat(100_000).as_bytes()].concat(),
        ));
        assert_eq!((notes.entries.len(), notes.damage), (100_001, None));
    }

    #[test]
    fn what_was_read_goes_on_only_where_the_file_does() {
        let disk = Disk::default();
        append(&disk, &change(1)).unwrap();
        let mut loaded = read(&disk);
        assert!(loaded.read_on(&disk, &any).unwrap());
        append(&disk, &note()).unwrap();
        append(&disk, &change(2)).unwrap();
        assert!(loaded.read_on(&disk, &any).unwrap());
        assert_eq!(*loaded.entries, [change(1), note(), change(2)]);
        assert_eq!(loaded.repaired(), bytes(&disk));
        // A line that was taken back, and another one in its place.
        let length = append(&disk, &change(3)).unwrap();
        assert!(loaded.read_on(&disk, &any).unwrap());
        disk.cut(length).unwrap();
        assert!(!loaded.read_on(&disk, &any).unwrap());
        append(&disk, &note()).unwrap();
        append(&disk, &change(3)).unwrap();
        assert!(!loaded.read_on(&disk, &any).unwrap());
        assert_eq!(loaded.entries.len(), 4, "what was read stays as it was");
    }

    #[test]
    fn a_full_journal_takes_no_line_and_says_so() {
        let full = usize::try_from(MOST_JOURNAL).unwrap() - 10;
        let disk = journal(&vec![b'\n'; full]);
        assert!(matches!(
            append(&disk, &change(1)),
            Err(StoreError::JournalFull { .. })
        ));
        assert_eq!(bytes(&disk).len(), full);
    }
}
