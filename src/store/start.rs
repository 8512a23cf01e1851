//! Starting a loop: sweep, refusal and creation under one lock, so that of many starts at once one wins.

use std::io::ErrorKind;
use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;

use super::document::{Document, MAX_BYTES};
use super::entry::ChangeEntry;
use super::error::{StartError, StoreError, io_error};
use super::id::{LoopId, iso};
use super::lock::{LockError, LockGuard, PROJECT};
use super::record::Record;
use super::repair::{Repair, keep};
use super::spec::HeldFields;
use super::storage::JOURNAL;
use super::store::{SIDECARS, Store};
use super::sweep::{SWEPT, Swept};
use super::value::Value;
use crate::files::{Folder, if_there, make_all};

/// Keeps the state folder out of git.
const IGNORE: &str = ".gitignore";

/// Names the first change of a loop that the engine made.
const START: &str = "start";
/// Names that of a loop whose document it did not.
const IMPORT: &str = "import";

/// Limits the line that a start writes, in bytes: its document, as JSON.
const LONGEST_LINE: u64 = 8 * MAX_BYTES as u64;

/// How often a start makes the folder that others, which failed, take away.
const TRIES: usize = 100;

/// What a new loop is made of.
pub struct StartPlan {
    /// The time of the start: of the id, of the fields, and of the sweep.
    pub now: Timestamp,
    /// Sweeps loops older than this first.
    pub stale_after: Option<Duration>,
    /// The id; a stamp is made if there is none.
    pub id: Option<LoopId>,
    /// Who starts it, for the journal.
    pub by: String,
    /// The fields in their order. The phase must be among them. What the store knows (id, revision, machine, graph hash,
    /// root, times of the start and of the last change) is put in where it stands, or at the end; a missing session
    /// becomes `unknown`.
    pub fields: Vec<(String, Value)>,
}

/// A document that another program, or a person, wrote.
#[derive(Debug)]
pub struct Import {
    /// The document. What no field of the machine names stays in it.
    pub document: Box<dyn Document>,
    /// The file that it was read from, by its canonical path. One in the state folder, or in the place of the loop's document, gives way
    /// to that, and is kept in `quarantine/`; any other one is left as it is.
    pub file: Utf8PathBuf,
}

/// A loop that was started, and what was done before.
#[derive(Debug)]
pub struct Started {
    /// The loop.
    pub record: Record,
    /// What was put right or set aside.
    pub repairs: Vec<Repair>,
    /// What the sweep moved away.
    pub swept: Swept,
}

impl Store {
    /// Starts a loop. See [`Store::start_telling`], which also tells what was put right and swept for it.
    ///
    /// # Errors
    /// As there.
    pub fn start(&self, plan: StartPlan) -> Result<Record, StartError> {
        self.start_telling(plan).map(|started| started.record)
    }

    /// Starts a loop: makes the state folder if it is not there (with a `.gitignore`, so that git ignores it), and
    /// under one lock sweeps, repairs every loop, sets aside what cannot be read, refuses if a loop is not terminal, and
    /// creates the new one with its folder, journal, state file and `<id>.lock`.
    ///
    /// # Errors
    /// [`StartError::Active`] when a loop of the folder, or a state file made by hand, is not terminal. Whatever the
    /// error, nothing of the new loop is left behind, nor a state folder that was made for it.
    pub fn start_telling(&self, plan: StartPlan) -> Result<Started, StartError> {
        self.start_with(plan, None)
    }

    /// Starts a loop, as [`Store::start_telling`] does, whose document is one that this engine did not write. Its journal begins
    /// with `import`.
    ///
    /// # Errors
    /// As there.
    pub fn import(&self, plan: StartPlan, import: Import) -> Result<Started, StartError> {
        self.start_with(plan, Some(import))
    }

