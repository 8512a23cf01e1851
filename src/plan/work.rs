//! The work of a job: a plan, the changes of the work tree, or a loop that was kept. The first two
//! start a loop.

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::files::{MAX_BYTES, folder_of};
use claudex_loop::program::caller::RUN;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{locate, start};
use claudex_loop::store::{StartError, StoreError};
use claudex_loop::{Actor, Beginning, text};

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

    /// Returns the loop, which is started unless it was kept. `rounds`: its upper limit of rounds,
    /// or `None` for the configured one.
    ///
    /// # Errors
    /// Returns an error if the plan or the changes cannot be reviewed, or if the loop cannot start.
    pub fn begin(self, rounds: Option<u64>, settings: &Settings) -> Result<AnyLoop, Failure> {
        let how = Beginning {
            stale_after: Some(settings.stale_after()),
            ..Beginning::now(RUN)
        };
        let common = |mode: Mode, topic| Start {
            max_rounds: rounds.or(settings.max_rounds(&mode.to_string())),
            max_failures: settings.max_failures(),
            ..Start::new(mode, topic)
        };
        let (store, fields, id) = match self {
            Self::Kept(held) => return Ok(held),
            // The file is the draft of its loop.
            Self::Plan(plan) => {
                let content = read_plan(&plan)?;
                let store = locate::for_start(INFO.state, plan.parent().unwrap_or(&plan));
                let subject = plan.strip_prefix(store.root()).unwrap_or(&plan);
                let fields = Start {
                    from_draft: Some(true),
                    subject: Some(subject.to_string()),
                    ..common(Mode::Plan, topic(&content, &plan))
                };
                (store, fields, None)
            }
            Self::Changes {
                folder,
                topic,
                base,
            } => {
                let store = locate::for_start(INFO.state, &folder);
                let found = changes_to_review(&store, &topic, base.as_deref(), how.now)?;
                let fields = Start {
                    base: found.base,
                    subject: Some(found.subject.into_string()),
                    ..common(Mode::Review, found.topic)
                };
                (store, fields, Some(found.id))
            }
        };
        fields
            .begin(&store, Beginning { id, ..how }, Actor::Person)
            .map_err(start_failure)
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

fn read_plan(plan: &Utf8Path) -> Result<String, Failure> {
    let shown = text::shown(plan);
    let bytes = folder_of(&[], plan).and_then(|(folder, name)| folder.read(&name, MAX_BYTES));
    let bytes = bytes.map_err(|error| unreadable_plan(plan, &error))?;
    match String::from_utf8(bytes) {
        Ok(content) if content.trim().is_empty() => {
            let message = format!("the plan {shown} is empty");
            Err(plan_failure(message, "write the plan first"))
        }
        Ok(content) => Ok(content),
        Err(_) => {
            let message = format!("the plan {shown} is not UTF-8 text");
            Err(plan_failure(message, "save it as UTF-8"))
        }
    }
}

/// Returns the failure of a start. If another loop is active, its exit code says so.
fn start_failure(error: StartError) -> Failure {
    let exit = match &error {
        StartError::Store(StoreError::Active { .. } | StoreError::NotOurs { .. }) => Exit::Active,
        _ => Exit::Internal,
    };
    let resumed = match &error {
        StartError::Store(StoreError::Active { id, .. }) => resume::in_the_way(id),
        _ => None,
    };
    match resumed {
        Some(help) => Failure::plain(exit, "claudex::start::active", error.to_string(), &help),
        None => start::refused(INFO, error).exiting(exit),
    }
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
