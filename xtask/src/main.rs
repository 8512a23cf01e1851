//! The project's own tools, as `cargo xtask`, which are no part of claudex-loop.

mod dist;
mod e2e;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};
use miette::{Context as _, IntoDiagnostic as _, miette};

/// Tools for working on claudex-loop.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    /// Play the scenarios of tests/e2e with the real Claude Code and Codex, against a model that
    /// they script
    E2e(e2e::Options),
    /// Make the release for this machine in target/dist: archive and checksum
    Dist,
}

fn main() -> miette::Result<ExitCode> {
    match Arguments::parse().tool {
        Tool::E2e(options) => e2e::run(&options),
        Tool::Dist => dist::run(),
    }
}

fn root() -> miette::Result<PathBuf> {
    fs_err::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).into_diagnostic()
}

/// Returns the cargo that runs this program.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the folder that cargo builds in: two above this program.
fn target() -> miette::Result<PathBuf> {
    let program = std::env::current_exe().into_diagnostic()?;
    program
        .ancestors()
        .nth(2)
        .map(Path::to_owned)
        .ok_or_else(|| miette!("{} is not where cargo builds", program.display()))
}

fn output(command: &mut Command) -> miette::Result<String> {
    let output = command
        .output()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let status = output.status;
        return Err(miette!("{command:?}: {status}\n{message}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
