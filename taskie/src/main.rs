//! Taskie's program.

fn main() -> std::process::ExitCode {
    taskie::program().main()
}
