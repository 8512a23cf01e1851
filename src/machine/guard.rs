//! Guards and updates of edges, evaluated over the fields of a state document.
//!
//! `claudex-build` has checked that the names and types agree with the machine; what can still be wrong here is the
//! document, so every evaluation says which field it could not read.

use crate::machine::table::{Constant, FieldKind, Table};
use crate::store::{Record, Value};

/// When an edge may be taken.
#[derive(Debug, Clone, Copy)]
pub enum Guard {
    /// All hold.
    All(&'static [Guard]),
    /// At least one holds.
    Any(&'static [Guard]),
    /// A comparison.
    Compare {
        /// Left of the sign.
        left: Operand,
        /// The sign.
        sign: Sign,
        /// Right of the sign.
        right: Operand,
    },
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub enum Operand {
    /// A field, plus or minus a constant.
    Field {
        /// Its name.
        name: &'static str,
        /// What is added.
        offset: i64,
    },
    /// A constant.
    Constant(Constant),
}

/// A comparison's sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// What an edge gives a field.
#[derive(Debug, Clone, Copy)]
pub enum Update {
    /// A constant.
    Constant(Constant),
    /// A count field, plus or minus a constant.
    Field {
        /// Its name.
        name: &'static str,
        /// What is added.
        offset: i64,
    },
    /// The next word of a `one_of` field.
    Next(&'static str),
    /// An argument of the transition.
    Argument(&'static str),
    /// A count field plus a count argument.
    Plus {
        /// The field's name.
        name: &'static str,
        /// The argument's.
        argument: &'static str,
    },
}

/// A field that is not what the machine says it is.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display, derive_more::Error)]
#[display("field `{field}` is {found}, where the machine expects {expected}")]
pub struct FieldError {
    /// The field.
    pub field: String,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: String,
}

/// A number wide enough that `max_failures - 1` of 0 does not wrap, or a text.
#[derive(Debug, PartialEq, PartialOrd)]
enum Operated {
    Number(i128),
    Text(String),
    Flag(bool),
}

impl Guard {
    /// Whether the guard holds.
    ///
    /// # Errors
    /// A field of the document is not what the machine says.
    pub fn holds(&self, table: &Table, record: &Record) -> Result<bool, FieldError> {
        match self {
            Guard::All(guards) => guards
                .iter()
                .try_fold(true, |all, guard| Ok(guard.holds(table, record)? && all)),
            Guard::Any(guards) => guards
                .iter()
                .try_fold(false, |any, guard| Ok(guard.holds(table, record)? || any)),
            Guard::Compare { left, sign, right } => {
                let (left, right) = (left.value(table, record)?, right.value(table, record)?);
                Ok(match sign {
                    Sign::Equal => left == right,
                    Sign::NotEqual => left != right,
                    Sign::Less => left < right,
                    Sign::LessOrEqual => left <= right,
                    Sign::Greater => left > right,
                    Sign::GreaterOrEqual => left >= right,
                })
            }
        }
    }

    /// The fields that the guard reads, each once.
    pub fn fields(&self, into: &mut Vec<&'static str>) {
        match self {
            Guard::All(guards) | Guard::Any(guards) => guards.iter().for_each(|guard| guard.fields(into)),
            Guard::Compare { left, right, .. } => {
                for side in [left, right] {
                    if let Operand::Field { name, .. } = side
                        && !into.contains(name)
                    {
                        into.push(name);
                    }
                }
            }
        }
    }
}

impl Operand {
    fn value(&self, table: &Table, record: &Record) -> Result<Operated, FieldError> {
        Ok(match self {
            Operand::Constant(constant) => operated(&constant.value()),
            Operand::Field { name, offset } => match operated(&read(table, record, name)?) {
                Operated::Number(number) => Operated::Number(number + i128::from(*offset)),
                other => other,
            },
        })
    }
}

fn operated(value: &Value) -> Operated {
    match value {
        Value::Count(count) => Operated::Number(i128::from(*count)),
        Value::Flag(flag) => Operated::Flag(*flag),
        other => Operated::Text(other.to_plain().into_owned()),
    }
}

impl Update {
    /// The value that the update gives.
    ///
    /// # Errors
    /// A field is not what the machine says, or the number would leave its range.
    pub fn value(
        &self,
        table: &Table,
        record: &Record,
        arguments: &[(&'static str, Value)],
    ) -> Result<Value, FieldError> {
        match self {
            Update::Constant(constant) => Ok(constant.value()),
            Update::Field { name, offset } => {
                let value = read(table, record, name)?;
                let sum = value
                    .as_count()
                    .and_then(|count| count.checked_add_signed(*offset));
                sum.map(Value::Count).ok_or_else(|| FieldError {
                    field: (*name).to_owned(),
                    found: value.to_plain().into_owned(),
                    expected: format!("a whole number that {offset:+} leaves in range"),
                })
            }
            Update::Next(name) => {
                let value = read(table, record, name)?;
                let Some(FieldKind::OneOf(words)) = table.field(name).map(|field| field.kind) else {
                    return Ok(value);
                };
                let at = words
                    .iter()
                    .position(|word| value.as_str() == Some(word))
                    .unwrap_or(0);
                Ok(Value::Word(words[(at + 1) % words.len()].to_owned()))
            }
            Update::Argument(name) => argument(arguments, name),
            Update::Plus {
                name,
                argument: added,
            } => {
                let value = read(table, record, name)?;
                let added = argument(arguments, added)?;
                let sum = value
                    .as_count()
                    .zip(added.as_count())
                    .and_then(|(count, added)| count.checked_add(added));
                sum.map(Value::Count).ok_or_else(|| FieldError {
                    field: (*name).to_owned(),
                    found: format!("{} + {}", value.to_plain(), added.to_plain()),
                    expected: "two whole numbers whose sum is in range".to_owned(),
                })
            }
        }
    }
}

fn argument(arguments: &[(&'static str, Value)], name: &str) -> Result<Value, FieldError> {
    let given = arguments.iter().find(|(key, _)| *key == name);
    given.map(|(_, value)| value.clone()).ok_or_else(|| FieldError {
        field: name.to_owned(),
        found: "not given".to_owned(),
        expected: "an argument of the transition".to_owned(),
    })
}

impl Constant {
    /// As a value of a state document.
    pub fn value(&self) -> Value {
        match self {
            Constant::Count(count) => Value::Count(*count),
            Constant::Text(text) => Value::Word((*text).to_owned()),
            Constant::Flag(flag) => Value::Flag(*flag),
            Constant::Null => Value::Null,
        }
    }
}

/// A field's value, or its initial one where the document has no such line.
///
/// # Errors
/// What stands there is not of the field's kind.
pub fn read(table: &Table, record: &Record, name: &str) -> Result<Value, FieldError> {
    let Some(field) = table.field(name) else {
        return Err(FieldError {
            field: name.to_owned(),
            found: "not declared".to_owned(),
            expected: format!("a field of {}", table.file),
        });
    };
    let Some(value) = record.get(name) else {
        return Ok(field.initial.value());
    };
    let expected = match field.kind {
        FieldKind::Count if value.as_count().is_none() => "a whole number".to_owned(),
        FieldKind::Flag if value.as_flag().is_none() => "true or false".to_owned(),
        FieldKind::OneOf(words) if !words.contains(&value.to_plain().as_ref()) => {
            format!("one of {}", words.join(", "))
        }
        _ => return Ok(value),
    };
    Err(FieldError {
        field: name.to_owned(),
        found: format!("`{}`", value.to_plain()),
        expected,
    })
}
