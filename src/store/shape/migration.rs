//! `[[migrations]]`: carrying a shape, and a document, from an earlier version of a machine to the next.
//!
//! A loop goes through the entry that names its version and through all that follow. The same steps are taken by the old
//! shape, so that what they leave out shows in a diff with the new one, before any document is touched.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{FieldShape, PhaseShape, Shape, ShapeError};
use crate::store::document::Document;
use crate::store::value::Value;

/// A machine's `[[migrations]]`, in their order.
#[derive(Debug, Clone, Default)]
pub struct Migrations(Vec<Step>);

/// One entry.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    from: Vec<String>,
    #[serde(default)]
    phases: BTreeMap<String, String>,
    #[serde(default)]
    fields: BTreeMap<String, String>,
    #[serde(default)]
    words: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    set: BTreeMap<String, Value>,
}

impl Migrations {
    /// Reads the `MIGRATIONS` of a machine; an empty text has none.
    ///
    /// # Errors
    /// It is not what `claudex-build` writes.
    pub fn read(json: &str) -> Result<Self, ShapeError> {
        if json.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(json)
            .map(Self)
            .map_err(|error| ShapeError::Form {
                reason: error.to_string(),
            })
    }

    /// Returns the entries that a loop of this version goes through; none where no entry names it.
    fn steps(&self, hash: &str) -> &[Step] {
        let first = self
            .0
            .iter()
            .position(|step| step.from.iter().any(|from| from == hash));
        first.map_or(&[], |first| &self.0[first..])
    }

    /// Returns whether an entry names this version.
    pub fn takes(&self, hash: &str) -> bool {
        !self.steps(hash).is_empty()
    }

    /// Returns the old shape as the entries leave it, in the words of the new machine.
    ///
    /// # Errors
    /// An entry cannot be followed: what is in the way.
    pub(super) fn carry(&self, old: &Shape, new: &Shape) -> Result<Shape, String> {
        let mut shape = old.clone();
        for step in self.steps(&old.hash) {
            step.carry(&mut shape)?;
        }
        for phase in shape.phases.iter_mut().filter(|phase| phase.given) {
            let target = new.phase(&phase.name);
            *phase = target
                .ok_or_else(|| format!("no phase is named `{}`", phase.name))?
                .clone();
        }
        for field in shape.fields.iter_mut().filter(|field| field.given) {
            if let Some(target) = new.field(&field.name) {
                *field = target.clone();
            }
        }
        Ok(shape)
    }

    /// Returns a document of the old machine as one of the new: the stored form of its phase, and its fields.
    ///
    /// # Errors
    /// What is in the way; the result would not open.
    pub(in crate::store) fn migrate(
        &self,
        old: &Shape,
        new: &Shape,
        stored: &str,
        document: &mut dyn Document,
    ) -> Result<String, String> {
        let Some(PhaseShape { name, .. }) = old.stored(stored) else {
            return Err(format!(
                "the old machine has no phase that is stored as `{stored}`"
            ));
        };
        let mut phase: Option<&str> = None;
        for step in self.steps(&old.hash) {
            phase = step
                .phases
                .get(phase.unwrap_or(name))
                .map(String::as_str)
                .or(phase);
            step.migrate(new, document);
        }
        let stored = match phase {
            None => stored.to_owned(),
            Some(name) => new
                .phase(name)
                .map(|phase| phase.stored.clone())
                .ok_or_else(|| format!("no phase is named `{name}`"))?,
        };
        new.admits(&stored, document)?;
        Ok(stored)
    }
}

impl Step {
    fn carry(&self, shape: &mut Shape) -> Result<(), String> {
        for phase in &mut shape.phases {
            if let Some(new) = self.phases.get(&phase.name) {
                phase.name.clone_from(new);
                phase.given = true;
            }
        }
        let rename = |name: &mut String| {
            if let Some(new) = self.phases.get(name) {
                name.clone_from(new);
            }
        };
        for edge in &mut shape.edges {
            rename(&mut edge.from);
            rename(&mut edge.to);
        }
        for (old, new) in &self.fields {
            if shape.field(old).is_some()
                && shape.field(new).is_some()
                && !self.fields.contains_key(new)
            {
                return Err(format!(
                    "`{old}` cannot become `{new}`: the old machine has a field `{new}` of its own"
                ));
            }
        }
        for field in &mut shape.fields {
            if let Some(new) = self.fields.get(&field.name) {
                field.name.clone_from(new);
            }
            field.within.iter_mut().flatten().for_each(rename);
            if let Some(words) = self.words.get(&field.name) {
                for word in &mut field.words {
                    if let Some(new) = words.get(word) {
                        word.clone_from(new);
                    }
                }
            }
        }
        for name in self.set.keys() {
            match shape.fields.iter_mut().find(|field| field.name == *name) {
                Some(field) => field.given = true,
                None => shape.fields.push(FieldShape {
                    name: name.clone(),
                    kind: "text".to_owned(),
                    words: Vec::new(),
                    holds: None,
                    initial: None,
                    null: None,
                    at_start: None,
                    within: None,
                    owned: false,
                    given: true,
                }),
            }
        }
        Ok(())
    }

    fn migrate(&self, new: &Shape, document: &mut dyn Document) {
        // All are taken before any is put, so that two fields may change their names for each other's.
        let taken: Vec<(&String, Value)> = self
            .fields
            .iter()
            .filter_map(|(old, new)| Some((new, document.get(old)?)))
            .collect();
        for old in self.fields.keys() {
            document.remove(old);
        }
        for (name, value) in taken {
            document.set(name, &value);
        }
        for (name, words) in &self.words {
            let word = document
                .get(name)
                .map(|value| value.to_plain().into_owned());
            if let Some(word) = word.and_then(|word| words.get(&word)) {
                document.set(name, &Value::Word(word.clone()));
            }
        }
        for (name, value) in &self.set {
            let is_text = new.field(name).is_some_and(|field| field.kind == "text");
            match value {
                Value::Word(text) if is_text => document.set(name, &Value::Text(text.clone())),
                other => document.set(name, other),
            }
        }
    }
}
