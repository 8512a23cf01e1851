//! A machine of 1,000 phases and 5,000 edges is no trouble. How long it takes in earnest is `benches/generate.rs`.

use std::time::{Duration, Instant};

use claudex_build::{check_source, generate};

#[path = "scale/machine.rs"]
mod machine;

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the numbers are what the test has to say"
)]
fn a_machine_of_a_thousand_phases_and_five_thousand_edges_is_generated_whole() {
    let source = machine::machine(1000);
    let begun = Instant::now();
    let read = check_source("machine.toml", &source).unwrap_or_else(|found| panic!("{found}"));
    let checked = begun.elapsed();
    let rust = generate("machine.toml", &source).unwrap().rust;
    let generated = begun.elapsed();
    println!(
        "checked in {checked:?}, all in {generated:?}; {} bytes of TOML, {} of Rust",
        source.len(),
        rust.len()
    );
    assert_eq!(read.phases.len(), 1002);
    assert_eq!(read.edges().len(), 5000);
    assert_eq!(rust.matches("rt::EdgeInfo {").count(), 5000);
    // In a debug build on a busy machine: what was quadratic took minutes.
    assert!(generated < Duration::from_secs(60), "{generated:?}");
}
