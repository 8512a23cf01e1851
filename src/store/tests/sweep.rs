//! The sweep takes what is stale and nothing else; what it took can be brought back.

use std::time::{Duration, SystemTime};

use crate::store::testing::{change, plan, started, store};
use crate::store::{Entry, RunLock, StartError, StartPlan, Store, StoreError, Swept};

const LIMIT: Duration = Duration::from_secs(15 * 60);

fn age(path: &camino::Utf8Path, seconds: u64) {
    let past = SystemTime::now() - Duration::from_secs(seconds);
    std::fs::File::open(path)
        .unwrap()
        .set_modified(past)
        .unwrap();
}

fn sweep(store: &Store) -> Swept {
    store.sweep(SystemTime::now(), LIMIT, false).unwrap()
}

#[test]
fn a_stale_loop_is_moved_whole_and_comes_back_whole() {
    let (_kept, store, record) = started();
    let id = record.id();
    std::fs::write(store.sidecar(id, "-runner.sh"), "run").unwrap();
    std::fs::write(store.sidecar(id, "-prompt.txt"), "ask").unwrap();
    std::fs::write(
        store.loop_folder(id).join("findings-round-1.md"),
        "# Round 1",
    )
    .unwrap();
    age(&store.path_of(id), 16 * 60);
    let would = store.sweep(SystemTime::now(), LIMIT, true).unwrap();
    assert_eq!(
        (&would.would_move[..], &would.moved[..]),
        (&[id.clone()][..], &[][..])
    );
    assert!(store.path_of(id).exists(), "a dry run moves nothing");

    assert_eq!(sweep(&store).moved.iter().collect::<Vec<_>>(), [id]);
    assert_eq!(store.list(), []);
    let left: Vec<_> = store
        .folder()
        .read_dir_utf8()
        .unwrap()
        .map(|e| e.unwrap().file_name().to_owned())
        .collect();
    assert!(
        left.iter()
            .all(|name| [".lock", ".gitignore", "log", "swept"].contains(&name.as_str())),
        "{left:?}"
    );
    let swept = store.swept();
    assert_eq!(
        (swept.len(), &swept[0].id, swept[0].session.as_deref()),
        (1, id, Some("unknown"))
    );

    let other = store.start(plan()).unwrap();
    assert!(
        matches!(store.bring_back(id), Err(StoreError::Active { id, .. }) if id == other.id().as_str())
    );
    store
        .commit(&other, change("cancel", "drafting", "cancelled", &[]))
        .unwrap();
    let back = store.bring_back(id).unwrap();
    assert_eq!((back.revision(), back.phase()), (2, "drafting"));
    assert!(
        matches!(store.journal(id).unwrap().last(), Some(Entry::Change(last)) if last.what == "bring-back")
    );
    assert_eq!(
        std::fs::read(store.sidecar(id, "-runner.sh")).unwrap(),
        b"run"
    );
    assert!(store.loop_folder(id).join("findings-round-1.md").exists());
    assert_eq!(store.swept(), []);
    assert!(matches!(
        store.bring_back(id),
        Err(StoreError::NoLoop { .. })
    ));
    assert_eq!(sweep(&store).moved, [], "it is fresh again");
}

#[test]
fn fresh_terminal_and_running_loops_stay() {
    let (_kept, store, record) = started();
    age(&store.path_of(record.id()), 14 * 60);
    assert_eq!(sweep(&store), Swept::default(), "fresh");

    age(&store.path_of(record.id()), 16 * 60);
    let running = RunLock::try_take(&store.open_loop_folder(record.id()).unwrap())
        .unwrap()
        .unwrap();
    assert!(store.is_running(record.id()));
    assert_eq!(sweep(&store), Swept::default(), "under review");
    drop(running);

    store.touch(record.id()).unwrap();
    assert_eq!(sweep(&store), Swept::default(), "touched");

    store
        .commit(&record, change("cancel", "drafting", "cancelled", &[]))
        .unwrap();
    age(&store.path_of(record.id()), 999 * 60);
    assert_eq!(sweep(&store), Swept::default(), "terminal");
    assert_eq!(store.list().len(), 1);
}

