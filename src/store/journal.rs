//! The journal of a loop, `<id>/journal.jsonl`: one JSON object a line, only ever appended to.
//!
//! A change has a revision and the fields that resulted from it; a note has neither. This file reads and writes
//! lines; what a journal means for a state document is `heal`'s subject.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Map;

use super::error::{StoreError, io_error};
use super::fault::{self, Point};
use super::id::iso;
use super::value::Value;
use crate::files::{Folder, if_there};

/// Name of the journal in a loop's folder.
pub(super) const FILE: &str = "journal.jsonl";

/// The largest journal that is read, in bytes: some ten thousand changes.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// How much of its end [`Loaded::newest`] looks at first, in bytes.
const TAIL: u64 = 16 * 1024;

/// A change that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The transition's name, or what else it is: `start`, `bind`, `adopt`, `set-field`, `migrate`, `bring-back`.
    pub what: String,
    /// Who makes it: `hook`, `agent`, `person`, …
    pub by: String,
    /// The stored phase that it leaves; checked against the document if it is given.
    pub from: Option<String>,
    /// The stored phase that it enters; `None` keeps the phase.
    pub to: Option<String>,
    /// New values of fields. Those that say what a document is (phase, id, revision, machine, root, graph hash) are
    /// left out: the store writes them.
    pub edits: Vec<(String, Value)>,
    /// The review run that it counts.
    pub run: Option<String>,
    /// What was shown for it.
    pub evidence: Option<serde_json::Value>,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// A change of the document.
    Change(ChangeEntry),
    /// Something worth keeping that changed no field.
    Note(NoteEntry),
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeEntry {
    /// Its number, from 1.
    pub revision: u64,
    /// When, in whole seconds.
    pub at: Timestamp,
    /// See [`Change::what`].
    pub what: String,
    /// Who made it.
    pub by: String,
    /// The stored phase before.
    pub from: Option<String>,
    /// The stored phase after.
    pub to: Option<String>,
    /// The review run that it counted.
    pub run: Option<String>,
    /// What was shown for it.
    pub evidence: Option<serde_json::Value>,
    /// All fields that resulted, in the document's order.
    pub fields: Vec<(String, Value)>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoteEntry {
    /// When, in whole seconds.
    #[serde(serialize_with = "write_time")]
    pub at: Timestamp,
    /// What it is about: `run-began`, `run-ended`, …
    pub note: String,
    /// The rest, as its writer wants it.
    #[serde(default)]
    pub data: Map<String, serde_json::Value>,
}

/// A change as it stands in the file. `quoted` names the fields that are written as quoted text, so that a document
/// which is rebuilt looks as it did.
#[derive(Serialize, Deserialize)]
struct ChangeLine {
    revision: u64,
    at: String,
    what: String,
    by: String,
    from: Option<String>,
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<serde_json::Value>,
    fields: Map<String, serde_json::Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    quoted: Vec<String>,
}

#[derive(Deserialize)]
struct NoteLine {
    at: String,
    note: String,
    #[serde(default)]
    data: Map<String, serde_json::Value>,
}

impl Serialize for ChangeEntry {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let json = |value: &Value| match value {
            Value::Null => serde_json::Value::Null,
            Value::Flag(flag) => (*flag).into(),
            Value::Count(number) => (*number).into(),
            Value::Word(text) | Value::Text(text) => text.as_str().into(),
            Value::List(texts) => texts.as_slice().into(),
        };
        let quoted = |(name, value): &(String, Value)| matches!(value, Value::Text(_)).then(|| name.clone());
        ChangeLine {
            revision: self.revision,
            at: iso(self.at),
            what: self.what.clone(),
            by: self.by.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            run: self.run.clone(),
            evidence: self.evidence.clone(),
            fields: self
                .fields
                .iter()
                .map(|(name, value)| (name.clone(), json(value)))
                .collect(),
            quoted: self.fields.iter().filter_map(quoted).collect(),
        }
        .serialize(out)
    }
}

fn write_time<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&iso(*at))
}

impl Entry {
    /// Reads one line; `None` if it is none of ours.
    fn parse(line: &[u8]) -> Option<Self> {
        let json: serde_json::Value = serde_json::from_slice(line).ok()?;
        if json.get("note").is_some() {
            let NoteLine { at, note, data } = serde_json::from_value(json).ok()?;
            return Some(Self::Note(NoteEntry {
                at: at.parse().ok()?,
                note,
                data,
            }));
        }
        let line: ChangeLine = serde_json::from_value(json).ok()?;
        let mut fields = Vec::with_capacity(line.fields.len());
        for (name, value) in line.fields {
            let value: Value = serde_json::from_value(value).ok()?;
            let value = match value {
                Value::Word(text) if line.quoted.contains(&name) => Value::Text(text),
                other => other,
            };
            fields.push((name, value));
        }
        Some(Self::Change(ChangeEntry {
            revision: line.revision,
            at: line.at.parse().ok()?,
            what: line.what,
            by: line.by,
            from: line.from,
            to: line.to,
            run: line.run,
            evidence: line.evidence,
            fields,
        }))
    }
}

/// A journal as it was read.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) entries: Vec<Entry>,
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
        let mut bad = Vec::new();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for (at, line) in lines.iter().enumerate() {
            let whole = line.ends_with(b"\n");
            match Entry::parse(line) {
                Some(Entry::Change(change)) if !possible(loaded.changes().next(), &change) => {
                    bad.push(at + 1)
                }
                Some(entry) => {
                    loaded.entries.push(entry);
                    loaded.good.extend_from_slice(line);
                    // A last line that lacks nothing but its end is kept: an editor may have taken that away.
                    if !whole {
                        loaded.good.push(b'\n');
                        loaded.damage = Some(Damage::Torn);
                    }
                }
                None if at + 1 == lines.len() => loaded.damage = Some(Damage::Torn),
                None => bad.push(at + 1),
            }
        }
        if !bad.is_empty() {
            loaded.damage = Some(Damage::Lines(bad));
        }
        Ok(Some(loaded))
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
            entries,
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

    /// The file's bytes without the damage.
    pub(super) fn healed(&self) -> &[u8] {
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
/// was. The file must end with a whole line, which `heal` sees to.
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
        assert_eq!(loaded.entries, [change(1), note(), change(2)]);
        assert_eq!(loaded.damage, None);
        assert_eq!(loaded.healed(), std::fs::read(&path).unwrap());
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
                (loaded.damage.clone(), loaded.healed()),
                (Some(Damage::Torn), &whole[..]),
                "{tail:?}"
            );
        }
        std::fs::write(&path, [b"nonsense\n", &whole[..]].concat()).unwrap();
        let loaded = Loaded::read(&folder, &any).unwrap().unwrap();
        assert_eq!(
            (loaded.damage.clone(), loaded.healed()),
            (Some(Damage::Lines(vec![1])), &whole[..])
        );
        std::fs::write(&path, whole.trim_ascii_end()).unwrap();
        let loaded = Loaded::read(&folder, &any).unwrap().unwrap();
        assert_eq!(
            (loaded.entries.len(), loaded.healed()),
            (1, &whole[..]),
            "only the line's end was missing"
        );
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
