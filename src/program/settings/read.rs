//! A configuration file's text as a value of a type, or everything that does not fit the type.
//!
//! serde stops at the first thing that does not fit. Here that one is noted and cut out of the tree, and the rest is
//! read again, until all of it fits. What the values mean is not known here.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::findings::{Finding, MOST};
use super::user_file::{MOST_PARTS, deep_key};
use crate::program::suggest;

/// What a misspelt or forbidden key is called: the table that it stands in (empty at the top), the key, the keys that
/// are known there.
pub(super) type Unknown<'a> = &'a dyn Fn(&[String], &str, &[&str]) -> (String, String);

/// Whether a type has this key at its top.
pub(super) fn knows<T: DeserializeOwned>(key: &str) -> bool {
    let nothing = "\"\" = 0";
    let table = DeTable::parse(nothing).map(Deserializer::from);
    match table.map(T::deserialize) {
        Ok(Err(error)) => quoted(error.message()).contains(&key),
        _ => false,
    }
}

/// Reads a file's text.
///
/// # Errors
/// Everything that is no TOML; else everything that does not fit the type.
pub(super) fn read<T: DeserializeOwned>(
    source: &str,
    unknown: Unknown<'_>,
) -> Result<T, Vec<Finding>> {
    if let Some(span) = deep_key(source) {
        let finding = Finding::new(
            "claudex::config::too_deep",
            span,
            "a key has too many parts",
        );
        return Err(vec![finding.help(format!("{MOST_PARTS} are the most"))]);
    }
    let (mut tree, errors) = DeTable::parse_recoverable(source);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| syntax(source, error)).collect());
    }
    let mut found = Vec::new();
    loop {
        let error = match T::deserialize(Deserializer::from(tree.clone())) {
            Ok(value) if found.is_empty() => return Ok(value),
            Ok(_) => return Err(found),
            Err(error) => error,
        };
        let span = error.span().unwrap_or(0..0);
        let cut = cut(tree.get_mut(), &span, &mut Vec::new());
        let more = cut.is_some() && found.len() < MOST;
        found.push(described(&error, span, cut, unknown));
        if !more {
            return Err(found);
        }
    }
}

/// What was cut out of the tree.
struct Cut {
    /// The tables above it.
    above: Vec<String>,
    key: String,
    /// Whether the key itself was wrong, and not its value.
    key_is_wrong: bool,
}

fn described(
    error: &toml::de::Error,
    span: Range<usize>,
    cut: Option<Cut>,
    unknown: Unknown<'_>,
) -> Finding {
    match cut {
        Some(cut) if cut.key_is_wrong => {
            let known = quoted(error.message());
            let (message, help) = unknown(&cut.above, &cut.key, &known);
            Finding::new("claudex::config::unknown_key", span, message)
                .label("not a key of this table")
                .help(help)
        }
        Some(cut) => {
            let path = [cut.above.as_slice(), &[cut.key]].concat().join(".");
            let message = format!("`{path}`: {}", in_words_of_toml(error.message()));
            Finding::new("claudex::config::value", span, message).label("this value")
        }
        None => Finding::new("claudex::config::value", span, error.message()),
    }
}

/// serde's message with the names that TOML has for its types.
fn in_words_of_toml(message: &str) -> String {
    message
        .replace("invalid type: map,", "invalid type: a table,")
        .replace("invalid type: sequence,", "invalid type: an array,")
        .replace("expected a sequence", "expected an array")
        .replace("expected i64", "expected a whole number")
}

/// The usual words for a key that is not known.
pub(super) fn misspelt(above: &[String], key: &str, known: &[&str]) -> (String, String) {
    let table = match above {
        [] => "the file".to_owned(),
        above => format!("`[{}]`", above.join(".")),
    };
    let help = match crate::program::suggest::word(key, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("{table} takes {}", suggest::list(known)),
    };
    (format!("`{key}` is not a key of {table}"), help)
}

/// Takes out of the tree what an error is about: the innermost entry whose key or value it names. Tables that were
/// never written themselves (`a` in `[a.b]`) have no place of their own, so each is looked into.
fn cut(table: &mut DeTable<'_>, span: &Range<usize>, above: &mut Vec<String>) -> Option<Cut> {
    let wrong_key = table.keys().find(|key| key.span() == *span);
    if let Some(key) = wrong_key.map(|key| key.get_ref().to_string()) {
        return Some(take(table, key, true, above));
    }
    for (key, value) in table.iter_mut() {
        if let DeValue::Table(inner) = value.get_mut() {
            above.push(key.get_ref().to_string());
            let found = cut(inner, span, above);
            above.pop();
            if found.is_some() {
                return found;
            }
        }
    }
    let holds = |value: &Spanned<DeValue<'_>>| {
        let place = value.span();
        place.start <= span.start && span.end <= place.end
    };
    let around = table.iter().find(|(_, value)| holds(value));
    let key = around.map(|(key, _)| key.get_ref().to_string())?;
    Some(take(table, key, false, above))
}

fn take(table: &mut DeTable<'_>, key: String, key_is_wrong: bool, above: &[String]) -> Cut {
    table.remove(key.as_str());
    Cut {
        above: above.to_vec(),
        key,
        key_is_wrong,
    }
}

/// The words between backquotes after "expected" in serde's message about a field that it does not know.
fn quoted(message: &str) -> Vec<&str> {
    let (_, expected) = message.split_once("expected").unwrap_or_default();
    expected.split('`').skip(1).step_by(2).collect()
}

fn syntax(source: &str, error: &toml::de::Error) -> Finding {
    let span = error.span().unwrap_or(source.len()..source.len());
    let finding = Finding::new(
        "claudex::config::syntax",
        span,
        format!("not TOML: {}", error.message()),
    );
    match error.message() {
        "duplicate key" => finding
            .label("the second time")
            .help("the key was given above; keep one of them"),
        _ => finding
            .label("here")
            .help("text stands in quotes: reviewer = \"lint\""),
    }
}
