//! Every pair of a phase and a transition, of every machine of the workspace, in one crate outside of it: an edge compiles,
//! and for any other pair the compiler names the phases in which the transition is legal, and their lines of machine.toml.

use claudex_testkit::Machine;
use claudex_testkit::pairs::{self, Subject};

#[path = "support/machines.rs"]
mod machines;
#[path = "support/stranger.rs"]
mod stranger;

#[test]
#[expect(clippy::print_stdout, reason = "the numbers are the test's output")]
fn exactly_the_edges_of_every_machine_compile() {
    let all = machines::all();
    let read: Vec<_> = all
        .iter()
        .map(|found| Machine::read(&found.source).unwrap())
        .collect();
    let subjects: Vec<_> = all
        .iter()
        .zip(&read)
        .map(|(found, machine)| Subject {
            machine,
            file: found.file(),
            module: format!("crate::machines::{}", found.module),
        })
        .collect();

    let stranger = machines::crate_of("exhaustive", &all);
    stranger.write(
        "src/lib.rs",
        "//! Every pair of a phase and a transition.\n#![deny(warnings)]\n#![allow(missing_docs)]\n\npub mod calls;\npub mod machines;\n",
    );
    let (legal, illegal) = pairs::prove(&subjects, |calls, flags| {
        stranger.write("src/calls.rs", calls);
        Ok(stranger.cargo(&[&["check", "--lib"], flags].concat()))
    })
    .unwrap_or_else(|wrong| panic!("{wrong}"));
    println!("{legal} pairs compile, {illegal} do not");
}
