//! The work of a job: a plan, the changes of the work tree, or a loop that was kept. The first two
//! start a loop.

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::files::{MAX_BYTES, folder_of};
use claudex_loop::program::caller::RUN;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{locate, start};
use claudex_loop::store::{StartError, Store, StoreError};
use claudex_loop::{Actor, Beginning, text};

use super::job::Job;
use super::start::changes_to_review;
use super::{AnyLoop, INFO, Mode, Start, resume};

/// The work of a job.
#[derive(Debug)]
pub enum Work {
    /// A plan, by its absolute path.
    Plan(Utf8PathBuf),
    /// The changes of a work tree.
    Changes {
        /// A folder of the work tree.
        folder: Utf8PathBuf,
        /// The topic, which may be empty.
        topic: String,
        /// The base, if the user names one.
        base: Option<String>,
    },
    /// A loop that was kept when its job was interrupted.
    Kept(AnyLoop),
}

impl Work {
    /// Returns the root of the project.
    pub fn root(&self) -> Utf8PathBuf {
        match self {
            Self::Plan(plan) => locate::root(INFO.state, plan.parent().unwrap_or(plan)),
            Self::Changes { folder, .. } => locate::root(INFO.state, folder),
            Self::Kept(held) => held.raw().store().root().to_owned(),
        }
    }

    /// Returns the loop, which is started unless it was kept.
    ///
    /// # Errors
    /// Returns an error if the plan or the changes cannot be reviewed, or if the loop cannot start.
    pub fn begin(self, job: &Job<'_>) -> Result<AnyLoop, Failure> {
        match self {
            Self::Plan(plan) => start_plan(&plan, job),
            Self::Changes {
                folder,
                topic,
                base,
            } => start_review(&folder, &topic, base.as_deref(), job),
            Self::Kept(held) => Ok(held),
        }
    }
}

/// Returns the failure of a plan that cannot be read.
pub fn unreadable_plan(path: &Utf8Path, error: &std::io::Error) -> Failure {
    let message = format!("could not read the plan {}: {error}", text::shown(path));
    plan_failure(message, "give the path of a Markdown file")
}

fn plan_failure(message: String, help: &str) -> Failure {
    Failure::plain(Exit::Usage, "claudex::run::plan", message, help)
}

/// Starts the loop of a plan. The file is its draft.
fn start_plan(plan: &Utf8Path, job: &Job<'_>) -> Result<AnyLoop, Failure> {
    let bytes = folder_of(&[], plan).and_then(|(folder, name)| folder.read(&name, MAX_BYTES));
    let bytes = bytes.map_err(|error| unreadable_plan(plan, &error))?;
    let shown = text::shown(plan);
    let content = String::from_utf8(bytes).map_err(|_| {
        plan_failure(
            format!("the plan {shown} is not UTF-8 text"),
            "save it as UTF-8",
        )
    })?;
    if content.trim().is_empty() {
        let message = format!("the plan {shown} is empty");
        return Err(plan_failure(message, "write the plan first"));
    }

    let store = locate::for_start(INFO.state, plan.parent().unwrap_or(Utf8Path::new("/")));
    let fields = Start {
        from_draft: Some(true),
        subject: Some(plan.strip_prefix(store.root()).unwrap_or(plan).to_string()),
        ..common_fields(Mode::Plan, topic(&content, plan), job)
    };
    begin(fields, &store, Beginning::now(RUN), job)
}

/// Starts the loop of the work tree's changes.
fn start_review(
    folder: &Utf8Path,
    topic: &str,
    base: Option<&str>,
    job: &Job<'_>,
) -> Result<AnyLoop, Failure> {
    let store = locate::for_start(INFO.state, folder);
    let how = Beginning::now(RUN);
    let found = changes_to_review(&store, topic, base, how.now)?;
    let fields = Start {
        base: found.base,
        subject: Some(found.subject.into_string()),
        ..common_fields(Mode::Review, found.topic, job)
    };
    let id = Some(found.id);
    begin(fields, &store, Beginning { id, ..how }, job)
}

fn common_fields(mode: Mode, topic: String, job: &Job<'_>) -> Start {
    let configured = job.settings.max_rounds(&mode.to_string());
    Start {
        mode,
        topic,
        max_rounds: job.rounds.or(configured),
        max_failures: job.settings.max_failures(),
        from_draft: None,
        interview_used: None,
        subject: None,
        base: None,
        subject_before: None,
        continues: None,
    }
}

fn begin(fields: Start, store: &Store, how: Beginning, job: &Job<'_>) -> Result<AnyLoop, Failure> {
    let how = Beginning {
        stale_after: Some(job.settings.stale_after()),
        ..how
    };
    fields
        .begin(store, how, Actor::Person)
        .map_err(start_failure)
}

/// Returns the failure of a start. If another loop is active, its exit code says so.
fn start_failure(error: StartError) -> Failure {
    let resumed = match &error {
        StartError::Store(StoreError::Active { id, .. }) => resume::in_the_way(id),
        StartError::Store(StoreError::NotOurs { .. }) => None,
        _ => return Failure::new(Exit::Internal, error),
    };
    let failure = match resumed {
        Some(help) => {
            let message = error.to_string();
            Failure::plain(Exit::Active, "claudex::start::active", message, &help)
        }
        None => start::refused(INFO, error),
    };
    failure.exiting(Exit::Active)
}

/// Returns the first heading, else the first line, else the file's name.
fn topic(plan: &str, path: &Utf8Path) -> String {
    let mut lines = plan.lines().filter(|line| !line.trim().is_empty());
    let heading = plan.lines().find(|line| line.starts_with('#'));
    let line = heading.or_else(|| lines.next()).unwrap_or_default();
    let topic = text::one_line(line.trim_start_matches('#').trim(), 200);
    if topic.is_empty() {
        path.file_name().unwrap_or("plan").to_owned()
    } else {
        topic
    }
}