#[test]
fn a_loop_that_only_says_it_is_terminal_is_swept_all_the_same() {
    let (_kept, store, record) = started();
    let path = store.path_of(record.id());
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("phase: drafting", "phase: done");
    std::fs::write(&path, text).unwrap();
    age(&path, 16 * 60);
    assert_eq!(sweep(&store).moved, [record.id().clone()]);
}

#[test]
fn a_start_sweeps_before_it_refuses() {
    let (_kept, store, record) = started();
    age(&store.path_of(record.id()), 16 * 60);
    assert!(matches!(
        store.start(plan()),
        Err(StartError::Active { .. })
    ));
    let sweeping = StartPlan {
        stale_after: Some(LIMIT),
        ..plan()
    };
    let started = store.start_telling(sweeping).unwrap();
    assert_eq!(started.swept.moved, [record.id().clone()]);
}

#[test]
fn strays_of_a_crash_and_files_made_by_hand_are_swept_when_old() {
    let (_kept, store, record) = started();
    let strays = [
        store.folder().join(".loop-tmp-abc"),
        store.loop_folder(record.id()).join(".loop-tmp-x"),
        store.folder().join("swept/a/a/.loop-tmp-b"),
        store.folder().join("quarantine/.loop-tmp-c"),
        store.folder().join("rolled-back/b/c/.loop-tmp-d"),
    ];
    for path in &strays {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    let young = store.folder().join(".loop-tmp-young");
    let by_hand = store.folder().join("by hand.state");
    let ended = store.folder().join("ended.state");
    for path in strays.iter().chain([&young]) {
        std::fs::write(path, "half").unwrap();
    }
    std::fs::write(&by_hand, "phase: drafting\n").unwrap();
    std::fs::write(&ended, "phase: done\n").unwrap();
    for path in strays.iter().chain([&by_hand, &ended]) {
        age(path, 61 * 60);
    }
    let swept = sweep(&store);
    assert_eq!(
        (&swept.leftovers[..], &swept.foreign[..]),
        (&strays[..], &[by_hand.clone()][..])
    );
    assert!(strays.iter().all(|path| !path.exists()) && young.exists() && ended.exists());
    assert!(store.folder().join("swept/by hand/by hand.state").exists());
}

#[test]
fn a_swept_loop_is_kept_for_thirty_days() {
    let (_kept, store, record) = started();
    age(&store.path_of(record.id()), 16 * 60);
    sweep(&store);
    let kept = store.folder().join("swept").join(record.id().as_str());
    let days = |days: u64| SystemTime::now() + Duration::from_secs(days * 24 * 60 * 60);
    assert_eq!(
        store.sweep(days(29), LIMIT, false).unwrap().expired,
        [""; 0]
    );
    assert_eq!(
        store.sweep(days(31), LIMIT, true).unwrap().expired,
        [kept.as_path()]
    );
    assert!(kept.exists());
    assert_eq!(
        store.sweep(days(31), LIMIT, false).unwrap().expired,
        [kept.as_path()]
    );
    assert!(!kept.exists());
}

#[test]
fn a_sweep_that_was_cut_off_is_finished_by_the_next() {
    let (_kept, store, record) = started();
    let target = store.folder().join("swept").join(record.id().as_str());
    std::fs::create_dir_all(&target).unwrap();
    std::fs::rename(
        store.path_of(record.id()),
        target.join(format!("{}.state", record.id())),
    )
    .unwrap();
    age(&store.journal_path(record.id()), 16 * 60);
    assert_eq!(sweep(&store).moved, [record.id().clone()]);
    assert_eq!(store.bring_back(record.id()).unwrap().phase(), "drafting");
}

#[test]
fn a_way_back_that_was_cut_off_is_finished_by_the_next() {
    let (_kept, store, record) = started();
    age(&store.path_of(record.id()), 16 * 60);
    sweep(&store);
    let from = store.folder().join("swept").join(record.id().as_str());
    std::fs::rename(
        from.join(record.id().as_str()),
        store.loop_folder(record.id()),
    )
    .unwrap();
    let back = store.bring_back(record.id()).unwrap();
    assert_eq!((back.phase(), back.revision()), ("drafting", 2));
    assert!(!from.exists());
    assert_eq!(store.open(record.id()).unwrap().repairs, []);
}

#[test]
fn a_review_that_begins_while_the_sweep_decides_keeps_its_loop() {
    let (_kept, store, record) = started();
    let running = RunLock::try_take(&store.open_loop_folder(record.id()).unwrap())
        .unwrap()
        .unwrap();
    assert!(
        !store
            .move_away(&store.open_folder().unwrap(), record.id(), "a test")
            .unwrap()
    );
    assert!(store.path_of(record.id()).exists());
    drop(running);
    assert!(
        store
            .move_away(&store.open_folder().unwrap(), record.id(), "a test")
            .unwrap()
    );
}

#[test]
fn a_sweep_of_nothing_creates_nothing() {
    let (_kept, store) = store();
    assert_eq!(sweep(&store), Swept::default());
    assert_eq!(store.roll_back_all(jiff::Timestamp::now()).unwrap(), []);
    store.log("nobody is here");
    assert_eq!(store.list(), []);
    assert!(!store.folder().exists());
}

#[test]
fn a_roll_back_takes_every_loop_and_keeps_the_log() {
    let (_kept, store, swept) = started();
    age(&store.path_of(swept.id()), 16 * 60);
    sweep(&store);
    let record = store.start(plan()).unwrap();
    std::fs::write(store.sidecar(record.id(), "-runner.sh"), "run").unwrap();
    std::fs::write(store.folder().join("by hand.state"), "phase: drafting\n").unwrap();
    std::fs::write(store.folder().join("notes.txt"), "mine").unwrap();
    store.log("a line\nwith \u{202e}hidden\u{0} characters");
    let now = jiff::Timestamp::now();
    let mut ids = [record.id().clone(), swept.id().clone()];
    ids.sort();
    assert_eq!(store.roll_back_all(now).unwrap(), ids);
    let mut left: Vec<_> = store
        .folder()
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [".gitignore", ".lock", "log", "notes.txt", "rolled-back"]
    );
    let log = std::fs::read_to_string(store.folder().join("log")).unwrap();
    assert!(
        log.ends_with("Z a line with  hidden  characters\n"),
        "{log:?}"
    );
    store.start(plan()).unwrap();
}

