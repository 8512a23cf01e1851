//! What one scalar of YAML means, by its characters.

use super::yaml::Value;

/// Returns whether a text is still that of the template: `{path}`, `null | "{reason}"`.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let text = text
        .strip_prefix("null |")
        .unwrap_or(text)
        .trim()
        .trim_matches('"');
    let inside = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    inside.is_some_and(|inside| !inside.trim().is_empty() && !inside.contains(['{', '}', ':']))
}

/// Returns how long a scalar in quotes is, the quotes counted.
pub(crate) fn quoted_length(text: &str) -> usize {
    let quote = text.bytes().next();
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if quote == Some(b'"') => drop(bytes.next()),
            _ if Some(byte) != quote => {}
            b'\'' if bytes.peek().is_some_and(|(_, next)| *next == b'\'') => drop(bytes.next()),
            _ => return at + 1,
        }
    }
    text.len()
}

/// Returns what a plain scalar means where it is no text, by the core schema of YAML 1.2.
pub(crate) fn resolved(plain: &str) -> Option<Value> {
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Flag(true)),
        "false" | "False" | "FALSE" => return Some(Value::Flag(false)),
        ".nan" | ".NaN" | ".NAN" => return Some(Value::Real(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "-.inf" => return Some(Value::Real(f64::INFINITY)),
        _ => {}
    }
    let digits = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        || !digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        || !digits.bytes().any(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    match plain.strip_prefix('+').unwrap_or(plain).parse() {
        Ok(whole) => Some(Value::Whole(whole)),
        Err(_) => plain.parse().ok().map(Value::Real),
    }
}
