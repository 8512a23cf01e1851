//! Whether a change of the journal can have come after the one before it, as the machine's edges stand. It keeps a line that
//! somebody wrote by hand from moving a loop to where no transition leads.
//!
//! It proves nothing about who wrote a line: one that the machine could have written passes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::entry::{ADOPT, ChangeEntry, ENGINE, MIGRATE};
use super::ownership::Ownership;
use super::shape::Shape;
use super::spec::StateSpec;
use super::store::Store;
use super::value::Value;
use super::versions::Versions;

/// The edges that were read in this process, by the hash of their shape: a stop looks at every loop of a folder.
static EDGES: Mutex<BTreeMap<&'static str, Option<Arc<Edges<'static>>>>> =
    Mutex::new(BTreeMap::new());

/// Holds what of a shape says where changes can lead. Read without a copy: every stop does.
#[derive(Deserialize)]
struct Edges<'s> {
    #[serde(borrow)]
    phases: Vec<Phase<'s>>,
    #[serde(borrow)]
    edges: Vec<Edge<'s>>,
}

#[derive(Deserialize)]
struct Phase<'s> {
    #[serde(borrow)]
    name: Cow<'s, str>,
    #[serde(borrow)]
    stored: Cow<'s, str>,
}

#[derive(Deserialize)]
struct Edge<'s> {
    #[serde(borrow)]
    transition: Cow<'s, str>,
    #[serde(borrow)]
    from: Cow<'s, str>,
    #[serde(borrow)]
    to: Cow<'s, str>,
    #[serde(default)]
    requires: Option<IgnoredAny>,
}

impl<'s> Edges<'s> {
    fn of(shape: &'s Shape) -> Self {
        let phases = shape.phases.iter().map(|phase| Phase {
            name: Cow::from(&phase.name),
            stored: Cow::from(&phase.stored),
        });
        let edges = shape.edges.iter().map(|edge| Edge {
            transition: Cow::from(&edge.transition),
            from: Cow::from(&edge.from),
            to: Cow::from(&edge.to),
            requires: edge.requires.as_ref().map(|_| IgnoredAny),
        });
        Self {
            phases: phases.collect(),
            edges: edges.collect(),
        }
    }
}

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
        let leads = |from: &str, to: &str| match &hash {
            Some(hash) if hash == spec.graph_hash => {
                own_edges(spec).is_none_or(|edges| leads(&edges, change, from, to))
            }
            Some(hash) if owned.is_some() => {
                let shape = versions.shape_of(store, hash);
                shape.is_none_or(|shape| leads(&Edges::of(&shape), change, from, to))
            }
            _ => true,
        };
        let is_ours = hash.as_deref().is_none_or(|hash| hash == spec.graph_hash);
        follows(before, change)
            && (!is_ours || holds(spec, change))
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
    let says = |change: &ChangeEntry, field: &str| change.field(field).cloned();
    before.is_none_or(|before| says(before, spec.fields.id) == says(change, spec.fields.id))
}

/// Returns whether an edge of the machine is this change, with the evidence that it needs. What leaves the phase as it is need
/// be none: the store has changes of its own.
fn leads(edges: &Edges<'_>, change: &ChangeEntry, from: &str, to: &str) -> bool {
    let is_stored = |name: &str, stored: &str| {
        let mut phases = edges.phases.iter();
        phases.any(|phase| phase.name == name && phase.stored == stored)
    };
    let is_this = |edge: &&Edge<'_>| {
        edge.transition == change.what && is_stored(&edge.from, from) && is_stored(&edge.to, to)
    };
    let mut edges = edges.edges.iter().filter(is_this).peekable();
    if edges.peek().is_none() {
        return from == to;
    }
    edges.any(|edge| edge.requires.is_none() || change.evidence.is_some())
}

/// Returns the machine's edges; None where it has no shape, or one that tells none.
fn own_edges(spec: &'static StateSpec) -> Option<Arc<Edges<'static>>> {
    let mut known = EDGES.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let edges: Option<Edges<'_>> = serde_json::from_str(spec.shape).ok();
        edges.filter(|edges| !edges.edges.is_empty()).map(Arc::new)
    };
    known.entry(spec.graph_hash).or_insert_with(read).clone()
}
