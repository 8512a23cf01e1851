//! Generates the plan loop's types from `machine.toml`. The bare library (no `cli` feature) has no machine of its own.

fn main() {
    // Reaches the build scripts of dependents as DEP_CLAUDEX_LOOP_APP: claudex-build then generates a command line.
    if std::env::var_os("CARGO_FEATURE_APP").is_some() {
        println!("cargo::metadata=app=1");
    }
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cli")]
    claudex_build::Config::new()
        .commands(true)
        .compile("machine.toml");
}