#[test]
fn clearing_removes_what_is_named_and_what_is_there() {
    let (_kept, store, record) = started();
    std::fs::write(store.sidecar(record.id(), "-runner.sh"), "run").unwrap();
    store
        .clear(record.id(), &["-runner.sh", "-prompt.txt", ".lock"])
        .unwrap();
    assert!(
        !store.sidecar(record.id(), "-runner.sh").exists()
            && !store.sidecar(record.id(), ".lock").exists()
    );
    assert_eq!(store.open(record.id()).unwrap().repairs, []);
}

#[test]
fn a_way_back_never_goes_over_a_state_that_stands() {
    let (_kept, store, record) = started();
    let id = record.id();
    // A sweep that was cut off, an open that made the state anew, and two changes.
    let target = store.folder().join("swept").join(id.as_str());
    std::fs::create_dir_all(&target).unwrap();
    std::fs::rename(store.path_of(id), target.join(format!("{id}.state"))).unwrap();
    let record = store.open(id).unwrap().record;
    let record = store
        .commit(&record, change("begin", "drafting", "reviewing", &[]))
        .unwrap();
    let record = store
        .commit(&record, change("cancel", "reviewing", "cancelled", &[]))
        .unwrap();
    assert!(matches!(
        store.bring_back(id),
        Err(StoreError::Exists { .. })
    ));
    let opened = store.open(id).unwrap();
    assert_eq!(
        (opened.record.revision(), &opened.repairs[..]),
        (record.revision(), &[][..])
    );
    assert!(!store.folder().join("quarantine").exists());
}

#[test]
fn log_is_cut_to_its_end() {
    const MAX_LOG_BYTES: u64 = 1024 * 1024;
    let (_kept, store, _) = started();
    let filler = "x".repeat(3900);
    for number in 0..300 {
        store.log(&format!("{number} {filler}"));
    }
    let size = store.folder().join("log").metadata().unwrap().len();
    assert!(size < MAX_LOG_BYTES, "{size}");
    assert!(store.last_logged().contains(&format!("299 {filler}")));
}
