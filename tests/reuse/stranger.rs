//! The bare library with a machine of one's own: what compiles, what does not, and what the compiler then says.

use std::process::Command;

use crate::support::{Crate, target};

pub(crate) const MACHINE: &str = r#"name = "door"

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

pub(crate) const MAIN: &str = r#"#![deny(warnings)]
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

/// A crate with this machine and this program.
pub(crate) fn door(machine: &str, main: &str) -> Crate {
    let stranger = Crate::new("door");
    stranger.write("machine.toml", machine);
    stranger.write("src/main.rs", main);
    stranger
}

/// The output of a build that must fail.
pub(crate) fn fails(stranger: &Crate) -> String {
    let output = stranger.cargo(&["build"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{text}");
    text
}

#[test]
fn two_dependency_lines_a_machine_and_a_macro_give_a_loop() {
    let stranger = door(MACHINE, MAIN);
    let built = stranger.cargo(&["build"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let program = target().join("debug/door");
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
    let on_stop = "on_stop = { require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" } }\n";
    let said = fails(&door(&MACHINE.replace(on_stop, ""), MAIN));
    assert!(
        said.contains("not all trait items implemented, missing: `open`"),
        "{said}"
    );
}
