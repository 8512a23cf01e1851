//! Whether a change of the journal can have come after the one before it, as the machine's edges stand. It keeps a line that
//! somebody wrote by hand from moving a loop to where no transition leads.
//!
//! It proves nothing about who wrote a line: one that the machine could have written passes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::heal::{hash_of, value_in};
use super::journal::ChangeEntry;
use super::shape::{EdgeShape, Shape};
use super::spec::StateSpec;

/// The shapes that were read in this process, by their hash: a stop looks at every loop of a folder.
static SHAPES: Mutex<BTreeMap<&'static str, Option<Arc<Shape>>>> = Mutex::new(BTreeMap::new());

/// The judgement for the journals of one machine. Changes of another version of it are judged by their numbers alone: this
/// machine does not know the edges that they took.
pub(super) fn possible(spec: &'static StateSpec) -> impl Fn(Option<&ChangeEntry>, &ChangeEntry) -> bool {
    move |before, change| {
        let ours = |change: &ChangeEntry| hash_of(spec, change).as_deref() == Some(spec.graph_hash);
        follows(before, change)
            && is_of_the_same(spec, before, change)
            && match (&change.from, &change.to) {
                (Some(from), Some(to)) if ours(change) && before.is_some_and(ours) => {
                    shape(spec).is_none_or(|shape| leads(&shape, change, from, to))
                }
                _ => true,
            }
    }
}

/// Whether the numbers and the phases of two changes go together.
fn follows(before: Option<&ChangeEntry>, change: &ChangeEntry) -> bool {
    before.is_none_or(|before| {
        let next = before.revision + 1 == change.revision;
        // Lines between the two may have been lost to damage.
        before.revision < change.revision && (!next || before.to == change.from)
    })
}

/// Whether two changes are of one loop: what another one's journal holds is no history of this one.
fn is_of_the_same(spec: &StateSpec, before: Option<&ChangeEntry>, change: &ChangeEntry) -> bool {
    let says = |change: &ChangeEntry, field: &str| value_in(&change.fields, field).cloned();
    before.is_none_or(|before| says(before, spec.fields.id) == says(change, spec.fields.id))
}

/// Whether an edge of the machine is this change, with the evidence that it needs. What leaves the phase as it is need be none:
/// the store has changes of its own.
fn leads(shape: &Shape, change: &ChangeEntry, from: &str, to: &str) -> bool {
    let is_stored = |name: &str, stored: &str| {
        let mut phases = shape.phases.iter();
        phases.any(|phase| phase.name == name && phase.stored == stored)
    };
    let is_this = |edge: &&EdgeShape| {
        edge.transition == change.what && is_stored(&edge.from, from) && is_stored(&edge.to, to)
    };
    let mut edges = shape.edges.iter().filter(is_this).peekable();
    if edges.peek().is_none() {
        return from == to;
    }
    edges.any(|edge| edge.requires.is_none() || change.evidence.is_some())
}

/// The machine's shape; None where it has none, or one that tells no edges.
fn shape(spec: &'static StateSpec) -> Option<Arc<Shape>> {
    let mut known = SHAPES.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let shape = Shape::read(spec.shape.as_bytes()).ok();
        shape.filter(|shape| !shape.edges.is_empty()).map(Arc::new)
    };
    known.entry(spec.graph_hash).or_insert_with(read).clone()
}
