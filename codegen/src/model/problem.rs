//! Messages for values that do not fit the model: the problem, the key and a help.

use crate::diagnostic::{Diagnostic, suggest};

/// Makes a problem of a value that does not fit the model.
pub(super) fn form_problem(error: &toml::de::Error, source: &str) -> Diagnostic {
    let span = error.span().unwrap_or(source.len()..source.len());
    // The keys that lead to the value are shown at the end of the parser's message only.
    let text = error.to_string();
    let end = text.strip_prefix(error.message());
    let path = end.and_then(|end| end.trim().strip_prefix("in `")?.strip_suffix('`'));
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
        let message = format!("unknown {what} `{name}`{in_path}");
        return ("unknown_key", message, suggest(name, known.into_iter()));
    }
    if path.ends_with(".on_stop") && !error.starts_with("missing field ") {
        let help = "write `on_stop = { BEHAVIOUR = { ... } }`; without `on_stop` the phase is written in Rust";
        let message = format!("`{path}` must be a table of one behaviour");
        return ("wrong_type", message, Some(help.to_owned()));
    }
    let part = path.split_once('.').filter(|(_, name)| !name.contains('.'));
    let header = match (part, error.strip_prefix("invalid type: map, expected a ")) {
        (Some(("transitions", _)), Some("sequence")) => format!("[[{path}]]"),
        (Some(("phases" | "modes", _)), Some("string")) => format!("[{path}]"),
        _ => String::new(),
    };
    if !header.is_empty() {
        let message = format!("`{path}` has the wrong brackets");
        return ("wrong_type", message, Some(format!("write `{header}`")));
    }
    let error = error.replace("wanted string or table", "expected a word in quotes");
    match error.strip_prefix("missing field ") {
        Some(key) => ("missing_key", format!("missing key {key}{in_path}"), None),
        None => ("wrong_type", format!("`{path}`: {error}"), None),
    }
}

/// Splits the parser's message about an unknown key or word into kind, name and known names.
fn unknown(error: &str) -> Option<(&str, &str, Vec<&str>)> {
    let (kind, rest) = error.strip_prefix("unknown ")?.split_once(' ')?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let kind = if kind == "variant" { "word" } else { "key" };
    Some((kind, quoted.next()?, quoted.collect()))
}
