//! Walks a machine on the real store, step by step beside a model of its own.
//!
//! The model is the table read a second time: phases, guards and updates over plain values. First it says how deep the
//! walks must be for every edge to be taken; then every legal walk of that depth is made, through the generated methods
//! and with evidence of real reviews, and after each step document and journal must be what the model expects. At each
//! new state all transitions that are not open there are tried as each actor: they are refused, and change no byte.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use claudex_loop::machine::Raw;
use claudex_loop::machine::table::{Guard, Operand, Sign, Update};
use claudex_loop::machine::table::{Constant, EdgeInfo, FieldInfo, FieldKind, Table};
use claudex_loop::review::ReviewSpec;
use claudex_loop::process::environment::Environment;
use claudex_loop::review::evidence;
use claudex_loop::review::findings::{Finding, Findings, Severity};
use claudex_loop::review::personas::Personas;
use claudex_loop::review::prompt::Prompt;
use claudex_loop::process::limits::Limits;
use claudex_loop::review::reviewer::{Outcome, Request, Reviewer, Watch};
use claudex_loop::review::round::{self, Brief};
use claudex_loop::store::{ChangeEntry, Entry, IdForm, LoopId, Store, Value};
use claudex_loop::{Actor, Beginning, Machine, OpenError, Refusal, Refused, Requirement, Reviewed, Settled};

/// No machine of the workspace needs walks as long as this.
const DEEPEST: usize = 12;
/// Where there are more walks than this, of those that are alike in phase and guarded fields only the first goes on.
const MANY: usize = 1200;
/// The text of every argument and every text that a start requires.
pub const GIVEN: &str = "given-1";

/// What a walk calls. The calls of each machine are generated beside this file: one arm per edge.
pub trait Walked: Machine {
    /// The generated `AnyLoop`.
    type Any;

    fn start(store: &Store, mode: &str, how: Beginning) -> Self::Any;
    fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<Self::Any, OpenError>;
    fn raw(held: &Self::Any) -> &Raw;
    fn phase(held: &Self::Any) -> String;
    fn review(held: &Self::Any) -> Option<&'static ReviewSpec>;
    fn take(held: Self::Any, transition: &str) -> Result<Self::Any, Refused<Self::Any>>;
}

/// An argument's value, by its type.
pub trait Given {
    fn given() -> Self;
}

impl Given for u64 {
    fn given() -> Self {
        1
    }
}

impl Given for bool {
    fn given() -> Self {
        true
    }
}

impl Given for LoopId {
    fn given() -> Self {
        LoopId::parse(GIVEN, IdForm::Name).expect("an id")
    }
}

impl<T: Given> Given for Option<T> {
    fn given() -> Self {
        Some(T::given())
    }
}

impl Given for String {
    fn given() -> Self {
        GIVEN.to_owned()
    }
}

/// Evidence that the round is settled; what is open is rejected.
pub fn settled(raw: &Raw, spec: Option<&'static ReviewSpec>) -> Settled {
    let why = Some("the walk goes on".to_owned());
    evidence::settled(raw, spec, None)
        .or_else(|_| evidence::settled(raw, spec, why))
        .expect("the round was reviewed")
}

/// Evidence that the round was reviewed.
pub fn reviewed(raw: &Raw, spec: Option<&'static ReviewSpec>) -> Reviewed {
    evidence::reviewed(raw, spec).expect("the round was reviewed")
}

/// A reviewer that answers what the next edge needs.
struct Says(Outcome);

impl Reviewer for Says {
    fn name(&self) -> &str {
        "walker"
    }

    fn review(&self, _: &Request<'_>, _: &mut Watch<'_>) -> Outcome {
        self.0.clone()
    }

    fn runs_a_program(&self) -> bool {
        false
    }
}

// --- the model -----------------------------------------------------------------------------------------------------

/// A loop as the model has it.
#[derive(Debug, Clone)]
struct Model {
    table: &'static Table,
    phase: usize,
    fields: BTreeMap<&'static str, Value>,
    revision: u64,
}

#[derive(Debug, PartialEq, PartialOrd)]
enum Side {
    Number(i128),
    Text(String),
    Flag(bool),
}

impl Model {
    fn start(table: &'static Table, mode: usize, required: &[&str]) -> Self {
        let mode = &table.modes[mode];
        let fields = table.fields.iter().filter(|field| field.kind != FieldKind::Held);
        let fields = fields.map(|field| {
            let own = mode.initial.iter().find(|(name, _)| *name == field.name);
            let value = if !field.exists_in(mode.start) {
                Value::Null
            } else if required.contains(&field.name) {
                argument(field)
            } else {
                constant(own.map_or(&field.initial, |(_, value)| value))
            };
            (field.name, value)
        });
        Self {
            table,
            phase: mode.start,
            fields: fields.collect(),
            revision: 1,
        }
    }

