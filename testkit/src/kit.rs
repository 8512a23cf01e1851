//! What a stranger says of a machine that its file cannot, and which suites are run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use claudex_build::model::{Actor, FieldKind, Held, Machine};
use serde_json::{Map, Value as Json};

use crate::error::{Failure, Failures, Suite};
use crate::project::Project;
use crate::report::Report;
use crate::search::{Act, Search, State, Step, Value};
use crate::suites;
use crate::text::{kebab, plain};

/// What is done in a project before a start.
type Prepare = Box<dyn Fn(&Project) -> io::Result<()> + Send + Sync>;

/// What has the machine's own Rust take a transition with these arguments.
type Own =
    Box<dyn Fn(&Project, &BTreeMap<String, String>) -> io::Result<Option<OwnCall>> + Send + Sync>;

/// A call of the program by somebody.
pub(crate) type OwnCall = (Actor, Vec<String>);

/// The tests of one machine and its program.
pub struct Kit {
    file: PathBuf,
    given: Given,
}

/// What a machine file cannot say.
pub(crate) struct Given {
    pub(crate) program: PathBuf,
    pub(crate) plugin: Option<PathBuf>,
    /// Whether everything is tried, or a choice that takes less than a minute.
    pub(crate) whole: bool,
    /// The one suite that is wanted.
    only: Option<Suite>,
    flags: HashMap<String, String>,
    texts: HashMap<String, String>,
    projects: Vec<Prepare>,
    own: Vec<(String, String, Own)>,
}

/// Everything that the suites go by.
pub(crate) struct Setup {
    pub(crate) machine: Machine,
    pub(crate) source: String,
    /// The machine file's name.
    pub(crate) file: String,
    /// The folder that it lies in.
    pub(crate) folder: PathBuf,
    pub(crate) given: Given,
    now: u64,
}

