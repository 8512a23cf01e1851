//! What a machine file can say of fields and arguments, tried at run time: a crate outside this workspace whose machine has
//! a field of every type and an argument of every kind, driven against the store and through its verbs.
//!
//! The crate is `tests/kinds/`.

use std::process::Command;

#[path = "support/stranger.rs"]
mod stranger;

use stranger::{Crate, ours, target};

const MACHINE: &str = include_str!("kinds/machine.toml");
const MAIN: &str = include_str!("kinds/program.rs");
/// What the program says: the document's lines after each step, what the typed readers read, and each refusal.
const EXPECTED: &str = include_str!("kinds/expected.txt");

/// A crate of this program, with verbs.
fn kinds(main: &str) -> Crate {
    let stranger = Crate::new("kinds");
    stranger.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"kinds\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             claudex-loop = {{ path = {:?}, default-features = false, features = [\"program\"] }}\n\n\
             [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
            ours(),
            ours().join("codegen"),
        ),
    );
    stranger.write(
        "build.rs",
        "fn main() {\n    claudex_build::Config::new().commands(true).compile(\"machine.toml\");\n}\n",
    );
    stranger.write("machine.toml", MACHINE);
    stranger.write("src/main.rs", main);
    stranger
}

#[test]
fn every_type_of_field_and_every_kind_of_argument_does_what_the_machine_file_says() {
    let stranger = kinds(MAIN);
    let built = stranger.cargo(&["build"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let root = tempfile::tempdir().unwrap();
    let ran = Command::new(target().join("debug/kinds"))
        .arg(root.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), EXPECTED);
}

/// A program that reads a field where it does not exist.
fn reading(call: &str) -> String {
    format!(
        "claudex_loop::machine!(release);\n\nfn look(held: release::Loop<release::Building>) {{\n    {call}\n}}\n\n\
         fn main() {{\n    let _ = look;\n}}\n"
    )
}

#[test]
fn a_field_read_where_it_does_not_exist_names_the_phases_that_have_it_and_the_line() {
    let built = kinds(&reading("let _ = held.percent();")).cargo(&["build"]);
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(!built.status.success(), "{said}");
    for part in [
        "error[E0277]: `percent` does not exist in phase `Building`",
        "this phase does not have the field",
        "exists in: Canary, Rollout (machine.toml:18)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
