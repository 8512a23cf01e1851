//! Command lines, and the outcome of a command.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A command that ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; 128 and the signal's number if one ended it.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Self {
        let status = output.status;
        Self {
            code: status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or_default()),
            out: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            err: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// Fails the test if the exit code differs.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.out, self.err
        );
        self
    }

    /// Returns the answer of a hook that is not of a stop: nothing, or one JSON object on one line.
    #[track_caller]
    pub(crate) fn hook_answer(&self) -> Value {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{self:?}");
        assert!(self.out.matches('\n').count() <= 1, "{self:?}");
        match self.out.as_str() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap(),
        }
    }

    /// Fails the test if neither output stream has the text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let is_said = self.out.contains(text) || self.err.contains(text);
        assert!(
            is_said,
            "not said: {text}\nstdout:\n{}\nstderr:\n{}",
            self.out, self.err
        );
        self
    }
}

/// A command line: a text that is split like a shell's, or its words.
pub(crate) trait Line {
    fn words(self) -> Vec<String>;
}

impl Line for &str {
    fn words(self) -> Vec<String> {
        shlex::split(self).expect("its quotes are closed")
    }
}

impl Line for &String {
    fn words(self) -> Vec<String> {
        self.as_str().words()
    }
}

impl Line for &[&str] {
    fn words(self) -> Vec<String> {
        self.iter().map(|word| (*word).to_owned()).collect()
    }
}

impl Line for &Vec<&str> {
    fn words(self) -> Vec<String> {
        self.as_slice().words()
    }
}

impl<const N: usize> Line for &[&str; N] {
    fn words(self) -> Vec<String> {
        self.as_slice().words()
    }
}

/// Runs a command with this on its stdin.
pub(crate) fn feed(mut command: Command, stdin: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Not every command reads its stdin.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    Ran::new(child.wait_with_output().unwrap())
}

/// Whether a text is an id as `facts/claudex.md` has it: `^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$`.
pub(crate) fn is_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits =
        |part: &str, count| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    matches!(parts[..], [day, time, random] if digits(day, 8) && digits(time, 6)
        && random.len() == 6 && random.bytes().all(hex))
}

/// Returns the id that `start` printed.
#[track_caller]
pub(crate) fn id_of(started: &Ran) -> String {
    let line = started
        .out
        .lines()
        .find_map(|line| line.strip_prefix("Review ID: "));
    let id = line.unwrap_or_else(|| panic!("no id: {started:?}"));
    assert!(is_id(id), "{id}");
    id.to_owned()
}
