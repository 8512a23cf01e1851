//! Every pair of a phase and a transition, of every machine of the workspace: an edge compiles, whatever is no edge does
//! not, and the compiler's message says where the transition would be legal and which line of machine.toml says so.
//!
//! One crate outside the workspace holds a function of one line for each pair. cargo checks it once with the edges alone,
//! which must be clean, and once with every pair: exactly the lines of the illegal ones must have an error.

use claudex_testkit::Machine;
use claudex_testkit::pairs::{self, Subject};

#[path = "support/machines.rs"]
mod machines;
#[path = "support/stranger.rs"]
mod stranger;

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the numbers are what the test has to say"
)]
fn exactly_the_edges_of_every_machine_compile_and_the_rest_is_told_where_it_would_be_legal() {
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
    stranger.write("src/calls.rs", &pairs::calls(&subjects, false));
    let clean = stranger.cargo(&["check", "--lib"]);
    assert!(
        clean.status.success(),
        "every edge compiles, without a warning:\n{}",
        String::from_utf8_lossy(&clean.stderr)
    );

    stranger.write("src/calls.rs", &pairs::calls(&subjects, true));
    let checked = stranger.cargo(&["check", "--lib", "--message-format=json"]);
    assert!(!checked.status.success());
    let wrong = pairs::judge(
        &subjects,
        &String::from_utf8(checked.stdout).unwrap(),
        "src/calls.rs",
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (found, subject) in all.iter().zip(&subjects) {
        let (legal, illegal) = pairs::count(std::slice::from_ref(subject));
        println!("{}: {legal} pairs compile, {illegal} do not", found.place);
    }
}
