use std::io;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::machine::Focus;
use crate::process::ProcessEnd;
use crate::review::subject::SubjectText;

pub(in crate::review) type Answer = Result<Findings, Cause>;

/// Returns the answer of a client that printed these events, and its lines of progress.
pub(in crate::review) fn play(read: Read, status: i32, events: &[Value]) -> (Answer, Vec<String>) {
    let mut session = Session {
        root: "/p q".into(),
        ..Session::default()
    };
    let lines = events.iter().map(|event| event.to_string().into_bytes());
    let lines_shown = lines
        .filter_map(|line| session.line(&line, Some(read)))
        .collect();
    let ended = ProcessOutput {
        how: ProcessEnd::Exited(status),
        stderr: b"warning: noise\n".to_vec(),
        ..ProcessOutput::default()
    };
    (session.judge(&ended), lines_shown)
}

/// Returns the kind of a cause, and whether the reviewer ran to its end.
pub(in crate::review) fn cause(answer: &Answer) -> (bool, CauseKind) {
    let kind = answer.as_ref().expect_err("no verdict").kind;
    (kind.is_unreadable(), kind)
}

#[test]
fn lines_of_progress_are_short_and_plain() {
    assert_eq!(
        message_line("**I look.**\nMore"),
        Some("I look.".to_owned())
    );
    for answer in [
        "",
        " \n",
        "{\"verdict\"",
        "[1]",
        "```json",
        "# Round 1 findings",
    ] {
        assert_eq!(message_line(answer), None, "{answer}");
    }
    assert_eq!(
        short_line(&"x".repeat(1000)).chars().count(),
        MAX_SHOWN_CHARS
    );
}

/// Returns the outcome of a `command` that is a script.
fn review(script: &str) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let file = root.join("a reviewer's \"program\" \u{fc}");
    std::fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let reviewer = Reviewer {
        name: "mine".to_owned(),
        shown: "mine".to_owned(),
        settings: ReviewerSettings {
            program: Some(file.to_string()),
            ..ReviewerSettings::default()
        },
        limits: Limits {
            timeout: Duration::from_secs(60),
            idle: Duration::from_secs(60),
        },
    };
    let request = Request {
        prompt: "the prompt's text",
        subject: &SubjectText::default(),
        focus: Focus::Engineering,
        root,
        output: None,
    };
    reviewer.review(&request, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn prompt_given_back_is_no_verdict() {
    for script in [
        "cat\n",
        "echo 'asked:'; cat; echo; echo 'No substantive findings.'\n",
        "cat; echo; echo '{\"verdict\":\"clean\",\"findings\":[]}'\n",
    ] {
        let repeats = Cause::not_a_verdict("it repeats what it was asked");
        assert_eq!(review(script), Err(repeats), "{script}");
    }
}

fn process_output(how: ProcessEnd, stdout: &str, stderr: &str) -> ProcessOutput {
    ProcessOutput {
        how,
        stdout: stdout.into(),
        stderr: stderr.into(),
        ..ProcessOutput::default()
    }
}

/// Returns the answer of a process without events.
fn judge_alone(ended: &ProcessOutput) -> Answer {
    Session::default().judge(ended)
}

const CLEAN: &str = "# Round 1 findings\n\nNo substantive findings.\n";

#[test]
fn only_exit_status_zero_can_be_clean() {
    let clean = judge_alone(&process_output(ProcessEnd::Exited(0), CLEAN, ""));
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
        let cause = judge_alone(&process_output(how, CLEAN, "")).unwrap_err();
        assert!(!cause.kind.is_unreadable(), "{debug}");
    }
}

#[test]
fn colours_of_a_terminal_are_dropped() {
    let stdout = "\u{1b}[1m## High\u{1b}[0m\n- \u{1b}[31mthe orders are lost\u{1b}[m\n";
    let ended = process_output(ProcessEnd::Exited(0), stdout, "");
    let findings = judge_alone(&ended).unwrap();
    assert_eq!(findings[0].what, "the orders are lost");
}

#[test]
fn cause_quotes_the_complaint_on_one_line() {
    let detail = |stdout: &str, stderr: &str| {
        let failed = process_output(ProcessEnd::Exited(1), stdout, stderr);
        judge_alone(&failed).unwrap_err().detail
    };
    let stderr = "loading\nERROR: quota \u{1b}[31mexceeded\u{202e}\n\ntokens used: 7\n\n";
    assert_eq!(detail("partial", stderr), "ERROR: quota exceeded");
    assert_eq!(detail("", "usage:\nan error:\n"), "an error:");
    assert_eq!(detail("said on stdout\n", "  \n"), "said on stdout");
    assert_eq!(detail("", &"x".repeat(8000)).chars().count(), 300);
}
