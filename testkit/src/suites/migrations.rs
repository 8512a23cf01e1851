//! Loops that other versions of the machine began: one that the program does not know is left as it is, and the person reads why; one
//! that `Kit::earlier` names is, in each of its phases, migrated as the machine file says, and goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use claudex_build::model::{
    Actor, Field, FieldKind, Form, Held, Machine, Migration, Phase, Renames,
};
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::Said;
use super::input::answer;
use super::kills;
use super::refusals::unchanged;
use crate::error::Wrong;
use crate::kit::Setup;
use crate::project::{files, put, remove};
use crate::runs::{Call, Loop};
use crate::search::{State, Value, Way, given};

/// A version that no machine has.
const UNKNOWN: &str = "00ff00ff00ff00ff";

/// The values of a machine's own fields, by name.
type Values = BTreeMap<String, Value>;

/// Has a loop be of an unknown version, and of each earlier one in each of its phases.
pub(crate) fn run(held: &mut Loop<'_>, _: &Way) -> Result<Said, Wrong> {
    let setup = held.setup;
    if setup.machine.holder(Held::GraphHash).is_none() {
        let why = "the machine keeps no graph hash: a field with `holds = \"graph-hash\"` tells its versions apart";
        return Ok(Said::LeftOut(why));
    }
    held.project.keep()?;
    unknown(held)?;
    let mut said = "a loop of an unknown version is left as it is".to_owned();
    let mut played = 0;
    for old in &setup.earlier {
        let words = old.fields.iter().map(|field| match &field.kind {
            FieldKind::OneOf(words) => words.len(),
            _ => 1,
        });
        let renamed = entries(&setup.machine, old)
            .iter()
            .any(|entry| !entry.words.is_empty());
        let variants = if renamed { words.max().unwrap_or(1) } else { 1 };
        for phase in old.phases.iter().filter(|phase| !phase.terminal) {
            for word in 0..variants {
                held.project.restore()?;
                let values = begin(held, old, phase, word)?;
                goes_on(held, old, phase, values)?;
                played += 1;
            }
        }
    }
    if let Some(old) = setup.earlier.first()
        && let Some(phase) = old.phases.iter().find(|phase| !phase.terminal)
    {
        held.project.restore()?;
        let values = begin(held, old, phase, 0)?;
        let call = Call::of(Actor::Person, adopt(held));
        let kills = kills::everywhere(held, &call, |held| {
            goes_on(held, old, phase, values.clone())
        })?;
        said +=
            &format!("; {played} of earlier versions went on, one of them killed {kills} times");
    }
    let known: Vec<String> = setup
        .earlier
        .iter()
        .map(claudex_build::graph_hash)
        .collect();
    let named = setup
        .machine
        .migrations
        .iter()
        .flat_map(|entry| &entry.from);
    let missing: Vec<&str> = named
        .map(|hash| &*hash.value)
        .filter(|hash| !known.iter().any(|one| one == hash))
        .collect();
    if !missing.is_empty() {
        said += &format!(
            "; not tried, since `Kit::earlier` does not give their machine files: {}",
            missing.join(", ")
        );
    }
    Ok(Said::Tried(said))
}

/// Has the loop be of an unknown version, whose shape is nowhere, and stops.
fn unknown(held: &Loop<'_>) -> Result<(), Wrong> {
    held.project.stop()?;
    remove(&machines(held))?;
    of_version(held, UNKNOWN)?;
    let said = unchanged(held, "a stop in a loop of an unknown version", || {
        held.project.stop()
    })?;
    let answered = answer(&said)?;
    if answered["decision"] != "approve"
        || answered["systemMessage"].as_str().is_none_or(str::is_empty)
    {
        return Err(format!(
            "the turn was to end with a line for the person: {}",
            said.short()
        )
        .into());
    }
    Ok(())
}

