//! What is generated from `machine.toml` and committed is what the program would generate now.

use std::path::Path;
use std::process::Command;

/// How to make the committed file anew.
const REGENERATE: &str = "cargo run --quiet -- machine show > plugin/SPEC.md";

#[test]
fn the_committed_spec_is_that_of_the_machine() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/SPEC.md");
    let committed = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("plugin/SPEC.md: {error}; write it with\n    {REGENERATE}\n"));
    let shown = Command::new(env!("CARGO_BIN_EXE_claudex-loop"))
        .args(["machine", "show"])
        .output()
        .expect("the program runs");
    assert!(shown.status.success(), "machine show failed");
    let shown = String::from_utf8(shown.stdout).expect("the spec is UTF-8");
    let line = committed
        .lines()
        .zip(shown.lines())
        .position(|(old, new)| old != new)
        .unwrap_or_else(|| committed.lines().count().min(shown.lines().count()));
    assert!(
        committed == shown,
        "plugin/SPEC.md is stale from line {}; machine.toml has changed. Write it anew and read the difference:\n    {REGENERATE}\n",
        line + 1,
    );
}
