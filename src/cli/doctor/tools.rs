//! Tools that we call where they are there.

use std::ffi::OsString;
use std::path::Path;

use camino::Utf8Path;
use claudex_loop::process::environment::{Environment, find_program};
use claudex_loop::process::limits::Limits;
use claudex_loop::process::{Call, Ended, How, supervise};
use claudex_loop::text;

use super::{Check, Problem, child};

/// git finds the top of the project.
pub(super) fn git() -> Check {
    let result = found("git")
        .ok_or("git is not on PATH".to_owned())
        .and_then(|git| version(&git, &[]))
        .map_err(|what| {
            Problem::new(
                what,
                "install git: without it the state folder is the one that start runs in",
            )
        });
    Check::useful("git", result)
}

/// A program of this name, in the folders of PATH that are absolute.
pub(super) fn found(name: &str) -> Option<std::path::PathBuf> {
    let path: Option<OsString> = std::env::var_os("PATH");
    find_program(name, path.as_deref())
}

/// Runs a program of others under the reviewers' supervision, with no stdin and some seconds of time.
pub(super) fn run(program: &Path, arguments: &[&str], names: &[String]) -> Result<Ended, String> {
    let program = program
        .to_str()
        .ok_or_else(|| format!("{} is not UTF-8", program.display()))?;
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let call = Call {
        program,
        arguments: &arguments,
        directory: Utf8Path::new("/"),
        stdin: b"",
        environment: &Environment::allowing(names),
        limits: Limits {
            timeout: child::LIMIT,
            idle: child::LIMIT,
        },
    };
    let ended = supervise(&call, &mut |_| std::ops::ControlFlow::Continue(()));
    match &ended.how {
        How::TimedOut { .. } | How::Idle { .. } => Err(format!(
            "{program} gave no answer within {} s",
            child::LIMIT.as_secs()
        )),
        How::CouldNotStart(error) => Err(error.to_string()),
        How::Signalled(signal) => Err(format!("{program} was ended by signal {signal}")),
        How::StatusLost(error) => Err(format!("{program} was lost: {error}")),
        How::Stopped | How::Exited(_) => Ok(ended),
    }
}

/// What a program says to `--version`, on one line.
pub(super) fn version(program: &Path, names: &[String]) -> Result<String, String> {
    let ended = run(program, &["--version"], names)?;
    match ended.how {
        How::Exited(0) => {
            let said = String::from_utf8_lossy(&ended.stdout).into_owned();
            Ok(text::one_line(said.lines().next().unwrap_or_default(), 100))
        }
        _ => Err(format!("{} --version fails", program.display())),
    }
}