    /// The edges that are open here, whoever may take them.
    fn open(&self) -> Vec<&'static EdgeInfo> {
        let here = self.table.edges.iter().filter(|edge| edge.from == self.phase);
        here.filter(|edge| edge.when.as_ref().is_none_or(|guard| self.holds(guard)))
            .collect()
    }

    fn holds(&self, guard: &Guard) -> bool {
        match guard {
            Guard::All(all) => all.iter().all(|guard| self.holds(guard)),
            Guard::Any(any) => any.iter().any(|guard| self.holds(guard)),
            Guard::Compare { left, sign, right } => {
                let (left, right) = (self.side(left), self.side(right));
                match sign {
                    Sign::Equal => left == right,
                    Sign::NotEqual => left != right,
                    Sign::Less => left < right,
                    Sign::LessOrEqual => left <= right,
                    Sign::Greater => left > right,
                    Sign::GreaterOrEqual => left >= right,
                }
            }
        }
    }

    fn side(&self, operand: &Operand) -> Side {
        let (value, offset) = match operand {
            Operand::Field { name, offset } => (self.fields[name].clone(), *offset),
            Operand::Length { name, offset } => (length(&self.fields[name]), *offset),
            Operand::Now { offset } => (Value::Count(now()), *offset),
            Operand::Argument { name, .. } => panic!("no machine here has a guard that reads args.{name}"),
            Operand::Constant(value) => (constant(value), 0),
        };
        match value {
            Value::Count(number) => Side::Number(i128::from(number) + i128::from(offset)),
            Value::Flag(flag) => Side::Flag(flag),
            other => Side::Text(other.to_plain().into_owned()),
        }
    }

    /// The loop after an edge; None where a number would leave its range.
    fn after(&self, edge: &EdgeInfo) -> Option<Self> {
        let mut next = self.clone();
        let count = |name: &str| self.fields[name].as_count().expect("a count");
        for (field, update) in edge.set {
            let value = match update {
                Update::Constant(value) => constant(value),
                Update::Field { name, offset } => match &self.fields[name] {
                    Value::Count(number) => Value::Count(number.checked_add_signed(*offset)?),
                    other => other.clone(),
                },
                Update::Next(name) => {
                    let Some(FieldKind::OneOf(words)) = self.table.field(name).map(|field| field.kind) else {
                        panic!("next of `{name}`, which has no words");
                    };
                    let now = self.fields[name].to_plain().into_owned();
                    let at = words.iter().position(|word| *word == now).expect("a word");
                    Value::Word(words[(at + 1) % words.len()].to_owned())
                }
                Update::Now { offset } => Value::Count(now().checked_add_signed(*offset)?),
                Update::Argument(_) => argument(self.table.field(field).expect("a field")),
                Update::Plus { name, .. } => match &self.fields[name] {
                    Value::List(texts) => {
                        Value::List(texts.iter().cloned().chain([GIVEN.to_owned()]).collect())
                    }
                    _ => Value::Count(count(name) + 1),
                },
            };
            next.fields.insert(field, value);
        }
        for field in self
            .table
            .fields
            .iter()
            .filter(|field| field.kind != FieldKind::Held)
        {
            let is_set = edge.set.iter().any(|(name, _)| *name == field.name);
            match (field.exists_in(edge.from), field.exists_in(edge.to)) {
                (false, true) if !is_set => next.fields.insert(field.name, constant(&field.initial)),
                (_, false) => next.fields.insert(field.name, Value::Null),
                _ => None,
            };
        }
        next.phase = edge.to;
        next.revision += 1;
        Some(next)
    }

    /// What guards can tell apart.
    fn seen(&self) -> (usize, Vec<String>) {
        let told = self.table.fields.iter().filter(|field| {
            matches!(
                field.kind,
                FieldKind::Count | FieldKind::Flag | FieldKind::OneOf(_)
            )
        });
        let told = told.map(|field| self.fields[field.name].to_plain().into_owned());
        (self.phase, told.collect())
    }
}

fn constant(value: &Constant) -> Value {
    match value {
        Constant::Count(number) => Value::Count(*number),
        Constant::Text(text) => Value::Word((*text).to_owned()),
        Constant::Flag(flag) => Value::Flag(*flag),
        Constant::Time(seconds) => Value::Count(*seconds),
        Constant::List(texts) => Value::List(texts.iter().map(|text| (*text).to_owned()).collect()),
        Constant::Null => Value::Null,
    }
}

