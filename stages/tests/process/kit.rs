//! The pipeline passes the kit.

use claudex_testkit::Kit;

#[test]
#[expect(clippy::print_stdout, reason = "the report is the test's output")]
fn pipeline_passes_the_kit() {
    let kit = Kit::new("machine.toml", env!("CARGO_BIN_EXE_stages"));
    println!("{}", kit.plugin("plugin").quick().unwrap());
}
