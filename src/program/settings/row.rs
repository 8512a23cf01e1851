//! One value of a layer with its place, and the rows of a file.

use camino::Utf8Path;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::program::suggest;
use crate::text;

/// The longest error or help, in characters.
const MAX_ERROR_CHARS: usize = 500;
/// The help if there is no other.
pub(super) const EXAMPLE_HELP: &str = "`config init` writes an example with every setting";

/// Settings that cannot be used: the file or variable, the place in it, the problem and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    /// The problem, with its place.
    pub(super) message: String,
    /// The next step.
    pub(super) help: String,
}

claudex_loop_engine::impl_diagnostic!(SettingsError, "claudex::config", |error| Some(
    error.help.clone()
));

impl SettingsError {
    /// Describes a problem at a place.
    pub(super) fn new(place: &str, message: &str, help: &str) -> Self {
        let message = text::one_line(message, MAX_ERROR_CHARS);
        Self {
            message: format!("{place}: {message}"),
            help: text::one_line(help, MAX_ERROR_CHARS),
        }
    }
}

/// One setting, as `config show` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The key: `reviewers.codex.model`.
    pub key: String,
    /// The value: text, a number, or a list of text.
    pub value: Value,
    /// The source: `user /home/me/.config/claudex-loop/config.toml:12`.
    pub source: String,
    /// The source with the column, for an error.
    #[serde(skip)]
    pub(super) place: String,
    /// The names that make the key.
    #[serde(skip)]
    pub(super) path: Vec<String>,
}

impl Row {
    /// Makes the row of a value.
    pub(super) fn new(path: Vec<String>, value: Value, source: String, place: String) -> Self {
        Self {
            key: path.join("."),
            value,
            source,
            place,
            path,
        }
    }

    /// Describes a problem of the row.
    pub(super) fn error(&self, message: &str, help: &str) -> SettingsError {
        SettingsError::new(&self.place, message, help)
    }

    /// Checks that a name of the row is one of these.
    pub(super) fn check_name(&self, name: &str, known: &[&str]) -> Result<(), SettingsError> {
        if known.contains(&name) {
            return Ok(());
        }
        let message = format!("unknown field `{name}`");
        Err(self.error(&message, &suggest::among(name, known)))
    }
}

/// Returns the line and the column of a byte, from 1.
fn position(text: &str, start: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(start)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Returns the place of a byte: `config.toml:2:1`.
pub(super) fn place(file: &Utf8Path, text: &str, start: usize) -> String {
    let (line, column) = position(text, start);
    format!("{}:{line}:{column}", text::exact(file))
}

/// Parses a file.
pub(super) fn parse<'t>(file: &Utf8Path, text: &'t str) -> Result<DeTable<'t>, SettingsError> {
    let table = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(text.len(), |span| span.start);
        SettingsError::new(&place(file, text, start), error.message(), EXAMPLE_HELP)
    })?;
    Ok(table.into_inner())
}

/// Returns the rows of a file, in their order. An empty table has none.
pub(super) fn rows_of(owner: &str, file: &Utf8Path, text: &str, table: &DeTable<'_>) -> Vec<Row> {
    let mut values = Vec::new();
    flatten(table, &[], &mut values);
    values.sort_by_key(|(start, ..)| *start);
    let row = |(start, path, value)| {
        let (line, _) = position(text, start);
        let source = format!("{owner} {}:{line}", text::exact(file));
        Row::new(path, value, source, place(file, text, start))
    };
    values.into_iter().map(row).collect()
}

/// Collects the values of a table, each with the place of its name and its path, which begins with `above`.
fn flatten(table: &DeTable<'_>, above: &[String], values: &mut Vec<(usize, Vec<String>, Value)>) {
    for (name, value) in table {
        let mut path = above.to_vec();
        path.push(name.get_ref().to_string());
        if let DeValue::Table(inner) = value.get_ref() {
            flatten(inner, &path, values);
            continue;
        }
        // Every value of TOML has its like in JSON.
        let json = Value::deserialize(ValueDeserializer::from(value.clone()));
        values.push((name.span().start, path, json.unwrap_or_default()));
    }
}
