//! What `run` takes through a loop: a plan, the work tree's changes, or a loop that was kept. The first two start one.

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::files::{MAX_BYTES, folder_of};
use claudex_loop::program::caller::RUN;
use claudex_loop::program::locate;
use claudex_loop::store::Store;
use claudex_loop::{Actor, Beginning, text};

use super::driver::{Job, JobError};
use super::{AnyLoop, INFO, Mode, Start, start};

/// What a job is about.
#[derive(Debug)]
pub enum Work {
    /// A plan, by its absolute path.
    Plan(Utf8PathBuf),
    /// The changes of the work tree of this folder, their topic, which may be empty, and the base that the user names, if any.
    Changes(Utf8PathBuf, String, Option<String>),
    /// A loop that was kept when its job was interrupted.
    Kept(AnyLoop),
}

impl Work {
    /// Returns the root of the project that it is done in.
    pub fn root(&self) -> Utf8PathBuf {
        match self {
            Self::Plan(plan) => locate::root(INFO.state, plan.parent().unwrap_or(plan)),
            Self::Changes(folder, ..) => locate::root(INFO.state, folder),
            Self::Kept(held) => held.raw().store().root().to_owned(),
        }
    }

    /// Returns the loop, which is started unless it was kept.
    ///
    /// # Errors
    /// The plan or the changes cannot be reviewed, or the loop cannot be started.
    pub fn begin(self, job: &Job<'_>) -> Result<AnyLoop, JobError> {
        match self {
            Self::Plan(plan) => of_plan(&plan, job),
            Self::Changes(folder, topic, base) => of_changes(&folder, &topic, base.as_deref(), job),
            Self::Kept(held) => Ok(held),
        }
    }
}

/// Starts the loop of a plan: what is there is its draft.
fn of_plan(plan: &Utf8Path, job: &Job<'_>) -> Result<AnyLoop, JobError> {
    let path = || plan.to_owned();
    let folder = folder_of(&[], plan);
    let bytes = folder.and_then(|(folder, name)| folder.read(&name, MAX_BYTES));
    let bytes = bytes.map_err(|source| JobError::Plan {
        path: path(),
        source,
    })?;
    let text = String::from_utf8(bytes).map_err(|_| JobError::NotText { path: path() })?;
    if text.trim().is_empty() {
        return Err(JobError::Empty { path: path() });
    }
    let store = locate::for_start(INFO.state, plan.parent().unwrap_or(Utf8Path::new("/")));
    let start = Start {
        from_draft: Some(true),
        subject: Some(plan.strip_prefix(store.root()).unwrap_or(plan).to_string()),
        ..with(Mode::Plan, topic(&text, plan), job)
    };
    begin(start, &store, Beginning::now(RUN), job)
}

/// Starts the loop of the work tree's changes.
fn of_changes(
    folder: &Utf8Path,
    topic: &str,
    base: Option<&str>,
    job: &Job<'_>,
) -> Result<AnyLoop, JobError> {
    let store = locate::for_start(INFO.state, folder);
    let how = Beginning::now(RUN);
    let found = start::changes(&store, topic, base, how.now).map_err(JobError::Changes)?;
    let start = Start {
        base: found.base,
        subject: Some(found.subject.into_string()),
        ..with(Mode::Review, found.topic, job)
    };
    let id = Some(found.id);
    begin(start, &store, Beginning { id, ..how }, job)
}

/// Returns the fields that every start of a job has.
fn with(mode: Mode, topic: String, job: &Job<'_>) -> Start {
    let usual = job.settings.max_rounds(&mode.to_string());
    Start {
        mode,
        topic,
        max_rounds: job.rounds.or(usual),
        max_failures: job.settings.max_failures(),
        from_draft: None,
        interview_used: None,
        subject: None,
        base: None,
        subject_before: None,
        continues: None,
    }
}

fn begin(start: Start, store: &Store, how: Beginning, job: &Job<'_>) -> Result<AnyLoop, JobError> {
    let how = Beginning {
        stale_after: Some(job.settings.stale_after()),
        ..how
    };
    start
        .begin(store, how, Actor::Person)
        .map_err(JobError::Start)
}

/// The first heading, else the first line, else the file's name.
fn topic(plan: &str, path: &Utf8Path) -> String {
    let heading = plan.lines().find(|line| line.starts_with('#'));
    let line = heading
        .or_else(|| plan.lines().find(|line| !line.trim().is_empty()))
        .unwrap_or_default();
    let topic = text::one_line(line.trim_start_matches('#').trim(), 200);
    if topic.is_empty() {
        path.file_name().unwrap_or("plan").to_owned()
    } else {
        topic
    }
}
