//! `[phases.x.meta]`: whatever tools want to know of a phase, kept as the text of a JSON object.
//!
//! The engine never reads it. Dates become strings, and numbers that JSON does not have become null.

use toml::de::DeValue;

use super::read::{Reader, Value, in_order};
use crate::diagnostic::Diagnostic;

/// The most that a phase keeps, in bytes of JSON.
const LARGEST: usize = 16 << 10;

/// The table as JSON, its keys in the order of the file; `{}` where it is no table or too large, which is noted.
pub(super) fn json(reader: &mut Reader<'_>, meta: Value<'_>) -> String {
    const EMPTY: &str = "{}";
    if reader.table("meta", meta).is_none() {
        return EMPTY.to_owned();
    }
    let mut text = String::new();
    write(meta.get_ref(), &mut text);
    if text.len() > LARGEST {
        let message = format!("`meta` has {} bytes as JSON", text.len());
        let found = Diagnostic::new("claudex::machine::too_large", meta.span(), message);
        reader.note(found.help(format!(
            "{LARGEST} bytes are the most: keep what is long in a file of its own, and name it here"
        )));
        return EMPTY.to_owned();
    }
    text
}

fn write(value: &DeValue<'_>, out: &mut String) {
    match value {
        DeValue::String(text) => quote(text, out),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => out.push_str(&number.to_string()),
            Err(_) => out.push_str("null"),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => out.push_str(&number.to_string()),
            _ => out.push_str("null"),
        },
        DeValue::Boolean(flag) => out.push_str(if *flag { "true" } else { "false" }),
        DeValue::Datetime(time) => quote(&time.to_string(), out),
        DeValue::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item.get_ref(), out);
            }
            out.push(']');
        }
        DeValue::Table(table) => {
            out.push('{');
            for (at, (key, value)) in in_order(table).into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                quote(key.get_ref(), out);
                out.push(':');
                write(value.get_ref(), out);
            }
            out.push('}');
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            _ if character.is_control() => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)))
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
