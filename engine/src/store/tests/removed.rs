//! A state folder that is removed while a call is under way: the call fails or not, and the next
//! start makes the folder again.

use std::cell::Cell;
use std::fs;
use std::rc::Rc;

use miette::Diagnostic as _;

use crate::files::testing::{Event, watch};
use crate::store::testing::{change, plan, started, store};
use crate::store::{LoopId, Store, StoreError};

/// Makes a call, before whose change of this number the state folder is removed. Returns whether
/// it makes so many changes.
fn is_removed(store: &Store, number: u32, call: impl FnOnce() -> Result<(), StoreError>) -> bool {
    let changes_left = Rc::new(Cell::new(number));
    let left = changes_left.clone();
    let folder = store.folder().to_owned();
    let remove = move |_: Event<'_>| {
        left.set(left.get().saturating_sub(1));
        if left.get() == 0 && folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
    };
    if let Err(error) = watch(remove, call) {
        let help = error.help().map(|help| help.to_string());
        let text = format!("{error}\n{}", help.expect("an error has help"));
        assert_eq!(text.lines().count(), 2, "{text}");
    }
    changes_left.get() == 0
}

#[test]
fn removed_state_folder_is_named_and_made_again() {
    type Call = fn(&Store, &LoopId) -> Result<(), StoreError>;
    let calls: [(&str, Call); 4] = [
        ("commit", |store, id| {
            let held = store.open(id)?;
            let next = change("revise", "drafting", "drafting", &[("round", 2)]);
            store.commit(&held, next).map(|_| ())
        }),
        ("repair", |store, id| {
            let _ = fs::write(store.path_of(id), "phase: done\n");
            store.open(id).map(|_| ())
        }),
        ("note", |store, id| store.note(id, "run-began", &1)),
        ("archive", Store::archive),
    ];
    for (name, call) in calls {
        for number in 1.. {
            let (_kept, store, held) = started();
            let id = held.id();
            if !is_removed(&store, number, || call(&store, id)) {
                assert!(number > 1, "{name}");
                break;
            }
            let case = format!("{name}, before change {number}");
            let _ = fs::remove_dir_all(store.folder());
            assert!(store.open(id).is_err(), "{case}");
            assert!(store.has_vanished(None), "{case}");
            let again = store.begin(plan()).unwrap();
            assert_eq!(store.open(again.id()).unwrap().revision, 1, "{case}");
        }
    }
}

#[test]
fn start_in_a_folder_that_is_removed_begins_again() {
    for number in 1.. {
        let (_kept, store) = store();
        let begin = || store.begin(plan()).map(|_| ());
        if !is_removed(&store, number, begin) {
            break;
        }
        let _ = fs::remove_dir_all(store.folder());
        let again = store.begin(plan()).unwrap();
        assert_eq!(store.open(again.id()).unwrap().revision, 1, "{number}");
    }
}
