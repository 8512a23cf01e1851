//! The values of a configuration file, as types that cannot be wrong. The error of each is one line for the problem
//! and one for the help.

use std::time::Duration;

use serde::Deserialize;

use crate::behaviours::verify;
use crate::process::configured::ConfiguredCommand;
use crate::process::limits::{Spelled, parse_duration};
use crate::text;

/// The reviewer's name that means "whichever is installed".
pub(super) const AUTO: &str = "auto";
/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// The longest label of a persona, in characters: it stands in every line of a table of rounds.
const MAX_LABEL_CHARS: usize = 80;
/// The longest prompt of a persona, in bytes.
const MAX_PROMPT_BYTES: usize = 16 * 1024;

/// Returns the texts of a list.
pub(super) fn texts<T: Into<String>>(list: Vec<T>) -> Vec<String> {
    list.into_iter().map(Into::into).collect()
}

/// A whole number from 1 to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, derive_more::Display, Deserialize)]
#[serde(try_from = "i64")]
pub(super) struct Whole<const MAX: u64>(pub(super) u64);

impl<const MAX: u64> TryFrom<i64> for Whole<MAX> {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        match u64::try_from(number) {
            Ok(number) if (1..=MAX).contains(&number) => Ok(Self(number)),
            _ => Err(format!(
                "`{number}` is out of range\ngive a whole number from 1 to {MAX}"
            )),
        }
    }
}

/// Declares a type that is parsed from text.
macro_rules! parsed_text {
    ($(#[$doc:meta])* $name:ident($inner:ty), $parse:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        #[serde(try_from = "String")]
        pub(super) struct $name(pub(super) $inner);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(value: String) -> Result<Self, String> {
                let parse: fn(String) -> Result<$inner, String> = $parse;
                parse(value).map(Self)
            }
        }

        impl From<$name> for $inner {
            fn from(value: $name) -> Self {
                value.0
            }
        }
    };
}

parsed_text!(
    /// A duration such as `90s` or `2m30s`.
    #[derive(derive_more::Display)]
    #[display("{}", Spelled(*_0))]
    Time(Duration),
    |value| parse_duration(&value)
        .map_err(|error| format!("{error}\nwrite it like 90s, 10m, 2m30s or 1h"))
);

parsed_text!(
    /// The timeout of a command that runs within a stop.
    CommandTime(Duration),
    |value| match Time::try_from(value)?.0 {
        time if time > ConfiguredCommand::LONGEST_TIMEOUT => Err(
            "a command runs within a stop, for 9m at most\ngive it less to do, or have the agent run what takes longer"
                .to_owned()
        ),
        time => Ok(time),
    }
);

parsed_text!(
    /// The name of a reviewer, a persona or a command.
    Name(String),
    |name| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        let is_name = name.len() <= MAX_NAME_BYTES
            && name.bytes().all(is_inner)
            && name.starts_with(|first: char| first.is_ascii_alphanumeric());
        match is_name {
            true => Ok(name),
            false => Err(format!(
                "`{}` cannot be a name\na name is a letter or digit, then letters, digits, `-`, `_` and `.`, {MAX_NAME_BYTES} characters at most",
                text::one_line(&name, 60)
            )),
        }
    }
);

parsed_text!(
    /// A program: an absolute path, or a name that is looked up in PATH.
    ProgramName(String),
    |program| {
        const HELP: &str = "give an absolute path, or a name that is found in PATH";
        if program.trim().is_empty() || text::plain(&program) != program || program.contains('\n') {
            return Err(format!("`program` is not the name of a program\n{HELP}"));
        }
        if program.contains('/') && !program.starts_with('/') {
            return Err(format!(
                "`{}` is a relative path\n{HELP}: a relative path would mean another program in each project",
                text::one_line(&program, 80)
            ));
        }
        Ok(program)
    }
);

parsed_text!(
    /// An argument of a program.
    Argument(String),
    |argument| match argument.contains('\0') {
        true => Err("an argument cannot hold a zero byte\ntake it out".to_owned()),
        false => Ok(argument),
    }
);

parsed_text!(
    /// The name of an environment variable.
    VariableName(String),
    |name| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_name = name.bytes().all(is_inner)
            && name.starts_with(|first: char| !first.is_ascii_digit());
        match is_name {
            true => Ok(name),
            false => Err(format!(
                "`{}` is not the name of a variable\ngive names alone, such as OPENAI_API_KEY; their values are taken from your environment",
                text::one_line(&name, 60)
            )),
        }
    }
);

parsed_text!(
    /// The name of a model.
    Model(String),
    |model| match model.trim().is_empty()
        || text::plain(&model) != model
        || model.starts_with('-')
    {
        true => Err(
            "`model` is not the name of a model\nleave it out for the program's own default"
                .to_owned()
        ),
        false => Ok(model),
    }
);

parsed_text!(
    /// A line that may run to verify the work.
    AllowedLine(String),
    |line| match verify::line_problem(&line) {
        Some(problem) => Err(format!(
            "the command `{}` {problem}\nwrite one line of visible characters",
            text::one_line(&text::shown(&line), 60)
        )),
        None => Ok(line),
    }
);

parsed_text!(
    /// The label of a persona: one line.
    Label(String),
    |label| {
        let label = label.trim();
        if label.is_empty() || label.contains(['\n', '\t']) || !text::is_plain(label) {
            return Err(
                "`label` is not a line of text\ngive a few words without control characters"
                    .to_owned(),
            );
        }
        if label.chars().count() > MAX_LABEL_CHARS {
            return Err(format!(
                "`label` is longer than {MAX_LABEL_CHARS} characters\nit stands in every line of a table; put the details into `prompt`"
            ));
        }
        Ok(label.to_owned())
    }
);

parsed_text!(
    /// The prompt of a persona.
    Prompt(String),
    |prompt| {
        let prompt = prompt.replace("\r\n", "\n");
        let prompt = prompt.trim();
        if prompt.is_empty() || !text::is_plain(prompt) {
            return Err(
                "`prompt` is empty, or has control or invisible characters\nsay in plain text who it is and what it looks at"
                    .to_owned(),
            );
        }
        if prompt.len() > MAX_PROMPT_BYTES {
            return Err(format!(
                "`prompt` is longer than {MAX_PROMPT_BYTES} bytes\nshorten it"
            ));
        }
        Ok(prompt.to_owned())
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_accepts_plain_words_only() {
        for good in ["a", "codex-strict", "My_Reviewer.2", "0", &"x".repeat(64)] {
            assert!(Name::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-x",
            ".x",
            "a b",
            "a/b",
            "é",
            "a\n",
            "a\u{202e}b",
            "a\0",
            "lint (auto)",
            &"x".repeat(65),
        ] {
            let error = Name::try_from(bad.to_owned()).unwrap_err();
            assert!(error.contains("cannot be a name"), "{error}");
        }
    }
}
