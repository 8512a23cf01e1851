//! The edges of a machine, with guards and updates as functions, and the choice of an open edge.

use std::ops::Deref;

use super::held::{read_fields, to_map};
use super::table::{ArgumentInfo, Message, Table};
use super::{Actor, Machine, Raw, Refusal, Requirement};
use crate::store::misfit;
use crate::text;

const MAX_VALUE: usize = 80;

/// The fields after an edge, or the name of the field whose number would leave its range.
pub type UpdateResult<M> = Result<<M as Machine>::Fields, &'static str>;

/// The names and values that a guard reads, each once.
pub type GuardValues = Vec<(&'static str, String)>;

/// One entry of a transition, with its rules.
#[derive(Debug)]
pub struct Edge<M: Machine> {
    /// The part of it that needs no types of the machine.
    pub info: EdgeInfo,
    /// The condition, or `None` if it is always open.
    pub when: Option<Guard<M>>,
    /// Returns the fields after the edge.
    pub set: fn(&M::Fields, &M::Transition) -> UpdateResult<M>,
}

/// The condition of an edge.
#[derive(Debug)]
pub struct Guard<M: Machine> {
    /// Returns whether it holds.
    pub holds: fn(&M::Fields, &M::Transition) -> bool,
    /// Returns whether it holds if each comparison with an argument is true.
    pub may_hold: fn(&M::Fields) -> bool,
    /// Returns the values that it reads, for refusals.
    pub values: fn(&M::Fields, &M::Transition) -> GuardValues,
}

/// One entry of a transition, without the machine's types.
#[derive(Debug)]
pub struct EdgeInfo {
    /// The name of the transition.
    pub transition: &'static str,
    /// The indices of its sources.
    pub from: &'static [usize],
    /// The index of its target, or `None` for the source.
    pub to: Option<usize>,
    /// The condition as the machine file has it, or an empty text.
    pub when: &'static str,
    /// The evidence that it needs.
    pub requires: Option<Requirement>,
    /// The actors that may take it. If empty, only the hook may.
    pub by: &'static [Actor],
    /// Whether a verb of the program takes it, so that no verb is generated for it.
    pub own: bool,
    /// The arguments of its transition.
    pub args: &'static [ArgumentInfo],
    /// The message when it is taken, or `None` for that of the phase that is entered.
    pub message: Option<Message>,
    /// Whether the turn may end although the phase that is entered is not terminal.
    pub ends_turn: bool,
    /// The documentation.
    pub doc: &'static str,
    /// The line in the machine file.
    pub line: u32,
}

impl EdgeInfo {
    /// Returns whether it has a verb.
    pub fn is_verb(&self) -> bool {
        !self.by.is_empty() && !self.own
    }
}

/// An edge at one of its sources.
#[derive(Debug, Clone, Copy)]
pub struct EdgeAt {
    /// The edge.
    pub edge: &'static EdgeInfo,
    /// The index of the source.
    pub from: usize,
    /// The index of the target.
    pub to: usize,
}

impl Deref for EdgeAt {
    type Target = EdgeInfo;

    fn deref(&self) -> &EdgeInfo {
        self.edge
    }
}

impl EdgeAt {
    fn new(edge: &'static EdgeInfo, from: usize) -> Self {
        let to = edge.to.unwrap_or(from);
        Self { edge, from, to }
    }

    /// Returns the message when it is taken: its own, or that of the phase that is entered.
    pub fn effective_message(&self, table: &Table) -> Option<Message> {
        self.message.or(table.phases[self.to].message)
    }

    /// Returns whether it only repeats the request of its phase.
    pub fn reminds(&self, table: &Table) -> bool {
        let behaviour = table.phases[self.from].on_stop;
        self.from == self.to && behaviour.is_some_and(|one| one.reminds.contains(&self.transition))
    }

    /// Returns whether the turn may end after it.
    pub fn lets_turn_end(&self, table: &Table) -> bool {
        self.ends_turn || table.phases[self.to].terminal
    }
}

/// Returns a machine's edges without its types, for its table.
pub fn edges<M: Machine>() -> Vec<&'static EdgeInfo> {
    M::EDGES.iter().map(|edge| &edge.info).collect()
}

