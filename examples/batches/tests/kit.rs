//! What holds for any machine holds for batches.

use claudex_testkit::Kit;

#[test]
fn batches_pass_the_kit() {
    let report = Kit::new("machine.toml", env!("CARGO_BIN_EXE_batches"));
    report.quick().unwrap();
}
