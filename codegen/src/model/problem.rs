//! Messages for errors of the TOML parser and of serde: the problem, the key and a help.

use crate::diagnostic::{Diagnostic, list, suggest};

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
    let path = path_of(error);
    let path = match (start, path.as_str()) {
        (start, "") => start.to_owned(),
        ("", path) => path.to_owned(),
        (start, path) => format!("{start}.{path}"),
    };
    let Problem {
        code,
        message,
        help,
    } = describe(error.message(), &path);
    let found = Diagnostic::new(code, span, message);
    if help.is_empty() {
        found
    } else {
        found.help(help)
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

/// A message with its code and its help.
struct Problem {
    code: &'static str,
    message: String,
    help: String,
}

impl Problem {
    fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: help.into(),
        }
    }
}

fn describe(message: &str, path: &str) -> Problem {
    if let Some((key, known)) = unknown(message, "unknown field `") {
        return unknown_key(key, &known, path);
    }
    if let Some((key, known)) = message
        .strip_prefix("unexpected keys in table: ")
        .and_then(|rest| rest.split_once(", available keys: "))
    {
        let key = key.split_once(", ").map_or(key, |(first, _)| first);
        let known: Vec<&str> = known.split(", ").collect();
        return unknown_key(key, &known, path);
    }
    if let Some((word, known)) = unknown(message, "unknown variant `") {
        let message = format!("`{path}` cannot be {word:?}");
        let help = suggest(word, known.iter().copied());
        let help = help.unwrap_or_else(|| format!("use one of {}", list(&known)));
        return Problem::new("unknown_word", message, help);
    }
    if let Some(key) = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'))
    {
        let message = format!("missing key `{key}`{}", in_path(path));
        return Problem::new("missing_key", message, example(key));
    }
    if message.contains('\n') || message.starts_with("{key}") {
        let (problem, help) = message.split_once('\n').unwrap_or((message, ""));
        let message = problem.replacen("{key}", &format!("`{path}`"), 1);
        return Problem::new("bad_value", message, help);
    }
    if path.ends_with(".on_stop") {
        return on_stop(message, path);
    }
    wrong_type(message, path)
}

/// Splits the parser's message about an unknown key or word into it and those that are known.
fn unknown<'m>(message: &'m str, start: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let (word, known) = message.strip_prefix(start)?.rsplit_once("`, expected ")?;
    Some((word, known.split('`').skip(1).step_by(2).collect()))
}

fn unknown_key(key: &str, known: &[&str], path: &str) -> Problem {
    let message = format!("unknown key `{key}`{}", in_path(path));
    let help = suggest(key, known.iter().copied());
    let help = help.unwrap_or_else(|| format!("there are {}", list(known)));
    Problem::new("unknown_key", message, help)
}

fn in_path(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(" in `{path}`")
    }
}

/// Returns how to write a key that is missing.
fn example(key: &str) -> String {
    match key {
        "fields" => "add `[fields]`".to_owned(),
        "modes" | "phases" => format!("add `[{key}.NAME]`"),
        "transitions" => "add `[[transitions.NAME]]`".to_owned(),
        _ => format!("add `{key} = \"...\"`"),
    }
}

/// Describes a value of `on_stop` that is not one behaviour.
fn on_stop(message: &str, path: &str) -> Problem {
    let (problem, help) = if message.contains("more than 1 element") {
        (
            "names more than one behaviour",
            "keep one; a phase that needs both is written in Rust",
        )
    } else if message.contains("found 0 elements") {
        (
            "names no behaviour",
            "name one, or remove `on_stop`: the phase is then written in Rust",
        )
    } else if message.contains("expected struct ") {
        (
            "names a behaviour that is not a table",
            "write `on_stop = { BEHAVIOUR = { ... } }`",
        )
    } else {
        (
            "must be a table",
            "write `on_stop = { BEHAVIOUR = { ... } }`; without `on_stop` the phase is written in Rust",
        )
    };
    Problem::new("behaviour", format!("`{path}` {problem}"), help)
}

fn wrong_type(message: &str, path: &str) -> Problem {
    let (found, expected) = message
        .strip_prefix("invalid ")
        .and_then(|rest| rest.split_once(": ")?.1.rsplit_once(", expected "))
        .unwrap_or(("", "a string"));
    let expected = match expected {
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "u64" => "a whole number from 0",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let found = match found.split_once(' ').map_or((found, ""), |found| found) {
        ("sequence", _) => ", not a list".to_owned(),
        ("map", _) => ", not a table".to_owned(),
        ("string", _) => ", not a string".to_owned(),
        ("integer" | "boolean", value) => format!(", not {}", value.trim_matches('`')),
        _ => String::new(),
    };
    let help = match path.strip_prefix("transitions.") {
        Some(name) if !name.contains('.') => {
            format!("write `[[transitions.{name}]]`, with two brackets")
        }
        _ => String::new(),
    };
    let message = format!("`{path}` must be {expected}{found}");
    Problem::new("wrong_type", message, help)
}