    fn start_with(&self, plan: StartPlan, import: Option<Import>) -> Result<Started, StartError> {
        let mut plan = Some((plan, import));
        // Another start that failed may take the folder away while we make it, or between our making it and locking it.
        for _ in 0..TRIES {
            let made = match self.make_folder() {
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    continue;
                }
                made => made?.1,
            };
            let result = self.locked(|lock| {
                let Some((plan, import)) = plan.take() else {
                    return Err(StartError::NoPhase);
                };
                let result = self.start_held(lock, plan, import);
                if result.is_err() {
                    unmake_folder(lock.folder(), &made);
                }
                result
            });
            match result {
                Err(StartError::Store(StoreError::Lock(LockError::Io { source, .. })))
                    if source.kind() == ErrorKind::NotFound && plan.is_some() => {}
                result => return result,
            }
        }
        let gone = std::io::Error::new(
            ErrorKind::NotFound,
            "the folder is taken away again and again",
        );
        Err(io_error("lock", self.folder())(gone).into())
    }

    fn start_held(
        &self,
        lock: &LockGuard,
        plan: StartPlan,
        import: Option<Import>,
    ) -> Result<Started, StartError> {
        let here = lock.folder();
        let ignore = self.folder().join(IGNORE);
        let there = if_there(here.file(IGNORE).and_then(|file| file.metadata()))
            .map_err(io_error("open", &ignore))?;
        // An empty one is what a crash left of ours.
        if there.is_none_or(|found| found.len() == 0) {
            here.replace(IGNORE, b"*\n")
                .map_err(io_error("write", &ignore))?;
        }
        let present = self.present(lock);
        let swept = match plan.stale_after {
            Some(older) => self.sweep_held(here, &present, plan.now.into(), older, false),
            None => Swept::default(),
        };
        let id = match plan.id {
            Some(id) => id,
            None => LoopId::new_stamp(plan.now)
                .map_err(io_error("take random bytes for", self.folder()))?,
        };
        let id = LoopId::parse(id.as_str(), self.spec().ids).map_err(StoreError::Id)?;
        let swept_folder =
            if_there(here.below(SWEPT)).map_err(io_error("open", &self.folder().join(SWEPT)))?;
        let path = self.path_of(&id);
        let in_place = import.as_ref().is_some_and(|import| import.file == path);
        let is_here = |import: &&Import| in_place || import.file.parent() == Some(self.folder());
        let taken = import.as_ref().filter(is_here);
        let taken = taken
            .and_then(|import| import.file.file_name())
            .map(str::to_owned);
        let left = lines_left(here, &id);
        let is_left = match left {
            Some((1, true)) => !self.has_state_file(here, &id),
            left => left == Some((0, true)),
        };
        // What an older tool left beside its document, such as findings, stays with the loop.
        let names_machine =
            |import: &Import| import.document.get(self.spec().fields.machine).is_some();
        let is_older = taken.is_some()
            && match left {
                Some((1, _)) => !import.as_ref().is_some_and(names_machine),
                left => left.is_some_and(|(lines, _)| lines == 0),
            };
        if here.has(&self.name_of(&id)) && !in_place
            || here.has(id.as_str()) && !is_left && !is_older
            || swept_folder.is_some_and(|swept| swept.has(id.as_str()))
        {
            return Err(StoreError::Exists {
                id: id.to_string(),
                folder: self.folder().to_owned(),
            }
            .into());
        }
        let clear = |id: &LoopId| match is_older {
            true => here
                .below(id.as_str())
                .and_then(|folder| folder.remove(JOURNAL)),
            false => here.remove_tree(id.as_str()),
        };
        if is_left || is_older {
            if_there(clear(&id)).map_err(io_error("remove", &self.loop_folder(&id)))?;
        }
        let fields = plan.fields;
        let (what, document) = match import {
            Some(import) => (IMPORT, import.document),
            None => (START, self.spec().empty()),
        };
        let mut before = in_place.then(|| document.to_bytes());
        let given = document.to_bytes();
        let mut record = self.new_record(plan.now, id, fields, document)?;
        let mut repairs = self.refuse_active(
            lock,
            &present,
            record.session().as_deref(),
            taken.as_deref(),
        )?;
        if !in_place && let Some((bytes, repair)) = self.make_way(here, &record.id)? {
            before = Some(bytes);
            repairs.push(repair);
        }
        let parents = match path.parent().filter(|_| self.spec().file.is_some()) {
            Some(parent) => {
                make_all(self.root(), parent)
                    .map_err(io_error("create", parent))?
                    .1
            }
            None => Vec::new(),
        };
        // Before the loop can be seen, so that no crash leaves one that is nobody's.
        let graph = self
            .spec()
            .fields
            .graph_hash
            .map(|_| self.spec().graph_hash.to_owned());
        self.own(&record.id, vec![graph.unwrap_or_default()])?;
        self.index_active(lock, &record.id)?;
        let aside = |name: &String| keep(here, name, &given);
        let created = match taken.as_ref().map(aside) {
            Some(Err(error)) => Err(error),
            _ => self.create(lock, plan.now, (what, plan.by), &mut record),
        };
        if created.is_err() {
            self.disown(&record.id);
            self.index_forget(lock, &record.id);
            for suffix in SIDECARS {
                let _ = here.remove(&format!("{}{suffix}", record.id));
            }
            let _ = match before {
                Some(bytes) => self.put_back(here, &record.id, &bytes),
                None => self
                    .state_file(here, &record.id)
                    .and_then(|(folder, name)| folder.remove(&name))
                    .map_err(io_error("remove", &path)),
            };
            for (above, name) in parents.iter().rev() {
                let _ = above.remove_folder(name);
            }
            let _ = clear(&record.id);
        }
        created?;
        // Its bytes are in the quarantine.
        if let Some(taken) = taken.filter(|_| !in_place) {
            here.remove(&taken)
                .map_err(io_error("remove", &self.folder().join(&taken)))?;
        }
        Ok(Started {
            record,
            repairs,
            swept,
        })
    }

    fn new_record(
        &self,
        now: Timestamp,
        id: LoopId,
        mut fields: Vec<(String, Value)>,
        mut document: Box<dyn Document>,
    ) -> Result<Record, StartError> {
        let spec = self.spec();
        let names = &spec.fields;
        for (field, value) in &fields {
            value.check_range(field)?;
        }
        let word = |text: &str| Value::Word(text.to_owned());
        let began = began(&*document, names, now);
        let mut put = |field: &str, value: Value, replace: bool| match fields
            .iter_mut()
            .find(|(name, _)| name == field)
        {
            Some((_, there)) if replace => *there = value,
            Some(_) => {}
            None => fields.push((field.to_owned(), value)),
        };
        put(names.id, word(id.as_str()), true);
        put(names.root, Value::Text(self.root().to_string()), true);
        put(names.session, word("unknown"), false);
        if let Some(field) = names.started {
            put(field, word(&iso(began)), true);
        }
        if let Some(field) = names.started_epoch {
            put(
                field,
                Value::Count(u64::try_from(began.as_second()).unwrap_or(0)),
                true,
            );
        }
        if let Some(field) = names.updated {
            put(field, word(&iso(now)), true);
        }
        put(names.revision, Value::Count(1), true);
        if let Some(field) = names.findings {
            put(field, Value::Count(0), true);
        }
        if let Some(field) = names.visit {
            put(field, Value::Count(1), true);
        }
        put(names.machine, word(spec.machine), true);
        if let Some(field) = names.graph_hash {
            put(field, word(spec.graph_hash), true);
        }
        for (field, value) in &fields {
            if !super::is_field_name(field) {
                return Err(StoreError::FieldName {
                    field: field.clone(),
                }
                .into());
            }
            document.set(field, value);
        }
        document.put_first(&fields);
        let phase = document
            .get(names.phase)
            .map(|phase| phase.to_plain().into_owned());
        let phase = phase
            .filter(|phase| !phase.is_empty())
            .ok_or(StartError::NoPhase)?;
        Ok(Record {
            id,
            revision: 1,
            visit: Some(1),
            phase,
            document,
            journal: None,
            spec,
        })
    }

    fn create(
        &self,
        lock: &LockGuard,
        now: Timestamp,
        (what, by): (&str, String),
        record: &mut Record,
    ) -> Result<(), StoreError> {
        let here = lock.folder();
        let path = self.loop_folder(&record.id);
        here.make(record.id.as_str())
            .map_err(io_error("create", &path))?;
        let entry = ChangeEntry {
            revision: 1,
            at: now,
            what: what.to_owned(),
            by,
            args: None,
            from: None,
            to: Some(record.phase.clone()),
            append: None,
            run: None,
            evidence: None,
            visit: record.visit,
            fields: record.document.fields(),
        };
        let storage = self.storage(here, &record.id)?;
        self.write(lock, &*storage, record, entry)?;
        let pid = format!("{}\n", std::process::id());
        here.replace(&format!("{}{}", record.id, SIDECARS[0]), pid.as_bytes())
            .map_err(io_error("write", &self.sidecar(&record.id, SIDECARS[0])))
    }
}

