//! An entry without this user's seal, or after missing lines, does not count.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::store::testing::{SPEC, change, folder, home, plan, started, store};
use crate::store::{LoopId, Record, StateHome, Store, StoreError, WhyNotOurs};

fn advance(store: &Store, held: &Record, round: u64) -> Record {
    let edits = [("round", round)];
    let next = change("revise", "drafting", "drafting", &edits);
    store.commit(held, next).unwrap()
}

fn lines(store: &Store, id: &LoopId) -> Vec<Vec<u8>> {
    let bytes = fs::read(store.journal_path(id)).unwrap();
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn write(store: &Store, id: &LoopId, lines: &[Vec<u8>]) {
    fs::write(store.journal_path(id), lines.concat()).unwrap();
}

/// Returns why a loop is not this user's.
fn why(store: &Store, id: &LoopId) -> String {
    match store.open(id) {
        Err(StoreError::NotOurs {
            why: WhyNotOurs::Journal(why),
            ..
        }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn forged_and_torn_lines_do_not_exist() {
    let (_kept, store, held) = started();
    let held = advance(&store, &held, 2);
    let id = held.id().clone();
    let written = lines(&store, &id);
    let json = String::from_utf8(written[1].clone()).unwrap();
    let forged = json.replace("\"revision\":2", "\"revision\":3");
    let without_seal = forged.split('\t').next().unwrap().to_owned() + "\n";
    let torn = &forged[..forged.len() / 2];
    for behind in [&forged, &without_seal, torn, "\n", "garbage\n"] {
        write(&store, &id, &[written.concat(), behind.into()]);
        assert_eq!(store.open(&id).unwrap().revision, 2, "{behind:?}");
        assert_eq!(store.journal(&id).unwrap().len(), 2, "{behind:?}");

        let next = advance(&store, &held, 3);
        assert_eq!(next.revision, 3);
        assert_eq!(store.journal(&id).unwrap().len(), 3, "{behind:?}");
        write(&store, &id, &written);
        forget_mark(&store);
        fs::write(store.path_of(&id), &held.document).unwrap();
    }
}

#[test]
fn journal_that_lost_or_swapped_lines_is_not_ours() {
    let (_kept, store, held) = started();
    let held = advance(&store, &held, 2);
    let held = advance(&store, &held, 3);
    let id = held.id().clone();
    let [one, two, three] = lines(&store, &id).try_into().unwrap();
    let repeated = [&one, &two, &three, &three].map(Clone::clone);
    write(&store, &id, &repeated);
    assert_eq!(store.open(&id).unwrap().revision, 3);
    let repeated = [&one, &two, &three, &one, &two].map(Clone::clone);
    write(&store, &id, &repeated);
    assert_eq!(store.open(&id).unwrap().revision, 3);

    for wrong in [
        vec![one.clone(), two.clone()],
        vec![one.clone(), three.clone(), two.clone()],
        vec![one.clone(), three.clone()],
    ] {
        write(&store, &id, &wrong);
        assert_eq!(why(&store, &id), "its journal lost lines");
    }
    write(&store, &id, &[two, three]);
    assert!(why(&store, &id).contains("was not written by you"));
}

#[test]
fn journal_of_another_loop_or_user_is_not_ours() {
    let (_kept, store, held) = started();
    let id = held.id().clone();
    let other = LoopId::parse("20261122-005333-0a1b2c", SPEC.ids).unwrap();
    let folder = store.loop_folder(&other);
    fs::create_dir(&folder).unwrap();
    fs::copy(store.journal_path(&id), store.journal_path(&other)).unwrap();
    assert!(why(&store, &other).contains("was not written by you"));

    let elsewhere = StateHome::at(store.root().join("another-home"));
    let anothers = Store::at(store.folder().into(), store.root().into(), &SPEC, elsewhere);
    assert!(why(&anothers, &id).contains("was not written by you"));
    let mut listed = anothers.list();
    assert!(listed.all(|one| one.problem.is_some()));
}

#[test]
fn copied_project_is_not_ours_and_moved_one_is() {
    let (_kept, top) = folder();
    let [first, second, third] = ["first", "second", "third"].map(|name| top.join(name));
    let store_in =
        |root: &Utf8Path| Store::at(root.join(SPEC.folder), root.to_owned(), &SPEC, home(&top));
    fs::create_dir_all(&first).unwrap();
    let id = store_in(&first).begin(plan()).unwrap().id().clone();
    copy(&first, &second);
    assert!(why(&store_in(&second), &id).contains("this folder is a copy of"));
    // A copy that is adopted parts from its original.
    copy(&first, &third);
    assert!(store_in(&third).take_over(&id).unwrap());
    for root in [&first, &third] {
        let opened = store_in(root).open(&id).unwrap();
        assert_eq!(opened.root().as_deref(), Some(root.as_str()));
    }

    // Looking at a copy while its original is away takes nothing from it.
    fs::rename(&first, top.join("away")).unwrap();
    let seen = store_in(&second).read_only().open(&id).unwrap();
    assert_eq!(seen.root().as_deref(), Some(second.as_str()));
    fs::rename(top.join("away"), &first).unwrap();
    store_in(&first).open(&id).unwrap();

    fs::remove_dir_all(&first).unwrap();
    let moved = store_in(&second).open(&id).unwrap();
    let root = moved.root().unwrap();
    assert_eq!((root.as_str(), moved.revision), (second.as_str(), 2));
    assert_eq!(store_in(&second).open(&id).unwrap().revision, 2);
    assert!(!store_in(&first).has_vanished(None));
    fs::remove_dir_all(second.join(SPEC.folder)).unwrap();
    assert!(store_in(&second).has_vanished(None));
    fs::create_dir(second.join(SPEC.folder)).unwrap();
    assert!(store_in(&second).has_vanished(None));
}

#[test]
fn journal_cut_in_its_last_line_is_at_the_change_before() {
    let (_kept, store, held) = started();
    let before = fs::read(store.path_of(held.id())).unwrap();
    let whole = lines(&store, held.id()).concat();
    let id = held.id().clone();
    let mark = mark(&store);
    let kept = fs::read(&mark).unwrap();
    let after = advance(&store, &held, 2);
    let journal = lines(&store, &id).concat();
    for cut in whole.len()..journal.len() {
        for document in [&before[..], &after.document] {
            fs::write(store.journal_path(&id), &journal[..cut]).unwrap();
            fs::write(store.path_of(&id), document).unwrap();
            // The crash came before the mark.
            fs::write(&mark, &kept).unwrap();
            let opened = store.open(&id).unwrap();
            assert_eq!(
                (opened.revision, opened.count("round")),
                (1, Some(1)),
                "{cut}"
            );
        }
    }
}

#[test]
fn loop_is_taken_over_without_its_evidence() {
    let (_kept, store, held) = started();
    let id = held.id().clone();
    let evidence = Some("e".into());
    let next = crate::store::Change {
        evidence,
        ..change("revise", "drafting", "drafting", &[("round", 2)])
    };
    store.commit(&held, next).unwrap();
    let elsewhere = StateHome::at(store.root().join("another-home"));
    let anothers = Store::at(store.folder().into(), store.root().into(), &SPEC, elsewhere);
    assert!(anothers.take_over(&id).unwrap());
    let record = anothers.open(&id).unwrap();
    assert_eq!(
        (record.revision, record.visit, record.count("round")),
        (3, Some(3), Some(2))
    );
    let entries = anothers.journal(&id).unwrap();
    assert_eq!(entries.len(), 1);
    assert!(entries[0].change().unwrap().evidence.is_none());
    assert!(!anothers.take_over(&id).unwrap());
    assert!(store.loop_folder(&id).join("replaced-1").exists());
}

#[test]
fn changed_line_in_the_middle_makes_loop_not_ours() {
    let (_kept, store, held) = started();
    let held = advance(&store, &held, 2);
    let held = advance(&store, &held, 3);
    let id = held.id().clone();
    let [one, two, three] = lines(&store, &id).try_into().unwrap();
    let text = String::from_utf8(two).unwrap();
    let changed = text.replacen("\"round\":2", "\"round\":3", 1);
    assert_ne!(text, changed);
    write(&store, &id, &[one, changed.into_bytes(), three]);

    let error = store.journal(&id).unwrap_err().to_string();
    assert!(
        error.contains("a line of its journal was changed"),
        "{error}"
    );
    assert!(store.take_over(&id).unwrap());
    assert_eq!(store.journal(&id).unwrap().len(), 1);

    write(&store, &id, &[b"\0\n".to_vec()]);
    let error = store.take_over(&id).unwrap_err().to_string();
    assert!(error.contains("journal.jsonl: invalid data"), "{error}");
}

#[test]
fn damaged_key_is_named_and_never_replaced() {
    let (_kept, store) = store();
    store.begin(plan()).unwrap();
    let key = store.root().join("state-home/key");
    let whole = fs::read_to_string(&key).unwrap();
    for damaged in [&whole[1..], &whole.replace(|_| true, "x")] {
        fs::write(&key, damaged).unwrap();
        let root = store.root().to_owned();
        let store = Store::at(store.folder().to_owned(), root.clone(), &SPEC, home(&root));
        let id = store.list().next().unwrap().id;
        let error = store.open(&id).unwrap_err().to_string();
        assert!(
            error.contains("your key") && error.contains("adopt"),
            "{error}"
        );
        assert!(store.begin(plan()).is_err() && store.home.check_key().is_err());
        assert_eq!(fs::read_to_string(&key).unwrap(), damaged);
    }
}

/// Returns the file with the mark of the only loop.
fn mark(store: &Store) -> Utf8PathBuf {
    let marks = store.root().join("state-home/marks");
    let found = marks.read_dir_utf8().unwrap().next().unwrap().unwrap();
    found.into_path()
}

fn forget_mark(store: &Store) {
    fs::remove_file(mark(store)).unwrap();
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    let done = std::process::Command::new("cp")
        .arg("-r")
        .args([from, to])
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn gibibyte_behind_a_journal_is_cut_off() {
    let (_kept, store, held) = started();
    let journal = store.journal_path(held.id());
    let line = fs::metadata(&journal).unwrap().len();
    let file = fs::File::options().write(true).open(&journal).unwrap();
    file.set_len(1 << 30).unwrap();

    assert_eq!(store.open(held.id()).unwrap().revision, 1);
    let revise = change("revise", "drafting", "drafting", &[]);
    store.commit(&held, revise).unwrap();
    assert!(fs::metadata(&journal).unwrap().len() < 3 * line);
}
