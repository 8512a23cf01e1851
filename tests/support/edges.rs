//! Takes every declared edge from a loop that is imported into its phase, and compares compiled
//! guards with the generator's own evaluation.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use camino::Utf8PathBuf;
use claudex_build::model::{Constant, Entry, FieldKind, Machine as Model, Operand, Update};
use claudex_loop::__private::{Beginning, EvidenceRecord};
use claudex_loop::machine::{Actor, Edge, Held, Machine};
use claudex_loop::store::{Document, IdForm, LoopId, StateHome, Store};
use serde_json::{Map, Value as Json};

/// The number of random states for each guard.
const STATE_COUNT_MAX: u64 = 2_000;

/// Fields by their names, and arguments of the transition by `args.NAME`.
type Values = BTreeMap<String, Constant>;
/// The possible values of each.
type Choices = BTreeMap<String, Vec<Constant>>;

/// Takes every edge once. Checks phase and fields of the returned and the stored loop.
pub(crate) fn take_every_edge<M: Machine>(source: &str) {
    let model = read::<M>(source);
    let scratch = tempfile::tempdir().unwrap();
    let scratch = Utf8PathBuf::try_from(scratch.path().canonicalize().unwrap()).unwrap();
    for (entry, edge) in model.transitions.iter().zip(M::EDGES) {
        for from in edge.info.from {
            let root = scratch.join(format!("{}-{from}", edge.info.line));
            std::fs::create_dir(&root).unwrap();
            take::<M>(&model, entry, edge, *from, root);
        }
    }
}

/// Compares each guard with the generator's evaluation of the machine file, on random states.
pub(crate) fn compare_guards<M: Machine>(source: &str) {
    let model = read::<M>(source);
    for (entry, edge) in model.transitions.iter().zip(M::EDGES) {
        let line = edge.info.line;
        let (Some(compiled), Some(guard)) = (&edge.when, &entry.when) else {
            assert!(edge.when.is_none() && entry.when.is_none(), "line {line}");
            continue;
        };
        let choices = choices(&model, entry, edge.info.from[0]);
        for state in 0..STATE_COUNT_MAX {
            let values = random(&choices, state);
            let fields = fields::<M>(&values);
            let transition = transition::<M>(entry, &values);
            let expected = guard.holds(&|name| values[name].clone());
            assert_eq!(
                (compiled.holds)(&fields, &transition),
                expected,
                "line {line}: {values:?}"
            );
            assert!(
                !expected || (compiled.may_hold)(&fields),
                "line {line}: {values:?}"
            );
        }
    }
}

fn read<M: Machine>(source: &str) -> Model {
    let model = claudex_build::check_source("machine.toml", source).unwrap();
    assert_eq!(model.transitions.len(), M::EDGES.len());
    model
}

fn take<M: Machine>(
    model: &Model,
    entry: &Entry,
    edge: &'static Edge<M>,
    from: usize,
    root: Utf8PathBuf,
) {
    let table = M::TABLE;
    let state = M::TABLE.state;
    let phase = &table.phases[from];
    let place = format!("{} of {} (line {})", entry.name, phase.name, edge.info.line);
    let values = solve(model, entry, from).unwrap_or_else(|| panic!("{place}: no values open it"));

    let mut document = Document::empty(state.form, state.declared);
    document.set(state.fields.phase, &phase.name.into());
    for (name, value) in values.iter().filter(|(name, _)| !name.starts_with("args.")) {
        document.set(name, &json(value));
    }
    let home = StateHome::at(root.join("home"));
    let store = Store::at(root.join(state.folder), root.clone(), state, home);
    let beginning = Beginning {
        id: (state.ids == IdForm::Name).then(|| LoopId::parse("a", IdForm::Name).unwrap()),
        ..Beginning::now("s1")
    };
    let bytes = document.to_bytes();
    let file = root.join("import");
    let imported = Held::<M>::import(&store, &bytes, file, beginning, Actor::Person);
    let id = imported
        .unwrap_or_else(|error| panic!("{place}: {error}"))
        .raw()
        .id()
        .clone();
    let actor = edge.info.by.first().copied().unwrap_or(Actor::Hook);
    let open = || Held::<M>::open(&store, &id, actor).unwrap();

    let before = open();
    let kind = edge.info.requires.map(|kind| kind.to_string());
    let evidence = kind.map(|kind| evidence(&before, &kind));
    let expected = expected(model, entry, &fields_as_json(&before), &values);
    let result = before.take(&transition::<M>(entry, &values), evidence.as_ref());

    let after = result.unwrap_or_else(|error| panic!("{place}: {error}"));
    let line = after.raw().last_edge().unwrap().line;
    assert_eq!(line, edge.info.line, "{place}");
    for held in [after, open()] {
        let to = edge.info.to.unwrap_or(from);
        assert_eq!(held.raw().phase(), to, "{place}");
        let fields = fields_as_json(&held);
        for (field, value) in expected.iter().filter(|(field, _)| {
            table
                .state
                .field(field)
                .is_some_and(|field| field.exists_in(held.raw().phase()))
        }) {
            assert_eq!(fields[field], *value, "{place}: `{field}`");
        }
    }
}

/// Returns the changes of an edge according to the machine file.
fn expected(
    model: &Model,
    entry: &Entry,
    before: &Map<String, Json>,
    values: &Values,
) -> Vec<(String, Json)> {
    let argument = |name: &str| json(&values[&format!("args.{name}")]);
    let number = |json: &Json| json.as_i64().unwrap();
    let set = entry.set.iter().map(|(field, update)| {
        let value = match &**update {
            Update::Value(Operand::Constant(value)) => json(value),
            Update::Value(Operand::Read(read)) if read.is_argument => argument(&read.name),
            Update::Value(Operand::Read(read)) => {
                (number(&before[read.name.as_str()]) + read.offset).into()
            }
            Update::Plus(read, added) => {
                (number(&before[read.name.as_str()]) + number(&argument(&added.name))).into()
            }
            Update::Next(read) => {
                let word = before[read.name.as_str()].as_str().unwrap();
                next_word(model, &read.name, word).into()
            }
        };
        (field.to_string(), value)
    });
    set.collect()
}

