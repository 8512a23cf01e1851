//! The parser of guards and updates.
//!
//! `when` is parsed by recursive descent: `or` binds weakest, then `and`, then a comparison. An update is one operand.
//! `check` reports names that do not exist.

use std::ops::Range;

use super::texts::is_name;
use super::{At, Constant, FieldKind, Guard, Operand, Read, Sign, Update};
use crate::diagnostic::Diagnostic;

/// Returns the kind of a field or an argument of the transition, and whether it may be absent.
pub(super) type Scope<'s> = &'s dyn Fn(&str, bool) -> Option<(FieldKind, bool)>;

/// The most parentheses in parentheses.
const MAX_DEPTH: usize = 16;
/// The help for an update.
const UPDATE: &str = "it is a number, `field`, `field + 1`, `field - 1`, `field + args.name`, `next(field)` or `args.name`";

/// Parses the text of `when`.
pub(super) fn parse_guard(
    source: &str,
    text: &At<String>,
    scope: Scope<'_>,
) -> Result<Guard, Diagnostic> {
    let mut parser = Parser::new(source, text, scope);
    let guard = parser.any(0)?;
    parser.expect(
        "",
        "`and`, `or` or the end",
        "join comparisons with `and` or `or`",
    )?;
    Ok(guard)
}

/// Parses an update: `field`, `field + 1`, `field + args.name`, `next(field)`, `args.name` or a constant.
pub(super) fn parse_update(
    source: &str,
    text: &At<String>,
    scope: Scope<'_>,
) -> Result<Update, Diagnostic> {
    let mut parser = Parser::new(source, text, scope);
    let next = text.strip_prefix("next(");
    let next = next.and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    if let Some(name) = next.filter(|name| is_name(name)) {
        return Ok(Update::Next(parser.read(name, false, text.span.clone(), 0)));
    }
    let update = match parser.operand(UPDATE)? {
        Operand::Read(read) if read.is_argument && read.offset != 0 => {
            return parser.unexpected("one argument", UPDATE);
        }
        Operand::Read(read) if !read.is_argument && read.offset == 0 && parser.skip("+") => {
            match parser.operand(UPDATE)? {
                Operand::Read(added) if added.is_argument && added.offset == 0 => {
                    Update::Plus(read, added)
                }
                _ => return parser.unexpected("one argument", UPDATE),
            }
        }
        value => Update::Value(value),
    };
    parser.expect("", "the end", UPDATE)?;
    Ok(update)
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
    tokens: Vec<(&'t str, Range<usize>)>,
    position: usize,
    /// The place of the string in the file.
    span: &'t Range<usize>,
    /// The place of its text. `None`: the file writes it with escapes.
    start: Option<usize>,
    scope: Scope<'t>,
}

impl<'t> Parser<'t> {
    fn new(source: &str, text: &'t At<String>, scope: Scope<'t>) -> Self {
        let literal = &source[text.span.clone()];
        let is_long = literal.starts_with("\"\"\"") || literal.starts_with("'''");
        let quotes = if is_long { 3 } else { 1 };
        let inner = literal.get(quotes..).unwrap_or_default();
        Self {
            tokens: tokens(text),
            position: 0,
            span: &text.span,
            start: inner
                .starts_with(&text.value)
                .then(|| text.span.end - inner.len()),
            scope,
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
            "==" | "!=" | "<" | "<=" | ">" | ">=" => "join two comparisons with `and`",
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
        let left = self.operand("a comparison is `field < 3` or `field == \"word\"`")?;
        let Some(&sign) = Sign::ALL.iter().find(|sign| self.skip(sign.word())) else {
            let flag = left.read().map_or("flag".to_owned(), Read::key);
            let help = format!("compare with ==, !=, <, <=, > or >=; a flag is `{flag} == true`");
            return self.unexpected("a comparison sign", &help);
        };
        let right = self.operand("compare with a field, a number or a \"word\"")?;
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
        let offset = self.offset()?;
        let read = self.read(name, argument.is_some(), place, offset);
        Ok(Operand::Read(read))
    }

    fn read(&self, name: &str, is_argument: bool, place: Range<usize>, offset: i64) -> Read {
        let (kind, is_option) = (self.scope)(name, is_argument).unzip();
        Read {
            name: At::new(name.to_owned(), place),
            is_argument,
            offset,
            kind,
            is_option: is_option.unwrap_or(false),
        }
    }

    /// Parses `+ 1`, `- 1`, or nothing. Leaves `+ args.more` to updates.
    fn offset(&mut self) -> Result<i64, Diagnostic> {
        let next = self.tokens.get(self.position + 1);
        let is_argument = next.is_some_and(|(token, _)| token.starts_with("args."));
        if self.skip("-") {
            Ok(-self.number()?)
        } else if !is_argument && self.skip("+") {
            self.number()
        } else {
            Ok(0)
        }
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
