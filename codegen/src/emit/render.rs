//! Renders the templates of the generator, with their filters.

use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, Error, UndefinedBehavior, Value};
use serde::Serialize;

use super::ident::{camel, is_regular, value_of};
use crate::diagnostic::one_line;
use crate::diagram;
use crate::templates::environment;

/// Converts a part of the machine for a template.
pub(crate) fn serde(part: impl Serialize) -> Value {
    Serde(part).into()
}

pub(crate) fn render(template: &str, view: &Value) -> String {
    let rendered = generator().and_then(|environment| environment.render_str(template, view));
    match rendered {
        Ok(text) => text + "\n",
        Err(error) => unreachable!("a template of the generator fails: {error:#}"),
    }
}

/// Returns the environment of the generator's templates.
fn generator() -> Result<Environment<'static>, Error> {
    let mut environment = environment()?;
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.add_filter("lit", |value: Value| rust_literal(&value));
    environment.add_filter("plain", |value: Value| unquoted(&value));
    environment.add_filter("camel", |name: &str| camel(name));
    environment.add_filter("value", |name: &str| value_of(name));
    environment.add_filter("doc", |doc: &str, name: &str| doc_comment(doc, name));
    environment.add_filter("mermaid", |text: &str| diagram::escaped(text));
    environment.add_filter("one_line", |text: &str| one_line(text));
    environment.add_test("regular", |name: &str| is_regular(name));
    environment.add_template("macros", include_str!("macros.jinja"))?;
    environment.add_template("expression", include_str!("expression.jinja"))?;
    Ok(environment)
}

/// Returns a doc as lines of a doc comment, or the name if there is no doc.
fn doc_comment(doc: &str, name: &str) -> String {
    if doc.trim().is_empty() {
        return format!("/// `{name}`");
    }
    // rustc refuses comments with characters that change the direction of reading.
    let comment = |line| format!("/// {}", one_line(line)).trim_end().to_owned();
    let lines: Vec<String> = doc.trim().lines().map(comment).collect();
    lines.join("\n")
}

/// Returns a text, a number, a flag or a list of them as Rust.
fn rust_literal(value: &Value) -> String {
    match (value.kind(), value.as_str()) {
        (_, Some(text)) => format!("{text:?}"),
        (ValueKind::Seq, _) => {
            let items = value.try_iter().into_iter().flatten();
            let literals: Vec<_> = items.map(|item| rust_literal(&item)).collect();
            format!("&[{}]", literals.join(", "))
        }
        _ => unquoted(value),
    }
}

/// Returns a text, a number or a flag as it is, without quotes.
fn unquoted(value: &Value) -> String {
    match value.kind() {
        ValueKind::Bool => value.is_true().to_string(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::doc_comment;

    #[test]
    fn doc_becomes_lines_of_a_comment() {
        let lines = doc_comment("one\n\ntwo \u{202e}gnp.exe\r\n", "x");
        assert_eq!(lines, "/// one\n///\n/// two \\u{202e}gnp.exe");
        assert_eq!(doc_comment(" ", "x"), "/// `x`");
    }
}
