//! `doctor`'s check of a whole plan loop's beginning: a loop in a folder of our own, and the stops before and after its plan is written.

use camino::Utf8Path;
use claudex_loop::program::doctor::{Check, Problem, child, hook};

use super::INFO;

const REMEDY: &str =
    "install the program and the plugin again; if it stays, report it with this output";

/// Checks that a stop holds the turn while the plan is not written, and then asks for the review.
pub fn check(root: &Utf8Path) -> Check {
    let through = hook::through(INFO, root);
    let result = round_trip(root)
        .map(|()| format!("the stops of a loop were answered as they should be, {through}"))
        .map_err(|what| Problem::new(format!("{what} ({through})"), REMEDY));
    Check::required("loop", result)
}

fn round_trip(root: &Utf8Path) -> Result<(), String> {
    let folder = hook::folder()?;
    let folder = folder.path();
    let started = child::run(
        hook::call(&["start", "plan", "doctor's own"], folder, root)?,
        "",
    )?;
    if !started.status.success() {
        return Err(format!(
            "a loop in a folder of our own did not start: {}",
            started.err
        ));
    }
    let (second, said) = hook::stop(INFO, folder, root)?;
    if second != "block" || !said.contains("PLAN.md") {
        return Err(format!(
            "a stop before the plan was written gave {second}: {said}"
        ));
    }
    std::fs::write(folder.join("PLAN.md"), "# Plan\n")
        .map_err(|error| format!("PLAN.md: {error}"))?;
    let (third, said) = hook::stop(INFO, folder, root)?;
    if third != "block" || !said.starts_with("### Claudex round 1 ") {
        return Err(format!(
            "a stop after the plan was written gave {third}: {said}"
        ));
    }
    Ok(())
}
