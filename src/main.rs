//! The binary: arguments in, text and an exit code out.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
