//! What the checks promise, tried out: no machine that they accept runs for ever without a person, has two edges of one
//! transition open at once or none of several, or reads a field where it does not exist.
//!
//! Machines come out of a hat; each that is accepted is run through every state that it can come to from many, its guards
//! evaluated as `src/machine/guard.rs` does it. `CLAUDEX_MACHINES=200000 cargo test -p claudex-build --test simulated` is a
//! long run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use claudex_build::check_source;
use claudex_build::model::{
    Actor, ArgumentKind, Constant, Edge, FieldKind, Guard, Machine, Operand, Sign, Transition,
    Update,
};

#[path = "simulated/hat.rs"]
mod hat;

/// The value of a field; None where it does not exist. A time is its seconds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Value {
    Number(i128),
    Text(String),
    Flag(bool),
    List(Vec<String>),
}

type Values = BTreeMap<String, Option<Value>>;

/// Where a loop is: its phase, its fields.
type State = (usize, Values);

fn constant(constant: &Constant) -> Value {
    match constant {
        Constant::Count(number) | Constant::Time(number) => Value::Number(i128::from(*number)),
        Constant::Text(text) => Value::Text(text.clone()),
        Constant::Flag(flag) => Value::Flag(*flag),
        Constant::List(texts) => Value::List(texts.clone()),
    }
}

fn operand(operand: &Operand, values: &Values, now: i128) -> Value {
    let read = |name: &str| {
        values[name]
            .clone()
            .unwrap_or_else(|| panic!("`{name}` is read where it does not exist"))
    };
    match operand {
        Operand::Constant(value) => constant(value),
        Operand::Now { offset, .. } => Value::Number(now + i128::from(*offset)),
        Operand::Argument { name, .. } => {
            panic!(
                "no machine out of the hat has a guard that reads args.{}",
                name.value
            )
        }
        Operand::Length { name, offset } => match read(&name.value) {
            Value::List(texts) => Value::Number(texts.len() as i128 + i128::from(*offset)),
            other => panic!("{other:?} is counted"),
        },
        Operand::Field { name, offset } => match read(&name.value) {
            Value::Number(number) => Value::Number(number + i128::from(*offset)),
            other => other,
        },
    }
}

fn holds(guard: &Guard, values: &Values, now: i128) -> bool {
    match guard {
        Guard::All(parts) => parts.iter().all(|part| holds(part, values, now)),
        Guard::Any(parts) => parts.iter().any(|part| holds(part, values, now)),
        Guard::Compare { left, sign, right } => {
            let (left, right) = (operand(left, values, now), operand(right, values, now));
            match sign {
                Sign::Equal => left == right,
                Sign::NotEqual => left != right,
                Sign::Less => left < right,
                Sign::LessOrEqual => left <= right,
                Sign::Greater => left > right,
                Sign::GreaterOrEqual => left >= right,
            }
        }
    }
}

/// What an update gives; Err(()): the engine refuses the number, Ok(None): it leaves the field as it is.
fn updated(
    update: &Update,
    values: &Values,
    given: Option<&Value>,
    now: i128,
) -> Result<Option<Value>, ()> {
    let read = |name: &str| {
        values[name]
            .clone()
            .unwrap_or_else(|| panic!("`{name}` is read where it does not exist"))
    };
    let number = |value: i128| {
        if value < 0 {
            Err(())
        } else {
            Ok(Some(Value::Number(value)))
        }
    };
    match update {
        Update::Constant(value) => Ok(Some(constant(value))),
        Update::Now { offset } => number(now + i128::from(*offset)),
        Update::Field { name, offset } => match read(name) {
            Value::Number(value) => number(value + i128::from(*offset)),
            other => panic!("{other:?} and {offset}"),
        },
        Update::Next(name) => match read(name) {
            Value::Text(word) => {
                let words: &[&str] = if name == "w" {
                    &["x", "y", "3"]
                } else {
                    &["x", "y"]
                };
                let at = words.iter().position(|known| *known == word).unwrap();
                Ok(Some(Value::Text(words[(at + 1) % words.len()].to_owned())))
            }
            other => panic!("next({other:?})"),
        },
        Update::Argument(_) => Ok(given.cloned()),
        Update::Plus { name, .. } => match (read(name), given) {
            (_, None) => Ok(None),
            (Value::Number(value), Some(Value::Number(more))) => number(value + more),
            (Value::List(mut texts), Some(Value::Text(more))) => {
                texts.push(more.clone());
                Ok(Some(Value::List(texts)))
            }
            (value, more) => panic!("{value:?} + {more:?}"),
        },
    }
}

