//! Texts of a machine file that follow a rule: names, words, paths, and texts with `{field}` in them.
//!
//! The message of a broken rule is the problem, a line end and the help. `{key}` in it stands for the key.

use std::fmt;
use std::ops::{Deref, Range};

use serde::Deserialize;

/// Defines types of texts, each with the function that checks its rule.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $check:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let check: fn(&str) -> Result<(), String> = $check;
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

texts! {
    /// The name of a part of a machine: lowercase letters, digits and `_`.
    Name: check_name;
    /// A relative path below its folder.
    Path: |text| check_path(text, false);
    /// A relative path that may lead out of its folder.
    FolderPath: |text| check_path(text, true);
    /// A word of a `one_of`.
    Word: |text| check(
        text,
        has_form(text, |_| true, |byte| is_lower(byte) || b"-_".contains(&byte), 64),
        "use a-z, 0-9, - and _, at most 64 characters, such as `max-reached`",
    );
    /// The form of a phase in a document.
    StoredWord: |text| check(
        text,
        has_form(text, |first| first.is_ascii_lowercase(), |byte| is_lower(byte) || b"-_".contains(&byte), 64),
        "use a-z, then a-z, 0-9, _ and -, at most 64 characters, such as `plan-review`",
    );
    /// The name of a plugin.
    PluginName: |text| check(
        text,
        has_form(text, |first| first.is_ascii_lowercase(), |byte| is_lower(byte) || byte == b'-', 64),
        "use a-z, then a-z, 0-9 and -, at most 64 characters, such as `release-train`",
    );
    /// The name of a Rust type.
    TypeName: |text| check(
        text,
        has_form(text, |first| first.is_ascii_uppercase(), |byte| byte.is_ascii_alphanumeric(), usize::MAX)
            && text != "Self",
        "name a type that is in scope where `machine!` is, such as `Decisions`; if it has parameters, add an alias",
    );
    /// The name of an environment variable.
    Variable: |text| check(
        text,
        has_form(
            text,
            |first| first.is_ascii_uppercase(),
            |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_',
            usize::MAX,
        ),
        "use A-Z, then A-Z, 0-9 and _, such as `PLAN_STATE_DIR`",
    );
    /// The extension of a document.
    Extension: |text| check(
        text,
        has_form(text, |first| first.is_ascii_alphanumeric(), is_file_byte, usize::MAX) && text != "lock",
        "use letters, digits, `.`, `_` and `-`, without a leading dot, and not `lock`",
    );
    /// The name of a command of the user's configuration. A file is named after it.
    CommandName: |text| check(
        text,
        has_form(text, |first| first.is_ascii_alphanumeric(), is_file_byte, 64),
        "name a `[commands.NAME]` table of the user's configuration, which sets what runs: a letter or digit, then \
         letters, digits, `-`, `_` and `.`, at most 64 characters",
    );
    /// A word of a verdict, for users and other programs.
    VerdictWord: |text| check(
        text,
        has_form(text, |_| true, |byte| byte.is_ascii_alphabetic(), 40),
        "write one word of ASCII letters, at most 40",
    );
    /// `{program}`: the program gives the commands.
    FromProgram: |text| check(
        text,
        text == PROGRAM,
        "write \"{program}\": the program gives the commands, in Rust",
    );
    /// A text with `{field}` in it.
    Template: check_template;
    /// A file under review, or several by `*`.
    Subject: check_subject;
    /// The file of the findings, with `{n}` for the number of the review.
    FindingsFile: check_findings_file;
}

/// The text that stands for something that the program gives, in Rust.
pub(super) const PROGRAM: &str = "{program}";
/// The place of a number in the name of a file.
const NUMBER: &str = "{n}";

fn check(text: &str, is_right: bool, help: &str) -> Result<(), String> {
    if is_right {
        Ok(())
    } else {
        Err(format!("{{key}} cannot be {text:?}\n{help}"))
    }
}

fn has_form(text: &str, first: fn(u8) -> bool, rest: fn(u8) -> bool, max_bytes: usize) -> bool {
    let is_first_right = text.bytes().next().is_some_and(first);
    is_first_right && text.bytes().all(rest) && text.len() <= max_bytes
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_file_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-".contains(&byte)
}

