//! A held loop with its fields, and the one way to move it.

use camino::Utf8PathBuf;
use serde::{Deserialize as _, Serialize};
use serde_json::Value as Json;

use super::edge::{EdgeAt, step};
use super::table::{ModeInfo, PhaseInfo};
use super::{Actor, EvidenceRecord, Machine, Raw, Refusal, Refused};
use crate::store::{Beginning, Fields, Import, LoopId, Record, Store, misfit};

/// A loop from the store, with its fields. Generated types wrap it and know its phase.
pub struct Held<M: Machine> {
    // Boxed, because every refusal hands the loop back.
    raw: Box<Raw>,
    fields: Box<M::Fields>,
}

impl<M: Machine> Held<M> {
    /// Opens a loop: repairs the traces of a crash, checks the machine, the phase and every field.
    ///
    /// # Errors
    /// Returns an error if the loop is missing, of another machine, or has unknown values.
    pub fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<Self, Refusal> {
        Self::from_record(store, store.open(id)?, actor)
    }

    fn from_record(store: &Store, record: Record, actor: Actor) -> Result<Self, Refusal> {
        let table = M::TABLE;
        let refuse = |problem| Refusal::Loop {
            id: record.id().clone(),
            problem,
        };
        let Some(phase) = table.phase_position(record.phase()) else {
            let expected = phase_names(table.phases.iter());
            return Err(refuse(format!(
                "{} has no phase `{}`, only {expected}",
                table.name,
                record.phase()
            )));
        };
        let fields = read_fields::<M>(&record, phase).map_err(refuse)?;
        Ok(Self {
            raw: Box::new(Raw::new::<M>(store.clone(), record, phase, actor)),
            fields: Box::new(fields),
        })
    }