/// What a transition may be given.
fn arguments(declared: &Transition) -> Vec<Option<Value>> {
    let Some(argument) = declared.args.first() else {
        return vec![None];
    };
    let mut values: Vec<Option<Value>> = match argument.kind.value {
        ArgumentKind::Count => vec![Some(Value::Number(0)), Some(Value::Number(2))],
        ArgumentKind::Flag => vec![Some(Value::Flag(false)), Some(Value::Flag(true))],
        _ => vec![Some(Value::Text("p".into())), Some(Value::Text("r".into()))],
    };
    values.extend(argument.optional.then_some(None));
    values
}

/// The clock's readings. It may be set back.
const TIMES: [i128; 3] = [1, 2, 4];

struct Simulation<'m> {
    machine: &'m Machine,
    edges: Vec<Edge<'m>>,
}

impl Simulation<'_> {
    /// Where a loop can come to in one change, without a person; and on the way, whether the guards are what was promised.
    fn after(&self, state: &State) -> BTreeSet<State> {
        let (phase, values) = state;
        let mut next = BTreeSet::new();
        let mut groups: BTreeMap<&str, Vec<&Edge<'_>>> = BTreeMap::new();
        for edge in self.edges.iter().filter(|edge| edge.from == *phase) {
            groups
                .entry(&edge.declared.name.value)
                .or_default()
                .push(edge);
        }
        for (name, group) in groups {
            for now in TIMES {
                let is_open = |edge: &&&Edge<'_>| {
                    let when = edge.declared.when.as_ref();
                    when.is_none_or(|when| holds(&when.value, values, now))
                };
                let open: Vec<_> = group.iter().filter(is_open).collect();
                assert!(
                    open.len() <= 1,
                    "{name}: {} are open in {state:?} at {now}",
                    open.len()
                );
                assert!(
                    group.len() == 1 || !open.is_empty(),
                    "{name}: none is open in {state:?} at {now}"
                );
                let by = &group[0].declared.by;
                if !by.is_empty() && by.iter().all(|actor| actor.value == Actor::Person) {
                    continue;
                }
                for edge in open {
                    let given = arguments(edge.declared);
                    next.extend(
                        given
                            .iter()
                            .filter_map(|given| self.taken(edge, values, given.as_ref(), now)),
                    );
                }
            }
        }
        next
    }

    fn taken(
        &self,
        edge: &Edge<'_>,
        values: &Values,
        given: Option<&Value>,
        now: i128,
    ) -> Option<State> {
        let (from, to) = (
            &self.machine.phases[edge.from].name.value,
            &self.machine.phases[edge.to].name.value,
        );
        let mut after = values.clone();
        for field in &self.machine.fields {
            match (field.exists_in(from), field.exists_in(to)) {
                (false, true) => {
                    after.insert(
                        field.name.value.clone(),
                        field.initial().as_ref().map(constant),
                    );
                }
                (true, false) => drop(after.insert(field.name.value.clone(), None)),
                _ => {}
            }
        }
        for (name, update) in &edge.declared.set {
            assert!(
                self.machine.field(&name.value).unwrap().exists_in(to),
                "`{}` is set",
                name.value
            );
            if let Some(value) = updated(&update.value, values, given, now).ok()? {
                after.insert(name.value.clone(), Some(value));
            }
        }
        Some((edge.to, after))
    }

    /// Runs through everything that a loop can come to. None: too much for this test; Some: how many states.
    fn run(&self, seen: &mut HashMap<State, bool>, start: &State) -> Option<()> {
        /// More than any machine of the hat has that ends.
        const MOST: usize = 60_000;
        /// A way with so many changes.
        const LONGEST: usize = 4_000;
        let mut way: Vec<(State, Vec<State>)> = Vec::new();
        let enter = |state: State, seen: &mut HashMap<State, bool>| {
            seen.insert(state.clone(), false);
            let next: Vec<State> = self.after(&state).into_iter().collect();
            (state, next)
        };
        if seen.contains_key(start) {
            return Some(());
        }
        way.push(enter(start.clone(), seen));
        while let Some((state, next)) = way.last_mut() {
            let Some(other) = next.pop() else {
                seen.insert(state.clone(), true);
                way.pop();
                continue;
            };
            match seen.get(&other) {
                Some(true) => {}
                Some(false) => panic!("a loop comes back to {other:?}"),
                None => {
                    assert!(way.len() < LONGEST, "a loop goes on and on: {other:?}");
                    if seen.len() > MOST {
                        return None;
                    }
                    way.push(enter(other, seen));
                }
            }
        }
        Some(())
    }
}