/// Returns when the loop of a document began: now, unless an imported one says that it was earlier.
fn began(document: &dyn Document, names: &HeldFields, now: Timestamp) -> Timestamp {
    let began = names.started.and_then(|field| document.get(field));
    let began = began.and_then(|began| began.to_plain().parse().ok());
    began.filter(|began| *began < now).unwrap_or(now)
}

/// Returns how many whole lines the journal of a loop has, and whether its folder holds nothing else. None or one is what a crash leaves of a start: until the
/// document is there, neither a list nor a stop sees a loop, so who starts it again must not be told that there is one.
fn lines_left(here: &Folder, id: &LoopId) -> Option<(usize, bool)> {
    let folder = here.below(id.as_str()).ok()?;
    let others = folder.names(|name| name != JOURNAL).ok()?;
    let journal = if_there(folder.read(JOURNAL, LONGEST_LINE)).ok()?;
    let lines = |bytes: Vec<u8>| bytes.iter().filter(|byte| **byte == b'\n').count();
    Some((journal.map_or(0, lines), others.is_empty()))
}

/// Takes away folders that were made for a start that failed. The lock file goes while it is held: whoever waits for
/// it sees that it is gone, and opens another one.
fn unmake_folder(here: &Folder, made: &[(Folder, String)]) {
    let ours = [PROJECT, IGNORE];
    let is_ours =
        |listed: &[(String, _)]| listed.iter().all(|(name, _)| ours.contains(&name.as_str()));
    if made.is_empty() || !here.list().is_ok_and(|listed| is_ours(&listed)) {
        return;
    }
    for name in ours {
        let _ = here.remove(name);
    }
    for (above, name) in made.iter().rev() {
        if above.remove_folder(name).is_err() {
            return;
        }
    }
}
