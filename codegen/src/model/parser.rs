//! Parses guards and updates by recursive descent. `or` binds weakest, then `and`.
//!
//! `check` reports names that do not exist.

use std::ops::Range;

use super::texts::is_name;
use super::{
    At, Comparison, Constant, Entry, Field, FieldKind, Guard, Named, Operand, Read, Sign, Update,
};
use crate::diagnostic::Diagnostic;

/// The names that an expression can read, and the text of the file.
#[derive(Clone, Copy)]
pub(super) struct Scope<'m> {
    pub(super) source: &'m str,
    pub(super) fields: &'m [Named<Field>],
    pub(super) transition: &'m Entry,
}

/// The most parentheses in parentheses.
const MAX_DEPTH: usize = 16;
/// The help for a comparison.
const COMPARISON: &str = "a comparison is `field < 3` or `field == \"word\"`";
/// The help for an update.
const UPDATE: &str =
    "it is `field`, `field + 1`, `field - 1`, `field + args.name`, `next(field)` or `args.name`";

/// Parses the text of `when`.
pub(super) fn parse_guard(scope: Scope<'_>, text: &At<String>) -> Result<Guard, Diagnostic> {
    let mut parser = Parser::new(scope, text);
    let guard = parser.joined("or", 0)?;
    let help = "join comparisons with `and` or `or`";
    parser.expect("", "`and`, `or` or the end", help)?;
    Ok(guard)
}

pub(super) fn parse_update(scope: Scope<'_>, text: &At<String>) -> Result<Update, Diagnostic> {
    let mut parser = Parser::new(scope, text);
    let update = parser.update()?;
    parser.expect("", "the end", UPDATE)?;
    Ok(update)
}

/// Splits a text into tokens with their places in the file. The last one, the end, is empty.
fn tokens<'t>(source: &str, text: &'t At<String>) -> Vec<(&'t str, Range<usize>)> {
    let span = text.span();
    // A text with escapes is not in the file as it is.
    let start = source[span.clone()].find(text.as_str());
    let place = |part: Range<usize>| match start {
        Some(start) => span.start + start + part.start..span.start + start + part.end,
        None => span.start..span.start,
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let signs = ["==", "!=", "<=", ">=", "&&", "||"];
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let size = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            let sign = signs.into_iter().find(|sign| rest.starts_with(sign));
            sign.map_or(first.len_utf8(), str::len)
        };
        if !first.is_ascii_whitespace() {
            tokens.push((&rest[..size], place(at..at + size)));
        }
        at += size;
    }
    tokens.push(("", place(at..at)));
    tokens
}

struct Parser<'t> {
    scope: Scope<'t>,
    tokens: Vec<(&'t str, Range<usize>)>,
    position: usize,
}

impl<'t> Parser<'t> {
    fn new(scope: Scope<'t>, text: &'t At<String>) -> Self {
        Self {
            scope,
            tokens: tokens(scope.source, text),
            position: 0,
        }
    }

