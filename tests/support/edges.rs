//! Takes every edge that a machine declares, each from a loop that is imported into its phase.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use claudex_loop::__private::{
    Beginning, Constant, EdgeInfo, EvidenceRecord, FieldKind, Guard, Machine, Operand, Sign,
    Update, Value, commit, import,
};
use claudex_loop::machine::table::Table;
use claudex_loop::machine::{Actor, Raw};
use claudex_loop::store::{IdForm, LoopId, StateHome, Store};

/// Fields by their names, and arguments of the transition by `args.NAME`, as plain text.
type Values = BTreeMap<String, String>;

/// Takes every edge once. Checks phase and fields of the loop that is returned and of the stored one.
pub(crate) fn take_every_edge<M: Machine>() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = Utf8PathBuf::try_from(scratch.path().canonicalize().unwrap()).unwrap();

    for (at, edge) in M::TABLE.edges.iter().enumerate() {
        let root = scratch.join(at.to_string());
        std::fs::create_dir(&root).unwrap();
        take::<M>(edge, root);
    }
}

fn take<M: Machine>(edge: &'static EdgeInfo, root: Utf8PathBuf) {
    let (table, state) = (M::TABLE, M::TABLE.state);
    let from = &table.phases[edge.from];
    let what = format!(
        "{} of {} ({}:{})",
        edge.transition, from.name, table.file, edge.line
    );
    let values = solve(table, edge).unwrap_or_else(|| panic!("{what}: no values open it"));

    let mut document = state.empty();
    document.set(state.fields.phase, &Value::Word(from.stored.to_owned()));
    for field in table.fields {
        if let Some(value) = values.get(field.name) {
            document.set(field.name, &Value::from_plain(value));
        }
    }
    let home = StateHome::at(root.join("home"));
    let store = Store::at(root.join(state.folder), root.clone(), state, home);
    let beginning = Beginning {
        id: (state.ids == IdForm::Name).then(|| LoopId::parse("a", IdForm::Name).unwrap()),
        ..Beginning::now("s1")
    };
    let bytes = document.to_bytes();
    let imported = import::<M>(
        &store,
        &bytes,
        root.join("import"),
        beginning,
        Actor::Person,
    );
    let id = imported
        .unwrap_or_else(|error| panic!("{what}: {error}"))
        .id()
        .clone();
    let actor = edge.by.first().copied().unwrap_or(Actor::Hook);
    let before = Raw::open::<M>(&store, &id, actor).unwrap();

    let arguments = edge.args.iter().filter_map(|argument| {
        let value = values.get(&format!("args.{}", argument.name))?;
        Some((argument.name, Value::from_plain(value)))
    });
    let arguments: Vec<_> = arguments.collect();
    let evidence = edge
        .requires
        .map(|kind| evidence(&before, &kind.to_string()));
    let expected = edge.set.iter().map(|(field, update)| {
        let text = match update {
            Update::Constant(value) => constant(value),
            Update::Field { name, offset } => plus(&before.text(name), *offset),
            Update::Argument(name) => values[&format!("args.{name}")].clone(),
            Update::Plus { name, argument } => plus(
                &before.text(name),
                number(&values[&format!("args.{argument}")]),
            ),
            Update::Next(name) => next_word(table, name, &before.text(name)),
        };
        (*field, text)
    });
    let expected: Vec<_> = expected.collect();
    let after = commit(before, edge.transition, &arguments, evidence.as_ref());

    let after = after.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let taken = after.taken().unwrap();
    assert!(
        std::ptr::eq(taken, edge),
        "{what}: line {} was taken",
        taken.line
    );
    for held in [after, Raw::open::<M>(&store, &id, actor).unwrap()] {
        assert_eq!(held.phase(), edge.to, "{what}");
        for (field, value) in expected.iter().filter(|(field, _)| held.exists(field)) {
            assert_eq!(held.text(field), *value, "{what}: `{field}`");
        }
    }
}

/// Returns the word that follows in a `one_of` field; the first one follows the last.
fn next_word(table: &Table, field: &str, word: &str) -> String {
    let Some(FieldKind::OneOf(words)) = table.field(field).map(|field| field.kind) else {
        panic!("`{field}` has no words");
    };
    let at = words.iter().position(|one| *one == word).unwrap();
    words[(at + 1) % words.len()].to_owned()
}

/// Returns evidence of this kind for the loop as it is.
fn evidence(held: &Raw, kind: &str) -> EvidenceRecord {
    let (id, revision) = (held.id().as_str(), held.record().revision());
    let json = serde_json::json!({"kind": kind, "loop": id, "round": 1, "revision": revision});
    serde_json::from_value(json).unwrap()
}

