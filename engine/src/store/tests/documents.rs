//! The document shows the newest change. Edits by hand are used or undone; unknown lines stay.

use std::fs;

use crate::store::testing::{
    FRONTMATTER, JSON, ROUND, SIGNAL, SPEC, change, kept_path, plan, started, store_of,
};
use crate::store::{FieldInfo, Record, StateSpec, Store};

/// The machine with a count and a word that an edit by hand may change.
static EDITED: StateSpec = StateSpec {
    declared: &[
        FieldInfo {
            edit: Some((1, 9)),
            ..ROUND
        },
        FieldInfo {
            edit: Some((0, 0)),
            ..SIGNAL
        },
    ],
    ..SPEC
};

fn edit(store: &Store, held: &Record, from: &str, to: &str) {
    let path = store.path_of(held.id());
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

fn read(store: &Store, held: &Record) -> String {
    fs::read_to_string(store.path_of(held.id())).unwrap()
}

#[test]
fn edit_of_an_open_field_becomes_a_change_of_the_user() {
    let (_kept, store) = store_of(&EDITED);
    let held = store.begin(plan()).unwrap();
    edit(&store, &held, "round: 1", "round: 5");
    let opened = store.open(held.id()).unwrap();
    assert_eq!(opened.count("round"), Some(5));
    assert_eq!(opened.revision, 2);
    let repair = "the state was edited by hand, which was taken over: round: 5 (was 1)";
    assert_eq!(opened.repairs(), [repair]);
    let journal = store.journal(held.id()).unwrap();
    let last = journal.last().unwrap().change().unwrap();
    assert_eq!((&*last.what, &*last.by), ("edit", "person"));
}

#[test]
fn edit_that_lowers_the_revision_is_undone_and_kept() {
    let (_kept, store) = store_of(&EDITED);
    let held = store.begin(plan()).unwrap();
    let first = read(&store, &held);
    let edits = [("round", 2)];
    let held = store
        .commit(&held, change("revise", "drafting", "drafting", &edits))
        .unwrap();
    let whole = read(&store, &held);

    // A crash before the rename leaves this one.
    fs::write(store.path_of(held.id()), &first).unwrap();
    assert!(store.open(held.id()).unwrap().repairs().is_empty());
    let edited = first.replace("phase: drafting", "phase: done");
    fs::write(store.path_of(held.id()), &edited).unwrap();
    let opened = store.open(held.id()).unwrap();
    let kept = kept_path(&opened);
    assert_eq!(fs::read_to_string(kept).unwrap(), edited);
    assert_eq!(read(&store, &held), whole);
}

#[test]
fn any_other_edit_is_undone_and_kept() {
    let (_kept, store) = store_of(&EDITED);
    let held = store.begin(plan()).unwrap();
    let whole = read(&store, &held);
    for (from, to) in [
        ("round: 1", "round: 12"),
        ("phase: drafting", "phase: done"),
        ("decision_signal: none", "decision_signal: other"),
        ("session_id: unknown\n", ""),
    ] {
        edit(&store, &held, from, to);
        let edited = read(&store, &held);
        let opened = store.open(held.id()).unwrap();
        assert_eq!(opened.revision, 1);
        let kept = kept_path(&opened);
        assert_eq!(fs::read_to_string(kept).unwrap(), edited);
        let lines = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&read(&store, &held)), lines(&whole));
        fs::write(store.path_of(held.id()), &whole).unwrap();
    }
}

#[test]
fn newest_five_replaced_documents_are_kept() {
    let (_kept, store, held) = started();
    for round in 2..9 {
        edit(&store, &held, "round: 1", &format!("round: {round}"));
        store.open(held.id()).unwrap();
    }
    let folder = store.loop_folder(held.id());
    let there = |number: u32| folder.join(format!("replaced-{number}")).exists();
    assert_eq!([1, 2, 3, 7].map(there), [false, false, true, true]);
}

#[test]
fn unknown_lines_and_comments_stay_through_changes() {
    for (spec, addition) in [
        (&SPEC, "# mine\nnote: \"kept\"\n"),
        (&FRONTMATTER, "\nText below.\n"),
    ] {
        let (_kept, store) = store_of(spec);
        let held = store.begin(plan()).unwrap();
        let text = read(&store, &held) + addition;
        fs::write(store.path_of(held.id()), &text).unwrap();
        let held = store.open(held.id()).unwrap();
        let next = change("begin", "drafting", "reviewing", &[]);
        let held = store.commit(&held, next).unwrap();
        assert!(
            read(&store, &held).ends_with(addition),
            "{}",
            read(&store, &held)
        );
        assert!(read(&store, &held).contains("reviewing"));
    }
}

#[test]
fn document_that_is_missing_or_cannot_be_read_is_rendered_again() {
    for spec in [&SPEC, &JSON, &FRONTMATTER] {
        let (_kept, store) = store_of(spec);
        let held = store.begin(plan()).unwrap();
        let whole = read(&store, &held);
        fs::remove_file(store.path_of(held.id())).unwrap();
        let opened = store.open(held.id()).unwrap();
        assert!(opened.repairs()[0].ends_with(" was missing and was written again"));
        assert_eq!(read(&store, &held), whole);

        fs::write(store.path_of(held.id()), "\0\0").unwrap();
        let opened = store.open(held.id()).unwrap();
        assert!(kept_path(&opened).contains("replaced-"));
        assert_eq!(read(&store, &held), whole);
    }
}

#[test]
fn text_of_change_is_added_below_the_fields() {
    let (_kept, store) = store_of(&FRONTMATTER);
    let held = store.begin(plan()).unwrap();
    let next = crate::store::Change {
        text: "- a line\n\n- another\n".to_owned(),
        ..change("begin", "drafting", "reviewing", &[])
    };
    let held = store.commit(&held, next).unwrap();
    assert!(read(&store, &held).ends_with("\n---\n- a line\n\n- another\n"));
}
