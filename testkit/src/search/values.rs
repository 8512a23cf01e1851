//! Which fields matter to where a loop can go, and which values of them are worth a try.

use std::collections::{BTreeSet, HashSet};

use claudex_build::model::{
    Argument, ArgumentKind, Behaviour, Constant, FieldKind, Guard, Machine, Operand, Sign,
    Transition, Update,
};

use super::state::{State, Value, Visit};

/// The text of every argument, and of every text that a start requires.
pub(super) const GIVEN: &str = "given-1";

/// Returns a value for a field of which no guard asks more than that it is there.
pub(super) fn given(kind: &FieldKind) -> Value {
    match kind {
        FieldKind::Count | FieldKind::Time => Value::Number(1),
        FieldKind::Flag => Value::Flag(true),
        FieldKind::OneOf(words) => Value::Text(
            words
                .first()
                .map_or_else(String::new, |word| word.value.clone()),
        ),
        FieldKind::List => Value::List(vec![GIVEN.to_owned()]),
        FieldKind::Path => Value::Text(format!("{GIVEN}.md")),
        FieldKind::Text | FieldKind::Id => Value::Text(GIVEN.to_owned()),
        FieldKind::Data(_) | FieldKind::Held(_) => Value::Absent,
    }
}

/// What of a state the machine can tell apart from others.
pub(super) type Key = (usize, Vec<Value>, Visit, (u64, u8));

/// The fields that guards and behaviours read, and those that flow into them.
pub(super) struct Relevant {
    pub(super) fields: Vec<bool>,
    /// Counts from here on are alike to every guard.
    cap: u64,
}

impl Relevant {
    pub(super) fn of(machine: &Machine) -> Self {
        let mut fields = read(machine, machine.transitions.iter());
        for behaviour in machine
            .phases
            .iter()
            .filter_map(|phase| phase.on_stop.as_ref())
        {
            let waits = behaviour
                .parameter("field")
                .filter(|_| behaviour.name.value == "wait-for");
            let round = behaviour.parameter("round").filter(|_| stalls(behaviour));
            for at in waits
                .into_iter()
                .chain(round)
                .filter_map(|name| index(machine, &name.value))
            {
                fields[at] = true;
            }
        }
        flow(machine, &mut fields);
        let mut numbers: BTreeSet<u64> = BTreeSet::new();
        for guard in machine.transitions.iter().filter_map(|of| of.when.as_ref()) {
            each(&guard.value, &mut |left, _, right| {
                for side in [left, right] {
                    numbers.extend(constant_of(side));
                    numbers.insert(offset_of(side).unsigned_abs());
                }
            });
        }
        numbers.extend(
            machine
                .fields
                .iter()
                .filter_map(|field| match field.initial() {
                    Some(Constant::Count(count)) => Some(count),
                    _ => None,
                }),
        );
        let cap = numbers
            .last()
            .copied()
            .unwrap_or_default()
            .saturating_add(4);
        Self { fields, cap }
    }

    /// Returns what of a state the machine can tell apart from others.
    pub(super) fn key(&self, state: &State, now: u64) -> Key {
        let now = now + state.waited;
        let values = state
            .values
            .iter()
            .zip(&self.fields)
            .filter(|(_, relevant)| **relevant);
        let values = values
            .map(|(value, _)| match value {
                // A time is far above any count: what matters is how far off it is.
                Value::Number(time) if *time > now / 2 && *time > self.cap => {
                    let off = i128::from(*time) - i128::from(now);
                    Value::Text(off.max(-i128::from(self.cap)).to_string())
                }
                Value::Number(count) => Value::Number((*count).min(self.cap)),
                Value::List(texts) => Value::Number((texts.len() as u64).min(self.cap)),
                other => other.clone(),
            })
            .collect();
        (state.phase, values, state.visit, state.same)
    }

    /// Returns values of a field that may open what the plainest one does not.
    pub(super) fn candidates(&self, machine: &Machine, field: usize, now: u64) -> Vec<Value> {
        let declared = &machine.fields[field];
        let is_it = |side: &Operand| {
            side.field()
                .is_some_and(|name| name.value == declared.name.value)
        };
        let (near, words) = compared(machine.transitions.iter(), is_it, |_| None);
        let numbers: BTreeSet<u64> = near.into_iter().chain([0, 1, 2]).collect();
        let texts: BTreeSet<String> = words
            .into_iter()
            .chain([String::new(), GIVEN.to_owned()])
            .collect();
        let mut values: Vec<Value> = match &declared.kind {
            FieldKind::Count => numbers.into_iter().map(Value::Number).collect(),
            FieldKind::Time => [0, now.saturating_sub(60), now + 1]
                .map(Value::Number)
                .into(),
            FieldKind::Flag => [false, true].map(Value::Flag).into(),
            FieldKind::OneOf(words) => words
                .iter()
                .map(|word| Value::Text(word.value.clone()))
                .collect(),
            FieldKind::List => numbers
                .into_iter()
                .filter(|length| *length <= 8)
                .map(|length| Value::List((1..=length).map(|at| format!("given-{at}")).collect()))
                .collect(),
            FieldKind::Text | FieldKind::Path | FieldKind::Id => {
                texts.into_iter().map(Value::Text).collect()
            }
            FieldKind::Data(_) | FieldKind::Held(_) => Vec::new(),
        };
        let plain = declared.initial().as_ref().map(Value::of);
        values.retain(|value| Some(value) != plain.as_ref());
        values
    }

