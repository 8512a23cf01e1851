//! Whether a change of the journal can have come after the one before it, as the machine's edges stand. It keeps a line that
//! somebody wrote by hand from moving a loop to where no transition leads.
//!
//! It proves nothing about who wrote a line: one that the machine could have written passes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::entry::{ADOPT, ChangeEntry, ENGINE, MIGRATE};
use super::ownership::Ownership;
use super::shape::{EdgeShape, Shape};
use super::spec::StateSpec;
use super::store::Store;
use super::value::value_in;
use super::versions::Versions;

/// The shapes that were read in this process, by their hash: a stop looks at every loop of a folder.
static SHAPES: Mutex<BTreeMap<&'static str, Option<Arc<Shape>>>> = Mutex::new(BTreeMap::new());

/// Judges the changes of a loop's journal. Of a loop that this user's record knows, a change counts only where it is of a version
/// with which this user's programs began or changed the loop, and of the folder that the loop belongs to. The edges of
/// another version are read off its shape; where that is gone, its changes are judged by their numbers alone.
pub(super) fn possible<'s>(
    store: &'s Store,
    owned: Option<&'s Ownership>,
    versions: &'s Versions,
) -> impl Fn(Option<&ChangeEntry>, &ChangeEntry) -> bool + 's {
    let spec = store.spec();
    move |before, change| {
        let hash = change.graph_hash(spec);
        let is_known = |hash: &String| owned.is_none_or(|owned| owned.graphs.contains(hash));
        let leads = |from: &str, to: &str| {
            let shape = match &hash {
                Some(hash) if hash == spec.graph_hash => own_shape(spec),
                Some(hash) if owned.is_some() => versions.shape_of(store, hash),
                _ => None,
            };
            shape.is_none_or(|shape| leads(&shape, change, from, to))
        };
        follows(before, change)
            && is_of_the_same(spec, before, change)
            && hash.as_ref().is_none_or(is_known)
            && owned.is_none_or(|owned| stays(spec, owned, before, change))
            && match (before, &change.from, &change.to) {
                (Some(before), Some(from), Some(to)) => {
                    before.graph_hash(spec) != hash && is_migration(change) || leads(from, to)
                }
                _ => true,
            }
    }
}

/// Returns whether a change leaves the loop in its folder, or is the one by which a person took it up where it is now.
fn stays(spec: &StateSpec, owned: &Ownership, before: Option<&ChangeEntry>, change: &ChangeEntry) -> bool {
    let root = |change: &ChangeEntry| {
        value_in(&change.fields, spec.fields.root).map(|root| root.to_plain().into_owned())
    };
    let now = root(change);
    before.is_none_or(|before| root(before) == now)
        || change.what == ADOPT && now.as_deref() == Some(owned.root.as_str())
}

fn is_migration(change: &ChangeEntry) -> bool {
    change.what == MIGRATE && change.by == ENGINE
}

/// Returns whether the numbers and the phases of two changes go together.
fn follows(before: Option<&ChangeEntry>, change: &ChangeEntry) -> bool {
    before.is_none_or(|before| {
        let next = before.revision + 1 == change.revision;
        // An earlier version of the engine, to which somebody went back, names no visit.
        let visit = change
            .visit
            .is_none_or(|visit| Some(visit) == before.visit || visit == change.revision);
        // Lines between the two may have been lost to damage.
        before.revision < change.revision && (!next || before.to == change.from && visit)
    })
}

/// Returns whether two changes are of one loop: what another one's journal holds is no history of this one.
fn is_of_the_same(spec: &StateSpec, before: Option<&ChangeEntry>, change: &ChangeEntry) -> bool {
    let says = |change: &ChangeEntry, field: &str| value_in(&change.fields, field).cloned();
    before.is_none_or(|before| says(before, spec.fields.id) == says(change, spec.fields.id))
}

/// Returns whether an edge of the machine is this change, with the evidence that it needs. What leaves the phase as it is need
/// be none: the store has changes of its own.
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

/// Returns the machine's shape; None where it has none, or one that tells no edges.
fn own_shape(spec: &'static StateSpec) -> Option<Arc<Shape>> {
    let mut known = SHAPES.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let shape = Shape::read(spec.shape.as_bytes()).ok();
        shape.filter(|shape| !shape.edges.is_empty()).map(Arc::new)
    };
    known.entry(spec.graph_hash).or_insert_with(read).clone()
}
