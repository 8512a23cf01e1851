//! The text of one layer of the settings: its table, the place of each key, and the first error in it.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize as _;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::Row;
use crate::program::suggest;
use crate::text;

/// The most dots in a project's file. Each may nest a table, and a tree of thousands overflows the stack.
const MAX_DOTS: usize = 500;
/// The longest error or help, in characters.
const MAX_ERROR_CHARS: usize = 500;
/// The owner of the project's file, who may be anybody.
pub(super) const PROJECT: &str = "project";
/// The help if there is no other.
const EXAMPLE_HELP: &str = "`config init` writes an example with every setting";

/// Settings that cannot be used: the file or variable, the place in it, the problem and the next step.
#[derive(Debug, derive_more::Display, derive_more::Error, miette::Diagnostic)]
#[display("{message}")]
#[diagnostic(code(claudex::config), help("{help}"))]
pub struct SettingsError {
    /// The problem, with its place.
    pub(super) message: String,
    /// The next step.
    pub(super) help: String,
}

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

/// A layer that is TOML.
pub(super) struct Layer<'t> {
    /// The owner of the settings: `user`, `project`, `environment` or `default`.
    owner: &'static str,
    /// The file. A layer without one names the source of each value in a comment after [`SOURCE`].
    path: Option<&'t Utf8Path>,
    text: &'t str,
    /// The keys and values that count.
    pub(super) table: DeTable<'t>,
}

/// The mark before the source of a value, in the text of a layer that is not a file.
pub(super) const SOURCE: &str = "\t# ";

impl<'t> Layer<'t> {
    /// Parses the text of a layer.
    pub(super) fn parse(
        owner: &'static str,
        path: Option<&'t Utf8Path>,
        text: &'t str,
    ) -> Result<Self, SettingsError> {
        let mut layer = Self {
            owner,
            path,
            text,
            table: DeTable::new(),
        };
        let mut dots = text.match_indices('.');
        if let Some((dot, _)) = dots.nth(MAX_DOTS).filter(|_| owner == PROJECT) {
            return Err(layer.error_at(dot, "too many dots", EXAMPLE_HELP));
        }
        let table = DeTable::parse(text).map_err(|error| layer.toml_error(&error))?;
        layer.table = table.into_inner();
        Ok(layer)
    }

    /// Removes a table from another one of the layer. Returns an empty one if it is missing.
    pub(super) fn take_table(
        &self,
        from: &mut DeTable<'t>,
        name: &str,
    ) -> Result<DeTable<'t>, SettingsError> {
        let Some(value) = from.remove(name) else {
            return Ok(DeTable::new());
        };
        let start = value.span().start;
        match value.into_inner() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.error_at(start, &format!("`{name}` must be a table"), EXAMPLE_HELP)),
        }
    }

    /// Checks that a table of the layer has no other keys than these.
    pub(super) fn check_keys(
        &self,
        table: &DeTable<'_>,
        known: &[&str],
    ) -> Result<(), SettingsError> {
        let mut names = table.keys();
        let Some(name) = names.find(|name| !known.contains(&name.get_ref().as_ref())) else {
            return Ok(());
        };
        let message = format!("unknown field `{}`", name.get_ref());
        let help = suggest::among(name.get_ref(), known);
        Err(self.error_at(name.span().start, &message, &help))
    }

    /// Adds a row for each value of a table of the layer. Its keys begin with `prefix`.
    pub(super) fn add_rows(
        &self,
        table: &DeTable<'_>,
        prefix: &str,
        rows: &mut BTreeMap<String, Row>,
    ) {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            if let DeValue::Table(inner) = value.get_ref() {
                self.add_rows(inner, &format!("{key}."), rows);
                continue;
            }
            let place = self.place(name.span().start);
            let source = match self.path {
                Some(_) => place.rsplit_once(':').map_or("", |(line, _)| line),
                None => &place,
            };
            let row = Row {
                key: key.clone(),
                // Every value of TOML has its like in JSON.
                value: Value::deserialize(ValueDeserializer::from(value.clone()))
                    .unwrap_or_default(),
                source: format!("{} {source}", self.owner).trim_end().to_owned(),
                place,
            };
            rows.insert(key, row);
        }
    }

    /// Describes an error of the parser or of serde. A message of two lines has its help in the second.
    pub(super) fn toml_error(&self, error: &toml::de::Error) -> SettingsError {
        let place = error.span().map_or(self.text.len(), |span| span.start);
        let message = error
            .message()
            .replace("expected i64", "expected an integer");
        let message = message.replace("expected a sequence", "expected a list");
        if let Some((message, help)) = message.split_once('\n') {
            return self.error_at(place, message, help);
        }
        if message.starts_with("unknown ") {
            let mut quoted = message.split('`').skip(1).step_by(2);
            let name = quoted.next().unwrap_or_default();
            let known: Vec<&str> = quoted.collect();
            let message = message.split(", expected").next().unwrap_or_default();
            return self.error_at(place, message, &suggest::among(name, &known));
        }
        self.error_at(place, &message, EXAMPLE_HELP)
    }

    fn error_at(&self, start: usize, message: &str, help: &str) -> SettingsError {
        SettingsError::new(&self.place(start), message, help)
    }

    /// Returns the place of a byte: `config.toml:2:1`, or the variable that the line itself names.
    pub(super) fn place(&self, start: usize) -> String {
        let before = &self.text[..self.text.floor_char_boundary(start)];
        let line = before.matches('\n').count();
        let Some(path) = self.path else {
            let line = self.text.lines().nth(line).unwrap_or_default();
            let source = line.split_once(SOURCE).map(|(_, source)| source);
            return source.unwrap_or_default().to_owned();
        };
        let before = before.rsplit('\n').next().unwrap_or_default();
        let column = before.chars().count() + 1;
        format!("{}:{}:{column}", text::exact(path), line + 1)
    }
}

/// Merges a table over another one.
pub(super) fn merge_tables<'t>(lower: &mut DeTable<'t>, upper: DeTable<'t>) {
    for (name, value) in upper {
        let key = name.get_ref().as_ref();
        let below = lower.get_mut(key).map(Spanned::get_mut);
        if let (Some(DeValue::Table(lower)), DeValue::Table(upper)) = (below, value.get_ref()) {
            merge_tables(lower, upper.clone());
        } else {
            lower.remove(key);
            lower.insert(name, value);
        }
    }
}
