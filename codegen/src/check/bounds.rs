//! Every cycle is bounded: a loop that could run for ever by itself is not built.
//!
//! In each strongly connected component, an edge can be taken only so often if it strictly raises a count that nothing there
//! lowers, under a guard that bounds the count by a constant or by a field unchanged there; or if it leaves a word (of a
//! `one_of`, a flag, a text) that nothing there brings back. Such edges are removed, and the rest is looked at
//! again: a component may fall apart, and what those edges reset is then no longer reset. Edges that only a person can
//! take are no part of it. What is cyclic in the end has no bound.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::Index;
use super::presence::Crossings;
use crate::diagnostic::Diagnostic;
use crate::model::{Actor, Constant, Edge, FieldKind, Guard, Operand, Sign, Update};

/// Limits the edges with which a cycle is looked for that is shorter than others.
const MOST_BEGUN: usize = 512;

/// What the edges of a component do to one field.
#[derive(Default, Clone)]
struct Effect<'m> {
    /// Whether any edge changes it.
    changed: bool,
    /// An edge that may make a count smaller, or a word any word.
    lowered_by: Option<&'m str>,
    /// The words that edges set.
    words: HashSet<String>,
}

type Effects<'m> = HashMap<&'m str, Effect<'m>>;

pub(super) fn bounds(
    index: &Index<'_>,
    edges: &[Edge<'_>],
    crossings: &Crossings<'_>,
    broken: &HashSet<usize>,
    found: &mut Vec<Diagnostic>,
) {
    let hook = |edge: &Edge<'_>| {
        let behaviour = index.machine.phases[edge.from].on_stop.as_ref();
        behaviour.is_some_and(|behaviour| {
            let mut named = behaviour.calls();
            named.any(|call| call.then.value == edge.declared.name.value)
        })
    };
    let person = |edge: &Edge<'_>| {
        !edge.declared.by.is_empty()
            && edge
                .declared
                .by
                .iter()
                .all(|actor| actor.value == Actor::Person)
    };
    // An edge with a finding of its own says nothing that can be relied on: it is left out, not blamed.
    let sound =
        |edge: &&Edge<'_>| !broken.contains(&index.entry(edge)) && (!person(edge) || hook(edge));
    let begins = |edge: &&Edge<'_>| !index.machine.phases[edge.from].terminal;
    let mut live: Vec<&Edge<'_>> = edges.iter().filter(begins).filter(sound).collect();
    loop {
        let component = components(index.machine.phases.len(), &live);
        live.retain(|edge| component[edge.from] == component[edge.to]);
        let effects = effects(index, &live, crossings, &component);
        let before = live.len();
        live.retain(|edge| !is_bounded(index, edge, &effects[&component[edge.from]]));
        if live.len() == before {
            report(index, &live, &component, &effects, found);
            return;
        }
    }
}

/// What the edges inside each component do to each field.
fn effects<'m>(
    index: &Index<'m>,
    live: &[&Edge<'m>],
    crossings: &Crossings<'m>,
    component: &[usize],
) -> HashMap<usize, Effects<'m>> {
    let mut all: HashMap<usize, Effects<'m>> = HashMap::new();
    for edge in live {
        let effects = all.entry(component[edge.from]).or_default();
        let name = edge.declared.name.as_str();
        // A field that begins to exist has its initial value, whatever it was before.
        for field in crossings.at(edge) {
            let effect = effects.entry(field).or_default();
            effect.changed = true;
            effect.lowered_by = Some(name);
            let initial = index.fields.get(field).and_then(|field| field.initial());
            effect.words.extend(initial.as_ref().map(word));
        }
        for (field, update) in &edge.declared.set {
            let effect = effects.entry(&field.value).or_default();
            match &update.value {
                Update::Field {
                    name: source,
                    offset,
                } if *source == field.value && *offset >= 0 => {
                    effect.changed |= *offset > 0;
                }
                // A count argument is 0 at least: it lowers nothing, and bounds nothing.
                Update::Plus { name: source, .. } if *source == field.value => {
                    effect.changed = true
                }
                Update::Constant(constant) => {
                    effect.changed = true;
                    effect.words.insert(word(constant));
                    if matches!(constant, Constant::Count(_)) {
                        effect.lowered_by = Some(name);
                    }
                }
                Update::Field { .. }
                | Update::Next(_)
                | Update::Argument(_)
                | Update::Plus { .. } => {
                    effect.changed = true;
                    effect.lowered_by = Some(name);
                }
            }
        }
    }
    all
}

fn word(constant: &Constant) -> String {
    match constant {
        Constant::Count(number) => number.to_string(),
        Constant::Text(text) => text.clone(),
        Constant::Flag(flag) => flag.to_string(),
    }
}