/// Returns the next word of a `one_of` field. The first one follows the last.
fn next_word<'m>(model: &'m Model, field: &str, word: &str) -> &'m str {
    let found = model.fields.iter().find(|one| *one.name == *field);
    let Some(FieldKind::OneOf(words)) = found.map(|field| &field.kind) else {
        panic!("`{field}` has no words");
    };
    let at = words.iter().position(|one| one.as_str() == word).unwrap();
    &words[(at + 1) % words.len()]
}

/// Returns evidence of this kind for the current loop.
fn evidence<M: Machine>(held: &Held<M>, kind: &str) -> EvidenceRecord {
    let id = held.raw().id().as_str();
    let revision = held.raw().record().revision;
    let json = serde_json::json!({"kind": kind, "loop": id, "round": 1, "revision": revision});
    serde_json::from_value(json).unwrap()
}

/// Returns the fields of a loop as serde writes them.
fn fields_as_json<M: Machine>(held: &Held<M>) -> Map<String, Json> {
    match serde_json::to_value(held.fields()).unwrap() {
        Json::Object(fields) => fields,
        other => panic!("{other}"),
    }
}

/// Returns values that open an edge and keep its updates in range.
fn solve(model: &Model, entry: &Entry, from: usize) -> Option<Values> {
    let choices = choices(model, entry, from);
    let guard = entry.when.as_deref();
    let is_small = |value: &Constant| !matches!(value, Constant::Count(0 | 1_000_001..));
    let updated: Vec<&String> = entry.set.iter().map(|(field, _)| &**field).collect();
    (0..100_000).find_map(|state| {
        let value = |name: &str| pick(name, &choices[name], state);
        let is_open = guard.is_none_or(|guard| guard.holds(&|name| value(name).clone()));
        let mut counts = updated.iter().filter(|name| choices.contains_key(**name));
        let is_in_range = is_open && (state > 10_000 || counts.all(|name| is_small(value(name))));
        is_in_range.then(|| random(&choices, state))
    })
}

/// Returns a random state that depends only on the number.
fn random(choices: &Choices, state: u64) -> Values {
    choices
        .iter()
        .map(|(name, values)| (name.clone(), pick(name, values, state).clone()))
        .collect()
}

/// Returns the value of a field or an argument in a state.
fn pick<'v>(name: &str, values: &'v [Constant], state: u64) -> &'v Constant {
    let mut hasher = DefaultHasher::new();
    (state, name).hash(&mut hasher);
    &values[usize::try_from(hasher.finish() % values.len() as u64).unwrap()]
}

/// Returns the values to try for each field and argument: for counts those near the guard's.
fn choices(model: &Model, entry: &Entry, from: usize) -> Choices {
    let mut numbers: Vec<u64> = vec![1, 2, 3, 7];
    let guard = entry.guard_text.as_ref();
    for number in guard.map_or(Vec::new(), |text| guard_numbers(text)) {
        numbers.extend([number.saturating_sub(1), number, number + 1]);
    }
    let phase = &*model.phases[from].name;
    let fields = model
        .fields
        .iter()
        .filter(|field| field.exists_in(phase))
        .filter_map(|field| {
            let values = values_of(&field.kind, &numbers)?;
            Some((field.name.to_string(), values))
        });
    let arguments = entry.args.iter().filter_map(|argument| {
        let values = values_of(&argument.kind, &numbers)?;
        Some((format!("args.{}", argument.name), values))
    });
    fields.chain(arguments).collect()
}

fn values_of(kind: &FieldKind, numbers: &[u64]) -> Option<Vec<Constant>> {
    let text = |text: &str| Constant::Text(text.to_owned());
    Some(match kind {
        FieldKind::Count => numbers
            .iter()
            .map(|number| Constant::Count(*number))
            .collect(),
        FieldKind::Flag => vec![Constant::Flag(true), Constant::Flag(false)],
        FieldKind::Text | FieldKind::Path => vec![text("x"), text("")],
        FieldKind::OneOf(words) => words.iter().map(|word| text(word)).collect(),
        FieldKind::Data(_) | FieldKind::Engine(_) => return None,
    })
}

/// Returns the numbers in the text of a guard.
fn guard_numbers(text: &str) -> Vec<u64> {
    let digits = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    digits.filter_map(|part| part.parse().ok()).collect()
}

fn fields<M: Machine>(values: &Values) -> M::Fields {
    let field_values = values.iter().filter(|(name, _)| !name.starts_with("args."));
    let map: Map<String, Json> = field_values
        .map(|(name, value)| (name.clone(), json(value)))
        .collect();
    serde_json::from_value(Json::Object(map)).unwrap()
}

fn transition<M: Machine>(entry: &Entry, values: &Values) -> M::Transition {
    let name = entry.name.to_string();
    let args: Map<String, Json> = entry
        .args
        .iter()
        .map(|argument| {
            let value = &values[&format!("args.{}", argument.name)];
            (argument.name.to_string(), json(value))
        })
        .collect();
    let written = if args.is_empty() {
        Json::String(name)
    } else {
        serde_json::json!({ name: args })
    };
    serde_json::from_value(written).unwrap()
}

fn json(constant: &Constant) -> Json {
    match constant {
        Constant::Count(count) => (*count).into(),
        Constant::Text(text) => text.clone().into(),
        Constant::Flag(flag) => (*flag).into(),
    }
}