/// States to begin with: fields of any value that they can have. What a start gives is one of them.
fn beginnings(machine: &Machine, dice: &mut hat::Dice) -> State {
    let phase = dice.below(3);
    let values = machine.fields.iter().map(|field| {
        let value = |dice: &mut hat::Dice| match &field.kind {
            FieldKind::Count => Value::Number(dice.below(5) as i128),
            FieldKind::Time => Value::Number(dice.below(6) as i128),
            FieldKind::Flag => Value::Flag(dice.below(2) == 1),
            FieldKind::OneOf(words) => Value::Text(words[dice.below(words.len())].value.clone()),
            FieldKind::List => Value::List(vec!["p".to_owned(); dice.below(3)]),
            FieldKind::Text => Value::Text(["p", "q", "", "text 1"][dice.below(4)].to_owned()),
            _ => Value::Text(String::new()),
        };
        let there = field.exists_in(&machine.phases[phase].name.value);
        (field.name.value.clone(), there.then(|| value(dice)))
    });
    (phase, values.collect())
}

/// How many machines are drawn.
fn machines() -> u64 {
    let given = std::env::var("CLAUDEX_MACHINES").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(1_500)
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the numbers are part of what the test has to say"
)]
fn what_is_accepted_ends_and_its_guards_neither_overlap_nor_leave_a_gap() {
    let (mut accepted, mut cyclic, mut divided, mut states, mut large) = (0, 0, 0, 0, 0);
    for seed in 0..machines() {
        let mut dice = hat::Dice::new(seed);
        let source = hat::machine(&mut dice);
        let Ok(machine) = check_source("m.toml", &source) else {
            continue;
        };
        accepted += 1;
        let edges = machine.edges();
        cyclic += usize::from(edges.iter().any(|edge| edge.from >= edge.to));
        divided += usize::from(machine.transitions.len() > machine.transition_names().len());
        let simulation = Simulation {
            machine: &machine,
            edges,
        };
        let mut seen = HashMap::new();
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..20 {
                let start = beginnings(&machine, &mut dice);
                if simulation.run(&mut seen, &start).is_none() {
                    return true;
                }
            }
            false
        }));
        match tried {
            Ok(more) => large += usize::from(more),
            Err(_) => panic!("machine {seed}:\n{source}"),
        }
        states += seen.len();
    }
    println!(
        "{accepted} of {} machines accepted, {cyclic} with ways back, {divided} with divided transitions; {states} states, \
         {large} machines with too many",
        machines()
    );
    assert!(
        accepted as u64 * 20 > machines(),
        "{accepted}: the hat is no good"
    );
    assert!(
        large * 20 < accepted,
        "{large} of {accepted} are not run to their end"
    );
}
