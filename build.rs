//! Generates the plan loop's types from `machine.toml`. The bare library (no `cli` feature) has no machine of its own.

fn main() {
    #[cfg(feature = "cli")]
    claudex_build::Config::new()
        .commands(true)
        .compile("machine.toml");
}
