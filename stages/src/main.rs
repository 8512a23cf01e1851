//! The program of the pipeline.

fn main() -> std::process::ExitCode {
    stages::program().main()
}
