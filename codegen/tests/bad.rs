//! Wrong machine files in `tests/bad/`, each with the message that it must produce.

use std::fs;
use std::path::Path;

/// The variable that has the messages written again, with the value `overwrite`.
const UPDATE: &str = "BAD";

#[test]
fn bad_machine_produces_the_message_beside_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("tests/bad can be read")
        .map(|entry| entry.expect("tests/bad can be read").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty());

    let update = std::env::var(UPDATE).is_ok_and(|value| value == "overwrite");
    let mut wrong = String::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("the machine can be read");
        let found = match claudex_build::check_source("machine.toml", &source) {
            Ok(_) => "no error\n".to_owned(),
            Err(found) => format!("{found}\n"),
        };
        let beside = file.with_extension("txt");
        if update {
            fs::write(&beside, &found).expect("the message can be written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if found != expected {
            let file = file.display();
            wrong.push_str(&format!("\n{file}\nexpected:\n{expected}found:\n{found}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}\nIf that is right: {UPDATE}=overwrite cargo test -p claudex-build --test bad"
    );
}