    fn token(&self) -> &'t str {
        self.tokens[self.position].0
    }

    /// Returns the token after the next one.
    fn next_token(&self) -> &'t str {
        let token = self.tokens.get(self.position + 1);
        token.map_or("", |(token, _)| token)
    }

    fn place(&self) -> Range<usize> {
        self.tokens[self.position].1.clone()
    }

    /// Moves beyond a token if it is the next one.
    fn skip(&mut self, wanted: &str) -> bool {
        let is_next = self.token() == wanted;
        self.position += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, wanted: &str, name: &str, help: &str) -> Result<(), Diagnostic> {
        if self.skip(wanted) {
            return Ok(());
        }
        self.unexpected(name, help)
    }

    /// Refuses the next token. `help` is the help if none is known for it.
    fn unexpected<T>(&self, expected: &str, help: &str) -> Result<T, Diagnostic> {
        let token = self.token();
        let help = match token {
            "&&" => "write `and`",
            "||" => "write `or`",
            "=" => "write `==`",
            "!" | "not" => "use != or the opposite sign",
            "'" => "put the word in double quotes, and the whole guard in apostrophes",
            "args." => "name an argument: `args.score`",
            "+" | "-" => "a number is added to a field: `field + 1`",
            _ if token.starts_with('"') && !is_closed(token) => "close the quote",
            _ => help,
        };
        let found = match token {
            "" => "the end".to_owned(),
            _ => format!("`{token}`"),
        };
        let message = format!("expected {expected}, found {found}");
        Err(Diagnostic::new("expression", self.place(), message).help(help))
    }

    /// Parses parts with `or` between them, or those of one such part, with `and` between them.
    fn joined(&mut self, word: &str, depth: usize) -> Result<Guard, Diagnostic> {
        let mut parts = Vec::new();
        while parts.is_empty() || self.skip(word) {
            parts.push(match word {
                "or" => self.joined("and", depth)?,
                _ => self.single(depth)?,
            });
        }
        Ok(match word {
            _ if parts.len() == 1 => parts.remove(0),
            "or" => Guard::Any(parts),
            _ => Guard::All(parts),
        })
    }

    fn single(&mut self, depth: usize) -> Result<Guard, Diagnostic> {
        if depth == MAX_DEPTH {
            return self.unexpected("less nesting", &format!("use {MAX_DEPTH} levels at most"));
        }
        if self.skip("(") {
            let inner = self.joined("or", depth + 1)?;
            self.expect(")", "`)`", "close the parenthesis")?;
            return Ok(inner);
        }
        let left = self.read("a field", COMPARISON)?;
        let Some(&sign) = Sign::ALL.iter().find(|sign| self.skip(sign.word())) else {
            let flag = left.key();
            let help = format!("compare with ==, !=, <, <=, > or >=; a flag is `{flag} == true`");
            return self.unexpected("a comparison sign", &help);
        };
        let place = self.place();
        let word = self.token();
        let right = self.operand()?;
        if let (Some(FieldKind::OneOf(words)), Operand::Read(read)) = (&left.kind, &right)
            && read.kind.is_none()
            && words.iter().any(|known| known.as_str() == word)
        {
            let message = format!("expected a field or a \"word\", found `{word}`");
            let help = format!(
                "put the word in double quotes, and the guard in apostrophes: {} {} \"{word}\"",
                left.key(),
                sign.word()
            );
            return Err(Diagnostic::new("expression", place, message).help(help));
        }
        Ok(Guard::Compare(Box::new(Comparison { left, sign, right })))
    }

    /// Parses the right side of a comparison.
    fn operand(&mut self) -> Result<Operand, Diagnostic> {
        let token = self.token();
        let constant = match token {
            "true" | "false" => Constant::Flag(token == "true"),
            _ if is_closed(token) => Constant::Text(token.trim_matches('"').to_owned()),
            _ if token.starts_with(|first: char| first.is_ascii_digit()) => {
                let number = self.number()?.unsigned_abs();
                return Ok(Operand::Constant(Constant::Count(number)));
            }
            _ => {
                let read = self.read("a field, a number or a \"word\"", COMPARISON)?;
                return Ok(Operand::Read(read));
            }
        };
        self.position += 1;
        Ok(Operand::Constant(constant))
    }

    fn update(&mut self) -> Result<Update, Diagnostic> {
        let is_next = self.token() == "next" && self.next_token() == "(";
        if is_next {
            self.position += 2;
        }
        let token = self.token();
        let is_constant = matches!(token, "true" | "false") || token.parse::<u64>().is_ok();
        if is_constant && self.next_token().is_empty() {
            return self.unexpected("a field", "write it without quotes");
        }
        let read = self.read("a field", UPDATE)?;
        if read.offset != 0 && (is_next || read.is_argument) {
            return self.unexpected("a name alone", UPDATE);
        }
        if is_next {
            self.expect(")", "`)`", UPDATE)?;
            Ok(Update::Next(read))
        } else if self.skip("+") {
            Ok(Update::Plus(read, self.read("an argument", UPDATE)?))
        } else {
            Ok(Update::Value(Operand::Read(read)))
        }
    }

    /// Parses a field or an argument with an offset. Leaves an argument behind `+` to the caller.
    fn read(&mut self, expected: &str, help: &str) -> Result<Read, Diagnostic> {
        let token = self.token();
        let is_argument = token.starts_with("args.");
        let name = token.strip_prefix("args.").unwrap_or(token);
        if !is_name(name) || ["and", "or", "not", "true", "false"].contains(&name) {
            return self.unexpected(expected, help);
        }
        let args = &self.scope.transition.args;
        let argument = Named::find(args, name).map(|one| (&one.kind, &one.ty, one.optional));
        let field = Named::find(self.scope.fields, name)
            .map(|one| (&one.kind, &one.ty, !one.within.is_empty()));
        let known = if is_argument { argument } else { field };
        let name = At::new(name.to_owned(), self.place());
        self.position += 1;
        let is_sum = self.token() == "+" && self.next_token().starts_with("args.");
        let offset = if is_sum {
            0
        } else if self.skip("+") {
            self.number()?
        } else if self.skip("-") {
            -self.number()?
        } else {
            0
        };
        Ok(Read {
            name,
            is_argument,
            offset,
            kind: known.map(|(kind, ..)| kind.clone()),
            ty: known.map_or_else(String::new, |(_, ty, _)| ty.clone()),
            is_option: known.is_some_and(|(.., is_option)| is_option),
        })
    }

    fn number(&mut self) -> Result<i64, Diagnostic> {
        let Ok(number) = self.token().parse() else {
            let help = format!("use a number from 0 to {}, not a field", i64::MAX);
            return self.unexpected("a number", &help);
        };
        self.position += 1;
        Ok(number)
    }
}

fn is_closed(token: &str) -> bool {
    token.len() > 1 && token.starts_with('"') && token.ends_with('"')
}
