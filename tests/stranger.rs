//! The library as a stranger uses it: a crate outside this workspace, with a machine of its own, against the bare library.
//!
//! Each case writes the crate anew into a folder with a space in its path and runs cargo on it, offline, with the versions
//! of our lock file. The cases share one target folder below ours, so they run one after the other and only the first
//! compiles the dependencies.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held from writing a crate to the end of its case: cargo takes crates of one name in one target folder for the same, and
/// tells them apart by the times of their files.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const MACHINE: &str = r#"name = "door"

[modes.door]
start = "open"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
tries    = { type = "count" }

[phases.open]
on_stop = { require-file = { path = "KEY", written = "shut", missing = "remind" } }

[phases.closed]
terminal = true

[[transitions.shut]]
from = "open"
to   = "closed"

[[transitions.remind]]
from = "open"
to   = "same"
when = "tries < 3"
set  = { tries = "tries + 1" }
"#;

const MAIN: &str = r#"#![deny(warnings)]
claudex_loop::machine!(door);

use claudex_loop::{Actor, Beginning, Step, Store};
use door::{AnyLoop, Mode, OnStop, Start};

struct Door;

impl OnStop for Door {}

fn stop(held: AnyLoop) {
    match Door.stop(held).unwrap() {
        Step::Moved { now, edge } => println!("{} {} {}", edge.transition, now.phase(), now.fields().tries()),
        Step::Waits(_) | Step::Over(_) => println!("waits"),
    }
}

fn main() {
    let root = std::env::args().nth(1).unwrap();
    let store = Store::at(format!("{root}/.door").into(), root.clone().into(), &door::STATE);
    let held = Start { mode: Mode::Door }.begin(&store, Beginning::now("me"), Actor::Hook).unwrap();
    let id = held.id().clone();
    stop(held);
    std::fs::write(format!("{root}/KEY"), "key").unwrap();
    stop(AnyLoop::open(&store, &id, Actor::Hook).unwrap());
    stop(AnyLoop::open(&store, &id, Actor::Hook).unwrap());
}
"#;

struct Crate {
    _one: MutexGuard<'static, ()>,
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Crate {
    fn new(machine: &str, main: &str) -> Self {
        let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a stranger's crate");
        std::fs::create_dir_all(path.join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = \"door\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             claudex-loop = {{ path = {ours:?}, default-features = false }}\n\n[build-dependencies]\n\
             claudex-build = {{ path = {:?} }}\n",
            ours.join("codegen"),
        );
        let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
        write("Cargo.toml", &manifest);
        write(
            "build.rs",
            "fn main() {\n    claudex_build::Config::new().compile(\"machine.toml\");\n}\n",
        );
        write("machine.toml", machine);
        write("src/main.rs", main);
        std::fs::copy(ours.join("Cargo.lock"), path.join("Cargo.lock")).unwrap();
        Self {
            _one: one,
            _folder: folder,
            path,
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/stranger");
        Command::new(env!("CARGO"))
            .args(arguments)
            .arg("--offline")
            .current_dir(&self.path)
            .env("CARGO_TARGET_DIR", target)
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap()
    }

    /// The output of a build that must fail.
    fn fails(&self) -> String {
        let output = self.cargo(&["build"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{text}");
        text
    }
}

#[test]
fn two_dependency_lines_a_machine_and_a_macro_give_a_loop() {
    let stranger = Crate::new(MACHINE, MAIN);
    let built = stranger.cargo(&["build"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/stranger/debug/door");
    let root = tempfile::tempdir().unwrap();
    let ran = Command::new(program).arg(root.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        "remind open 1\nshut closed 1\nwaits\n"
    );
}

#[test]
fn a_phase_without_a_behaviour_names_the_method_that_is_missing() {
    let on_stop =
        "on_stop = { require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" } }\n";
    let said = Crate::new(&MACHINE.replace(on_stop, ""), MAIN).fails();
    assert!(
        said.contains("not all trait items implemented, missing: `open`"),
        "{said}"
    );
}

#[test]
fn a_wrong_machine_stops_the_build_with_file_line_and_column() {
    let said = Crate::new(
        &MACHINE.replace(
            "from = \"open\"\nto   = \"closed\"",
            "from = \"opne\"\nto   = \"closed\"",
        ),
        MAIN,
    )
    .fails();
    assert!(said.contains("machine.toml:22:8: "), "{said}");
    assert!(said.contains("did you mean `open`"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn an_illegal_edge_names_the_phases_where_it_is_legal_and_the_line() {
    let main = MAIN.replace(
        "fn main() {",
        "fn again(over: door::Loop<door::Closed>) {\n    let _ = over.shut();\n}\n\nfn main() {\n    let _ = again;",
    );
    let said = Crate::new(MACHINE, &main).fails();
    assert!(said.contains("`shut` is not legal in phase"), "{said}");
    assert!(said.contains("legal in: Open (machine.toml:21)"), "{said}");
}

#[test]
fn a_machine_whose_edges_are_all_open_to_people_compiles_without_a_warning() {
    let machine = MACHINE
        .replace(
            "on_stop = { require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" } }\n",
            "",
        )
        .replace("to   = \"closed\"\n", "to   = \"closed\"\nby   = [\"person\"]\n")
        .replace("set  = {", "by   = [\"agent\"]\nset  = {");
    let main = "#![deny(warnings)]\nclaudex_loop::machine!(door);\n\nfn main() {\n    \
                let _: fn(door::Verb, door::AnyLoop) -> _ = |verb, held| verb.run(held);\n}\n";
    let built = Crate::new(&machine, main).cargo(&["build"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
}
