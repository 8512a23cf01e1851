//! Running a program of ours to its end, within seconds, with what a hook would find in its environment.
//!
//! Programs of others (a reviewer's client) go through the reviewers' own supervision instead.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::process::environment::{clean_path, is_relative_home};
use camino::Utf8Path;
use rustix::process::{Pid, Signal, kill_process_group};

/// How long an answer may take. A hook that is slower than this makes every turn slow.
pub const LIMIT: Duration = Duration::from_secs(5);
/// How often an answer is looked for.
const POLL: Duration = Duration::from_millis(5);
/// The most of an answer that is read, in bytes.
const MOST: u64 = 256 * 1024;

/// How a program answered.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub out: String,
    /// What it said on stderr.
    pub err: String,
}

/// Prepares a command in this folder that sees nothing of the client, none of our own settings, and no program of
/// the project with this root.
pub fn command(program: &Path, arguments: &[&str], folder: &Path, root: &Utf8Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    for (name, value) in std::env::vars_os() {
        if name == "PATH" {
            command.env(name, clean_path(&value, root));
        } else if name.to_str().is_some_and(|name| name.starts_with("CLAUDE"))
            || is_relative_home(&name, &value)
        {
            command.env_remove(name);
        }
    }
    command
}

/// Runs it with this on its stdin, some kilobytes at most. What still runs at the limit is ended with all that it
/// started. Its output goes to files: whoever holds a pipe open after its end could keep us waiting.
///
/// # Errors
/// It cannot be run, or gave no answer in time: the sentence says which.
pub fn run(mut command: Command, stdin: &str) -> Result<Answer, String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let failed = |error: io::Error| format!("{shown} cannot be run: {error}");
    let (mut out, mut err) = (
        tempfile::tempfile().map_err(failed)?,
        tempfile::tempfile().map_err(failed)?,
    );
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(err.try_clone().map_err(failed)?)
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read is judged by what it says.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let status = within(LIMIT, &mut child).map_err(failed)?;
    end_group(&child);
    match status {
        Some(status) => Ok(Answer {
            status,
            out: text(&mut out).map_err(failed)?,
            err: text(&mut err).map_err(failed)?,
        }),
        None => {
            let _ = child.wait();
            Err(format!(
                "{shown} gave no answer within {} s",
                LIMIT.as_secs()
            ))
        }
    }
}

/// The status of a child that ends within a time; None: it has not ended.
fn within(limit: Duration, child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

/// Ends whatever is left of a child's process group.
fn end_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn text(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        command(
            Path::new("/bin/sh"),
            &["-c", script],
            Path::new("/"),
            Utf8Path::new("/"),
        )
    }

    #[test]
    fn an_answer_has_its_status_and_both_streams() {
        let answer = run(shell("cat; echo no >&2; exit 3"), "yes").unwrap();
        assert_eq!(
            (
                answer.status.code(),
                answer.out.as_str(),
                answer.err.as_str()
            ),
            (Some(3), "yes", "no\n")
        );
        assert!(
            run(
                command(
                    Path::new("/no/such"),
                    &[],
                    Path::new("/"),
                    Utf8Path::new("/")
                ),
                ""
            )
            .is_err()
        );
    }

    #[test]
    fn who_leaves_something_running_keeps_nobody_waiting() {
        let begun = Instant::now();
        let answer = run(shell("sleep 86400 & echo done"), "").unwrap();
        assert_eq!(answer.out, "done\n");
        assert!(begun.elapsed() < LIMIT);
    }

    #[test]
    fn what_gives_no_answer_is_ended() {
        let Err(problem) = run(shell("sleep 86400; echo late"), "") else {
            panic!("it cannot have answered");
        };
        assert!(problem.contains("no answer within"), "{problem}");
    }
}
