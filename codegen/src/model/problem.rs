//! Messages for errors of the TOML parser and of serde: the problem, the key and a help.

use crate::diagnostic::{Diagnostic, suggest};

/// Describes an error of the TOML parser.
pub(super) fn syntax_problem(error: &toml::de::Error, source: &str) -> Diagnostic {
    let span = error.span().unwrap_or(source.len()..source.len());
    let message = format!("not TOML: {}", error.message());
    let found = Diagnostic::new("syntax", span, message);
    match error.message() {
        "duplicate key" => found.help("the key is already set above; remove one of them"),
        _ => found,
    }
}

/// Describes a value that does not fit the model. `start` is the keys that lead to what was read.
pub(super) fn form_problem(error: &toml::de::Error, start: &str, source: &str) -> Diagnostic {
    let span = error.span().unwrap_or(source.len()..source.len());
    let keys = [start, &path_of(error)];
    let path = keys.into_iter().filter(|keys| !keys.is_empty());
    let (code, message, help) = describe(error.message(), &path.collect::<Vec<_>>().join("."));
    let found = Diagnostic::new(code, span, message);
    match help {
        Some(help) => found.help(help),
        None => found,
    }
}

/// Returns the keys that lead to the value, joined by dots. Empty at the root. The parser only shows them at the end of its
/// message.
fn path_of(error: &toml::de::Error) -> String {
    let shown = error.to_string();
    let keys = shown.strip_prefix(error.message());
    let keys = keys.and_then(|keys| keys.trim().strip_prefix("in `")?.strip_suffix('`'));
    keys.unwrap_or_default().to_owned()
}

/// Returns the code, the message and the help for an error at a path.
fn describe(error: &str, path: &str) -> (&'static str, String, Option<String>) {
    let in_path = match path {
        "" => String::new(),
        path => format!(" in `{path}`"),
    };
    if let Some((problem, help)) = error.split_once('\n') {
        let message = problem.replacen("{key}", &format!("`{path}`"), 1);
        return ("bad_value", message, Some(help.to_owned()));
    }
    if let Some((key, known)) = unknown(error) {
        let (code, what) = if error.starts_with("unknown variant") {
            ("unknown_word", "word")
        } else {
            ("unknown_key", "key")
        };
        let help = suggest(key, known.into_iter());
        return (code, format!("unknown {what} `{key}`{in_path}"), help);
    }
    if let Some(key) = error.strip_prefix("missing field ") {
        let help = match key.trim_matches('`') {
            "fields" => Some("add `[fields]`".to_owned()),
            table @ ("modes" | "phases") => Some(format!("add `[{table}.NAME]`")),
            "transitions" => Some("add `[[transitions.NAME]]`".to_owned()),
            _ => None,
        };
        return ("missing_key", format!("missing key {key}{in_path}"), help);
    }
    if path.ends_with(".on_stop") {
        let help = "write `on_stop = { BEHAVIOUR = { ... } }`; without `on_stop` the phase is written in Rust";
        let message = format!("`{path}` must be a table of one behaviour");
        return ("behaviour", message, Some(help.to_owned()));
    }
    let help = match path.strip_prefix("transitions.") {
        Some(name) if !name.contains('.') => {
            Some(format!("write `[[transitions.{name}]]`, with two brackets"))
        }
        _ => None,
    };
    let message = match error.strip_prefix("invalid ").and_then(found_and_expected) {
        Some((found, expected)) => format!("`{path}` must be {expected}, not {found}"),
        None => format!("`{path}`: {error}"),
    };
    ("wrong_type", message, help)
}

/// Splits the parser's message about an unknown key or word into it and those that are known.
fn unknown(error: &str) -> Option<(&str, Vec<&str>)> {
    if let Some(keys) = error.strip_prefix("unexpected keys in table: ") {
        let (keys, known) = keys.split_once(", available keys: ")?;
        return Some((keys.split(", ").next()?, known.split(", ").collect()));
    }
    let mut quoted = error
        .strip_prefix("unknown ")?
        .split('`')
        .skip(1)
        .step_by(2);
    Some((quoted.next()?, quoted.collect()))
}

fn found_and_expected(error: &str) -> Option<(&str, &str)> {
    let plain = |term| match term {
        "sequence" | "a sequence" => "a list",
        "map" | "a map" => "a table",
        "u64" => "a whole number from 0",
        "a boolean" => "true or false",
        _ if term.starts_with("struct ") => "a table",
        _ => term,
    };
    let (found, expected) = error.split_once(": ")?.1.rsplit_once(", expected ")?;
    Some((plain(found), plain(expected)))
}
