//! The text of a layer: its table, the line of each key, and the first problem in it.

use std::collections::BTreeMap;

use camino::Utf8Path;
use toml::de::{DeTable, DeValue};
use toml_parser::lexer::TokenKind;

use crate::program::suggest;
use crate::text;

/// The most parts of a key. The parser bounds nested tables and the parts of a key, but a tree with the product of both
/// overflows the stack.
const MAX_KEY_PARTS: usize = 8;
/// The longest problem or help, in characters.
const MAX_PROBLEM_CHARS: usize = 500;
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

/// A file that is TOML.
pub(super) struct File<'t> {
    path: &'t Utf8Path,
    text: &'t str,
    /// The keys and values that count.
    pub(super) table: DeTable<'t>,
}

impl<'t> File<'t> {
    /// Parses the text of a file.
    pub(super) fn parse(path: &'t Utf8Path, text: &'t str) -> Result<Self, SettingsError> {
        let table = DeTable::new();
        let mut file = Self { path, text, table };
        let mut dots = 0;
        for token in toml_parser::Source::new(text).lex() {
            dots = match token.kind() {
                TokenKind::Dot => dots + 1,
                TokenKind::Atom | TokenKind::Whitespace => dots,
                TokenKind::BasicString | TokenKind::LiteralString => dots,
                _ => 0,
            };
            if dots == MAX_KEY_PARTS {
                let help = format!("use {MAX_KEY_PARTS} at most");
                return Err(file.error_at(token.span().start(), "a key has too many parts", &help));
            }
        }
        let table = DeTable::parse(text).map_err(|error| file.toml_error(&error))?;
        file.table = table.into_inner();
        Ok(file)
    }

    /// Removes a table from another one of the file. Returns an empty one if it is missing.
    pub(super) fn take_table(
        &self,
        from: &mut DeTable<'t>,
        name: &str,
    ) -> Result<DeTable<'t>, SettingsError> {
        let Some(value) = from.remove(name) else {
            return Ok(DeTable::new());
        };
        let place = value.span().start;
        match value.into_inner() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.error_at(place, &format!("`{name}` is not a table"), EXAMPLE_HELP)),
        }
    }

    /// Checks that a table of the file has no other keys than these.
    pub(super) fn check_keys(
        &self,
        table: &DeTable<'_>,
        known: &[&str],
    ) -> Result<(), SettingsError> {
        let mut names = table.keys();
        let Some(name) = names.find(|name| !known.contains(&name.get_ref().as_ref())) else {
            return Ok(());
        };
        let message = format!("unknown field `{}`", text::one_line(name.get_ref(), 60));
        let help = suggest::among(name.get_ref(), known);
        Err(self.error_at(name.span().start, &message, &help))
    }

    /// Returns the byte at which each value stands, by its key: `reviewers.codex.model`. A table stands at its name.
    fn places(&self) -> BTreeMap<String, usize> {
        let mut places = BTreeMap::new();
        note_places(&self.table, "", &mut places);
        places
    }

    fn place(&self, key: &str) -> usize {
        self.places().get(key).copied().unwrap_or_default()
    }

    /// Returns the file and the line of each value, by its key.
    pub(super) fn sources(&self) -> impl Iterator<Item = (String, String)> {
        let path = text::shown(self.path);
        let places = self.places().into_iter();
        places.map(move |(key, place)| (key, format!("{path}:{}", self.line(place))))
    }

    /// Describes a problem of a key.
    pub(super) fn error(&self, key: &str, message: &str, help: &str) -> SettingsError {
        self.error_at(self.place(key), message, help)
    }

    /// Returns the line about a key that is ignored.
    pub(super) fn ignored(&self, key: &str, what: &str) -> String {
        let line = self.line(self.place(key));
        format!("{}:{line}: ignored {what}", text::shown(self.path))
    }

    /// Describes an error of the parser or of serde. A message of two lines has its help in the second.
    pub(super) fn toml_error(&self, error: &toml::de::Error) -> SettingsError {
        let message = error
            .message()
            .replace("expected i64", "expected a whole number");
        let message = message.replace("expected a sequence", "expected a list");
        let place = error.span().map_or(self.text.len(), |span| span.start);
        if let Some((message, help)) = message.split_once('\n') {
            return self.error_at(place, message, help);
        }
        let mut quoted = message.split('`').skip(1).step_by(2);
        if message.starts_with("unknown ") {
            let name = quoted.next().unwrap_or_default();
            let known: Vec<&str> = quoted.collect();
            let message = message.split(", expected").next().unwrap_or_default();
            return self.error_at(place, message, &suggest::among(name, &known));
        }
        let help = match message.contains("must be quoted") {
            true => "put it in quotes, as in reviewer = \"lint\"",
            false => EXAMPLE_HELP,
        };
        self.error_at(place, &message, help)
    }

    fn error_at(&self, place: usize, message: &str, help: &str) -> SettingsError {
        let before = &self.text[..self.text.floor_char_boundary(place)];
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let path = text::shown(self.path);
        let message = text::one_line(message, MAX_PROBLEM_CHARS);
        SettingsError {
            message: format!("{path}:{}:{column}: {message}", self.line(place)),
            help: text::one_line(help, MAX_PROBLEM_CHARS),
        }
    }

    /// Returns the line of a byte, from 1.
    fn line(&self, place: usize) -> usize {
        let before = &self.text[..self.text.floor_char_boundary(place)];
        before.matches('\n').count() + 1
    }
}

fn note_places(table: &DeTable<'_>, prefix: &str, places: &mut BTreeMap<String, usize>) {
    for (name, value) in table {
        let key = format!("{prefix}{}", name.get_ref());
        let place = match value.get_ref() {
            DeValue::Table(inner) => {
                note_places(inner, &format!("{key}."), places);
                name.span().start
            }
            _ => value.span().start,
        };
        places.insert(key, place);
    }
}
