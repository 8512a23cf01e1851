//! What holds for any machine holds for errands.

use claudex_testkit::Kit;

#[test]
fn an_errand_passes_the_kit() {
    let report = Kit::new("machine.toml", env!("CARGO_BIN_EXE_errand"));
    report.quick().unwrap();
}