    /// Returns the values of a transition's argument that are worth a try.
    pub(super) fn arguments(
        &self,
        machine: &Machine,
        declared: &Transition,
        argument: &Argument,
        (state, now): (Option<&State>, u64),
    ) -> Vec<Value> {
        let into: HashSet<usize> = declared
            .set
            .iter()
            .filter(|(_, update)| update.value.argument() == Some(&argument.name.value))
            .filter(|(_, update)| matches!(update.value, Update::Argument(_) | Update::Plus { .. }))
            .filter_map(|(field, _)| index(machine, &field.value))
            .collect();
        let plain = given(&match argument.kind.value {
            ArgumentKind::Count => FieldKind::Count,
            ArgumentKind::Flag => FieldKind::Flag,
            ArgumentKind::Path => FieldKind::Path,
            ArgumentKind::Text => FieldKind::Text,
            ArgumentKind::Id => FieldKind::Id,
            ArgumentKind::OneOf(_) => FieldKind::Text,
        });
        let mut values = match &argument.kind.value {
            ArgumentKind::OneOf(words) => words.iter().cloned().map(Value::Text).collect(),
            ArgumentKind::Flag => [true, false].map(Value::Flag).into(),
            _ => vec![plain],
        };
        let is_it = |side: &Operand| matches!(side, Operand::Argument { name, .. } if name.value == argument.name.value);
        let here = |name: &str| Some(state?.values[index(machine, name)?].clone());
        let (near, words) = compared([declared].into_iter(), is_it, here);
        if argument.kind.value == ArgumentKind::Count {
            values.extend(near.into_iter().map(Value::Number));
        }
        // An argument that is empty says that there is none.
        values.extend(
            words
                .into_iter()
                .filter(|word| !word.is_empty())
                .map(Value::Text),
        );
        for field in into.into_iter().filter(|field| self.fields[*field]) {
            if machine.fields[field].kind == FieldKind::List {
                continue;
            }
            for value in self.candidates(machine, field, now) {
                // An argument that is empty says that there is none.
                if !values.contains(&value) && value != Value::Text(String::new()) {
                    values.push(value);
                }
            }
        }
        values
    }
}

/// Returns the numbers around those that guards hold something against, and the texts. `here` says what a field holds.
fn compared<'t>(
    declared: impl Iterator<Item = &'t Transition>,
    is_it: impl Fn(&Operand) -> bool,
    here: impl Fn(&str) -> Option<Value>,
) -> (BTreeSet<u64>, BTreeSet<String>) {
    let (mut numbers, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for guard in declared.filter_map(|declared| declared.when.as_ref()) {
        each(&guard.value, &mut |left, _, right| {
            for (mine, other) in [(left, right), (right, left)] {
                let value = match other {
                    _ if !is_it(mine) => continue,
                    Operand::Constant(constant) => Some(Value::of(constant)),
                    other => other.field().and_then(|field| here(&field.value)),
                };
                let base = match value {
                    Some(Value::Number(number)) => i128::from(number),
                    Some(Value::List(texts)) => texts.len() as i128,
                    Some(Value::Text(text)) => {
                        texts.insert(text);
                        continue;
                    }
                    _ => continue,
                };
                let base = base - i128::from(offset_of(mine)) + i128::from(offset_of(other));
                numbers.extend((base - 1..=base + 1).filter_map(|near| u64::try_from(near).ok()));
            }
        });
    }
    (numbers, texts)
}

/// Marks the fields that the guards of some transitions read, and those that flow into them.
pub(super) fn read<'t>(
    machine: &Machine,
    declared: impl Iterator<Item = &'t Transition>,
) -> Vec<bool> {
    let mut fields = vec![false; machine.fields.len()];
    for guard in declared.filter_map(|declared| declared.when.as_ref()) {
        each(&guard.value, &mut |left, _, right| {
            let read = [left, right].into_iter().filter_map(|side| side.field());
            read.filter_map(|name| index(machine, &name.value))
                .for_each(|at| fields[at] = true);
        });
    }
    flow(machine, &mut fields);
    fields
}

fn index(machine: &Machine, name: &str) -> Option<usize> {
    machine
        .fields
        .iter()
        .position(|field| field.name.value == name)
}

/// Adds the fields whose values updates bring into those that are marked.
fn flow(machine: &Machine, fields: &mut [bool]) {
    let index = |name: &str| index(machine, name);
    let mut more = true;
    while std::mem::take(&mut more) {
        for (field, update) in machine
            .transitions
            .iter()
            .flat_map(|declared| &declared.set)
        {
            let from = update.value.field().and_then(index);
            if let Some((from, into)) = from.zip(index(&field.value))
                && fields[into]
            {
                more |= !std::mem::replace(&mut fields[from], true);
            }
        }
    }
}

/// Whether a review of this phase has transitions for rounds that go nowhere.
pub(super) fn stalls(behaviour: &Behaviour) -> bool {
    let mut outcomes = behaviour.outcomes.iter();
    outcomes.any(|(name, names)| name == "stalled" && !names.is_empty())
}

/// Calls `look` with each comparison of a guard.
pub(super) fn each<'g>(guard: &'g Guard, look: &mut impl FnMut(&'g Operand, Sign, &'g Operand)) {
    match guard {
        Guard::All(parts) | Guard::Any(parts) => parts.iter().for_each(|part| each(part, look)),
        Guard::Compare { left, sign, right } => look(left, *sign, right),
    }
}

fn constant_of(operand: &Operand) -> Option<u64> {
    match operand {
        Operand::Constant(Constant::Count(number)) => Some(*number),
        _ => None,
    }
}

pub(super) fn offset_of(operand: &Operand) -> i64 {
    match operand {
        Operand::Field { offset, .. }
        | Operand::Length { offset, .. }
        | Operand::Argument { offset, .. }
        | Operand::Now { offset, .. } => *offset,
        Operand::Constant(_) => 0,
    }
}
