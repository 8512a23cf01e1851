//! The implementation, held to the reference: every call's answer and what is on disk after it.

use std::time::SystemTime;

use claudex_loop::store::{LoopId, Record, Store, Value};
use proptest::test_runner::Config;
use proptest_state_machine::{StateMachineTest, prop_state_machine};

use crate::folder::{
    Answer, STALE, age, answer, commit, content, document, history, home, new_store, start,
};
use crate::programs::{self, Killed};
use crate::random::{Damage, Folder, Happens, Point};
use crate::reference::{Content, Document, What, why_impossible};

/// A store, the ids of its loops and the records that were handed out, in the order of the reference's.
struct Implementation {
    _kept: tempfile::TempDir,
    store: Store,
    ids: Vec<LoopId>,
    held: Vec<Record>,
}

impl Implementation {
    fn id(&self, number: usize) -> LoopId {
        self.ids[number % self.ids.len()].clone()
    }

    fn newest(&self) -> LoopId {
        self.ids[self.ids.len() - 1].clone()
    }

    /// What was given is held from now on.
    fn told(&mut self, result: Result<Record, Answer>) -> Answer {
        match result {
            Ok(record) => {
                let content = content(&record);
                self.held.push(record);
                Answer::Loop(content)
            }
            Err(answer) => answer,
        }
    }

    fn open(&self, id: &LoopId) -> Result<Record, Answer> {
        self.store
            .open(id)
            .map(|opened| opened.record)
            .map_err(|error| answer(&error))
    }

    /// Does what happens, and says what the call answered.
    fn happen(&mut self, happens: &Happens, expected: &Folder) -> Answer {
        match *happens {
            Happens::Start => {
                let result = start(&self.store);
                if let Ok(record) = &result {
                    self.ids.push(record.id().clone());
                }
                self.told(result)
            }
            Happens::Open(number) => {
                let result = self.open(&self.id(number));
                self.told(result)
            }
            Happens::Commit(number, what) => {
                let held = self.held[number % self.held.len()].clone();
                let result = commit(&self.store, &held, what);
                self.told(result)
            }
            Happens::Go(what) => {
                let result = self
                    .open(&self.newest())
                    .and_then(|held| commit(&self.store, &held, what));
                self.told(result)
            }
            Happens::Note(number, note) => {
                let note = Value::Count(note.into());
                let result = self
                    .store
                    .set_field(&self.id(number), "note", note, "test", false);
                self.told(result.map_err(|error| answer(&error)))
            }
            Happens::Touch(number) => match self.store.touch(&self.id(number)) {
                Ok(()) => Answer::Done,
                Err(error) => answer(&error),
            },
            Happens::Age(number) => {
                let id = self.id(number);
                age(&self.store.path_of(&id));
                age(&self.store.journal_path(&id));
                Answer::Done
            }
            Happens::Sweep => {
                let mut moved = self
                    .store
                    .sweep(SystemTime::now(), STALE, false)
                    .unwrap()
                    .moved;
                let mut wanted: Vec<LoopId> = expected
                    .moved
                    .iter()
                    .map(|id| self.ids[*id].clone())
                    .collect();
                moved.sort();
                wanted.sort();
                assert_eq!(moved, wanted, "what the sweep took");
                Answer::Done
            }
            Happens::BringBack(number) => {
                let result = self.store.bring_back(&self.id(number));
                self.told(result.map_err(|error| answer(&error)))
            }
            Happens::CrashInStart(point) => {
                self.crash_in_start(point);
                Answer::Done
            }
            Happens::CrashInCommit(what, point) => {
                self.crash_in_commit(what, point);
                Answer::Done
            }
            Happens::CrashInSweep(number) => {
                let id = self.id(number);
                let target = self.store.folder().join("swept").join(id.as_str());
                std::fs::create_dir_all(&target).unwrap();
                std::fs::rename(self.store.path_of(&id), target.join(format!("{id}.state")))
                    .unwrap();
                Answer::Done
            }
            Happens::Damage(number, damage) => {
                self.damage(&self.id(number), damage, expected.at(number), expected);
                Answer::Done
            }
        }
    }

    /// Before the journal's line is whole a program is really killed by the system; the two points after it differ from
    /// a finished call only in the state file, and in who knows of it.
    fn crash_in_start(&mut self, point: Point) {
        if let Point::Line(bytes) = point {
            let killed = programs::killed_at(&self.store, Killed::Start, u64::from(bytes));
            assert!(killed, "the start came through");
            return;
        }
        let record = start(&self.store).unwrap();
        if let Point::Journaled = point {
            std::fs::remove_file(self.store.path_of(record.id())).unwrap();
            self.store.clear(record.id(), &[".lock"]).unwrap();
        }
        self.ids.push(record.id().clone());
    }

