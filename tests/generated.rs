//! What is generated from `machine.toml` and committed is what the program would generate now.

use std::path::Path;
use std::process::Command;

/// Fails where a committed file is not what `claudex-loop machine` prints with these arguments.
fn is_fresh(file: &str, arguments: &[&str]) {
    let regenerate = format!(
        "cargo run --quiet -- machine {} > new && mv new {file}",
        arguments.join(" ")
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let committed = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{file}: {error}; write it with\n    {regenerate}\n"));
    let shown = Command::new(env!("CARGO_BIN_EXE_claudex-loop"))
        .arg("machine")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the program runs");
    assert!(shown.status.success(), "machine {arguments:?} failed");
    let shown = String::from_utf8(shown.stdout).expect("it prints UTF-8");
    let line = committed
        .lines()
        .zip(shown.lines())
        .position(|(old, new)| old != new)
        .unwrap_or_else(|| committed.lines().count().min(shown.lines().count()));
    assert!(
        committed == shown,
        "{file} is stale from line {}: the machine or its format has changed. Write it anew and read the difference:\n    {regenerate}\n",
        line + 1,
    );
}

#[test]
fn the_committed_picture_is_that_of_the_machine_and_stands_in_its_document() {
    is_fresh("docs/machine.svg", &["diagram", "--format", "svg"]);
    let document =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/loop.md"));
    assert!(document.expect("docs/loop.md").contains("](machine.svg)"));
}

#[test]
fn the_committed_pictures_of_the_other_machines_are_theirs_and_stand_in_their_documents() {
    for name in ["taskie", "stages"] {
        let machine = format!("{name}/machine.toml");
        is_fresh(
            &format!("docs/{name}.svg"),
            &["diagram", &machine, "--format", "svg"],
        );
        let document = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/{name}.md"));
        let document = std::fs::read_to_string(document).expect(name);
        assert!(document.contains(&format!("]({name}.svg)")), "{name}");
    }
}

#[test]
fn the_committed_schema_is_that_of_the_format_and_the_machine_names_it() {
    is_fresh("docs/machine.schema.json", &["schema"]);
    let machine = include_str!("../machine.toml");
    assert_eq!(
        machine.lines().next(),
        Some("#:schema docs/machine.schema.json")
    );
}