/// Has the loop be one that an earlier version took up in this phase. Returns its values.
fn begin(held: &mut Loop<'_>, old: &Machine, phase: &Phase, word: usize) -> Result<Values, Wrong> {
    let (setup, hash) = (held.setup, claudex_build::graph_hash(old));
    let place = format!("a loop in `{}` of the version {hash}", phase.name.value);
    held.path.truncate(1);
    held.path.push(place);
    let begun = held.journal()?;
    let values = values(setup, old, phase, word);
    of_version(held, &hash)?;
    put(
        &machines(held).join(format!("{hash}.json")),
        &claudex_build::shape(old),
    )?;
    let fields = fields(old, phase, &values, |what| {
        Some(begun.fields().get(setup.machine.holder(what)?)?.clone())
    });
    match document(old, &fields) {
        Some(text) => fs::write(held.document_path(), text)?,
        // Whoever opens the loop writes it from the journal.
        None => fs::remove_file(held.document_path())?,
    }
    let mut line = json!({"what": "import", "by": "person", "from": null, "to": stored(phase), "fields": fields});
    for key in ["revision", "at", "visit"] {
        line[key] = begun.changes[0][key].clone();
    }
    fs::write(held.journal_path(), format!("{line}\n"))?;
    Ok(values)
}

/// Returns how a person has the next session take the loop: nothing but that, and the loop is opened.
fn adopt(held: &Loop<'_>) -> Vec<String> {
    ["adopt", &held.id, "--yes"].map(str::to_owned).into()
}

/// Has a person adopt the loop, which is migrated thereby, once; then it takes an edge.
fn goes_on(held: &mut Loop<'_>, old: &Machine, phase: &Phase, values: Values) -> Result<(), Wrong> {
    let setup = held.setup;
    let said = Call::of(Actor::Person, adopt(held)).make(&held.project)?;
    let after = held.journal()?;
    let made = after.changes.iter().skip(1).map(|change| &change["what"]);
    let made: Vec<&Json> = made.filter(|what| **what != "adopt").collect();
    let wanted = if entries(&setup.machine, old).is_empty() {
        &[][..]
    } else {
        &["migrate"]
    };
    if said.code != Some(0) || made != wanted {
        return Err(format!(
            "adopted, {wanted:?} was to be its change, and {made:?} is: {}",
            said.short()
        )
        .into());
    }
    let nowhere =
        || "no phase of the machine file is stored as it, and no entry says which it is".to_owned();
    let state = carried(old, &setup.machine, phase, values).ok_or_else(nowhere)?;
    held.agrees(&state, &after.fields())?;
    held.state = state;
    held.check()?;
    if let Some(step) = setup.search().next(&held.state) {
        held.step(&step)?;
        held.check()?;
    }
    Ok(())
}

/// Returns the entries that loops of a version go through.
fn entries<'m>(machine: &'m Machine, old: &Machine) -> &'m [Migration] {
    let hash = claudex_build::graph_hash(old);
    let mut all = machine.migrations.iter();
    let first = all.position(|entry| entry.from.iter().any(|from| from.value == hash));
    first.map_or(&[], |first| &machine.migrations[first..])
}

fn machines(held: &Loop<'_>) -> PathBuf {
    let folder = &held.setup.machine.state.folder.value;
    held.project.root().join(folder).join("machines")
}