    /// Starts a loop in a mode with some of its fields: in its first phase, or as it was imported.
    ///
    /// # Errors
    /// Returns an error if the mode is not for that actor, a value does not fit, another loop is
    /// active, or the store cannot write. Nothing is left behind.
    pub fn begin(
        store: &Store,
        mode: &'static ModeInfo,
        values: &[(&'static str, Json)],
        beginning: Beginning,
        actor: Actor,
        imported: Option<(usize, Import)>,
    ) -> Result<Self, Refusal> {
        let (phase, import) = imported.unzip();
        let phase = phase.unwrap_or(mode.start);
        if !mode.by.is_empty() && !mode.by.contains(&actor) {
            return Err(Refusal::actor(
                &format!("mode {}", mode.name),
                actor,
                mode.by,
            ));
        }
        let table = M::TABLE;
        let names = &table.state.fields;
        let mut fields = Fields::new();
        for field in table.state.declared {
            let start = values.iter().find(|(name, _)| *name == field.name);
            let value = match start {
                _ if !field.exists_in(phase) => Json::Null,
                Some((_, value)) => field.convert(value).map_err(Refusal::Unfit)?,
                // The store writes the engine's other fields.
                _ if field.name == names.phase => table.phases[phase].name.into(),
                _ if Some(field.name) == names.mode => mode.name.into(),
                None => mode.start_value(field),
            };
            fields.insert(field.name.to_owned(), value);
        }
        let record = store.start(&beginning, &actor.to_string(), fields, import)?;
        Self::from_record(store, record, actor)
    }

    /// Starts a loop from the bytes of the document `file`, a canonical path, with its phase and
    /// fields. Missing fields have their initial values. Unknown keys stay.
    ///
    /// # Errors
    /// Returns an error if the document cannot be used. Nothing is changed then.
    pub fn import(
        store: &Store,
        bytes: &[u8],
        file: Utf8PathBuf,
        beginning: Beginning,
        actor: Actor,
    ) -> Result<Self, Refusal> {
        let table = M::TABLE;
        let names = &table.state.fields;
        let parsed = table.state.parse(bytes);
        let document = parsed.map_err(|error| Refusal::Unfit(error.to_string()))?;
        let machine = document.text(names.machine);
        if let Some(found) = machine.filter(|found| found != table.state.machine) {
            let why = format!("it is a document of the machine {found}");
            return Err(Refusal::Unfit(why));
        }
        let stored = document.text(names.phase);
        let known = stored
            .as_deref()
            .and_then(|name| table.phase_position(name));
        let Some(phase) = known.filter(|phase| !table.phases[*phase].terminal) else {
            let expected = phase_names(table.phases.iter().filter(|phase| !phase.terminal));
            let found = stored.map_or("not there".to_owned(), |found| format!("“{found}”"));
            let field = names.phase;
            return Err(Refusal::Unfit(format!(
                "its `{field}` is {found}; expected {expected}"
            )));
        };
        let mode = names.mode.and_then(|field| document.text(field));
        let is_named = |known: &&ModeInfo| Some(known.name) == mode.as_deref();
        let mode = table.modes.iter().find(is_named).unwrap_or(&table.modes[0]);
        let all = table.state.declared.iter();
        let fields = all.filter(|field| !field.is_engine_field());
        let values: Vec<_> = fields
            .filter_map(|field| Some((field.name, document.get(field.name)?)))
            // A field that exists only in other phases is null.
            .filter(|(_, value)| !value.is_null())
            .collect();
        let imported = Some((phase, Import { document, file }));
        Self::begin(store, mode, &values, beginning, actor, imported)
    }

    /// Returns the loop without its type.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// Returns the machine's fields.
    pub fn fields(&self) -> &M::Fields {
        &self.fields
    }

    /// Sets the run that the next change counts.
    #[must_use]
    pub fn noting(mut self, run: Option<String>) -> Self {
        self.raw.draft.run = run;
        self
    }

    /// Sets the data of a field with the next transition.
    pub fn set_data<T: Serialize>(&mut self, name: &'static str, data: &T) -> Result<(), Refusal> {
        let unfit = |error| Refusal::Unfit(misfit(name, error, "a value of JSON"));
        let json = serde_json::to_value(data).map_err(unfit)?;
        let value = match M::TABLE.state.field(name) {
            Some(field) => field.convert(&json).map_err(Refusal::Unfit)?,
            None => json,
        };
        self.raw.draft.edits.insert(name.to_owned(), value);
        Ok(())
    }

    /// Adds lines to the text below the fields with the next transition.
    pub fn add_text(&mut self, text: &str) {
        let lines = text.lines().flat_map(|line| [line, "\n"]);
        self.raw.draft.text.extend(lines);
    }

    /// Takes a transition: finds the open edge, checks actor and evidence, and commits it.
    ///
    /// # Errors
    /// See [`super::Refusal`]. The loop is handed back.
    pub fn take(
        self,
        transition: &M::Transition,
        evidence: Option<&EvidenceRecord>,
    ) -> Result<Self, Refused<Self>> {
        match self.commit(transition, evidence) {
            Ok((edge, record, fields)) => Ok(Self {
                raw: Box::new(self.raw.into_next(record, edge)),
                fields: Box::new(fields),
            }),
            Err(refusal) => Err(Refused::new(self, refusal)),
        }
    }

    /// Commits the open edge of a transition. Returns it with the loop and the fields after it.
    fn commit(
        &self,
        transition: &M::Transition,
        evidence: Option<&EvidenceRecord>,
    ) -> Result<(EdgeAt, Record, M::Fields), Refusal> {
        let (edge, after) = step::<M>(self.raw.phase(), &self.fields, transition)?;
        // serde writes a transition with arguments as `{"more":{"rounds":2}}`.
        let json = serde_json::to_value(transition).unwrap_or_default();
        let args = json.get(edge.transition).cloned();
        let before = to_map(&*self.fields);
        let mut edits = to_map(&after);
        edits.retain(|name, value| before.get(name) != Some(value));
        let record = self.raw.commit(edge, args, edits, evidence)?;
        // Data that Rust set is in the document only.
        let fields = read_fields::<M>(&record, edge.to).unwrap_or(after);
        Ok((edge, record, fields))
    }
}

/// Reads the fields of a loop in a phase. A missing field has its initial value.
pub(super) fn read_fields<M: Machine>(record: &Record, phase: usize) -> Result<M::Fields, String> {
    let mut fields = Fields::new();
    for field in M::TABLE.state.declared {
        if field.exists_in(phase) && !field.is_engine_field() {
            fields.insert(field.name.to_owned(), record.value(field)?);
        }
    }
    M::Fields::deserialize(Json::Object(fields))
        .map_err(|error| misfit(M::TABLE.name, error, "the machine's fields"))
}

/// Returns a machine's fields by name.
pub(super) fn to_map<F: Serialize>(fields: &F) -> Fields {
    match serde_json::to_value(fields) {
        Ok(Json::Object(map)) => map,
        // `Held::set_data` has refused a value that cannot be written.
        _ => Fields::new(),
    }
}

/// Returns the names of phases in a state document.
fn phase_names(phases: impl Iterator<Item = &'static PhaseInfo>) -> String {
    let names: Vec<_> = phases.map(|phase| phase.name).collect();
    names.join(", ")
}
