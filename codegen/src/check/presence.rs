//! Fields that exist in some phases only (`in`): nothing speaks of one where it does not exist.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::{ENOUGH, Index};
use crate::diagnostic::{Diagnostic, list};
use crate::model::texts::interpolated;
use crate::model::{At, AtStart, Edge, Field, Guard};

const CODE: &str = "field_absent";

/// The most that looking for crossings may cost, in fields looked at.
const MOST_CROSSINGS: usize = 1 << 22;

/// The fields with `in`, and the phases in which each exists.
struct Within<'m>(HashMap<&'m str, (&'m Field, HashSet<usize>)>);

impl<'m> Within<'m> {
    fn new(index: &Index<'m>) -> Self {
        let fields = index.machine.fields.iter().filter_map(|field| {
            let phases = field.within.as_ref()?.iter();
            // Where a phase is misspelt, or none is named, it is not known where the field exists.
            let phases: Option<HashSet<usize>> = phases
                .map(|phase| index.phases.get(phase.as_str()).copied())
                .collect();
            let phases = phases.filter(|phases| !phases.is_empty())?;
            Some((field.name.as_str(), (field, phases)))
        });
        Self(fields.collect())
    }

    /// The field, if there are phases here in which it does not exist, and a few of those.
    fn absent(
        &self,
        field: &str,
        phases: impl Iterator<Item = usize>,
    ) -> Option<(&'m Field, Vec<usize>)> {
        let (field, within) = self.0.get(field)?;
        let absent: Vec<usize> = phases
            .filter(|phase| !within.contains(phase))
            .take(4)
            .collect();
        (!absent.is_empty()).then_some((*field, absent))
    }
}

/// For each edge, the fields that begin or cease to exist on its way.
pub(super) struct Crossings<'m>(HashMap<(usize, usize), Vec<&'m str>>);

impl<'m> Crossings<'m> {
    pub(super) fn new(index: &Index<'m>, edges: &[Edge<'m>]) -> Result<Self, Box<Diagnostic>> {
        let within = Within::new(index);
        let mut fields_of: BTreeMap<usize, HashSet<&'m str>> = BTreeMap::new();
        for (name, (_, phases)) in &within.0 {
            for phase in phases {
                fields_of.entry(*phase).or_default().insert(name);
            }
        }
        let (none, mut cost) = (HashSet::new(), 0);
        let mut crossings = HashMap::new();
        for edge in edges.iter().filter(|edge| edge.from != edge.to) {
            let pair = (edge.from, edge.to);
            if crossings.contains_key(&pair) {
                continue;
            }
            let before = fields_of.get(&edge.from).unwrap_or(&none);
            let after = fields_of.get(&edge.to).unwrap_or(&none);
            cost += before.len() + after.len();
            if cost > MOST_CROSSINGS {
                let message = "with this entry too many fields begin and cease to exist";
                let span = edge.declared.span.clone();
                let found = Diagnostic::new("too_large", span, message);
                return Err(Box::new(
                    found.help("give fewer fields an `in`, or split the machine"),
                ));
            }
            let mut names: Vec<&str> = before.symmetric_difference(after).copied().collect();
            if !names.is_empty() {
                names.sort_unstable();
                crossings.insert(pair, names);
            }
        }
        Ok(Self(crossings))
    }

    /// The fields that begin or cease to exist where an edge is taken.
    pub(super) fn at(&self, edge: &Edge<'_>) -> &[&'m str] {
        self.0
            .get(&(edge.from, edge.to))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

pub(super) fn presence(index: &Index<'_>, edges: &[Edge<'_>], found: &mut Vec<Diagnostic>) {
    let within = Within::new(index);
    if within.0.is_empty() {
        return;
    }
    starts(index, &within, found);
    behaviours(index, &within, found);
    let mut by_entry: BTreeMap<usize, Vec<&Edge<'_>>> = BTreeMap::new();
    for edge in edges {
        by_entry.entry(index.entry(edge)).or_default().push(edge);
    }
    for (entry, edges) in by_entry {
        if found.len() > ENOUGH {
            return;
        }
        let entry = &index.machine.transitions[entry];
        let name = &entry.name.value;
        let mut reads: Vec<(&str, Range<usize>)> = Vec::new();
        if let Some(when) = &entry.when {
            operands(&when.value, &mut |field| {
                reads.push((&field.value, field.span.clone()))
            });
        }
        for (_, update) in &entry.set {
            reads.extend(
                update
                    .value
                    .field()
                    .map(|field| (field, update.span.clone())),
            );
        }
        let mut told = HashSet::new();
        for (read, span) in reads {
            if !told.insert(read) {
                continue;
            }
            let sources = edges.iter().map(|edge| edge.from);
            if let Some((field, absent)) = within.absent(read, sources) {
                let phases = names(index, &absent);
                let what = format!("`{name}` reads `{read}` in {phases}, where it does not exist");
                found.push(absence(field, span, what));
            }
        }
        for (set, _) in &entry.set {
            let targets = edges.iter().map(|edge| edge.to);
            if let Some((field, absent)) = within.absent(&set.value, targets) {
                let phases = names(index, &absent);
                let what = format!(
                    "`{name}` sets `{}` and leads to {phases}, where it does not exist",
                    set.value
                );
                found.push(absence(field, set.span.clone(), what));
            }
        }
    }
}

