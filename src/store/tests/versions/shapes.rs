//! The files that say what a version was: who writes them, and when one is not believed.

use std::os::unix::fs::PermissionsExt as _;

use super::{Case, OLD, old, renamed, safe, without};
use crate::store::shape::hash_of;
use crate::store::testing::{SPEC, change, fields, folder, home, plan};
use crate::store::{StartError, StateSpec, Store, StoreError, Value};

#[test]
fn a_start_writes_the_shape_once_for_its_owner_alone() {
    let case = Case::new();
    let path = case.shape_path();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), OLD);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let end = change("cancel", "drafting", "cancelled", &[]);
    case.old.commit(&case.record, end).unwrap();
    case.old.start(plan()).unwrap();
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        written
    );

    // What was done to it is put right by the next start.
    let again = || {
        for listed in case.old.list().into_iter().filter(|one| !one.terminal) {
            let record = case.old.open(&listed.id).unwrap().record;
            let end = change("cancel", "drafting", "cancelled", &[]);
            case.old.commit(&record, end).unwrap();
        }
        case.old.start(plan()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), OLD);
        assert!(!path.is_symlink());
    };
    std::fs::write(&path, "{").unwrap();
    again();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(case.old.root().join("target"), "theirs").unwrap();
    std::os::unix::fs::symlink(case.old.root().join("target"), &path).unwrap();
    again();
    assert_eq!(
        std::fs::read_to_string(case.old.root().join("target")).unwrap(),
        "theirs"
    );
    assert_eq!(
        std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
        1,
        "nothing stands beside it"
    );
}

#[test]
fn a_start_that_fails_leaves_no_shape_behind() {
    let (_kept, root) = folder();
    let store = Store::at(root.join(SPEC.folder), root.clone(), old(), home(&root));
    let mut large = fields();
    large.push(("more".into(), Value::Text("x".repeat(2 << 20))));
    let failed = store.start(crate::store::StartPlan {
        now: jiff::Timestamp::now(),
        stale_after: None,
        by: "test".into(),
        id: None,
        fields: |_: &_| large,
    });
    assert!(matches!(
        failed,
        Err(StartError::Store(StoreError::Unwritable { .. }))
    ));
    assert!(!root.join(".claude").exists());
}

#[test]
fn a_rollback_leaves_the_shapes_for_loops_that_are_moved_back() {
    let case = Case::new();
    let now = jiff::Timestamp::now();
    assert_eq!(case.as_of(without()).roll_back_all(now).unwrap().len(), 1);
    assert!(case.shape_path().is_file());
    let moved = case.old.rolled_back_folder(now);
    for entry in moved.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        let name = path.file_name().unwrap().to_owned();
        std::fs::rename(path, case.old.folder().join(name)).unwrap();
    }
    let id = case.record.id();
    let gone = case.as_of(renamed()).open(id).unwrap_err();
    assert!(matches!(gone, StoreError::NotStartedHere { .. }), "{gone}");
    assert!(case.as_of(renamed()).take_up(id, "person").unwrap());
    assert_eq!(
        case.as_of(renamed()).open(id).unwrap().record.phase(),
        "in-writing"
    );
}

#[test]
fn strays_beside_the_shapes_are_swept() {
    let case = Case::new();
    let stray = case.old.folder().join("machines/.loop-tmp-x");
    std::fs::write(&stray, "half").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(7200);
    let swept = case
        .old
        .sweep(later, std::time::Duration::from_secs(1 << 30), false)
        .unwrap();
    assert_eq!(swept.leftovers, std::slice::from_ref(&stray));
    assert!(!stray.exists() && case.shape_path().is_file());
}

#[test]
fn a_shape_file_that_is_not_what_it_should_be_is_not_believed() {
    let case = Case::new();
    let path = case.shape_path();
    let folder = path.parent().unwrap().to_owned();
    let expect = |part: &str| {
        let why = case.refused(safe());
        assert!(why.contains(part), "{part}: {why}");
        assert!(!why.contains('\n') && why.len() < 1000, "{why}");
        assert!(case.as_of(safe()).list()[0].problem.is_some());
    };
    std::fs::write(&path, OLD.replace("\"done\"", "\"gone\"")).unwrap();
    expect("its digest is not its name");
    std::fs::write(&path, b"\xff\0\x1b]0;x\x07").unwrap();
    expect("its digest is not its name");
    std::fs::write(&path, "").unwrap();
    expect("its digest is not its name");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(100 << 20)
        .unwrap();
    expect("larger than");
    std::fs::remove_file(&path).unwrap();
    expect("is missing");
    std::fs::write(case.old.root().join("elsewhere"), OLD).unwrap();
    std::os::unix::fs::symlink(case.old.root().join("elsewhere"), &path).unwrap();
    expect("it is a symlink");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    expect("no regular file");
    std::fs::remove_dir(&path).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path.as_std_path(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    expect("no regular file");
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir(&folder).unwrap();
    std::fs::write(case.old.root().join("there.json"), OLD).unwrap();
    std::os::unix::fs::symlink(case.old.root(), &folder).unwrap();
    expect("it is a symlink");
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&path, OLD).unwrap();
    assert_eq!(
        case.as_of(safe()).open(case.record.id()).unwrap().repairs,
        []
    );
}

#[test]
fn what_has_the_right_digest_and_is_no_shape_is_refused() {
    for text in [
        "not json",
        "{\"shape\":2}",
        "{\"shape\":1}",
        &"[".repeat(1 << 20),
    ] {
        let hash: &'static str = Box::leak(hash_of(text.as_bytes()).into_boxed_str());
        let case = Case::of(Box::leak(Box::new(StateSpec {
            graph_hash: hash,
            ..SPEC
        })));
        std::fs::create_dir(case.old.folder().join("machines")).unwrap();
        std::fs::write(case.shape_path(), text).unwrap();
        let why = case.refused(safe());
        assert!(why.contains("shape"), "{why}");
    }
    // What stands in a document leads to no other file.
    for hash in [
        "../../../x",
        "",
        "0123456789abcdeF",
        "0123456789abcdef0",
        "/etc/passwd",
    ] {
        let case = Case::of(Box::leak(Box::new(StateSpec {
            graph_hash: hash,
            ..SPEC
        })));
        assert_eq!(
            case.refused(safe()),
            "its version cannot be looked up",
            "{hash}"
        );
    }
}

#[test]
fn a_folder_that_others_could_have_written_stops_a_start_readably() {
    let (_kept, root) = folder();
    let store = Store::at(root.join(SPEC.folder), root.clone(), old(), home(&root));
    std::fs::create_dir_all(store.folder()).unwrap();
    std::os::unix::fs::symlink(&root, store.folder().join("machines")).unwrap();
    assert!(matches!(
        store.start(plan()),
        Err(StartError::Store(StoreError::Untrusted { .. }))
    ));
    assert!(store.list().is_empty());
}