/// Whether an edge can be taken only so often while a loop stays in its component.
fn is_bounded(index: &Index<'_>, edge: &Edge<'_>, effects: &Effects<'_>) -> bool {
    let Some(when) = &edge.declared.when else {
        return false;
    };
    edge.declared.set.iter().any(|(field, update)| {
        let field = field.as_str();
        let effect = &effects[field];
        if effect.lowered_by.is_some() {
            return false;
        }
        match &update.value {
            Update::Field { name, offset } => {
                name == field && *offset > 0 && has_ceiling(&when.value, field, effects)
            }
            Update::Constant(constant) => leaves(index, &when.value, field).is_some_and(|left| {
                !left.contains(&word(constant))
                    && left.iter().all(|word| !effect.words.contains(word))
            }),
            Update::Next(_) | Update::Argument(_) | Update::Plus { .. } => false,
        }
    })
}

/// Whether the guard says that the count is at most a constant or a field that no edge of the component changes.
fn has_ceiling(guard: &Guard, field: &str, effects: &Effects<'_>) -> bool {
    match guard {
        Guard::All(parts) => parts.iter().any(|part| has_ceiling(part, field, effects)),
        Guard::Any(parts) => parts.iter().all(|part| has_ceiling(part, field, effects)),
        Guard::Compare { left, sign, right } => {
            ceiling(left, *sign, right, field).is_some_and(|other| match other {
                Operand::Constant(_) => true,
                // An argument may be another one each time.
                Operand::Argument { .. } => false,
                Operand::Field { name, .. } => !effects
                    .get(name.as_str())
                    .is_some_and(|effect| effect.changed),
            })
        }
    }
}

/// What a comparison says that a count is at most.
fn ceiling<'g>(
    left: &'g Operand,
    sign: Sign,
    right: &'g Operand,
    field: &str,
) -> Option<&'g Operand> {
    let is = |operand: &Operand| match operand {
        Operand::Field { name, .. } => name.value == field,
        Operand::Argument { .. } | Operand::Constant(_) => false,
    };
    let other = match sign {
        Sign::Less | Sign::LessOrEqual if is(left) => right,
        Sign::Greater | Sign::GreaterOrEqual if is(right) => left,
        Sign::Equal if is(left) => right,
        Sign::Equal if is(right) => left,
        _ => return None,
    };
    (!is(other)).then_some(other)
}

/// The words one of which a field has where the guard holds; None if it may have others.
fn leaves(index: &Index<'_>, guard: &Guard, field: &str) -> Option<BTreeSet<String>> {
    let (left, sign, right) = match guard {
        Guard::All(parts) => return parts.iter().find_map(|part| leaves(index, part, field)),
        Guard::Any(parts) => {
            let words: Option<Vec<BTreeSet<String>>> = parts
                .iter()
                .map(|part| leaves(index, part, field))
                .collect();
            return words.map(|words| words.into_iter().flatten().collect());
        }
        Guard::Compare { left, sign, right } => (left, *sign, right),
    };
    let said = match (left, right) {
        (Operand::Field { name, .. }, Operand::Constant(constant))
        | (Operand::Constant(constant), Operand::Field { name, .. })
            if name.value == field =>
        {
            word(constant)
        }
        _ => return None,
    };
    let all: BTreeSet<String> = match &index.fields.get(field)?.kind {
        FieldKind::OneOf(words) => words.iter().map(|word| word.value.to_string()).collect(),
        FieldKind::Flag => ["false", "true"].map(str::to_owned).into(),
        FieldKind::Text | FieldKind::Path if sign == Sign::Equal => BTreeSet::from([said.clone()]),
        _ => return None,
    };
    match sign {
        Sign::Equal => Some(BTreeSet::from([said])),
        Sign::NotEqual => Some(all.into_iter().filter(|word| *word != said).collect()),
        _ => None,
    }
}

/// The strongly connected component of each phase, as some number.
fn components(phases: usize, live: &[&Edge<'_>]) -> Vec<usize> {
    let (mut forward, mut backward) = (vec![Vec::new(); phases], vec![Vec::new(); phases]);
    for edge in live {
        forward[edge.from].push(edge.to);
        backward[edge.to].push(edge.from);
    }
    let (mut seen, mut finished) = (vec![false; phases], Vec::with_capacity(phases));
    for root in 0..phases {
        let mut path = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((at, next)) = path.last_mut() {
            if let Some(&to) = forward[*at].get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            } else {
                finished.push(*at);
                path.pop();
            }
        }
    }
    let mut component = vec![usize::MAX; phases];
    for &root in finished.iter().rev() {
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            if component[at] == usize::MAX {
                component[at] = root;
                open.extend(
                    backward[at]
                        .iter()
                        .filter(|&&to| component[to] == usize::MAX),
                );
            }
        }
    }
    component
}