/// Names another version wherever the program names its own.
fn of_version(held: &Loop<'_>, hash: &str) -> Result<(), Wrong> {
    let own = claudex_build::graph_hash(&held.setup.machine);
    for folder in [held.project.root(), held.project.home()] {
        for (path, bytes) in files(&folder) {
            match bytes.map(String::from_utf8) {
                Some(Ok(text)) if text.contains(&own) => fs::write(path, text.replace(&own, hash))?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns a value for each field that exists in a phase; of words the one of this number.
fn values(setup: &Setup, old: &Machine, phase: &Phase, word: usize) -> Values {
    let exists = |field: &&Field| field.exists_in(&phase.name.value);
    let value = |field: &Field| match &field.kind {
        FieldKind::OneOf(words) => Value::Text(words[word % words.len()].value.clone()),
        kind => match given(kind) {
            Value::Text(text) => Value::Text(setup.text(&field.name.value, &text)),
            other => other,
        },
    };
    let fields = old.fields.iter().filter(exists);
    let values = fields.map(|field| (field.name.value.clone(), value(field)));
    values
        .filter(|(_, value)| *value != Value::Absent)
        .collect()
}

/// Returns all fields as a journal has them. What the engine holds is the same as in the loop that has begun.
fn fields(
    old: &Machine,
    phase: &Phase,
    values: &Values,
    held: impl Fn(Held) -> Option<Json>,
) -> Map<String, Json> {
    let value = |field: &Field| match &field.kind {
        FieldKind::Held(Held::Phase) => Some(stored(phase).into()),
        FieldKind::Held(Held::GraphHash) => Some(claudex_build::graph_hash(old).into()),
        FieldKind::Held(what) => held(*what),
        kind => Some(match values.get(&field.name.value)? {
            Value::Number(time) if *kind == FieldKind::Time => {
                let time = i64::try_from(*time)
                    .ok()
                    .and_then(|time| Timestamp::from_second(time).ok());
                time.map(|time| time.to_string()).into()
            }
            Value::Number(number) => (*number).into(),
            Value::Flag(flag) => (*flag).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(texts) => texts.as_slice().into(),
            Value::Absent => return None,
        }),
    };
    let fields = old.fields.iter();
    fields
        .filter_map(|field| Some((field.name.value.clone(), value(field)?)))
        .collect()
}

/// Returns the document of these fields, with scalars and lists that JSON and YAML both have; none where keys stand below others.
fn document(old: &Machine, fields: &Map<String, Json>) -> Option<String> {
    let lines = || -> String {
        fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}\n"))
            .collect()
    };
    match old.state.form.value {
        Form::Json => Some(format!("{:#}\n", Json::from(fields.clone()))),
        Form::Lines => Some(lines()),
        Form::Frontmatter if old.fields.iter().any(|field| field.key.is_some()) => None,
        Form::Frontmatter => Some(format!("---\n{}---\n", lines())),
    }
}

/// Returns the loop as the machine file says that it goes on; none where no phase is left for it.
fn carried(old: &Machine, new: &Machine, phase: &Phase, mut values: Values) -> Option<State> {
    let renamed = |names: &Renames, name: &str| {
        let mut names = names.iter().filter(|(old, _)| old.value == name);
        names.next().map(|(_, new)| new.value.clone())
    };
    let mut given = None;
    for entry in entries(new, old) {
        given = renamed(&entry.phases, given.as_deref().unwrap_or(&phase.name.value)).or(given);
        let names = values.into_iter();
        values = names
            .map(|(name, value)| (renamed(&entry.fields, &name).unwrap_or(name), value))
            .collect();
        for (field, words) in &entry.words {
            if let Some(Value::Text(word)) = values.get_mut(&field.value) {
                *word = renamed(words, word).unwrap_or_else(|| word.clone());
            }
        }
        values.extend(
            entry
                .set
                .iter()
                .map(|(name, value)| (name.value.clone(), Value::of(&value.value))),
        );
    }
    let is_it = |other: &&Phase| match &given {
        Some(name) => other.name.value == *name,
        None => stored(other) == stored(phase),
    };
    let at = new.phases.iter().position(|other| is_it(&other))?;
    let value = |field: &Field| match (values.remove(&field.name.value), &field.kind) {
        (_, FieldKind::Held(_) | FieldKind::Data(_)) => Value::Absent,
        _ if !field.exists_in(&new.phases[at].name.value) => Value::Absent,
        (Some(Value::Number(number)), FieldKind::Text | FieldKind::Path) => {
            Value::Text(number.to_string())
        }
        (Some(value), _) => value,
        (None, _) => field.initial().as_ref().map_or(Value::Absent, Value::of),
    };
    Some(State::new(at, new.fields.iter().map(value).collect()))
}

fn stored(phase: &Phase) -> &str {
    &phase.stored.as_ref().unwrap_or(&phase.name).value
}
