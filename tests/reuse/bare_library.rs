//! The bare library with another machine: valid code runs, changes cause a new build, and compiler
//! errors are clear.

use std::process::Command;

use claudex_testkit::has;

use crate::project::{manifest, output_text};
use crate::support::{Crate, ours, target};

const MACHINE: &str = r#"name = "door"
messages = "words"

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
message = "remind.md"
"#;

const MAIN: &str = r#"//! A door.
#![deny(warnings)]
claudex_loop::machine!(door);

use claudex_loop::{Actor, Beginning, Step, Store};
use door::{AnyLoop, Mode, OnStop, Start};

struct Door;

impl OnStop for Door {}

fn stop(held: AnyLoop) {
    match Door.stop(held).unwrap() {
        Step::Moved { now, edge } => println!("{} {} {}", edge.transition, now.phase(), now.fields().tries),
        Step::Waits(_) | Step::Over(_) => println!("waits"),
    }
}

fn main() {
    let root = std::env::args().nth(1).unwrap();
    let home = claudex_loop::StateHome::at(format!("{root}/state-home"));
    let store = Store::at(format!("{root}/.door").into(), root.clone().into(), &door::STATE, home);
    let held = Start { mode: Mode::Door }.begin(&store, Beginning::now("me"), Actor::Hook).unwrap();
    let id = held.id().clone();
    stop(held);
    std::fs::write(format!("{root}/KEY"), "key").unwrap();
    stop(AnyLoop::open(&store, &id, Actor::Hook).unwrap());
    stop(AnyLoop::open(&store, &id, Actor::Hook).unwrap());
}
"#;

/// The parts of the machine that a test omits or breaks.
const ON_STOP: &str =
    "on_stop = { require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" } }\n";

#[test]
fn machine_and_macro_give_a_loop() {
    let stranger = Crate::new("door");
    stranger.write("src/main.rs", MAIN);
    stranger.write("words/remind.md", "Bring the key.\n");
    // All errors are reported at once, each on a line with its place.
    let wrong = MACHINE
        .replace("\"shut\", missing", "\"shot\", missing")
        .replace("when = \"tries < 3\"", "when = \"trys < 3\"");
    stranger.write("machine.toml", &wrong);
    let output = stranger.cargo(&["build"]);
    let printed_text = output_text(&output);
    let errors: Vec<&str> = printed_text
        .lines()
        .filter(|line| line.starts_with("error"))
        .collect();
    let expected = [
        "error: door@0.1.0: machine.toml:17:54: error[claudex::machine::unknown_transition]: no transition is named `shot`; did you mean `shut`?",
        "error: door@0.1.0: machine.toml:29:9: error[claudex::machine::unknown_field]: no field is named `trys`",
        "error: build script logged errors",
    ];
    for (error, start) in errors.iter().zip(expected) {
        assert!(error.starts_with(start), "{errors:#?}");
    }
    assert_eq!(errors.len(), expected.len(), "{errors:#?}");

    stranger.write("machine.toml", MACHINE);
    // Returns whether a build compiles the crate again.
    let compiles = || {
        let output = stranger.cargo(&["build"]);
        assert!(output.status.success(), "{}", output_text(&output));
        output_text(&output).contains("Compiling door")
    };
    assert!(compiles());
    assert!(!compiles());
    let root = tempfile::tempdir().unwrap();
    let ran = Command::new(target().join("debug/door"))
        .arg(root.path())
        .output()
        .unwrap();
    assert_eq!(output_text(&ran), "remind open 1\nshut closed 1\nwaits\n");

    stranger.write("README.md", "A door.\n");
    stranger.write("words/other.md", "No edge says this.\n");
    assert!(!compiles(), "neither is a part of the machine");
    stranger.write("words/remind.md", "Bring the key, please.\n");
    assert!(compiles());

    let output = stranger.cargo(&["doc", "--no-deps", "--document-private-items"]);
    assert!(
        output.status.success() && !output_text(&output).contains("warning"),
        "{}",
        output_text(&output)
    );
}

/// Removes the method of a transition from the types of `gate`.
const BUILD: &str = r#"fn main() {
    for name in ["door", "ferry", "gate", "release"] {
        claudex_build::Config::new().compile(format!("{name}/machine.toml"));
    }
    edit("gate.rs", "pub fn cancel<N", "pub fn other<N");
}

fn edit(file: &str, from: &str, to: &str) {
    let path = format!("{}/{file}", std::env::var("OUT_DIR").unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}
"#;

#[test]
fn program_that_lacks_a_part_does_not_compile() {
    let stranger = Crate::new("failing");
    stranger.write("Cargo.toml", &manifest("failing"));
    stranger.write("build.rs", BUILD);
    stranger.write("words/remind.md", "Bring the key.\n");
    let shared = |name: &str| {
        let file = ours().join(format!("tests/reuse/crate/{name}/machine.toml"));
        std::fs::read_to_string(file).unwrap()
    };
    let gate = MACHINE
        .replace("\"door\"", "\"gate\"")
        .replace("modes.door", "modes.gate");
    let cancel = "\n[[transitions.cancel]]\nfrom = \"*\"\nto   = \"closed\"\nby   = [\"person\"]\n";
    let look = "claudex_loop::machine!(release);\n\nfn look(held: release::Loop<release::Building>) {\n    \
                let _ = held.percent();\n}\n\nfn main() {\n    let _ = look;\n}\n";
    for (name, machine, main) in [
        ("door", MACHINE.replace(ON_STOP, ""), MAIN),
        ("ferry", shared("ferry"), "claudex_loop::main!(ferry);\n"),
        ("gate", gate + cancel, "claudex_loop::main!(gate);\n"),
        ("release", shared("kinds"), look),
    ] {
        stranger.write(&format!("{name}/machine.toml"), &machine);
        stranger.write(&format!("src/bin/{name}.rs"), main);
    }
    let output = stranger.cargo(&["check", "--keep-going"]);
    assert!(!output.status.success());
    for part in [
        // A phase without a behaviour has its own method.
        "not all trait items implemented, missing: `open`",
        // A question without declared options takes them from Rust.
        "no `options` say what a person can answer in the phases `choosing` (ferry/machine.toml:",
        "fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Option<Asked>, String> { .. }",
        // The command line uses the same methods as a call in Rust.
        "no method named `cancel` found",
        // Only phases that have a field can read it.
        "error[E0277]: `percent` does not exist in phase `Building`",
        "this phase does not have the field",
        "exists in: Canary, Rollout (release/machine.toml:18)",
    ] {
        has(&output_text(&output), part);
    }
}
