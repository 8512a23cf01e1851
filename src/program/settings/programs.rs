//! What the configuration may say of a program that it has started: a reviewer's, or a command's.

use std::time::Duration;

use crate::process::configured::ConfiguredCommand;
use crate::text;

/// Returns what is wrong with the name of a program, and what to do.
pub(super) fn program_problem(program: &str) -> Option<(String, &'static str)> {
    if program.trim().is_empty() || text::plain(program) != program || program.contains('\n') {
        let problem = "`program` is not the name of a program".to_owned();
        return Some((problem, "an absolute path, or a name that is found in PATH"));
    }
    let relative = program.contains('/') && !program.starts_with('/');
    relative.then(|| {
        (
            format!("`{}` is a relative path", text::one_line(program, 80)),
            "give an absolute path, or a name that is found in PATH: a relative path would mean another program in each project",
        )
    })
}

/// Returns what is wrong with arguments, and what to do.
pub(super) fn argument_problem(arguments: &[String]) -> Option<(String, &'static str)> {
    arguments
        .iter()
        .any(|argument| argument.contains('\0'))
        .then(|| {
            (
                "an argument cannot hold a zero byte".to_owned(),
                "take it out",
            )
        })
}

/// Returns what is wrong with the name of a variable, and what to do.
pub(super) fn variable_problem(name: &str) -> Option<(String, &'static str)> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let fits = !name.is_empty()
        && name.bytes().all(inner)
        && !name.starts_with(|first: char| first.is_ascii_digit());
    (!fits).then(|| {
        (
            format!("`{}` is not the name of a variable", text::one_line(name, 60)),
            "give names alone, such as OPENAI_API_KEY; their values are taken from your environment",
        )
    })
}

/// Returns what is wrong with a command's time, and what to do.
pub(super) fn timeout_problem(timeout: Duration) -> Option<(String, &'static str)> {
    (timeout > ConfiguredCommand::LONGEST_TIMEOUT).then(|| {
        (
            "a command runs within a stop, for 9m at most".to_owned(),
            "give it less to do, or have the agent run what takes longer",
        )
    })
}
