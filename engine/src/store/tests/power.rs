//! After a power loss at any moment, the loop is at an acknowledged change or at the one that was
//! being made. The calls on files are recorded, and replayed in part.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::files::testing::{Event, watch};
use crate::store::testing::{SPEC, change, folder, home, plan};
use crate::store::{LoopId, Record, Store};

const SCHEDULE_COUNT: usize = 5_000;
const CHANGE_COUNT: u64 = 6;

/// Numbers that look random, the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn random_below(&mut self, end: usize) -> usize {
        // A linear congruential generator with Knuth's constants, whose high bits are good enough.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// The project after one call on a file.
#[derive(Default)]
struct Moment {
    /// The inodes of files and folders, by their paths in the project.
    inodes: BTreeMap<Utf8PathBuf, u64>,
    /// The contents of files, by their inodes. Folders have none.
    contents: BTreeMap<u64, Vec<u8>>,
    /// The inode of the file or folder that the call synced.
    synced: Option<u64>,
    /// The revision that was acknowledged by then.
    acknowledged: u64,
}

/// The moments of a loop's life.
struct Recording {
    root: Utf8PathBuf,
    moments: Vec<Moment>,
    acknowledged: u64,
}

impl Recording {
    fn add(&mut self, synced: Option<u64>) {
        let mut moment = Moment {
            synced,
            acknowledged: self.acknowledged,
            ..Moment::default()
        };
        self.read(Utf8Path::new(""), &mut moment);
        self.moments.push(moment);
    }

    fn read(&self, folder: &Utf8Path, moment: &mut Moment) {
        for entry in self.root.join(folder).read_dir_utf8().unwrap() {
            let entry = entry.unwrap();
            let name = folder.join(entry.file_name());
            let inode = entry.metadata().unwrap().ino();
            if entry.path().is_dir() {
                self.read(&name, moment);
            } else {
                let content = fs::read(entry.path()).unwrap();
                moment.contents.insert(inode, content);
            }
            moment.inodes.insert(name, inode);
        }
    }

    /// Chooses a moment whose state of a file or folder may be left: one since its last sync.
    fn choose(&self, inode: u64, at: usize, numbers: &mut Numbers) -> usize {
        let before = &self.moments[..=at];
        let synced = before.iter().rposition(|one| one.synced == Some(inode));
        let first = synced.unwrap_or_default();
        first + numbers.random_below(at - first + 1)
    }

    /// Writes a folder of the project as a power loss at the moment `at` may leave it.
    fn lose_power(&self, folder: &Utf8Path, inode: u64, at: usize, numbers: &mut Numbers) {
        fs::create_dir_all(self.root.join(folder)).unwrap();
        // The folders above those of the loops are the project's own.
        let is_projects = folder == "" || folder == ".claude";
        let names_at = if is_projects {
            at
        } else {
            self.choose(inode, at, numbers)
        };
        let names = &self.moments[names_at].inodes;
        let here = names
            .iter()
            .filter(|(path, _)| path.parent() == Some(folder));
        for (path, inode) in here {
            let content = |moment: usize| self.moments[moment].contents.get(inode);
            let is_file = (0..=at).any(|moment| content(moment).is_some());
            if !is_file {
                self.lose_power(path, *inode, at, numbers);
                continue;
            }
            let written = self.choose(*inode, at, numbers);
            let mut bytes = content(written).cloned().unwrap_or_default();
            // The next write may be there in part, or be as long without its bytes.
            if let Some(next) = content((written + 1).min(at))
                && next.len() > bytes.len()
            {
                let end = bytes.len() + numbers.random_below(next.len() - bytes.len() + 1);
                bytes.extend_from_slice(&next[bytes.len()..end]);
                if numbers.random_below(3) == 0 {
                    bytes.resize(next.len(), 0);
                }
            }
            fs::write(self.root.join(path), bytes).unwrap();
        }
    }
}

fn revise(store: &Store, held: &Record, round: u64) -> Record {
    let next = change("revise", "drafting", "drafting", &[("round", round)]);
    store.commit(held, next).unwrap()
}

/// Records a start, changes, a note and an edit by hand that is undone. Returns the loop.
fn record(store: &Store) -> (Recording, LoopId) {
    let recording = Rc::new(RefCell::new(Recording {
        root: store.root().to_owned(),
        moments: vec![Moment::default()],
        acknowledged: 0,
    }));
    let watched = |call: &mut dyn FnMut() -> Record| {
        let watcher = recording.clone();
        let add = move |event: Event<'_>| {
            let synced = match event {
                Event::Change => None,
                Event::Synced(fd) => Some(rustix::fs::fstat(fd).unwrap().st_ino),
            };
            watcher.borrow_mut().add(synced);
        };
        let held = watch(add, call);
        let mut recording = recording.borrow_mut();
        recording.acknowledged = held.revision;
        recording.add(None);
        held
    };
    let mut held = watched(&mut || store.begin(plan()).unwrap());
    let id = held.id().clone();
    for round in 2..=CHANGE_COUNT {
        held = watched(&mut || revise(store, &held, round));
        if round == 3 {
            watched(&mut || {
                store.note(&id, "run-began", &round).unwrap();
                held.clone()
            });
            fs::write(store.path_of(&id), "phase: done\n").unwrap();
            held = watched(&mut || store.open(&id).unwrap());
        }
    }
    let recording = Rc::into_inner(recording).unwrap().into_inner();
    (recording, id)
}

#[test]
fn nothing_acknowledged_is_lost_with_the_power() {
    std::thread::scope(|scope| {
        for seed in [33, 34] {
            scope.spawn(move || lose_power(seed));
        }
    });
}

/// Records the life of a loop, and opens it after each of many power losses.
fn lose_power(seed: u64) {
    let (_kept, root) = folder();
    let store = || Store::at(root.join(SPEC.folder), root.clone(), &SPEC, home(&root));
    let (recording, id) = record(&store());
    let mut numbers = Numbers(seed);
    for schedule in 0..SCHEDULE_COUNT {
        let at = numbers.random_below(recording.moments.len());
        for entry in root.read_dir_utf8().unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        recording.lose_power(Utf8Path::new(""), 0, at, &mut numbers);
        let acknowledged = recording.moments[at].acknowledged;
        let case = format!("schedule {schedule}, after call {at}");

        let store = store();
        let held = match store.open(&id) {
            Ok(held) => held,
            Err(error) => {
                assert_eq!(acknowledged, 0, "{case}: {error}");
                store.begin(plan()).unwrap();
                continue;
            }
        };
        let revision = held.revision;
        let expected = acknowledged..=(acknowledged + 1).min(CHANGE_COUNT);
        assert!(expected.contains(&revision), "{case}: {revision}");
        assert_eq!(held.count("round"), Some(revision), "{case}");
        let document = fs::read(store.path_of(&id)).unwrap();
        assert_eq!(document, held.document, "{case}");
        assert_eq!(revise(&store, &held, 9).revision, revision + 1, "{case}");
    }
}
