//! Messages for errors of the TOML parser and of serde: the problem, the key and a help.

use crate::diagnostic::{Diagnostic, suggest};

/// Makes a problem of an error of the TOML parser.
pub(super) fn syntax_problem(error: &toml::de::Error, source: &str) -> Diagnostic {
    let span = error.span().unwrap_or(source.len()..source.len());
    let message = format!("not TOML: {}", error.message());
    let found = Diagnostic::new("syntax", span, message);
    match error.message() {
        "duplicate key" => found.help("the key is already set above; remove one of them"),
        _ => found,
    }
}

/// Makes a problem of a value that does not fit the model.
pub(super) fn form_problem(error: &toml::de::Error, source: &str) -> Diagnostic {
    let span = error.span().unwrap_or(source.len()..source.len());
    // The keys that lead to the value are shown at the end of the parser's message only.
    let shown = error.to_string();
    let path = shown.strip_prefix(error.message());
    let path = path.and_then(|path| path.trim().strip_prefix("in `")?.strip_suffix('`'));
    let (code, message, help) = describe(error.message(), path.unwrap_or_default());
    Diagnostic {
        help,
        ..Diagnostic::new(code, span, message)
    }
}

/// Returns the code, the message and the help for an error at a path.
fn describe(error: &str, path: &str) -> (&'static str, String, Option<String>) {
    let in_path = match path {
        "" => String::new(),
        path => format!(" in `{path}`"),
    };
    // The rules of the model have a help.
    if let Some((problem, help)) = error.split_once('\n') {
        let message = problem.replacen("{key}", &format!("`{path}`"), 1);
        return ("bad_value", message, Some(help.to_owned()));
    }
    if let Some((what, name, known)) = unknown(error) {
        let help = suggest(name, known.into_iter());
        return (
            "unknown_key",
            format!("unknown {what} `{name}`{in_path}"),
            help,
        );
    }
    if let Some(key) = error.strip_prefix("missing field ") {
        return ("missing_key", format!("missing key {key}{in_path}"), None);
    }
    let help = match path.rsplit_once('.') {
        Some(("transitions", name)) => format!("write `[[transitions.{name}]]`, with two brackets"),
        Some((_, "on_stop")) => {
            let help = "write `on_stop = { BEHAVIOUR = { ... } }`; without `on_stop` the phase is written in Rust";
            let message = format!("`{path}` must be a table of one behaviour");
            return ("wrong_type", message, Some(help.to_owned()));
        }
        _ => String::new(),
    };
    let message = match error.strip_prefix("invalid ").and_then(found_and_expected) {
        Some((found, expected)) => format!("`{path}` must be {expected}, not {found}"),
        None => format!("`{path}`: {error}"),
    };
    (
        "wrong_type",
        message,
        Some(help).filter(|help| !help.is_empty()),
    )
}

/// Splits the parser's message about an unknown key or word into what it is, its name, and those that are known.
fn unknown(error: &str) -> Option<(&str, &str, Vec<&str>)> {
    let (what, rest) = error.strip_prefix("unknown ")?.split_once(' ')?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let what = if what == "variant" { "word" } else { "key" };
    Some((what, quoted.next()?, quoted.collect()))
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
