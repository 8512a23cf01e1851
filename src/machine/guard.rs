//! Guards and updates of edges, evaluated over the fields of a state document.
//!
//! `claudex-build` has checked that the names and types agree with the machine; what can still be wrong here is the
//! document, so every evaluation says which field it could not read.

use crate::machine::table::{Constant, FieldInfo, FieldKind, Guard, Operand, Sign, Table, Update};
use crate::store::{Record, Value};
use crate::text;

/// Limits what is told of an argument, in characters.
const LONGEST: usize = 80;

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

/// What a transition was given: the values of its arguments by name. None: it was not taken yet, and may be given anything.
pub type Given<'a> = Option<&'a [(&'static str, Value)]>;

impl Guard {
    /// Returns whether the guard holds; where nothing was given yet, whether it holds but for what it asks of arguments.
    ///
    /// # Errors
    /// A field of the document, or an argument, is not what the machine says.
    pub fn holds(
        &self,
        table: &Table,
        record: &Record,
        given: Given<'_>,
    ) -> Result<bool, FieldError> {
        match self {
            Guard::All(guards) => guards.iter().try_fold(true, |all, guard| {
                Ok(guard.holds(table, record, given)? && all)
            }),
            Guard::Any(guards) => guards.iter().try_fold(false, |any, guard| {
                Ok(guard.holds(table, record, given)? || any)
            }),
            Guard::Compare { left, sign, right } => {
                let value = |operand: &Operand| operand.value(table, record, given);
                if given.is_none() && [left, right].iter().any(|side| side.is_argument()) {
                    return Ok(true);
                }
                let (left, right) = (value(left)?, value(right)?);
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

    /// Collects the fields that the guard reads, each once.
    pub fn fields(&self, into: &mut Vec<&'static str>) {
        self.operands(&mut |operand| {
            if let Operand::Field { name, .. } = operand
                && !into.contains(name)
            {
                into.push(name);
            }
        });
    }

    /// Collects what the guard saw, each once: `round is 3`.
    pub(crate) fn seen(
        &self,
        table: &Table,
        record: &Record,
        given: Given<'_>,
        into: &mut Vec<String>,
    ) {
        self.operands(&mut |operand| {
            let (name, plain) = match operand {
                Operand::Field { name, .. } => {
                    let value = read(table, record, name).unwrap_or(Value::Null);
                    ((*name).to_owned(), value.to_plain().into_owned())
                }
                Operand::Argument { name, .. } => {
                    let value = argument(given.unwrap_or_default(), name).unwrap_or(Value::Null);
                    let plain = text::one_line(&value.to_plain(), LONGEST);
                    (format!("args.{name}"), plain)
                }
                Operand::Constant(_) => return,
            };
            let said = format!("{name} is {plain}");
            if !into.contains(&said) {
                into.push(said);
            }
        });
    }

    fn operands(&self, see: &mut impl FnMut(&Operand)) {
        match self {
            Guard::All(guards) | Guard::Any(guards) => {
                guards.iter().for_each(|guard| guard.operands(see))
            }
            Guard::Compare { left, right, .. } => [left, right].into_iter().for_each(see),
        }
    }
}

impl Operand {
    fn is_argument(&self) -> bool {
        matches!(self, Operand::Argument { .. })
    }

    fn value(
        &self,
        table: &Table,
        record: &Record,
        given: Given<'_>,
    ) -> Result<Operated, FieldError> {
        let (number, offset) = match self {
            Operand::Constant(constant) => return Ok(operated(&constant.value())),
            Operand::Argument { name, offset } => {
                match operated(&argument(given.unwrap_or_default(), name)?) {
                    Operated::Number(number) => (number, *offset),
                    other => return Ok(other),
                }
            }
            Operand::Field { name, offset } => {
                let value = read(table, record, name)?;
                match table.field(name).map(|field| field.kind) {
                    // A quoted number is one all the same, and so is a flag; and a word of digits is a word.
                    Some(FieldKind::Count) => {
                        (i128::from(value.as_count().unwrap_or_default()), *offset)
                    }
                    Some(FieldKind::Flag) => {
                        return Ok(Operated::Flag(value.as_flag().unwrap_or_default()));
                    }
                    Some(_) => return Ok(Operated::Text(value.to_plain().into_owned())),
                    None => return Ok(operated(&value)),
                }
            }
        };
        Ok(Operated::Number(number + i128::from(offset)))
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
    /// Returns the value that the update gives; None where it takes an argument that was not given: the field stays as it is.
    ///
    /// # Errors
    /// A field is not what the machine says, or the number would leave its range.
    pub fn value(
        &self,
        table: &Table,
        record: &Record,
        arguments: &[(&'static str, Value)],
    ) -> Result<Option<Value>, FieldError> {
        let given = match self {
            Update::Argument(name) | Update::Plus { argument: name, .. } => {
                argument(arguments, name)?
            }
            Update::Constant(_) | Update::Field { .. } | Update::Next(_) => Value::Null,
        };
        let takes = matches!(self, Update::Argument(_) | Update::Plus { .. });
        if takes && given == Value::Null {
            return Ok(None);
        }
        self.value_with(table, record, given).map(Some)
    }

    fn value_with(
        &self,
        table: &Table,
        record: &Record,
        given: Value,
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
                let Some(FieldKind::OneOf(words)) = table.field(name).map(|field| field.kind)
                else {
                    return Ok(value);
                };
                let at = words
                    .iter()
                    .position(|word| value.to_plain() == *word)
                    .unwrap_or(0);
                Ok(Value::Word(words[(at + 1) % words.len()].to_owned()))
            }
            Update::Argument(_) => Ok(given),
            Update::Plus { name, .. } => {
                let (value, added) = (read(table, record, name)?, given);
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
    given
        .map(|(_, value)| value.clone())
        .ok_or_else(|| FieldError {
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

/// Returns a field's value, or its initial one where the document has no such line. Whether the field exists in the document's
/// phase is not asked.
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
    match record.get(name) {
        Some(value) => checked(field, value),
        None => Ok(field.first()),
    }
}

/// Returns a value that a field can have.
///
/// # Errors
/// It is not of the field's kind.
pub fn checked(field: &FieldInfo, value: Value) -> Result<Value, FieldError> {
    let expected = match field.kind {
        FieldKind::Count if value.as_count().is_none() => "a whole number".to_owned(),
        FieldKind::Flag if value.as_flag().is_none() => "true or false".to_owned(),
        FieldKind::OneOf(words) if !words.contains(&value.to_plain().as_ref()) => {
            format!("one of {}", words.join(", "))
        }
        FieldKind::Data(kind) => match kind.expected(&value) {
            Some(expected) => expected,
            None => return Ok(value),
        },
        _ => return Ok(value),
    };
    Err(FieldError {
        field: field.name.to_owned(),
        found: format!("`{}`", value.to_plain()),
        expected,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_compared_as_what_the_machine_says_it_is_however_it_is_written() {
        use crate::machine::table::FieldInfo;
        use crate::store::{ChangeEntry, Form, HeldFields, IdForm, LoopId, StateSpec};

        const fn field(name: &'static str, kind: FieldKind) -> FieldInfo {
            FieldInfo {
                name,
                doc: "",
                kind,
                initial: Constant::Null,
                at_start: false,
                within: None,
            }
        }
        static STATE: StateSpec = StateSpec {
            machine: "m",
            program: "claudex-loop",
            graph_hash: "",
            folder: ".m",
            folder_env: None,
            file: None,
            extension: "state",
            form: Form::Lines,
            ids: IdForm::Name,
            active: crate::store::Active::One,
            fields: HeldFields {
                phase: "phase",
                id: "id",
                revision: "revision",
                machine: "machine",
                session: "session",
                root: "root",
                mode: None,
                started: None,
                started_epoch: None,
                updated: None,
                graph_hash: None,
                visit: None,
                findings: None,
                run: None,
            },
            owned: &[],
            edits: &[],
            nulls: &[],
            terminal: &[],
            edges: &[],
        };
        static TABLE: Table = Table {
            name: "m",
            doc: "",
            file: "m.toml",
            plugin: None,
            slash: &[],
            state: &STATE,
            modes: &[],
            fields: &[
                field("word", FieldKind::OneOf(&["2", "3", "4"])),
                field("text", FieldKind::Text),
                field("flag", FieldKind::Flag),
            ],
            phases: &[],
            transitions: &[],
            edges: &[],
            personas: &[],
        };
        // As people, other programs and fields that had another type once write it.
        let fields = [
            ("word", Value::Count(3)),
            ("text", Value::Flag(true)),
            ("flag", Value::Text("true".to_owned())),
        ];
        let change = ChangeEntry {
            revision: 1,
            at: jiff::Timestamp::UNIX_EPOCH,
            what: String::new(),
            by: String::new(),
            from: None,
            to: None,
            append: None,
            run: None,
            evidence: None,
            visit: None,
            fields: fields.map(|(name, value)| (name.to_owned(), value)).into(),
        };
        let id = LoopId::parse("x", IdForm::Name).unwrap();
        let record = Record::of_change(&STATE, &id, &change);
        for (name, constant) in [
            ("word", Constant::Text("3")),
            ("text", Constant::Text("true")),
            ("flag", Constant::Flag(true)),
        ] {
            let guard = |sign| Guard::Compare {
                left: Operand::Field { name, offset: 0 },
                sign,
                right: Operand::Constant(constant),
            };
            assert_eq!(
                guard(Sign::Equal).holds(&TABLE, &record, None),
                Ok(true),
                "{name}"
            );
            assert_eq!(
                guard(Sign::NotEqual).holds(&TABLE, &record, None),
                Ok(false),
                "{name}"
            );
        }
        let next = Update::Next("word").value(&TABLE, &record, &[]).unwrap();
        assert_eq!(next, Some(Value::Word("4".to_owned())));
    }
}
