//! Whether a change of the journal can have come after the one before it, as the machine's edges stand. It keeps a line that
//! somebody wrote by hand from moving a loop to where no transition leads.
//!
//! It proves nothing about who wrote a line: one that the machine could have written passes.

use super::entry::{ADOPT, ChangeEntry};
use super::ownership::Ownership;
use super::spec::{StateSpec, StoredEdge};
use super::store::Store;
use super::value::Value;

/// Judges the changes of a loop's journal. If this user's record knows the loop, a change counts only if it is of a version with
/// which this user's programs began or changed the loop, and of the folder that the loop belongs to. The changes of another
/// version are judged by their numbers alone.
pub(super) fn possible<'s>(
    store: &'s Store,
    owned: Option<&'s Ownership>,
) -> impl Fn(Option<&ChangeEntry>, &ChangeEntry) -> bool + 's {
    let spec = store.spec();
    let edges = (spec.edges)();
    move |before, change| {
        let hash = change.graph_hash(spec);
        let is_ours = hash.as_deref().is_none_or(|hash| hash == spec.graph_hash);
        let is_known = |hash: &String| owned.is_none_or(|owned| owned.graphs.contains(hash));
        follows(before, change)
            && (!is_ours || holds(spec, change))
            && is_of_the_same(spec, before, change)
            && hash.as_ref().is_none_or(is_known)
            && owned.is_none_or(|owned| stays(spec, owned, before, change))
            && match (before, &hash, &change.from, &change.to) {
                (Some(_), Some(_), Some(from), Some(to)) if is_ours => {
                    leads(&edges, change, from, to)
                }
                _ => true,
            }
    }
}

/// Returns whether a change leaves the loop in its folder, or is the one by which a person took it up where it is now.
fn stays(
    spec: &StateSpec,
    owned: &Ownership,
    before: Option<&ChangeEntry>,
    change: &ChangeEntry,
) -> bool {
    let root = |change: &ChangeEntry| {
        let root = change.field(spec.fields.root);
        root.map(|root| root.to_plain().into_owned())
    };
    let now = root(change);
    before.is_none_or(|before| root(before) == now)
        || change.what == ADOPT && now.as_deref() == Some(owned.root.as_str())
}

/// Returns whether a change of this version has values of their own shape in fields of data alone.
fn holds(spec: &StateSpec, change: &ChangeEntry) -> bool {
    let mut fields = change.fields.iter();
    fields.all(|(name, value)| {
        !matches!(value, Value::Data(_)) || spec.form.data().contains(&name.as_str())
    })
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
    let says = |change: &ChangeEntry, field: &str| change.field(field).cloned();
    before.is_none_or(|before| says(before, spec.fields.id) == says(change, spec.fields.id))
}

/// Returns whether an edge of the machine is this change, with the evidence that it needs. What leaves the phase as it is need
/// be none: the store has changes of its own.
fn leads(edges: &[StoredEdge], change: &ChangeEntry, from: &str, to: &str) -> bool {
    let is_this =
        |edge: &&StoredEdge| (edge.what, edge.from, edge.to) == (change.what.as_str(), from, to);
    let mut these = edges.iter().filter(is_this).peekable();
    if these.peek().is_none() {
        return edges.is_empty() || from == to;
    }
    these.any(|edge| !edge.needs_evidence || change.evidence.is_some())
}
