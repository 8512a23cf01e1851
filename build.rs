//! Generates the plan loop's types from `machine.toml`. The bare library (no `plan` feature) declares no machine itself.

fn main() {
    // Reaches the build scripts of dependents as DEP_CLAUDEX_LOOP_PROGRAM: claudex-build then generates a command line.
    if std::env::var_os("CARGO_FEATURE_PROGRAM").is_some() {
        println!("cargo::metadata=program=1");
    }
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "plan")]
    claudex_build::Config::new()
        .commands(true)
        .compile("machine.toml");
}
