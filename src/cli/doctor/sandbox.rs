//! Whether the system can make the work tree read-only for a reviewer's process.

use claudex_loop::review::process::How;

use super::{Check, Problem, tools};

const PROGRAM: &str = "bwrap";

/// Without it a reviewer that is a model has only its own client's sandbox.
pub(super) fn check() -> Check {
    let result = match tools::found(PROGRAM) {
        None => Err("bubblewrap (`bwrap`) is not installed".to_owned()),
        Some(program) => tools::run(
            &program,
            &[
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--unshare-pid",
                "--die-with-parent",
                "/bin/sh",
                "-c",
                ":",
            ],
            &[],
        )
        .and_then(|ended| match ended.how {
            How::Exited(0) => Ok(format!("{} works", program.display())),
            _ => Err(format!("bubblewrap does not work here: {}", ended.stderr_tail)),
        }),
    };
    Check::useful(
        "sandbox",
        result.map_err(|what| {
            Problem::new(
                what,
                "install bubblewrap, and allow unprivileged user namespaces; until then only the reviewer's own client keeps it from writing",
            )
        }),
    )
}
