//! Types, command line and hooks of both machines.

fn main() {
    for machine in ["taskie.toml", "stages.toml"] {
        claudex_build::Config::new().compile(machine);
    }
}