    fn crash_in_commit(&mut self, what: What, point: Point) {
        let id = self.newest();
        let path = self.store.path_of(&id);
        let before = std::fs::read(&path).unwrap();
        if let Point::Line(bytes) = point {
            let journal = self.store.journal_path(&id);
            let length = std::fs::metadata(&journal).unwrap().len();
            let killed = programs::killed_at(
                &self.store,
                Killed::Commit(&id, what),
                length + u64::from(bytes),
            );
            assert!(killed, "the commit came through");
            assert_eq!(
                std::fs::read(&path).unwrap(),
                before,
                "the document is the old one"
            );
            assert_eq!(
                std::fs::metadata(&journal).unwrap().len(),
                length + u64::from(bytes),
                "the journal's line is written, and to there"
            );
            return;
        }
        let held = self.open(&id).unwrap();
        let index = self.store.root().join("state-home/active");
        let indexes = index
            .read_dir_utf8()
            .unwrap()
            .map(|file| file.unwrap().into_path());
        let indexes: Vec<_> = indexes
            .map(|file| (std::fs::read(&file).unwrap(), file))
            .collect();
        commit(&self.store, &held, what).unwrap();
        if let Point::Journaled = point {
            std::fs::write(&path, before).unwrap();
            for (before, file) in indexes {
                std::fs::write(file, before).unwrap();
            }
        }
    }

    fn damage(&self, id: &LoopId, damage: Damage, at: usize, expected: &Folder) {
        let path = self.store.path_of(id);
        let text = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&text);
        let with = |new: Content| {
            let line = |line: &str| match line.split_once(": ").map_or("", |(name, _)| name) {
                "phase" => format!("phase: {}\n", new.phase.stored()),
                "count" => format!("count: {}\n", new.count),
                "note" => format!("note: {}\n", new.note),
                "revision" => format!("revision: {}\n", new.revision),
                _ => format!("{line}\n"),
            };
            text.lines().map(line).collect::<String>()
        };
        match (damage, expected.loops[at].document) {
            (Damage::Garbled, _) => std::fs::write(&path, b"\xff\0\xfe").unwrap(),
            (Damage::CutOff, _) => std::fs::write(&path, "phase: on\ncou: ").unwrap(),
            (Damage::Deleted, _) => std::fs::remove_file(&path).unwrap(),
            (Damage::TornLine, _) => {
                let journal = self.store.journal_path(id);
                let mut bytes = std::fs::read(&journal).unwrap();
                bytes.extend_from_slice(b"{\"revision\":9,\"at\":");
                std::fs::write(&journal, bytes).unwrap();
                // The state file is as old as the reference thinks: young.
                self.store.touch(id).unwrap();
            }
            (_, Document::Whole(new)) => std::fs::write(&path, with(new)).unwrap(),
            (_, other) => panic!("{damage:?} of {other:?}"),
        }
    }
}

impl StateMachineTest for Implementation {
    type SystemUnderTest = Self;
    type Reference = Folder;

    fn init_test(_: &Folder) -> Self {
        let (kept, store) = new_store();
        Self {
            _kept: kept,
            store,
            ids: Vec::new(),
            held: Vec::new(),
        }
    }

    fn apply(mut state: Self, expected: &Folder, happens: Happens) -> Self {
        let answer = state.happen(&happens, expected);
        assert_eq!(answer, expected.answer, "the answer to {happens:?}");
        state
    }

    fn check_invariants(state: &Self, expected: &Folder) {
        let store = &state.store;
        assert_eq!(state.ids.len(), expected.loops.len());
        assert!(expected.loops.iter().filter(|one| one.is_active()).count() <= 1);
        let active: Vec<LoopId> = store
            .list()
            .into_iter()
            .filter(|one| !one.terminal)
            .map(|one| one.id)
            .collect();
        for (id, one) in state.ids.iter().zip(&expected.loops) {
            if !one.may_be_repaired {
                assert_eq!(
                    document(&store.path_of(id)),
                    one.document,
                    "the document of {id}"
                );
            }
            let is_listed = one.is_active() && one.document != Document::Missing;
            assert_eq!(active.contains(id), is_listed, "{id} among {active:?}");
            assert_eq!(
                store.loop_folder(id).exists(),
                one.is_here,
                "the folder of {id}"
            );
            let swept = store.folder().join("swept").join(id.as_str());
            assert_eq!(
                document(&swept.join(format!("{id}.state"))),
                one.swept,
                "the swept document of {id}"
            );
            let place = if one.is_here {
                store.clone()
            } else {
                swept_store(store, id)
            };
            let told = history(&place, id);
            assert_eq!(why_impossible(&told), None, "the journal of {id}");
            let told: Vec<Content> = told.into_iter().map(|(_, content)| content).collect();
            assert_eq!(told, one.journal.lines, "the journal of {id}");
        }
    }
}

fn swept_store(store: &Store, id: &LoopId) -> Store {
    let folder = store.folder().join("swept").join(id.as_str());
    Store::at(
        folder,
        store.root().to_owned(),
        store.spec(),
        home(store.root()),
    )
}

prop_state_machine! {
    #![proptest_config(Config { max_shrink_iters: 2_000, ..Config::default() })]

    #[test]
    fn after_any_calls_crashes_and_damage_the_folder_is_what_the_reference_says(sequential 1..60 => Implementation);
}
