//! The parser of guards and updates.
//!
//! `when` is parsed by recursive descent: `or` binds weakest, then `and`, then a comparison. An update is one operand.
//! `check` reports names that do not exist.

use std::ops::Range;

use super::texts::is_name;
use super::{At, Constant, Entry, Field, Guard, Named, Operand, Read, Sign, Update};
use crate::diagnostic::Diagnostic;
use crate::emit::ident::{type_of_argument, type_of_field};

/// The names that an expression can read, and the text of the file.
#[derive(Clone, Copy)]
pub(super) struct Scope<'m> {
    pub(super) source: &'m str,
    pub(super) fields: &'m [Named<Field>],
    pub(super) transition: &'m Entry,
}

impl Scope<'_> {
    fn read(self, name: At<String>, is_argument: bool, offset: i64) -> Read {
        let unknown = Read {
            name,
            is_argument,
            offset,
            ..Read::default()
        };
        let argument = Named::find(&self.transition.args, &unknown.name);
        let field = Named::find(self.fields, &unknown.name);
        match (argument, field) {
            (Some(argument), _) if is_argument => Read {
                kind: Some(argument.kind.clone()),
                ty: type_of_argument(&self.transition.name, argument),
                is_option: argument.optional,
                ..unknown
            },
            (_, Some(field)) if !is_argument => Read {
                kind: Some(field.kind.clone()),
                ty: type_of_field(field),
                is_option: !field.within.is_empty(),
                ..unknown
            },
            _ => unknown,
        }
    }
}

/// The most parentheses in parentheses.
const MAX_DEPTH: usize = 16;
/// The help for an update.
const UPDATE: &str = "it is a number, `field`, `field + 1`, `field - 1`, `field + args.name`, `next(field)` or `args.name`";

/// Parses the text of `when`.
pub(super) fn parse_guard(scope: Scope<'_>, text: &At<String>) -> Result<Guard, Diagnostic> {
    let mut parser = Parser::new(scope, text);
    let guard = parser.any(0)?;
    let help = "join comparisons with `and` or `or`";
    parser.expect("", "`and`, `or` or the end", help)?;
    Ok(guard)
}

/// Parses an update: `field`, `field + 1`, `field + args.name`, `next(field)`, `args.name` or a constant.
pub(super) fn parse_update(scope: Scope<'_>, text: &At<String>) -> Result<Update, Diagnostic> {
    let named = |name: &str, is_argument| {
        let name = name.trim();
        let place = At::new(name.to_owned(), text.span.clone());
        is_name(name).then(|| scope.read(place, is_argument, 0))
    };
    let next = text
        .strip_prefix("next(")
        .and_then(|rest| named(rest.strip_suffix(')')?, false));
    let sum = text.split_once('+').and_then(|(field, added)| {
        let argument = added.trim().strip_prefix("args.")?;
        Some((named(field, false)?, named(argument, true)?))
    });
    if let Some(read) = next {
        return Ok(Update::Next(read));
    }
    if let Some((read, argument)) = sum {
        return Ok(Update::Plus(read, argument));
    }
    let mut parser = Parser::new(scope, text);
    let value = parser.operand(UPDATE)?;
    let read = value.read();
    if read.is_some_and(|read| read.is_argument && read.offset != 0) {
        return parser.unexpected("one argument", UPDATE);
    }
    parser.expect("", "the end", UPDATE)?;
    Ok(Update::Value(value))
}

/// Splits a text into words, numbers, quoted texts and signs. The last token is empty: the end.
fn tokens(text: &str) -> Vec<(&str, Range<usize>)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let size = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            let signs = ["==", "!=", "<=", ">=", "&&", "||"];
            let is_two = signs.into_iter().any(|sign| rest.starts_with(sign));
            if is_two { 2 } else { first.len_utf8() }
        };
        if !first.is_ascii_whitespace() {
            tokens.push((&rest[..size], at..at + size));
        }
        at += size;
    }
    tokens.push(("", at..at));
    tokens
}

