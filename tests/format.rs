//! What a machine file can say of fields and arguments, tried at run time: a crate outside this workspace whose machine has
//! a field of every type and an argument of every kind, driven against the store and through its verbs.
//!
//! The crate is `tests/kinds/`; it is written anew into a temporary folder and built offline with the versions of our lock
//! file.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held to the end of a case: cargo takes crates of one name in one target folder for the same.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const MACHINE: &str = include_str!("kinds/machine.toml");
const MAIN: &str = include_str!("kinds/program.rs");
/// What the program says: the document's lines after each step, what the typed readers read, and each refusal.
const EXPECTED: &str = include_str!("kinds/expected.txt");

struct Crate {
    _one: MutexGuard<'static, ()>,
    folder: tempfile::TempDir,
}

impl Crate {
    fn new(main: &str) -> Self {
        let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let manifest = format!(
            "[package]\nname = \"kinds\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             claudex-loop = {{ path = {ours:?}, default-features = false, features = [\"app\"] }}\n\n\
             [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
            ours.join("codegen"),
        );
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("Cargo.toml", &manifest);
        write(
            "build.rs",
            "fn main() {\n    claudex_build::Config::new().commands(true).compile(\"machine.toml\");\n}\n",
        );
        write("machine.toml", MACHINE);
        write("src/main.rs", main);
        std::fs::copy(ours.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
        Self { _one: one, folder }
    }

    fn target() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/stranger")
    }

    fn build(&self) -> Output {
        Command::new(env!("CARGO"))
            .args(["build", "--offline"])
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", Self::target())
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap()
    }
}

#[test]
fn every_type_of_field_and_every_kind_of_argument_does_what_the_machine_file_says() {
    let stranger = Crate::new(MAIN);
    let built = stranger.build();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let root = tempfile::tempdir().unwrap();
    let ran = Command::new(Crate::target().join("debug/kinds"))
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
    let built = Crate::new(&reading("let _ = held.fields().percent();")).build();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(!built.status.success(), "{said}");
    for part in [
        "error[E0277]: `percent` does not exist in phase `Building`",
        "this phase does not have the field",
        "exists in: Canary, Rollout (machine.toml:23)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
