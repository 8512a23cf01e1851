//! Texts of a machine file that follow a rule: names, words, paths and texts with `{field}`.
//!
//! The message of a broken rule is the problem, a line end and the help. `{key}` is the key.

use derive_more::{AsRef, Deref, Display};
use serde::{Deserialize, Serialize};

use crate::diagnostic::section;

/// Defines types of texts, each with its rule.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $is_right:expr;)*) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize, AsRef, Deref, Display,
        )]
        #[as_ref(str)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let is_right: fn(&str) -> bool = $is_right;
                if is_right(&text) {
                    return Ok(Self(text));
                }
                let advice = section(include_str!("texts.md"), stringify!($name));
                Err(format!("{{key}}: {text:?} is not allowed\n{}", advice.trim_end()))
            }
        }
    )*};
}

texts! {
    /// The name of a part of a machine: lowercase letters, digits and `_`.
    Name: is_name;
    /// A relative path below its folder.
    Path: is_path;
    /// A word of a `one_of`, or the form of a phase in a document.
    Word: |text| has_form(text, "a0", "a0-_", 64) && text != "self";
    /// The name of a plugin.
    PluginName: |text| has_form(text, "a", "a0-", 64);
    /// The name of a Rust type.
    TypeName: |text| has_form(text, "A", "Aa0", 255) && text != "Self";
    /// The name of an environment variable.
    Variable: |text| has_form(text, "A", "A0_", 255);
    /// The keys of a field in a document of frontmatter.
    Key: |text| text.split('.').count() <= 8 && text.split('.').all(is_key);
    /// The extension of a document.
    Extension: |text| has_form(text, "Aa0", "Aa0._-", 255) && text != "lock";
    /// The name of a command in the user's configuration. A file is named after it.
    CommandName: |text| has_form(text, "Aa0", "Aa0._-", 64);
    /// A word of a verdict, for users and other programs.
    VerdictWord: |text| has_form(text, "Aa", "Aa", 40);
    /// A text with `{field}` in it, or a path.
    Template: |text| !text.is_empty() && !text.starts_with(['/', '~']) && interpolated(text).is_some();
    /// The question of a dialog.
    Question: |text| interpolated(text).is_some() && fits_dialog(text, 300);
    /// The header of a dialog.
    Header: |text| interpolated(text).is_some() && fits_dialog(text, 12);
    /// The label or the description of an option of a dialog.
    Label: |text| fits_dialog(text, 300) && !text.contains(['{', '}']);
    /// A file under review, or several by `*`.
    Subject: is_subject;
    /// The file of the findings, with `{n}` for the number of the review.
    FindingsFile: |text| interpolated(text).is_some() && text.matches(NUMBER).count() == 1 && file_name(text).contains(NUMBER);
}

/// The text in place of a value that the program gives in Rust.
pub(super) const PROGRAM: &str = "{program}";
/// The place of a number in the name of a file.
const NUMBER: &str = "{n}";

/// Returns whether a text begins with one of these characters and has only those of `rest`. `A`,
/// `a` and `0` represent all letters of their case and for all digits.
fn has_form(text: &str, first: &str, rest: &str, max_bytes: usize) -> bool {
    let is_of = |class: &str, character: char| match character {
        'A'..='Z' => class.contains('A'),
        'a'..='z' => class.contains('a'),
        '0'..='9' => class.contains('0'),
        _ => class.contains(character),
    };
    text.starts_with(|character| is_of(first, character))
        && text.chars().all(|character| is_of(rest, character))
        && text.len() <= max_bytes
}

/// Returns whether a text is `[a-z][a-z0-9]*(_[a-z0-9]+)*` of at most 64 characters. `self_` would
/// be the type `Self`, and rustc and people take `a__b` for a typo.
pub(crate) fn is_name(text: &str) -> bool {
    let is_reserved = ["self", "super", "crate"].contains(&text);
    has_form(text, "a", "a0_", 64) && !text.contains("__") && !text.ends_with('_') && !is_reserved
}

fn is_key(text: &str) -> bool {
    let is_literal = |word: &str| text.eq_ignore_ascii_case(word);
    has_form(text, "Aa_", "Aa0_-", 128) && !["null", "true", "false"].into_iter().any(is_literal)
}

fn is_path(text: &str) -> bool {
    let is_absolute = text.starts_with(['/', '\\']) || text.as_bytes().get(1) == Some(&b':');
    let leads_out = text.split(['/', '\\']).any(|part| part == "..");
    !text.is_empty() && !is_absolute && !leads_out && !text.chars().any(char::is_control)
}

/// Returns whether the client's dialog can show a text. Fields in braces do not count.
fn fits_dialog(text: &str, max_chars: usize) -> bool {
    let names = interpolated(text).unwrap_or_default();
    let in_braces: usize = names.iter().map(|name| name.len() + 2).sum();
    let is_one_line = text.trim() == text && !text.chars().any(char::is_control);
    !text.is_empty() && is_one_line && text.chars().count() - in_braces <= max_chars
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn is_subject(text: &str) -> bool {
    let name = file_name(text);
    let folder = &text[..text.len() - name.len()];
    let patterns = |text: &str| text.matches(NUMBER).count() + text.matches('*').count();
    let is_file = Template::try_from(text.to_owned()).is_ok()
        && !text.contains("{changes}")
        && !text.contains(PROGRAM)
        && patterns(folder) == 0
        && patterns(name) <= 1;
    is_file || ["{changes}", PROGRAM].contains(&text)
}

/// Returns the names between braces, or `None` if a brace has no name.
pub(crate) fn interpolated(text: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['{', '}']) {
        let (name, after) = rest[open..].strip_prefix('{')?.split_once('}')?;
        names.push(Some(name).filter(|name| is_name(name))?);
        rest = after;
    }
    Some(names)
}
