//! Guards and updates: the two little languages inside strings of a machine file.
//!
//! `when` is parsed by recursive descent (`or` binds weakest, then `and`, then a comparison); an update is one operand.
//! Places are bytes of the string’s value; the caller maps them to the file. Which fields exist is not known here.

use std::ops::Range;

use super::texts::is_name;
use super::{At, Constant, Guard, Operand, Sign, Update};

/// A problem of a guard or an update, with its bytes in the string's value.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) part: Range<usize>,
    pub(super) message: String,
    pub(super) help: String,
}

/// The longest guard or update, in bytes.
const MAX_BYTES: usize = 2_000;
/// The most parentheses in parentheses.
const MAX_DEPTH: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Number(&'t str),
    Quoted(&'t str),
    Sign(&'t str),
    End,
}

impl Token<'_> {
    fn shown(self) -> String {
        match self {
            Token::End => "the end".to_owned(),
            Token::Quoted(text) => format!("{text:?}"),
            Token::Word(text) | Token::Number(text) | Token::Sign(text) => format!("`{text}`"),
        }
    }
}

fn fault<T>(
    part: Range<usize>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Result<T, Fault> {
    Err(Fault {
        part,
        message: message.into(),
        help: help.into(),
    })
}

const SIGNS: &str = "compare with ==, !=, <, <=, > or >=";

/// Splits a text into tokens. The last one is the end.
fn tokens(text: &str) -> Result<Vec<(Token<'_>, Range<usize>)>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = |keep: fn(char) -> bool| rest.find(|c| !keep(c)).unwrap_or(rest.len());
        let (token, size) = match first {
            ' ' | '\t' | '\n' | '\r' => {
                at += 1;
                continue;
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let size = length(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                (Token::Word(&rest[..size]), size)
            }
            '0'..='9' => {
                let size = length(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                (Token::Number(&rest[..size]), size)
            }
            '"' => match rest[1..].find('"') {
                Some(size) => (Token::Quoted(&rest[1..=size]), size + 2),
                None => {
                    return fault(
                        at..text.len(),
                        "a quote is not closed",
                        "end the word with \"",
                    );
                }
            },
            '\'' => return fault(at..at + 1, "words stand in double quotes", "write \"word\""),
            _ => {
                let two = ["==", "!=", "<=", ">=", "&&", "||"]
                    .into_iter()
                    .find(|sign| rest.starts_with(sign));
                let size = two.map_or(first.len_utf8(), str::len);
                (Token::Sign(&rest[..size]), size)
            }
        };
        tokens.push((token, at..at + size));
        at += size;
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

/// Parses a guard. `place` maps bytes of the text to bytes of the file.
pub(super) fn guard(
    text: &str,
    place: &dyn Fn(Range<usize>) -> Range<usize>,
) -> Result<Guard, Fault> {
    if text.len() > MAX_BYTES {
        let message = format!("a guard of {} bytes is too long", text.len());
        return fault(
            0..text.len(),
            message,
            format!("{MAX_BYTES} bytes are the most: keep a field that says it shorter"),
        );
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        place,
    };
    let guard = parser.either(0)?;
    match parser.next() {
        (Token::End, _) => Ok(guard),
        (token, part) => {
            let help = match token {
                Token::Sign("&&") => "write `and`",
                Token::Sign("||") => "write `or`",
                Token::Sign("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") => {
                    "join two comparisons with `and`"
                }
                _ => "join comparisons with `and` or `or`",
            };
            fault(part, format!("{} cannot stand here", token.shown()), help)
        }
    }
}

struct Parser<'t> {
    tokens: Vec<(Token<'t>, Range<usize>)>,
    at: usize,
    place: &'t dyn Fn(Range<usize>) -> Range<usize>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Token<'t> {
        self.tokens[self.at].0
    }

    /// Returns the next token. After the end it returns the end again.
    fn next(&mut self) -> (Token<'t>, Range<usize>) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn either(&mut self, depth: usize) -> Result<Guard, Fault> {
        let mut parts = vec![self.both(depth)?];
        while self.peek() == Token::Word("or") {
            self.next();
            parts.push(self.both(depth)?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Guard::Any(parts)
        })
    }

    fn both(&mut self, depth: usize) -> Result<Guard, Fault> {
        let mut parts = vec![self.single(depth)?];
        while self.peek() == Token::Word("and") {
            self.next();
            parts.push(self.single(depth)?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Guard::All(parts)
        })
    }

    fn single(&mut self, depth: usize) -> Result<Guard, Fault> {
        if self.peek() != Token::Sign("(") {
            return self.comparison();
        }
        let (_, open) = self.next();
        if depth == MAX_DEPTH {
            return fault(
                open,
                "too many parentheses in parentheses",
                format!("{MAX_DEPTH} are the most"),
            );
        }
        let inner = self.either(depth + 1)?;
        match self.next() {
            (Token::Sign(")"), _) => Ok(inner),
            (token, part) => {
                let help = match token {
                    Token::Sign("&&") => "write `and`",
                    Token::Sign("||") => "write `or`",
                    _ => "close the parenthesis",
                };
                fault(part, format!("`)` is wanted, not {}", token.shown()), help)
            }
        }
    }

    fn comparison(&mut self) -> Result<Guard, Fault> {
        let left = self.operand()?;
        let (token, part) = self.next();
        let sign = match token {
            Token::Sign("==") => Sign::Equal,
            Token::Sign("!=") => Sign::NotEqual,
            Token::Sign("<") => Sign::Less,
            Token::Sign("<=") => Sign::LessOrEqual,
            Token::Sign(">") => Sign::Greater,
            Token::Sign(">=") => Sign::GreaterOrEqual,
            Token::Sign("=") => return fault(part, "`=` compares nothing", "write `==`"),
            _ => {
                let help = match &left {
                    Operand::Field { name, .. } => {
                        format!("{SIGNS}; a flag is `{} == true`", name.value)
                    }
                    Operand::Argument { name, .. } => {
                        format!("{SIGNS}; a flag is `args.{} == true`", name.value)
                    }
                    Operand::Constant(_) => SIGNS.to_owned(),
                };
                return fault(
                    part,
                    format!("a comparison is wanted, not {}", token.shown()),
                    help,
                );
            }
        };
        let right = self.operand()?;
        Ok(Guard::Compare { left, sign, right })
    }

    fn operand(&mut self) -> Result<Operand, Fault> {
        let (token, part) = self.next();
        let constant = match token {
            Token::Number(digits) => Constant::Count(number(digits, part)?.unsigned_abs()),
            Token::Quoted(text) => Constant::Text(text.to_owned()),
            Token::Word("true") => Constant::Flag(true),
            Token::Word("false") => Constant::Flag(false),
            Token::Word("and" | "or") => {
                return fault(
                    part,
                    format!("a field is wanted, not {}", token.shown()),
                    "a comparison is missing here",
                );
            }
            Token::Word("not") => {
                return fault(part, "there is no `not`", "use != or the opposite sign");
            }
            Token::Word(name) if is_name(name) => {
                let name = At::new(name.to_owned(), (self.place)(part));
                return Ok(Operand::Field {
                    name,
                    offset: self.offset()?,
                });
            }
            Token::Word(text) if text.starts_with("args.") => {
                let Some(name) = text.strip_prefix("args.").filter(|name| is_name(name)) else {
                    let help = "name an argument of the transition: `args.score`";
                    return fault(part, format!("`{text}` names no argument"), help);
                };
                let name = At::new(name.to_owned(), (self.place)(part));
                let offset = self.offset()?;
                return Ok(Operand::Argument { name, offset });
            }
            Token::Word(name) => {
                return fault(
                    part,
                    format!("`{name}` is not a field's name"),
                    "write the field as [fields] does",
                );
            }
            Token::Sign("!") => {
                return fault(part, "there is no `!`", "use != or the opposite sign");
            }
            Token::Sign("-") => {
                return fault(
                    part,
                    "a count is never below 0",
                    "write the field first: `field - 1`",
                );
            }
            _ => {
                let message = format!(
                    "a field, a number or a \"word\" is wanted, not {}",
                    token.shown()
                );
                return fault(
                    part,
                    message,
                    "a comparison is `field < 3` or `field == \"word\"`",
                );
            }
        };
        if let Token::Sign(sign @ ("+" | "-")) = self.peek() {
            let (_, part) = self.next();
            return fault(
                part,
                format!("`{sign}` cannot follow a constant"),
                "write the field first: `field + 1`",
            );
        }
        Ok(Operand::Constant(constant))
    }

    /// Parses `+ 1`, `- 1`, or nothing.
    fn offset(&mut self) -> Result<i64, Fault> {
        let Token::Sign(sign @ ("+" | "-")) = self.peek() else {
            return Ok(0);
        };
        self.next();
        let (token, part) = self.next();
        let Token::Number(digits) = token else {
            let message = format!("a number is wanted after `{sign}`, not {}", token.shown());
            let help = format!("write `field {sign} 1`: only a number stands there, never a field");
            return fault(part, message, help);
        };
        let number = number(digits, part)?;
        Ok(if sign == "+" { number } else { -number })
    }
}

fn number(digits: &str, part: Range<usize>) -> Result<i64, Fault> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<i64>() {
        Ok(number) if plain => Ok(number),
        _ => fault(
            part,
            format!("`{digits}` is not a number"),
            format!("a number is 0 to {}", i64::MAX),
        ),
    }
}

/// Parses an update of a count or a flag: `field`, `field + 1`, `field + args.name`, `next(field)`, `args.name` or a number.
pub(super) fn update(text: &str) -> Result<Update, Fault> {
    const HELP: &str = "it is a number, `field`, `field + 1`, `field - 1`, `field + args.name`, `next(field)` or `args.name`";
    if text.len() > MAX_BYTES {
        return fault(0..text.len(), "this is too long", HELP);
    }
    if let Some(update) = call_or_argument(text) {
        return update;
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        place: &|part| part,
    };
    let operand = parser.operand()?;
    match (parser.next(), operand) {
        ((Token::End, _), Operand::Constant(constant)) => Ok(Update::Constant(constant)),
        ((Token::End, _), Operand::Field { name, offset }) => Ok(Update::Field {
            name: name.value,
            offset,
        }),
        ((Token::End, _), Operand::Argument { .. }) => {
            fault(0..text.len(), "nothing is added to an argument", HELP)
        }
        ((token, part), _) => fault(part, format!("{} cannot stand here", token.shown()), HELP),
    }
}

/// Parses `next(field)`, `args.name` or `field + args.name`. Returns `None` if it is none of them.
pub(super) fn call_or_argument(text: &str) -> Option<Result<Update, Fault>> {
    let whole = 0..text.len();
    let trimmed = text.trim();
    if let Some((name, argument)) = trimmed.split_once('+')
        && let Some(argument) = argument.trim().strip_prefix("args.")
    {
        let (name, argument) = (name.trim().to_owned(), argument.to_owned());
        if is_name(&name) && is_name(&argument) {
            return Some(Ok(Update::Plus { name, argument }));
        }
        let message = format!("`{trimmed}` adds no argument to a field");
        let help = "name a field and an argument: `field + args.more`";
        return Some(fault(whole, message, help));
    }
    if let Some(name) = trimmed.strip_prefix("args.") {
        if is_name(name) {
            return Some(Ok(Update::Argument(name.to_owned())));
        }
        let help = "name an argument: `args.why`, with args = { why = \"text\" }";
        return Some(fault(whole, format!("`{name}` names no argument"), help));
    }
    let name = trimmed.strip_prefix("next(")?.strip_suffix(')')?.trim();
    if is_name(name) {
        return Some(Ok(Update::Next(name.to_owned())));
    }
    let help = "name a field with one_of: `next(field)`";
    Some(fault(
        whole,
        format!("`{name}` is not a field's name"),
        help,
    ))
}
