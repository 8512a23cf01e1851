//! The project's own tools, as `cargo xtask`: what is needed to work on claudex-loop and is no part of it.

mod e2e;

use clap::{Parser, Subcommand};

/// Tools for working on claudex-loop.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    /// Play the scenarios of tests/e2e with the real Claude Code and Codex, against a model that they script
    E2e(e2e::Options),
}

fn main() -> miette::Result<std::process::ExitCode> {
    match Arguments::parse().tool {
        Tool::E2e(options) => e2e::run(&options),
    }
}
