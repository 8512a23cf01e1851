//! The request to a reviewer, and the outcome of its process. A failure never counts as a verdict.

use std::io;
use std::time::Duration;

use camino::Utf8Path;

use super::answer;
use super::cause::{Cause, CauseKind};
use super::findings::Findings;
use super::subject::SubjectText;
use crate::files::Folder;
use crate::machine::Focus;
use crate::process::limits::Limits;
use crate::process::output::MAX_KEPT_BYTES;
use crate::process::{ProcessEnd, ProcessOutput};

/// A request to a reviewer.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The whole text for a model: the persona, the subject, and the form of the answer.
    pub prompt: &'a str,
    /// The subject, file by file.
    pub subject: &'a SubjectText,
    /// The persona's point of view.
    pub focus: Focus,
    /// The loop's root folder, in which a reviewer's process starts.
    pub root: &'a Utf8Path,
    /// The time limits.
    pub limits: Limits,
    /// The folder and the name of the file that keeps a process's output for people.
    pub output: Option<(&'a Folder, &'a str)>,
}

/// Returns the findings of a process that writes its answer to stdout. Only exit status 0 can give a verdict.
pub(super) fn judge(ended: &ProcessOutput) -> Result<Findings, Cause> {
    if let Some(cause) = failure(ended) {
        return Err(cause);
    }
    if ended.truncated() {
        let problem = format!("it is longer than {MAX_KEPT_BYTES} bytes");
        return Err(Cause::not_a_verdict(&problem));
    }
    answer::read(&String::from_utf8_lossy(&ended.stdout)).map_err(|cause| match cause.kind {
        CauseKind::NoOutput => Cause::new(CauseKind::NoOutput, &complaint(ended)),
        _ => cause,
    })
}

/// Returns the reason for which a process did not run its review to the end, or `None` if it exited with 0.
pub(super) fn failure(ended: &ProcessOutput) -> Option<Cause> {
    let kind = match &ended.how {
        ProcessEnd::Exited(0) => return None,
        // A shell, or `env`, did not find a program.
        ProcessEnd::Exited(127) => CauseKind::NotInstalled,
        ProcessEnd::Exited(status) => CauseKind::Failed { status: *status },
        ProcessEnd::Signalled(signal) => CauseKind::Crashed { signal: *signal },
        ProcessEnd::TimedOut { after } => CauseKind::TimedOut {
            after_ms: milliseconds(*after),
        },
        ProcessEnd::Idle { after } => CauseKind::Idle {
            after_ms: milliseconds(*after),
        },
        ProcessEnd::Stopped => CauseKind::Stopped,
        // A script whose interpreter is missing is as good as not there.
        ProcessEnd::Io { source, .. } if source.kind() != io::ErrorKind::NotFound => CauseKind::Io,
        ProcessEnd::NotInstalled { .. } | ProcessEnd::Io { .. } => CauseKind::NotInstalled,
    };
    let detail = match &ended.how {
        ProcessEnd::NotInstalled { .. } | ProcessEnd::Io { .. } => ended.how.to_string(),
        ProcessEnd::Stopped => String::new(),
        _ => complaint(ended),
    };
    Some(Cause::new(kind, &detail))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the line that most likely names the problem: the last line of stderr with the word "error", else the last line of stderr,
/// else the last line of stdout that is not JSON. A line that ends with a colon needs the next one.
fn complaint(ended: &ProcessOutput) -> String {
    let is_text = |line: &&str| !line.trim().is_empty();
    let tail = ended.stderr_tail();
    let stderr: Vec<&str> = tail.lines().filter(is_text).collect();
    let says_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    let place = stderr.iter().rposition(says_error);
    if let Some(place) = place.or(stderr.len().checked_sub(1)) {
        let line = stderr[place].trim_end();
        return match stderr.get(place + 1) {
            Some(next) if line.ends_with(':') => format!("{line} {}", next.trim()),
            _ => line.to_owned(),
        };
    }
    let start = ended.stdout.len().saturating_sub(4096);
    let stdout = String::from_utf8_lossy(&ended.stdout[start..]);
    let mut lines = stdout.lines().rev().filter(is_text);
    let line = lines.find(|line| !line.trim_start().starts_with('{'));
    line.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process_output(how: ProcessEnd, stdout: &str, stderr: &str) -> ProcessOutput {
        ProcessOutput {
            how,
            stdout: stdout.into(),
            stderr: stderr.into(),
            ..ProcessOutput::default()
        }
    }

    const CLEAN: &str = "# Round 1 findings\n\nNo substantive findings.\n";

    #[test]
    fn only_exit_status_zero_can_be_clean() {
        let clean = judge(&process_output(ProcessEnd::Exited(0), CLEAN, ""));
        assert_eq!(clean, Ok(Findings::default()));
        let after = Duration::from_secs(90);
        for how in [
            ProcessEnd::Exited(1),
            ProcessEnd::Signalled(9),
            ProcessEnd::TimedOut { after },
            ProcessEnd::Idle { after },
            ProcessEnd::Stopped,
            ProcessEnd::NotInstalled {
                program: "codex".into(),
            },
            ProcessEnd::Io {
                program: "codex".into(),
                source: io::Error::other("gone"),
            },
        ] {
            let debug = format!("{how:?}");
            let cause = judge(&process_output(how, CLEAN, "")).unwrap_err();
            assert!(!cause.kind.is_unreadable(), "{debug}");
        }
    }

    #[test]
    fn answer_that_was_cut_is_unreadable() {
        let cut = ProcessOutput {
            dropped: 1,
            ..process_output(ProcessEnd::Exited(0), CLEAN, "")
        };
        let cause = judge(&cut).unwrap_err();
        assert_eq!(cause.detail, "it is longer than 4194304 bytes");
    }

    #[test]
    fn cause_quotes_the_complaint_on_one_line() {
        let detail = |stdout: &str, stderr: &str| {
            let failed = process_output(ProcessEnd::Exited(1), stdout, stderr);
            judge(&failed).unwrap_err().detail
        };
        let stderr = "loading\nERROR: quota \u{1b}[31mexceeded\u{202e}\n\ntokens used: 7\n\n";
        assert_eq!(detail("partial", stderr), "ERROR: quota [31mexceeded");
        assert_eq!(detail("", "usage:\nan error:\n"), "an error:");
        assert_eq!(detail("said on stdout\n", "  \n"), "said on stdout");
        assert_eq!(detail("", &"x".repeat(8000)).chars().count(), 300);
    }
}
