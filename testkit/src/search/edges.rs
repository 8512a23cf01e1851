//! What an edge asks of a loop, and what it leaves: guards and updates over the values of the search.

use std::cmp::Ordering;

use claudex_build::model::{Edge, FieldKind, Guard, Operand, Sign, Update};

use super::moves::{Act, Given, Moves, Step};
use super::state::{State, Value, Visit};
use super::values::{GIVEN, offset_of};

impl Moves<'_> {
    pub(super) fn is_open(&self, edge: &Edge<'_>, given: &Given, state: &State) -> bool {
        let guard = edge.declared.when.as_ref();
        guard.is_none_or(|guard| self.holds(&guard.value, given, state))
    }

    fn holds(&self, guard: &Guard, given: &Given, state: &State) -> bool {
        match guard {
            Guard::All(parts) => parts.iter().all(|part| self.holds(part, given, state)),
            Guard::Any(parts) => parts.iter().any(|part| self.holds(part, given, state)),
            Guard::Compare { left, sign, right } => {
                let sides = self
                    .side(left, given, state)
                    .zip(self.side(right, given, state));
                let order = sides.and_then(|(left, right)| left.partial_cmp(&right));
                match sign {
                    Sign::Equal => order == Some(Ordering::Equal),
                    Sign::NotEqual => order != Some(Ordering::Equal),
                    Sign::Less => order == Some(Ordering::Less),
                    Sign::LessOrEqual => order.is_some_and(Ordering::is_le),
                    Sign::Greater => order == Some(Ordering::Greater),
                    Sign::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
                }
            }
        }
    }

    pub(super) fn side(&self, operand: &Operand, given: &Given, state: &State) -> Option<Side> {
        let value = match operand {
            Operand::Constant(constant) => Value::of(constant),
            Operand::Now { .. } => Value::Number(self.now + state.waited),
            Operand::Field { name, .. } | Operand::Length { name, .. } => {
                state.values[self.field(&name.value)?].clone()
            }
            Operand::Argument { name, .. } => given
                .iter()
                .find(|(known, _)| *known == name.value)?
                .1
                .clone(),
        };
        Some(match value {
            Value::Number(number) => {
                Side::Number(i128::from(number) + i128::from(offset_of(operand)))
            }
            Value::List(texts) => {
                Side::Number(texts.len() as i128 + i128::from(offset_of(operand)))
            }
            Value::Flag(flag) => Side::Flag(flag),
            Value::Text(text) => Side::Text(text),
            Value::Absent => return None,
        })
    }

    /// The loop after an edge; None where a number would leave its range.
    pub(super) fn taking(
        &self,
        state: &State,
        act: Act,
        index: usize,
        arguments: &[(String, Value)],
        counted: bool,
    ) -> Option<Step> {
        let edge = &self.edges[index];
        let argument = |name: &str| {
            let mut given = arguments.iter();
            given
                .find(|(known, _)| known == name)
                .map(|(_, value)| value)
        };
        let (from, to) = (self.name(edge.from), self.name(edge.to));
        let mut next = state.clone();
        for (at, field) in self.machine.fields.iter().enumerate() {
            let set = edge
                .declared
                .set
                .iter()
                .find(|(name, _)| name.value == field.name.value);
            next.values[at] = match (set, field.exists_in(from), field.exists_in(to)) {
                (_, _, false) => Value::Absent,
                (Some((_, update)), ..) => self.updated(&update.value, at, state, &argument)?,
                (None, false, true) => field.initial().as_ref().map_or(Value::Absent, Value::of),
                (None, ..) => continue,
            };
        }
        next.phase = edge.to;
        let round = self.machine.phases[edge.to].on_stop.as_ref();
        let round = round
            .and_then(|behaviour| behaviour.parameter("round"))
            .and_then(|name| self.field(&name.value));
        let advances = round.is_some_and(|round| next.values[round] != state.values[round]);
        if edge.from != edge.to || advances || counted {
            next.visit = Visit::Unreviewed;
        }
        Some(Step {
            act,
            edge: Some(index),
            leaves: next,
        })
    }

    fn updated<'v>(
        &self,
        update: &Update,
        field: usize,
        state: &State,
        argument: &impl Fn(&str) -> Option<&'v Value>,
    ) -> Option<Value> {
        let read = |name: &str| self.field(name).map(|at| state.values[at].clone());
        Some(match update {
            Update::Constant(constant) => Value::of(constant),
            Update::Field { name, offset } => match read(name)? {
                Value::Number(number) => Value::Number(number.checked_add_signed(*offset)?),
                other => other,
            },
            Update::Next(name) => {
                let at = self.field(name)?;
                let FieldKind::OneOf(words) = &self.machine.fields[at].kind else {
                    return None;
                };
                let Value::Text(now) = &state.values[at] else {
                    return None;
                };
                let place = words.iter().position(|word| word.value == *now)?;
                Value::Text(words[(place + 1) % words.len()].value.clone())
            }
            Update::Now { offset } => {
                Value::Number((self.now + state.waited).checked_add_signed(*offset)?)
            }
            Update::Argument(name) => match argument(name) {
                Some(value) => value.clone(),
                None => state.values[field].clone(),
            },
            Update::Plus { name, argument: of } => match (read(name)?, argument(of)) {
                (Value::Number(number), Some(Value::Number(more))) => {
                    Value::Number(number.checked_add(*more)?)
                }
                (Value::List(mut texts), Some(Value::Text(text))) => {
                    texts.push(text.clone());
                    Value::List(texts)
                }
                (Value::List(mut texts), Some(_)) => {
                    texts.push(GIVEN.to_owned());
                    Value::List(texts)
                }
                (value, _) => value,
            },
        })
    }
}

/// One side of a comparison.
#[derive(Debug, PartialEq, PartialOrd)]
pub(super) enum Side {
    Number(i128),
    Flag(bool),
    Text(String),
}