struct Parser<'t> {
    scope: Scope<'t>,
    tokens: Vec<(&'t str, Range<usize>)>,
    position: usize,
    /// The place of the string in the file.
    span: &'t Range<usize>,
    /// The place of its text. `None`: the file writes it with escapes.
    start: Option<usize>,
}

impl<'t> Parser<'t> {
    fn new(scope: Scope<'t>, text: &'t At<String>) -> Self {
        let start = scope.source[text.span.clone()].find(&text.value);
        Self {
            scope,
            tokens: tokens(text),
            position: 0,
            span: &text.span,
            start: start.map(|start| text.span.start + start),
        }
    }

    fn token(&self) -> &'t str {
        self.tokens[self.position].0
    }

    /// Returns the place of the next token in the file, or of the string if it has escapes.
    fn place(&self) -> Range<usize> {
        let part = &self.tokens[self.position].1;
        let start = self.start.map(|start| start + part.start..start + part.end);
        start.unwrap_or(self.span.start..self.span.start)
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
            _ if token.starts_with("args.") => "name an argument: `args.score`",
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

    fn any(&mut self, depth: usize) -> Result<Guard, Diagnostic> {
        let all = &|parser: &mut Self| parser.joined("and", Guard::All, &|one| one.single(depth));
        self.joined("or", Guard::Any, all)
    }

    /// Parses parts with a word between them. A single part needs no word.
    fn joined(
        &mut self,
        word: &str,
        join: fn(Vec<Guard>) -> Guard,
        part: &dyn Fn(&mut Self) -> Result<Guard, Diagnostic>,
    ) -> Result<Guard, Diagnostic> {
        let mut parts = vec![part(self)?];
        while self.skip(word) {
            parts.push(part(self)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => join(parts),
        })
    }

    fn single(&mut self, depth: usize) -> Result<Guard, Diagnostic> {
        if depth == MAX_DEPTH {
            return self.unexpected("less nesting", &format!("use {MAX_DEPTH} levels at most"));
        }
        if self.skip("(") {
            let inner = self.any(depth + 1)?;
            self.expect(")", "`)`", "close the parenthesis")?;
            return Ok(inner);
        }
        let left = Box::new(self.operand("a comparison is `field < 3` or `field == \"word\"`")?);
        let Some(&sign) = Sign::ALL.iter().find(|sign| self.skip(sign.word())) else {
            let flag = left.read().map_or("flag".to_owned(), Read::key);
            let help = format!("compare with ==, !=, <, <=, > or >=; a flag is `{flag} == true`");
            return self.unexpected("a comparison sign", &help);
        };
        let right = Box::new(self.operand("compare with a field, a number or a \"word\"")?);
        Ok(Guard::Compare { left, sign, right })
    }

    fn operand(&mut self, help: &str) -> Result<Operand, Diagnostic> {
        let token = self.token();
        let place = self.place();
        let argument = token.strip_prefix("args.");
        let name = argument.unwrap_or(token);
        if token.starts_with(|first: char| first.is_ascii_digit()) {
            let number = self.number()?.unsigned_abs();
            return Ok(Operand::Constant(Constant::Count(number)));
        }
        self.position += 1;
        if matches!(token, "true" | "false") {
            return Ok(Operand::Constant(Constant::Flag(token == "true")));
        }
        if is_closed(token) {
            let text = token.trim_matches('"').to_owned();
            return Ok(Operand::Constant(Constant::Text(text)));
        }
        if !is_name(name) || ["and", "or", "not"].contains(&name) {
            self.position -= 1;
            return self.unexpected("a field, a number or a \"word\"", help);
        }
        let offset = match self.token() {
            sign @ ("+" | "-") => {
                self.position += 1;
                let number = self.number()?;
                if sign == "-" { -number } else { number }
            }
            _ => 0,
        };
        let name = At::new(name.to_owned(), place);
        let read = self.scope.read(name, argument.is_some(), offset);
        Ok(Operand::Read(read))
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