/// What a start gives a field has to have a place in the first phase of each mode.
fn starts(index: &Index<'_>, within: &Within<'_>, found: &mut Vec<Diagnostic>) {
    for mode in &index.machine.modes {
        let Some(&start) = index.phases.get(mode.start.as_str()) else {
            continue;
        };
        let begins = format!("the mode `{}` begins in `{}`", mode.name, mode.start.value);
        for (name, _) in &mode.initial {
            if let Some((field, _)) = within.absent(&name.value, std::iter::once(start)) {
                let what = format!("{begins}, where `{}` does not exist", name);
                found.push(absence(field, name.span.clone(), what));
            }
        }
        for field in &index.machine.fields {
            let given = field.at_start != AtStart::Never;
            if given
                && let Some((field, _)) = within.absent(&field.name.value, std::iter::once(start))
            {
                let what = format!(
                    "a start takes `{}`, and {begins}, where it does not exist",
                    field.name
                );
                found.push(absence(field, field.name.span.clone(), what));
            }
        }
    }
}

fn behaviours(index: &Index<'_>, within: &Within<'_>, found: &mut Vec<Diagnostic>) {
    for (at, phase) in index.machine.phases.iter().enumerate() {
        let Some(behaviour) = &phase.on_stop else {
            continue;
        };
        for parameter in behaviour.parameters() {
            let in_braces = interpolated(parameter.value).unwrap_or_default();
            let named = in_braces
                .into_iter()
                .map(|(name, _)| name)
                .chain(parameter.is_field().then_some(parameter.value));
            for name in named {
                if let Some((field, _)) = within.absent(name, std::iter::once(at)) {
                    let what = format!(
                        "`{}` of `{}` reads `{name}`, which does not exist there",
                        parameter.key, phase.name
                    );
                    found.push(absence(field, parameter.span.clone(), what));
                }
            }
        }
    }
}

fn operands<'g>(guard: &'g Guard, add: &mut impl FnMut(&'g At<String>)) {
    match guard {
        Guard::All(parts) | Guard::Any(parts) => parts.iter().for_each(|part| operands(part, add)),
        Guard::Compare { left, right, .. } => {
            [left, right]
                .into_iter()
                .filter_map(|operand| operand.field())
                .for_each(add);
        }
    }
}

fn names(index: &Index<'_>, phases: &[usize]) -> String {
    let mut phases = phases.to_vec();
    phases.sort_unstable();
    phases.dedup();
    list(&phases.iter().map(|&at| index.phase(at)).collect::<Vec<_>>())
}

fn absence(field: &Field, span: Range<usize>, what: String) -> Diagnostic {
    let name = &field.name.value;
    let within: Vec<&str> = field
        .within
        .iter()
        .flatten()
        .map(|phase| phase.as_str())
        .collect();
    let one = Diagnostic::new(CODE, span, what).related(field.name.span.clone(), "declared here");
    one.help(format!(
        "`{name}` exists in {}: add the phase to its `in`, or do without it there",
        list(&within)
    ))
}