/// Returns the edges that are open to a loop as far as its fields decide.
pub(super) fn open_edges<M: Machine>(raw: &Raw) -> Vec<EdgeAt> {
    let Ok(fields) = read_fields::<M>(raw.record(), raw.phase()) else {
        return Vec::new();
    };
    let may_hold = |guard: &Guard<M>| (guard.may_hold)(&fields);
    edges_in::<M>(raw.phase())
        .filter(|edge| edge.when.as_ref().is_none_or(may_hold))
        .map(|edge| EdgeAt::new(&edge.info, raw.phase()))
        .collect()
}

impl Table {
    /// Returns every edge at each of its sources, in the order of the machine file.
    pub fn edges(&self) -> impl Iterator<Item = EdgeAt> + use<> {
        let edges = (self.all_edges)().into_iter();
        edges.flat_map(|edge| edge.from.iter().map(|from| EdgeAt::new(edge, *from)))
    }

    /// Returns the edges of a transition in a phase, in the order of the machine file.
    pub fn edges_at<'t>(
        &self,
        transition: &'t str,
        from: usize,
    ) -> impl Iterator<Item = EdgeAt> + use<'t> {
        self.edges()
            .filter(move |edge| edge.transition == transition && edge.from == from)
    }

    /// Returns the refusal of a transition in a phase that has no edge for it.
    pub fn undeclared(&self, transition: &'static str, phase: usize) -> Refusal {
        let mut legal: Vec<&str> = Vec::new();
        for edge in self.edges().filter(|edge| edge.transition == transition) {
            let name = self.phases[edge.from].name;
            if !legal.contains(&name) {
                legal.push(name);
            }
        }
        Refusal::Undeclared {
            transition,
            phase: self.phases[phase].name,
            legal: legal.join(", "),
        }
    }
}

fn edges_in<M: Machine>(phase: usize) -> impl Iterator<Item = &'static Edge<M>> {
    M::EDGES
        .iter()
        .filter(move |edge| edge.info.from.contains(&phase))
}

/// Returns the edge of a transition that is open in a phase, and the fields after it.
///
/// # Errors
/// Returns an error if no edge is declared there, none is open, or a number would leave its range.
pub fn step<M: Machine>(
    phase: usize,
    fields: &M::Fields,
    transition: &M::Transition,
) -> Result<(EdgeAt, M::Fields), Refusal> {
    let name = M::name(transition);
    let here = || edges_in::<M>(phase).filter(|edge| edge.info.transition == name);
    let holds = |guard: &Guard<M>| (guard.holds)(fields, transition);
    let Some(edge) = here().find(|edge| edge.when.as_ref().is_none_or(holds)) else {
        return Err(refusal::<M>(phase, fields, transition, here().collect()));
    };
    match (edge.set)(fields, transition) {
        Ok(fields) => Ok((EdgeAt::new(&edge.info, phase), fields)),
        Err(field) => {
            let found = to_map(fields).remove(field).unwrap_or_default();
            let expected = format!("a whole number that `{name}` leaves in range");
            Err(Refusal::Unfit(misfit(field, found, expected)))
        }
    }
}

/// Returns why no edge of a transition is open in a phase.
fn refusal<M: Machine>(
    phase: usize,
    fields: &M::Fields,
    transition: &M::Transition,
    edges: Vec<&Edge<M>>,
) -> Refusal {
    if edges.is_empty() {
        return M::TABLE.undeclared(M::name(transition), phase);
    }
    let mut values: Vec<String> = Vec::new();
    for guard in edges.iter().filter_map(|edge| edge.when.as_ref()) {
        for (name, value) in (guard.values)(fields, transition) {
            let reading = format!("{name} is {}", text::one_line(&value, MAX_VALUE));
            if !values.contains(&reading) {
                values.push(reading);
            }
        }
    }
    let needs: Vec<_> = edges.iter().map(|edge| edge.info.when).collect();
    Refusal::Guard(format!(
        "‘{}’ is not possible in phase {}: needs {}, and {}",
        M::name(transition),
        M::TABLE.phases[phase].name,
        needs.join(", or "),
        values.join(", ")
    ))
}
