//! The text of a configuration file as a value of a type, or the first problem with its place.

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};
use toml_parser::lexer::TokenKind;

use super::error::Problem;
use super::origin::{Origins, Source};
use crate::program::suggest;

/// The most parts of a key. The parser bounds nested tables and the parts of a key, but a tree with the product of both
/// overflows the stack.
const MAX_KEY_PARTS: usize = 8;

/// Parses the text of a file.
///
/// # Errors
/// Returns the first problem: the text is not TOML, or does not fit the type.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let table = parse_table(text)?;
    T::deserialize(Deserializer::from(table)).map_err(|error| problem_of(&error, text))
}

/// Parses the text of a file as a table.
///
/// # Errors
/// Returns the first problem if the text is not TOML.
pub(super) fn parse_table(text: &str) -> Result<Spanned<DeTable<'_>>, Problem> {
    let mut dots = 0;
    for token in toml_parser::Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::Atom
            | TokenKind::Whitespace
            | TokenKind::BasicString
            | TokenKind::LiteralString => {}
            _ => dots = 0,
        }
        if dots == MAX_KEY_PARTS {
            return Err(Problem::new(
                token.span().start()..token.span().end(),
                "a key has too many parts",
                format!("use {MAX_KEY_PARTS} at most"),
            ));
        }
    }
    DeTable::parse(text).map_err(|error| problem_of(&error, text))
}

/// Describes an error of the parser, with a help if there is one.
pub(super) fn problem_of(error: &toml::de::Error, text: &str) -> Problem {
    let span = error.span().unwrap_or(text.len()..text.len());
    let message = error.message();
    if let Some((problem, help)) = message.split_once('\n') {
        return Problem::new(span, problem, help);
    }
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let help = match quoted.split_first() {
        Some((key, known)) if message.starts_with("unknown ") => suggest::among(key, known),
        _ if message == "duplicate key" => "keep one of them".to_owned(),
        _ if message.contains("must be quoted") => {
            "put it in quotes, as in reviewer = \"lint\"".to_owned()
        }
        _ => "`config init` writes an example with every setting".to_owned(),
    };
    let message = match message.split_once(", expected") {
        Some((problem, _)) if message.starts_with("unknown ") => problem.to_owned(),
        _ => message
            .replace("expected i64", "expected a whole number")
            .replace("expected a sequence", "expected an array"),
    };
    Problem::new(span, message, help)
}

/// Applies the values of a table, and notes for each where it stands.
pub(super) struct Taker<'a> {
    /// The file.
    pub(super) source: &'a Source<'a>,
    /// Where the origins are noted.
    pub(super) origins: &'a mut Origins,
    /// The name of the table with a dot at its end, or nothing.
    pub(super) prefix: &'a str,
}

impl Taker<'_> {
    /// Applies the value of a key, if the file has it.
    pub(super) fn take<T>(&mut self, key: &str, value: Option<Spanned<T>>, apply: impl FnOnce(T)) {
        if let Some(value) = value {
            let origin = self.source.origin(value.span().start);
            self.origins.note(format!("{}{key}", self.prefix), origin);
            apply(value.into_inner());
        }
    }
}
