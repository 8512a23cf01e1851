//! Whether the system can make the work tree read-only for a reviewer's process.

use crate::process::sandbox::{PROGRAM, Sandbox, probe};
use camino::Utf8Path;

use super::{Check, Problem, tools};

/// Without it a reviewer that is a model has only its own client's sandbox.
pub(super) fn check(root: &Utf8Path) -> Check {
    let result = match probe(tools::found(PROGRAM, root)) {
        works @ Sandbox::Works { .. } => Ok(works.to_string()),
        other => Err(Problem::new(
            other.to_string(),
            "install bubblewrap, and allow unprivileged user namespaces; until then only the reviewer's own client keeps it from writing",
        )),
    };
    Check::useful("sandbox", result)
}