/// Returns whether a text is `[a-z][a-z0-9]*(_[a-z0-9]+)*` of at most 64 characters. `self_` would be the type `Self`,
/// and rustc and people take `a__b` for a typo.
pub(crate) fn is_name(text: &str) -> bool {
    let has_letters = has_form(
        text,
        |first| first.is_ascii_lowercase(),
        |byte| is_lower(byte) || byte == b'_',
        64,
    );
    has_letters && !text.contains("__") && !text.ends_with('_')
}

fn check_name(text: &str) -> Result<(), String> {
    if is_name(text) {
        return Ok(());
    }
    let help = "a name is a-z, then a-z, 0-9 and single _ between them, at most 64 characters";
    let similar = similar_name(text).map_or_else(String::new, |name| format!(", such as `{name}`"));
    Err(format!("{text:?} cannot be a name\n{help}{similar}"))
}

/// Returns the name that was probably meant: `MarkDone` and `mark-done` are `mark_done`.
fn similar_name(text: &str) -> Option<String> {
    let mut name = String::new();
    for character in text.chars().take(65) {
        if !character.is_ascii_lowercase() && !character.is_ascii_digit() && !name.ends_with('_') {
            name.push('_');
        }
        if character.is_ascii_alphanumeric() {
            name.push(character.to_ascii_lowercase());
        }
    }
    let name = name.trim_matches('_').to_owned();
    is_name(&name).then_some(name)
}

fn check_path(text: &str, may_leave: bool) -> Result<(), String> {
    let is_absolute = text.starts_with(['/', '\\']) || text.as_bytes().get(1) == Some(&b':');
    let leaves = !may_leave && text.split(['/', '\\']).any(|part| part == "..");
    let is_relative = !text.is_empty() && !is_absolute && !leaves;
    check(
        text,
        is_relative && !text.chars().any(char::is_control),
        if may_leave {
            "write a relative path with / between its parts"
        } else {
            "write a relative path without .., with / between its parts"
        },
    )
}

/// Returns the names between braces with their places in the text, or the place of a brace that has no name in it.
pub(crate) fn interpolated(text: &str) -> Result<Vec<(&str, Range<usize>)>, Range<usize>> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['{', '}']) {
        let open = at + found;
        let name = text[open..]
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
            .map(|(name, _)| name);
        match name.filter(|name| is_name(name)) {
            Some(name) => names.push((name, open + 1..open + 1 + name.len())),
            None => return Err(open..open + 1),
        }
        at = names.last().map_or(text.len(), |(_, part)| part.end + 1);
    }
    Ok(names)
}

fn check_template(text: &str) -> Result<(), String> {
    match interpolated(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(
            "{key} has a brace without the name of a field\nwrite `{field}`; no other braces are allowed"
                .to_owned(),
        ),
    }
}

fn check_subject(text: &str) -> Result<(), String> {
    check_template(text)?;
    let (folder, name) = text.rsplit_once('/').unwrap_or(("", text));
    let numbers = name.matches(NUMBER).count();
    let is_part = |whole: &str| text.contains(whole) && text != whole;
    let problem = if folder.contains('*') {
        "has `*` in the name of a folder"
    } else if folder.contains(NUMBER) {
        "has `{n}` in the name of a folder"
    } else if numbers > 1 {
        "has `{n}` twice"
    } else if numbers == 1 && name.contains('*') {
        "has both `{n}` and `*`"
    } else if is_part("{changes}") {
        "has `{changes}` inside a path"
    } else if is_part(PROGRAM) {
        "has `{program}` inside a path"
    } else {
        return Ok(());
    };
    Err(format!(
        "{{key}} {problem}\nthe name of a file takes `*` or one `{{n}}`; `{{changes}}` and `{{program}}` are subjects of \
         their own"
    ))
}

/// Checks that each review has a file of its own.
fn check_findings_file(text: &str) -> Result<(), String> {
    check_template(text)?;
    let (folder, name) = text.rsplit_once('/').unwrap_or(("", text));
    if folder.contains(NUMBER) || name.matches(NUMBER).count() != 1 {
        return Err("{key} must have `{n}` once, in the name of the file\n\
                    each review writes a file of its own, such as `reviews/plan-review-{n}.md`"
            .to_owned());
    }
    Ok(())
}
