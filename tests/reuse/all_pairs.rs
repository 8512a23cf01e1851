//! Every pair of phase and transition of every machine of the workspace, in one crate outside of
//! it. An edge compiles. Otherwise the error names the phase and the legal phases.
//!
//! The generated code has no warnings of rustc or of clippy's pedantic lints.

use claudex_testkit::pairs;

use crate::machines;

const LIBRARY: &str = "//! Every pair of a phase and a transition.
#![deny(warnings)]
#![warn(clippy::nursery, clippy::pedantic, missing_docs, rust_2018_idioms, unreachable_pub)]
// These follow from the machine file. `machine!` allows them too.
#![allow(unused_comparisons, clippy::absurd_extreme_comparisons, clippy::comparison_to_empty, clippy::eq_op)]
#![allow(clippy::int_plus_one, clippy::nonminimal_bool, clippy::overly_complex_bool_expr)]
#![allow(clippy::missing_errors_doc, clippy::too_many_lines, clippy::should_implement_trait)]
#![allow(clippy::doc_markdown, clippy::match_same_arms)]

#[allow(missing_docs, clippy::all, clippy::nursery, clippy::pedantic)]
pub mod calls;
pub mod machines;
";

#[test]
#[expect(clippy::print_stdout, reason = "the numbers are the test's output")]
fn exactly_the_edges_of_every_machine_compile() {
    let all = machines::all();
    let subjects: Vec<_> = all
        .iter()
        .map(|found| (&found.machine, format!("crate::machines::{}", found.module)))
        .collect();

    let stranger = machines::crate_of("exhaustive", &all);
    stranger.write("src/lib.rs", LIBRARY);
    let (legal, illegal) = pairs::prove(&subjects, |calls, flags| {
        stranger.write("src/calls.rs", calls);
        Ok(stranger.cargo(&[&["clippy", "--lib"], flags].concat()))
    })
    .unwrap_or_else(|wrong| panic!("{wrong}"));
    println!("{legal} pairs compile, {illegal} do not");
}
