//! Documents by path: files that name no machine, made by hand or by older tools.

use super::*;
use crate::store::parse_plain;

fn read_field(path: &Utf8Path, field: &str) -> Result<Option<String>, Failure> {
    let document = with_folder("read", path, |folder, name| {
        Document::parse(
            Form::Lines,
            &[],
            &folder.read(name, MAX_DOCUMENT_BYTES as u64)?,
        )
    })?;
    Ok(document.text(field))
}

fn set_field(path: &Utf8Path, field: &str, text: &str) -> Result<bool, Failure> {
    edit(path, None, field, &parse_plain(text))
}

fn set_phase(path: &Utf8Path, from: &str, to: &str) -> Result<bool, Failure> {
    edit(path, Some(from), PHASE, &to.into())
}

fn file(text: &str) -> (tempfile::TempDir, Utf8PathBuf) {
    let made = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
    let path = folder.join("a b.state");
    std::fs::write(&path, text).unwrap();
    (made, path)
}

#[test]
fn field_is_set_in_place_with_the_time() {
    let (_kept, path) = file("phase: drafting\nlast_updated_at: 2020-01-01T00:00:00Z\nround: 1\n");
    set_field(&path, "round", "2").unwrap();
    set_field(&path, "topic", "a|b&c/d\n\"e\"").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("phase: drafting\nlast_updated_at: 20"),
        "{text}"
    );
    assert!(
        text.ends_with("\nround: 2\ntopic: \"a|b&c/d\\n\\\"e\\\"\"\n"),
        "{text}"
    );
    assert_ne!(
        read_field(&path, UPDATED).unwrap().unwrap(),
        "2020-01-01T00:00:00Z"
    );
    assert_eq!(
        read_field(&path, "topic").unwrap().unwrap(),
        "a|b&c/d\n\"e\""
    );
    assert_eq!(read_field(&path, "none").unwrap(), None);
    set_field(&path, UPDATED, "2021-01-01T00:00:00Z").unwrap();
    assert_eq!(
        read_field(&path, UPDATED).unwrap().unwrap(),
        "2021-01-01T00:00:00Z"
    );
}

#[test]
fn phase_changes_only_from_the_expected_one() {
    let (_kept, path) = file("phase: drafting\n");
    assert!(!set_phase(&path, "reviewing", "done").unwrap());
    assert_eq!(
        std::fs::read(&path).unwrap(),
        b"phase: drafting\n",
        "a stale one writes nothing"
    );
    assert!(set_phase(&path, "drafting", "reviewing").unwrap());
    assert_eq!(read_field(&path, PHASE).unwrap().unwrap(), "reviewing");
    assert!(
        read_field(&path, UPDATED).unwrap().is_some(),
        "added in the same write"
    );
}

#[test]
fn one_of_sixteen_changes_of_phase_wins() {
    let (_kept, path) = file("phase: drafting\n");
    let won = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| set_phase(&path, "drafting", "reviewing").unwrap()))
            .collect();
        tries
            .into_iter()
            .filter_map(|tried| tried.join().unwrap().then_some(()))
            .count()
    });
    assert_eq!(won, 1);
}

#[test]
fn file_with_a_machine_is_read_only() {
    let (_kept, path) = file("phase: drafting\nmachine: plan\n");
    assert_eq!(read_field(&path, PHASE).unwrap().unwrap(), "drafting");
    for refused in [
        set_field(&path, "x", "1"),
        set_phase(&path, "drafting", "done"),
        change("write", &path, |_| Ok(Some(b"phase: done\n".to_vec()))),
    ] {
        let problem = refused.unwrap_err().to_string();
        assert!(problem.contains("only the machine"), "{problem}");
    }
}

#[test]
fn file_without_fields_or_a_symlink_is_refused() {
    let (_kept, path) = file("\0\0");
    assert!(set_field(&path, "x", "1").is_err());
    change("write", &path, |_| Ok(Some(b"phase: x\n".to_vec()))).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"phase: x\n");
    assert!(set_field(&path, "a: b", "1").is_err());
    assert!(matches!(
        read_field(&path.with_extension("no"), "x"),
        Err(error) if error.to_string().contains("No such file")
    ));
    let link = path.with_file_name("link.state");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for refused in [
        read_field(&link, PHASE).map(drop),
        set_field(&link, PHASE, "y").map(drop),
        change("write", &link, |_| Ok(Some(b"".to_vec()))).map(drop),
    ] {
        let problem = refused.unwrap_err().to_string();
        assert!(problem.contains("is not trusted"), "{problem}");
    }
    assert_eq!(read_field(&path, PHASE).unwrap().unwrap(), "x");
}

#[test]
fn newest_state_file_is_found() {
    let (_kept, path) = file("phase: done\n");
    let folder = path.parent().unwrap();
    let older = folder.join("zz.state");
    std::fs::write(&older, "").unwrap();
    std::fs::write(folder.join("newer.txt"), "").unwrap();
    let past = std::time::SystemTime::now() - Duration::from_secs(100);
    std::fs::File::options()
        .write(true)
        .open(&older)
        .unwrap()
        .set_modified(past)
        .unwrap();
    assert_eq!(find_newest(folder).unwrap(), path);
    assert_eq!(find_newest(&folder.join("none")), None);
}

#[cfg(feature = "plan")]
#[test]
fn document_of_the_machines_extension_is_read_in_its_form() {
    let (_kept, path) = file("{ \"phase\": \"drafting\" }\n");
    let json = StateSpec {
        form: Form::Json,
        ..*crate::plan::INFO.state
    };
    let phase = read(&json, &path).unwrap().text(PHASE);
    assert_eq!(phase.as_deref(), Some("drafting"));
    assert!(read_field(&path, PHASE).is_err());
}