/// Each edge that leads back to its own source, and of the cycles through more phases one of the shortest.
fn report<'m>(
    index: &Index<'m>,
    live: &[&Edge<'m>],
    component: &[usize],
    effects: &HashMap<usize, Effects<'m>>,
    found: &mut Vec<Diagnostic>,
) {
    let mut told = HashSet::new();
    let (own, others): (Vec<&Edge<'m>>, Vec<&Edge<'m>>) =
        live.iter().partition(|edge| edge.from == edge.to);
    for edge in own {
        if told.insert(index.entry(edge)) {
            found.push(unbounded(
                index,
                &[edge],
                &effects[&component[edge.from]],
                0,
            ));
        }
    }
    let mut begun = HashSet::new();
    let between = others
        .iter()
        .filter(|edge| begun.insert((edge.from, edge.to)));
    let cycles = between
        .take(MOST_BEGUN)
        .filter_map(|edge| shortest_cycle(&others, edge));
    let Some(cycle) = cycles.min_by_key(Vec::len) else {
        return;
    };
    let entries = |edges: &[&Edge<'m>]| {
        edges
            .iter()
            .map(|edge| index.entry(edge))
            .collect::<HashSet<_>>()
    };
    let more = entries(&others).difference(&entries(&cycle)).count();
    found.push(unbounded(
        index,
        &cycle,
        &effects[&component[cycle[0].from]],
        more,
    ));
}

/// The shortest cycle that begins with an edge.
fn shortest_cycle<'e, 'm>(
    edges: &[&'e Edge<'m>],
    first: &'e Edge<'m>,
) -> Option<Vec<&'e Edge<'m>>> {
    let mut next: HashMap<usize, Vec<&'e Edge<'m>>> = HashMap::new();
    for edge in edges {
        next.entry(edge.from).or_default().push(edge);
    }
    let mut came: HashMap<usize, &'e Edge<'m>> = HashMap::from([(first.to, first)]);
    let mut open = VecDeque::from([first.to]);
    while let Some(at) = open.pop_front() {
        if at == first.from {
            let mut cycle = vec![came[&at]];
            while let Some(last) = cycle.last().filter(|last| last.from != first.from) {
                cycle.push(came[&last.from]);
            }
            cycle.reverse();
            return Some(cycle);
        }
        for edge in next.get(&at).into_iter().flatten() {
            if let std::collections::hash_map::Entry::Vacant(free) = came.entry(edge.to) {
                free.insert(edge);
                open.push_back(edge.to);
            }
        }
    }
    None
}

fn unbounded(
    index: &Index<'_>,
    cycle: &[&Edge<'_>],
    effects: &Effects<'_>,
    more: usize,
) -> Diagnostic {
    /// A longer way is not read to its end.
    const SHOWN: usize = 6;
    let mut way: Vec<&str> = cycle
        .iter()
        .take(SHOWN)
        .map(|edge| index.phase(edge.from))
        .collect();
    way.extend((cycle.len() > SHOWN).then_some("..."));
    way.push(index.phase(cycle[0].from));
    let names: Vec<&str> = cycle
        .iter()
        .take(SHOWN)
        .map(|edge| edge.declared.name.as_str())
        .collect();
    let more = match more {
        0 => String::new(),
        1 => ", nor another one on which one more transition is".to_owned(),
        _ => format!(", nor others on which {more} more transitions are"),
    };
    let message = format!(
        "nothing bounds the cycle {} (by {}){more}",
        way.join(" -> "),
        names.join(", ")
    );
    let mut one = cycle[0].declared.name.problem("unbounded_cycle", message);
    for edge in cycle.iter().take(SHOWN).skip(1) {
        one = one.related(edge.declared.name.span.clone(), "then this one");
    }
    let reasons: Vec<String> = cycle
        .iter()
        .flat_map(|edge| nearly(edge, effects))
        .take(3)
        .collect();
    let remedy = "a cycle ends if one of its edges raises a count under a guard, such as `when = \"tries < 3\"` with \
                  `set = { tries = \"tries + 1\" }`, and nothing on the way lowers it; or if only a person takes it: \
                  `by = [\"person\"]`";
    let reasons = if reasons.is_empty() {
        String::new()
    } else {
        format!("{}; ", reasons.join("; "))
    };
    one.help(format!("{reasons}{remedy}"))
}

/// For each count that an edge raises: why that is no bound.
fn nearly(edge: &Edge<'_>, effects: &Effects<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    let name = &edge.declared.name.value;
    for (field, update) in &edge.declared.set {
        let raises = matches!(&update.value, Update::Field { name, offset } if *name == field.value && *offset > 0);
        if !raises {
            continue;
        }
        let field = field.as_str();
        let guarded = edge
            .declared
            .when
            .as_ref()
            .is_some_and(|when| has_ceiling(&when.value, field, &Effects::new()));
        reasons.push(
            match effects.get(field).and_then(|effect| effect.lowered_by) {
                Some(other) => format!("`{name}` raises `{field}`, but `{other}` sets it back"),
                None if guarded => {
                    format!("`{name}` raises `{field}`, but what bounds it changes on the way")
                }
                None => format!("`{name}` raises `{field}`, but no guard of it says how far"),
            },
        );
    }
    reasons
}
