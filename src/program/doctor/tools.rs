//! Tools that we call where they are there.

use std::ffi::OsString;
use std::path::Path;

use crate::process::environment::{Environment, clean_path, find_program};
use crate::process::limits::Limits;
use crate::process::{Call, ProcessEnd, ProcessOutput, supervise};
use crate::text;
use camino::Utf8Path;

use super::{Check, Problem, child};

/// git finds the top of the project.
pub(super) fn git(root: &Utf8Path) -> Check {
    let result = found("git", root)
        .ok_or("git is not on PATH outside of the project".to_owned())
        .and_then(|git| version(&git, &[], root))
        .map_err(|what| {
            Problem::new(
                what,
                "install git: without it the state folder is the one that start runs in",
            )
        });
    Check::useful("git", result)
}

/// Finds a program of this name in the absolute folders of PATH outside of the project.
pub(super) fn found(name: &str, root: &Utf8Path) -> Option<std::path::PathBuf> {
    let path: Option<OsString> = std::env::var_os("PATH");
    find_program(name, path.as_deref(), root)
}

/// Runs a program of others under the reviewers' supervision, with no stdin and some seconds of time.
pub(super) fn run(
    program: &Path,
    arguments: &[&str],
    names: &[String],
    root: &Utf8Path,
) -> Result<ProcessOutput, String> {
    let program = program
        .to_str()
        .ok_or_else(|| format!("{} is not UTF-8", program.display()))?;
    let arguments: Vec<String> = arguments
        .iter()
        .map(|&argument| argument.to_owned())
        .collect();
    // It does not run in the project, which would else be known by that.
    let path = clean_path(&std::env::var_os("PATH").unwrap_or_default(), root);
    let call = Call {
        program,
        arguments: &arguments,
        directory: Utf8Path::new("/"),
        stdin: b"",
        environment: &Environment::allowing(names).setting("PATH", path.to_string_lossy()),
        limits: Limits {
            timeout: child::LIMIT,
            idle: child::LIMIT,
        },
    };
    let ended = supervise(&call, &mut |_| std::ops::ControlFlow::Continue(()));
    match &ended.how {
        ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => Err(format!(
            "{program} gave no answer within {} s",
            child::LIMIT.as_secs()
        )),
        ProcessEnd::CouldNotStart(error) => Err(error.to_string()),
        ProcessEnd::Signalled(signal) => Err(format!("{program} was ended by signal {signal}")),
        ProcessEnd::StatusLost(error) => Err(format!("{program} was lost: {error}")),
        ProcessEnd::Stopped | ProcessEnd::Exited(_) => Ok(ended),
    }
}

/// What a program says to `--version`, on one line.
pub(super) fn version(program: &Path, names: &[String], root: &Utf8Path) -> Result<String, String> {
    let ended = run(program, &["--version"], names, root)?;
    match ended.how {
        ProcessEnd::Exited(0) => {
            let said = String::from_utf8_lossy(&ended.stdout).into_owned();
            Ok(text::one_line(said.lines().next().unwrap_or_default(), 100))
        }
        _ => Err(format!("{} --version fails", program.display())),
    }
}
