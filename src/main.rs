//! The plan loop's program. `src/plan/` puts it together from the public API, as any machine's is.

use claudex_loop::plan;

fn main() -> std::process::ExitCode {
    plan::program().main()
}