/// The time, in seconds since 1970. Walks take seconds, so that guards of minutes see the same time as the engine.
fn now() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("it is later than 1970")
        .as_secs()
}

/// How many texts a list has.
fn length(value: &Value) -> Value {
    match value {
        Value::List(texts) => Value::Count(texts.len() as u64),
        _ => Value::Count(0),
    }
}

/// What an argument gives a field of this kind.
fn argument(field: &FieldInfo) -> Value {
    match field.kind {
        FieldKind::Count => Value::Count(1),
        FieldKind::Flag => Value::Flag(true),
        FieldKind::OneOf(words) => Value::Word(words[0].to_owned()),
        _ => Value::Word(GIVEN.to_owned()),
    }
}

/// How deep walks from all modes must be for every edge to be taken.
fn depth(table: &'static Table, required: &[&str]) -> usize {
    let mut missing: BTreeSet<usize> = (0..table.edges.len()).collect();
    let mut known = BTreeSet::new();
    let mut queue: VecDeque<(usize, Model)> = (0..table.modes.len())
        .map(|mode| (0, Model::start(table, mode, required)))
        .collect();
    while let Some((depth, model)) = queue.pop_front() {
        if !known.insert(model.seen()) || depth == DEEPEST {
            continue;
        }
        for edge in model.open() {
            if let Some(next) = model.after(edge) {
                missing.remove(&index(table, edge));
                if missing.is_empty() {
                    return depth + 1;
                }
                queue.push_back((depth + 1, next));
            }
        }
    }
    let name = |at: &usize| {
        format!(
            "{} ({}:{})",
            table.edges[*at].transition, table.file, table.edges[*at].line
        )
    };
    let missing: Vec<_> = missing.iter().map(name).collect();
    panic!("no walk of {DEEPEST} steps takes: {}", missing.join(", "));
}

fn walks(model: &Model, depth: usize) -> usize {
    if depth == 0 {
        return 1;
    }
    let next: Vec<_> = model
        .open()
        .into_iter()
        .filter_map(|edge| model.after(edge))
        .collect();
    next.iter()
        .map(|next| walks(next, depth - 1))
        .sum::<usize>()
        .max(1)
}

fn index(table: &Table, edge: &EdgeInfo) -> usize {
    table
        .edges
        .iter()
        .position(|known| std::ptr::eq(known, edge))
        .expect("an edge of the table")
}

// --- the walk ------------------------------------------------------------------------------------------------------

/// Every file of a folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

fn restore(folder: &Path, before: &Files) {
    for (path, bytes) in files(folder) {
        match before.get(&path) {
            Some(old) if *old == bytes => {}
            Some(old) => fs::write(path, old).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
    }
    for (path, bytes) in before {
        if !path.exists() {
            fs::write(path, bytes).unwrap();
        }
    }
}

/// What the walks of a machine came to.
pub struct Report {
    pub machine: &'static str,
    pub depth: usize,
    pub walks: usize,
    pub steps: usize,
    pub refusals: usize,
    /// How often each edge was taken.
    pub hits: Vec<u64>,
    /// Whether of walks that are alike only the first went on.
    pub thinned: bool,
}

struct Walk<'r> {
    root: PathBuf,
    store: Store,
    id: LoopId,
    tried: BTreeSet<(usize, Vec<String>)>,
    gone_on: BTreeSet<(usize, (usize, Vec<String>))>,
    report: &'r mut Report,
}

/// Walks a machine from each of its modes, in folders below this one. `required` are the fields that a start requires.
pub fn run<M: Walked>(folder: &Path, required: &[&str]) -> Report {
    let table = M::TABLE;
    let depth = depth(table, required);
    let starts = (0..table.modes.len()).map(|mode| Model::start(table, mode, required));
    let thinned = starts.map(|start| walks(&start, depth)).sum::<usize>() > MANY;
    let mut report = Report {
        machine: table.name,
        depth,
        walks: 0,
        steps: 0,
        refusals: 0,
        hits: vec![0; table.edges.len()],
        thinned,
    };
    for (at, mode) in table.modes.iter().enumerate() {
        let root = folder.join(format!("{} {}", table.name, mode.name));
        fs::create_dir_all(&root).unwrap();
        let root = root.canonicalize().unwrap();
        let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
        let state = text(root.join(table.state.folder));
        let home = claudex_loop::StateHome::at(text(folder.join("state-home")));
        let store = Store::at(state.into(), text(root.clone()).into(), table.state, home);
        let mut how = Beginning::now("a-session");
        if table.state.ids == IdForm::Name {
            how.id = Some(LoopId::parse("walk_1", IdForm::Name).unwrap());
        }
        let held = M::start(&store, mode.name, how);
        let mut walk = Walk {
            id: M::raw(&held).id().clone(),
            root,
            store,
            tried: BTreeSet::new(),
            gone_on: BTreeSet::new(),
            report: &mut report,
        };
        let model = Model::start(table, at, required);
        walk.agrees::<M>(&held, &model, None);
        walk.go::<M>(&model, depth);
    }
    let left: Vec<_> = report
        .hits
        .iter()
        .enumerate()
        .filter(|(_, hits)| **hits == 0)
        .collect();
    assert!(
        left.is_empty(),
        "{}: edges that no walk took: {left:?}",
        table.name
    );
    report
}