/// Returns values that open an edge: names that its guard compares take every candidate, others the first.
fn solve(table: &Table, edge: &EdgeInfo) -> Option<Values> {
    let mut compared = Vec::new();
    let mut constants = vec!["1".to_owned(), "2".to_owned()];
    if let Some(guard) = &edge.when {
        read(guard, &mut compared, &mut constants);
    }
    let fields = table
        .fields
        .iter()
        .filter(|field| field.exists_in(edge.from));
    let fields = fields.map(|field| field.name.to_owned());
    let names = fields.chain(
        edge.args
            .iter()
            .map(|argument| format!("args.{}", argument.name)),
    );

    let choices = names.map(|name| {
        let mut candidates = candidates(table, edge, &name, &constants);
        if !compared.contains(&name) {
            candidates.truncate(1);
        }
        (name, candidates)
    });
    let choices: Vec<_> = choices
        .filter(|(_, candidates)| !candidates.is_empty())
        .collect();
    let mut values = Values::new();
    search(&choices, edge.when.as_ref(), &mut values).then_some(values)
}

/// Tries the candidates of each name until the guard holds.
fn search(choices: &[(String, Vec<String>)], guard: Option<&Guard>, values: &mut Values) -> bool {
    let Some(((name, candidates), rest)) = choices.split_first() else {
        return guard.is_none_or(|guard| holds(guard, values));
    };
    candidates.iter().any(|value| {
        values.insert(name.clone(), value.clone());
        search(rest, guard, values)
    })
}

/// Collects names and constants of a guard.
fn read(guard: &Guard, names: &mut Vec<String>, constants: &mut Vec<String>) {
    let (left, right) = match guard {
        Guard::All(parts) | Guard::Any(parts) => {
            return parts.iter().for_each(|part| read(part, names, constants));
        }
        Guard::Compare { left, right, .. } => (left, right),
    };
    for operand in [left, right] {
        let (name, offset) = match operand {
            Operand::Constant(value) => {
                constants.push(constant(value));
                continue;
            }
            operand => name_of(operand),
        };
        names.push(name);
        constants.push(offset.unsigned_abs().to_string());
    }
}

/// Returns the values to try: for a count the numbers near those of the guard.
fn candidates(table: &Table, edge: &EdgeInfo, name: &str, constants: &[String]) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let kind = match name.strip_prefix("args.") {
        None => table.field(name).map(|field| field.kind),
        Some(name) => {
            let argument = edge.args.iter().find(|argument| argument.name == name);
            let takes = argument.map_or("", |argument| argument.takes);
            if takes.contains('|') {
                return words(&takes.split('|').collect::<Vec<_>>());
            }
            let set = edge.set.iter().find(|(_, update)| match update {
                Update::Argument(taken)
                | Update::Plus {
                    argument: taken, ..
                } => *taken == name,
                _ => false,
            });
            set.and_then(|(field, _)| table.field(field))
                .map(|field| field.kind)
        }
    };
    match kind {
        Some(FieldKind::OneOf(known)) => words(known),
        Some(FieldKind::Flag) => words(&["true", "false"]),
        Some(FieldKind::Text | FieldKind::Path) => words(&["x"]),
        Some(FieldKind::Count) | None => {
            let numbers = constants.iter().filter_map(|text| text.parse::<u64>().ok());
            let near = numbers.flat_map(|number| [number, number.saturating_sub(1), number + 1]);
            let mut near: Vec<_> = near.collect();
            near[1..].sort_unstable();
            near.dedup();
            near.iter().map(ToString::to_string).collect()
        }
        Some(_) => Vec::new(),
    }
}

/// Returns whether a guard holds under these values.
fn holds(guard: &Guard, values: &Values) -> bool {
    let (left, sign, right) = match guard {
        Guard::All(parts) => return parts.iter().all(|part| holds(part, values)),
        Guard::Any(parts) => return parts.iter().any(|part| holds(part, values)),
        Guard::Compare { left, sign, right } => (text(left, values), sign, text(right, values)),
    };
    match sign {
        Sign::Equal => left == right,
        Sign::NotEqual => left != right,
        Sign::Less => number(&left) < number(&right),
        Sign::LessOrEqual => number(&left) <= number(&right),
        Sign::Greater => number(&left) > number(&right),
        Sign::GreaterOrEqual => number(&left) >= number(&right),
    }
}

/// Returns one side of a comparison.
fn text(operand: &Operand, values: &Values) -> String {
    if let Operand::Constant(value) = operand {
        return constant(value);
    }
    let (name, offset) = name_of(operand);
    let value = &values[&name];
    if offset == 0 {
        value.clone()
    } else {
        plus(value, offset)
    }
}

fn name_of(operand: &Operand) -> (String, i64) {
    match operand {
        Operand::Field { name, offset } => ((*name).to_owned(), *offset),
        Operand::Argument { name, offset } => (format!("args.{name}"), *offset),
        other => panic!("{other:?}: extend this test"),
    }
}

fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Count(number) => number.to_string(),
        Constant::Text(text) => (*text).to_owned(),
        Constant::Flag(flag) => flag.to_string(),
        other => panic!("{other:?}: extend this test"),
    }
}

fn plus(text: &str, offset: i64) -> String {
    (number(text) + offset).to_string()
}

fn number(text: &str) -> i64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is not a number"))
}
