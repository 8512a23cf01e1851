//! The parser of guards and updates.
//!
//! `when` is parsed by recursive descent: `or` binds weakest, then `and`, then a comparison. An update is one operand.
//! Places are bytes of the string's value, and the caller maps them to the file. `check` knows which fields exist.

use std::ops::Range;

use super::expression::operand_text;
use super::texts::is_name;
use super::{At, Constant, Guard, Operand, Sign, Update};

/// A problem of a guard or an update, with its bytes in the string's value.
pub(super) struct Fault {
    pub(super) part: Range<usize>,
    pub(super) message: String,
    pub(super) help: String,
}

/// The most parentheses in parentheses.
const MAX_DEPTH: usize = 16;
/// The help for an update.
const UPDATE: &str = "it is a number, `field`, `field + 1`, `field - 1`, `field + args.name`, `next(field)` or `args.name`";

/// Parses a guard. `place` maps bytes of the text to bytes of the file.
pub(super) fn parse_guard(
    text: &str,
    place: &dyn Fn(Range<usize>) -> Range<usize>,
) -> Result<Guard, Fault> {
    let mut parser = Parser::new(text, place);
    let guard = parser.any(0)?;
    let help = "join comparisons with `and` or `or`";
    parser.expect("", "`and`, `or` or the end", help)?;
    Ok(guard)
}

/// Parses an update: `field`, `field + 1`, `field + args.name`, `next(field)`, `args.name` or a constant.
pub(super) fn parse_update(text: &str) -> Result<Update, Fault> {
    let next = text.strip_prefix("next(");
    let next = next.and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    if let Some(name) = next.filter(|name| is_name(name)) {
        return Ok(Update::Next(name.to_owned()));
    }
    let mut parser = Parser::new(text, &|part| part);
    let update = match parser.operand(UPDATE)? {
        Operand::Constant(constant) => Update::Constant(constant),
        Operand::Argument { name, offset: 0 } => Update::Argument(name.value),
        Operand::Field { name, offset: 0 } if parser.skip("+") => match parser.operand(UPDATE)? {
            Operand::Argument {
                name: argument,
                offset: 0,
            } => Update::Plus {
                name: name.value,
                argument: argument.value,
            },
            _ => return parser.unexpected("one argument", UPDATE),
        },
        Operand::Field { name, offset } => Update::Field {
            name: name.value,
            offset,
        },
        Operand::Argument { .. } => return parser.unexpected("one argument", UPDATE),
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
            let two = signs.into_iter().find(|sign| rest.starts_with(sign));
            two.map_or(first.len_utf8(), str::len)
        };
        if !first.is_ascii_whitespace() {
            tokens.push((&rest[..size], at..at + size));
        }
        at += size;
    }
    tokens.push(("", text.len()..text.len()));
    tokens
}

struct Parser<'t> {
    tokens: Vec<(&'t str, Range<usize>)>,
    position: usize,
    place: &'t dyn Fn(Range<usize>) -> Range<usize>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, place: &'t dyn Fn(Range<usize>) -> Range<usize>) -> Self {
        Self {
            tokens: tokens(text),
            position: 0,
            place,
        }
    }

    fn token(&self) -> &'t str {
        self.tokens[self.position].0
    }

    /// Moves beyond a token if it is the next one.
    fn skip(&mut self, wanted: &str) -> bool {
        let is_next = self.token() == wanted;
        self.position += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, wanted: &str, name: &str, help: &str) -> Result<(), Fault> {
        match self.skip(wanted) {
            true => Ok(()),
            false => self.unexpected(name, help),
        }
    }

    /// Refuses the next token. `help` is the help if none is known for it.
    fn unexpected<T>(&self, expected: &str, help: &str) -> Result<T, Fault> {
        let (token, part) = self.tokens[self.position].clone();
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
        Err(Fault {
            part,
            message: format!("expected {expected}, found {found}"),
            help: help.to_owned(),
        })
    }

    fn any(&mut self, depth: usize) -> Result<Guard, Fault> {
        let all = &|parser: &mut Self| parser.joined("and", Guard::All, &|one| one.single(depth));
        self.joined("or", Guard::Any, all)
    }

    /// Parses parts with a word between them. One part stands for itself.
    fn joined(
        &mut self,
        word: &str,
        join: fn(Vec<Guard>) -> Guard,
        part: &dyn Fn(&mut Self) -> Result<Guard, Fault>,
    ) -> Result<Guard, Fault> {
        let mut parts = vec![part(self)?];
        while self.skip(word) {
            parts.push(part(self)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => join(parts),
        })
    }

    fn single(&mut self, depth: usize) -> Result<Guard, Fault> {
        if depth == MAX_DEPTH {
            return self.unexpected("less nesting", &format!("use {MAX_DEPTH} levels at most"));
        }
        if self.skip("(") {
            let inner = self.any(depth + 1)?;
            self.expect(")", "`)`", "close the parenthesis")?;
            return Ok(inner);
        }
        let left = self.operand("a comparison is `field < 3` or `field == \"word\"`")?;
        let Some(sign) = Sign::ALL.iter().find(|sign| self.skip(sign.word())) else {
            let left = operand_text(&left);
            let help = format!("compare with ==, !=, <, <=, > or >=; a flag is `{left} == true`");
            return self.unexpected("a comparison sign", &help);
        };
        let right = self.operand("compare with a field, a number or a \"word\"")?;
        Ok(Guard::Compare {
            left,
            sign: *sign,
            right,
        })
    }

    fn operand(&mut self, help: &str) -> Result<Operand, Fault> {
        let (token, part) = self.tokens[self.position].clone();
        let argument = token.strip_prefix("args.");
        let name = argument.unwrap_or(token);
        let constant = match token {
            "true" | "false" => Constant::Flag(token == "true"),
            _ if token.starts_with(|first: char| first.is_ascii_digit()) => {
                let number = self.number()?;
                return Ok(Operand::Constant(Constant::Count(number.unsigned_abs())));
            }
            _ if is_closed(token) => Constant::Text(token.trim_matches('"').to_owned()),
            _ if !is_name(name) || ["and", "or", "not"].contains(&name) => {
                return self.unexpected("a field, a number or a \"word\"", help);
            }
            _ => {
                self.position += 1;
                let name = At::new(name.to_owned(), (self.place)(part));
                let offset = self.offset()?;
                return Ok(match argument {
                    Some(_) => Operand::Argument { name, offset },
                    None => Operand::Field { name, offset },
                });
            }
        };
        self.position += 1;
        Ok(Operand::Constant(constant))
    }

    /// Parses `+ 1`, `- 1`, or nothing. Leaves `+ args.more` to updates.
    fn offset(&mut self) -> Result<i64, Fault> {
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

    fn number(&mut self) -> Result<i64, Fault> {
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