impl Walk<'_> {
    /// Goes every way on from where the loop on disk is.
    fn go<M: Walked>(&mut self, model: &Model, depth: usize) {
        if self.tried.insert(model.seen()) {
            self.refuses::<M>(model);
        }
        let ways: Vec<_> = model
            .open()
            .into_iter()
            .filter_map(|edge| Some((edge, model.after(edge)?)))
            .collect();
        let thin = self.report.thinned && !self.gone_on.insert((depth, model.seen()));
        if depth == 0 || ways.is_empty() || thin {
            self.report.walks += 1;
            return;
        }
        let before = files(&self.root);
        for (edge, next) in ways {
            let actor = edge.by.first().copied().unwrap_or(Actor::Hook);
            let held = M::open(&self.store, &self.id, actor).unwrap();
            if let Some(requirement) = edge.requires {
                self.review::<M>(&held, requirement);
            }
            let now = match M::take(held, edge.transition) {
                Ok(now) => now,
                Err(refused) => panic!("{}: {} of {model:?}", refused.refusal, edge.transition),
            };
            let taken = M::raw(&now).taken().expect("an edge was taken");
            assert!(
                std::ptr::eq(taken, edge),
                "{} took line {}, not {}",
                edge.transition,
                taken.line,
                edge.line
            );
            self.report.hits[index(model.table, edge)] += 1;
            self.report.steps += 1;
            self.agrees::<M>(&now, &next, Some(edge));
            let again = M::open(&self.store, &self.id, Actor::Hook).unwrap();
            assert!(M::raw(&again).repairs().is_empty());
            self.agrees::<M>(&again, &next, Some(edge));
            self.go::<M>(&next, depth - 1);
            restore(&self.root, &before);
        }
    }

    /// Has the round reviewed by somebody who says what the edge needs.
    fn review<M: Walked>(&self, held: &M::Any, requirement: Requirement) {
        let raw = M::raw(held);
        let spec = M::review(held).expect("an edge that needs evidence leaves a phase with a review");
        let subject = raw.path(spec.subject[0]);
        if !subject.exists() {
            fs::create_dir_all(subject.parent().unwrap()).unwrap();
            fs::write(&subject, "# What is reviewed\n").unwrap();
        }
        let says = Says(match requirement {
            Requirement::Settled => Outcome::Clean,
            Requirement::Reviewed => {
                Outcome::Findings(Findings(vec![Finding::new(Severity::High, "a hole")]))
            }
        });
        let personas = Personas::declared(raw.table().personas);
        let brief = Brief {
            prompt: Prompt {
                raw,
                spec,
                persona: personas.of_round(1),
                context: Default::default(),
                earlier: Vec::new(),
            },
            prompt_file: raw.store().sidecar(raw.id(), "-prompt.txt"),
            limits: Limits::default(),
            environment: &Environment::default(),
        };
        let watch = &mut |_: round::RoundEvent<'_>| std::ops::ControlFlow::Continue(());
        round::run(&brief, &says, watch).expect("the review has its verdict");
    }

    /// Everything that is not open is refused, to each actor, and nothing on disk changes.
    fn refuses<M: Walked>(&mut self, model: &Model) {
        let table = model.table;
        let before = files(&self.root);
        for actor in [Actor::Hook, Actor::Agent, Actor::Person] {
            let mut raw = Raw::open::<M>(&self.store, &self.id, actor).unwrap();
            for transition in table.transitions {
                let here: Vec<_> = table.edges_at(transition, model.phase).collect();
                let open = here
                    .iter()
                    .find(|edge| edge.when.as_ref().is_none_or(|guard| model.holds(guard)));
                let allowed = open.is_some_and(|edge| match edge.by {
                    [] => actor == Actor::Hook,
                    by => by.contains(&actor),
                });
                let needs = open.is_some_and(|edge| edge.requires.is_some());
                if allowed && !needs {
                    continue;
                }
                // What a wrong adapter would have to call: the types do not let anybody else ask for it.
                let refused = match claudex_loop::__private::commit(raw, transition, &[], None) {
                    Err(refused) => refused,
                    Ok(_) => panic!("{transition} went through by {actor}: {model:?}"),
                };
                let why = &*refused.refusal;
                let fits = match why {
                    Refusal::Undeclared { .. } => here.is_empty(),
                    Refusal::Guard { .. } => !here.is_empty() && open.is_none(),
                    Refusal::Actor { .. } => open.is_some() && !allowed,
                    Refusal::Evidence { .. } => allowed && needs,
                    _ => false,
                };
                assert!(fits, "{transition} by {actor}: {why}; {model:?}");
                self.report.refusals += 1;
                raw = refused.held;
                // The typed way to the same guard.
                if matches!(*refused.refusal, Refusal::Guard { .. })
                    && here.iter().all(|edge| edge.requires.is_none())
                {
                    let held = M::open(&self.store, &self.id, actor).unwrap();
                    let refused = M::take(held, transition).err().expect("no guard holds");
                    assert!(refused.refusal.is_guard());
                    assert_eq!(M::phase(&refused.held), table.phases[model.phase].name);
                    self.report.refusals += 1;
                }
            }
        }
        let after = files(&self.root);
        assert!(before == after, "a refusal changed what is on disk: {model:?}");
    }

    /// What is held and what is on disk is what the model says.
    fn agrees<M: Walked>(&self, held: &M::Any, model: &Model, edge: Option<&EdgeInfo>) {
        let table = model.table;
        let spec = table.state;
        let phase = &table.phases[model.phase];
        assert_eq!(M::phase(held), phase.name);
        assert_eq!(M::raw(held).record().revision(), model.revision);

        let bytes = fs::read(self.store.path_of(&self.id)).unwrap();
        let document = spec.form.parse(&bytes).unwrap();
        let names: Vec<_> = document.fields().into_iter().map(|(name, _)| name).collect();
        let declared: Vec<_> = table.fields.iter().map(|field| field.name).collect();
        assert_eq!(names, declared);
        for field in table.fields {
            let found = document.get(field.name).unwrap();
            let expected = match field.name {
                name if name == spec.fields.phase => Value::Word(phase.stored.to_owned()),
                name if name == spec.fields.revision => Value::Count(model.revision),
                name if name == spec.fields.machine => Value::Word(table.name.to_owned()),
                name if name == spec.fields.id => Value::Word(self.id.to_string()),
                name if name == spec.fields.root => Value::Word(self.store.root().to_string()),
                name if name == spec.fields.session => Value::Word("a-session".to_owned()),
                name => match model.fields.get(name) {
                    // When it was set is the engine's to say; that it was is the model's.
                    Some(Value::Count(seconds)) if field.kind == FieldKind::Time => {
                        assert_eq!(found.to_plain().is_empty(), *seconds == 0, "{name}: {found:?}");
                        found.clone()
                    }
                    Some(value) => value.clone(),
                    None => found.clone(),
                },
            };
            assert!(
                alike(&found, &expected),
                "{}: {found:?}, not {expected:?}; {model:?}",
                field.name
            );
        }

        let journal = self.store.journal(&self.id).unwrap();
        let changes: Vec<&ChangeEntry> = journal
            .iter()
            .filter_map(|entry| match entry {
                Entry::Change(change) => Some(change),
                Entry::Note(_) => None,
            })
            .collect();
        assert_eq!(changes.len() as u64, model.revision, "one line per change");
        let last = changes.last().unwrap();
        assert_eq!(last.revision, model.revision);
        assert_eq!(
            last.fields,
            document.fields(),
            "the journal's line has the fields that resulted"
        );
        if let Some(edge) = edge {
            let by = edge.by.first().copied().unwrap_or(Actor::Hook).to_string();
            let (from, to) = (table.phases[edge.from].stored, phase.stored);
            assert_eq!(
                (&*last.what, &last.by, last.from.as_deref(), last.to.as_deref()),
                (edge.transition, &by, Some(from), Some(to))
            );
            assert_eq!(last.evidence.is_some(), edge.requires.is_some());
        }
    }
}

/// Whether two values are the same. A word that looks like nothing may be written as nothing.
fn alike(found: &Value, expected: &Value) -> bool {
    found == expected || (found.to_plain().is_empty() && expected.to_plain().is_empty())
}