impl fmt::Debug for Kit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kit")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Kit {
    /// Prepares the tests of the machine in this file, with the program that was built from it.
    pub fn new(machine: impl AsRef<Path>, program: impl AsRef<Path>) -> Self {
        Self {
            file: machine.as_ref().to_owned(),
            given: Given {
                program: program.as_ref().to_owned(),
                plugin: None,
                whole: false,
                only: None,
                flags: HashMap::new(),
                texts: HashMap::new(),
                projects: Vec::new(),
                own: Vec::new(),
            },
        }
    }

    /// Names the flag of `start` that gives a field, where the program calls it otherwise.
    #[must_use]
    pub fn flag(mut self, field: &str, flag: &str) -> Self {
        self.given.flags.insert(field.to_owned(), flag.to_owned());
        self
    }

    /// Gives a text that a start requires, where the program does not take any.
    #[must_use]
    pub fn given(mut self, field: &str, text: &str) -> Self {
        self.given.texts.insert(field.to_owned(), text.to_owned());
        self
    }

    /// Prepares each project before a start: files that have to be there, a history of git.
    #[must_use]
    pub fn project(
        mut self,
        prepare: impl Fn(&Project) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.given.projects.push(Box::new(prepare));
        self
    }

    /// Says how the machine's own Rust is made to take a transition at the next stop in a phase, `"*"` for any, with these arguments by
    /// name. Without it such edges (of a phase without `on_stop`, of `before_stop`) are left to verbs, and named as not reached.
    #[must_use]
    pub fn own(
        mut self,
        phase: &str,
        transition: &str,
        prepare: impl Fn(&Project, &BTreeMap<String, String>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let own = move |project: &Project, given: &BTreeMap<String, String>| {
            prepare(project, given).map(|()| None)
        };
        self.given
            .own
            .push((phase.to_owned(), transition.to_owned(), Box::new(own)));
        self
    }

    /// Says by which arguments of the program, somebody's, a verb of its own takes a transition in a phase, `"*"` for any, that has
    /// `own = true` in the machine file; what it gives the transition’s arguments is to be what is asked for, by name.
    #[must_use]
    pub fn verb(
        mut self,
        phase: &str,
        transition: &str,
        by: Actor,
        arguments: impl Fn(&Project, &BTreeMap<String, String>) -> io::Result<Vec<String>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let own = move |project: &Project, given: &BTreeMap<String, String>| {
            Ok(Some((by, arguments(project, given)?)))
        };
        self.given
            .own
            .push((phase.to_owned(), transition.to_owned(), Box::new(own)));
        self
    }

    /// Names the folder of the plugin that is committed.
    #[must_use]
    pub fn plugin(mut self, folder: impl AsRef<Path>) -> Self {
        self.given.plugin = Some(folder.as_ref().to_owned());
        self
    }

    /// Runs one suite alone: to look at a failure again.
    #[must_use]
    pub fn only(mut self, suite: Suite) -> Self {
        self.given.only = Some(suite);
        self
    }

    /// Runs what takes less than a minute; everything where the variable `CLAUDEX_TESTKIT` is `whole`.
    ///
    /// # Errors
    /// Every promise that is broken.
    pub fn quick(self) -> Result<Report, Failures> {
        match std::env::var("CLAUDEX_TESTKIT") {
            Ok(much) if much == "whole" => self.whole(),
            _ => self.run(),
        }
    }

    /// Runs everything.
    ///
    /// # Errors
    /// Every promise that is broken.
    pub fn whole(mut self) -> Result<Report, Failures> {
        self.given.whole = true;
        self.run()
    }

    fn run(self) -> Result<Report, Failures> {
        let begun = Instant::now();
        let mut report = Report::default();
        let mut list = Vec::new();
        match self.read() {
            Err(failure) => list.push(failure),
            Ok(setup) => {
                report.machine.clone_from(&setup.machine.name.value);
                suites::run(&setup, &mut report, &mut list);
            }
        }
        report.took = begun.elapsed();
        match list.is_empty() {
            true => Ok(report),
            false => Err(Failures {
                list,
                report: Box::new(report),
            }),
        }
    }

    fn read(self) -> Result<Setup, Failure> {
        let failed =
            |place: &Path, what| Failure::new(Suite::SetUp, &place.display().to_string(), what);
        let read = |path: &Path| {
            let source = std::fs::read_to_string(path);
            let source = source.map_err(|error| failed(path, error.to_string()))?;
            let file = path.file_name().unwrap_or_default();
            let file = file.to_string_lossy().into_owned();
            let machine = claudex_build::check_source(&file, &source);
            let machine = machine.map_err(|found| failed(path, found.to_string()))?;
            Ok((machine, file, source))
        };
        let (machine, file, source) = read(&self.file)?;
        if !self.given.program.is_file() {
            return Err(failed(&self.given.program, "no such program".to_owned()));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let folder = self.file.parent().filter(|folder| *folder != Path::new(""));
        Ok(Setup {
            machine,
            source,
            file,
            folder: folder.unwrap_or(Path::new(".")).to_owned(),
            given: self.given,
            now: now.map_or(0, |since| since.as_secs()),
        })
    }
}

impl Setup {
    /// Returns whether a suite is wanted.
    pub(crate) fn wants(&self, suite: Suite) -> bool {
        self.given.only.is_none_or(|only| only == suite)
    }

    /// Makes a project that has what the machine needs.
    pub(crate) fn project(&self) -> io::Result<Project> {
        let project = Project::new(&self.given.program)?;
        self.given
            .projects
            .iter()
            .try_for_each(|prepare| prepare(&project))?;
        Ok(project)
    }

    pub(crate) fn search(&self) -> Search<'_> {
        Search::new(
            &self.machine,
            |phase, name| self.own(phase, name).is_some(),
            self.now,
        )
    }

    fn own(&self, phase: &str, transition: &str) -> Option<&Own> {
        let is_it = |of: &str, name: &str| (of == phase || of == "*") && name == transition;
        let mut own = self.given.own.iter();
        own.find(|(of, name, _)| is_it(of, name))
            .map(|(.., prepare)| prepare)
    }

    /// Has the machine's own Rust take a transition: at the next stop, or by the call that is returned.
    pub(crate) fn prepare(
        &self,
        phase: usize,
        transition: &str,
        arguments: &[(String, Value)],
        project: &Project,
    ) -> io::Result<Option<OwnCall>> {
        let given = arguments.iter().map(|(name, value)| match value {
            Value::Text(text) => (name.clone(), text.clone()),
            other => (name.clone(), other.to_string()),
        });
        match self.own(&self.machine.phases[phase].name.value, transition) {
            Some(prepare) => prepare(project, &given.collect()),
            None => Ok(None),
        }
    }

    /// Returns the flag of `start` that gives a field.
    pub(crate) fn flag(&self, field: &str) -> String {
        let own = self.given.flags.get(field);
        own.map_or_else(|| kebab(field), String::clone)
    }

    pub(crate) fn text(&self, field: &str, text: &str) -> String {
        let own = self.given.texts.get(field);
        own.map_or(text, String::as_str).to_owned()
    }

    /// Returns the commands that phases run.
    pub(crate) fn commands(&self) -> BTreeSet<&str> {
        let phases = self.machine.phases.iter();
        let named = phases.filter_map(|phase| phase.on_stop.as_ref()?.parameter("command"));
        named.map(|name| name.value.as_str()).collect()
    }

    /// Returns the form of a phase in documents and journals.
    pub(crate) fn stored(&self, phase: usize) -> &str {
        let phase = &self.machine.phases[phase];
        phase
            .stored
            .as_ref()
            .map_or(&phase.name.value, |stored| &stored.value)
    }

    pub(crate) fn holder_of_id(&self) -> String {
        self.machine.holder(Held::Id).unwrap_or("id").to_owned()
    }

    /// Reads what a program made of a start out of the journal's fields, by the kinds that the model has.
    pub(crate) fn values(&self, fields: &Map<String, Json>, model: &State) -> Vec<Value> {
        let all = self.machine.fields.iter().zip(&model.values);
        all.map(|(field, value)| {
            let found = fields.get(&field.name.value).unwrap_or(&Json::Null);
            match (value, &field.kind) {
                (Value::Absent, _) | (_, FieldKind::Time) => value.clone(),
                (Value::Number(_), _) => {
                    found.as_u64().map_or_else(|| value.clone(), Value::Number)
                }
                (Value::Flag(_), _) => found.as_bool().map_or_else(|| value.clone(), Value::Flag),
                (Value::Text(_), _) => Value::Text(plain(found)),
                (Value::List(_), _) => {
                    Value::List(found.as_array().into_iter().flatten().map(plain).collect())
                }
            }
        })
        .collect()
    }

    /// Names a step: `a review that finds something`, `a stop that sees written takes begin`.
    pub(crate) fn step_text(&self, step: &Step) -> String {
        let edges = self.machine.edges();
        let taken = step
            .edge
            .map(|edge| format!(" takes {}", edges[edge].declared.name.value));
        let taken = taken.unwrap_or_default();
        match &step.act {
            Act::Stop(outcome) => format!("a stop that sees {outcome}{taken}"),
            Act::Own { .. } => format!("the program’s own Rust{taken}"),
            Act::Verb { by, transition, .. } => {
                let by = format!("{by:?}").to_lowercase();
                format!("{} by the {by}", kebab(transition))
            }
            Act::Review(says) => format!("a review ({})", format!("{says:?}").to_lowercase()),
            Act::Wait(seconds) => format!("{seconds} s"),
        }
    }
}
