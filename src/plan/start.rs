//! What a start of the plan loop puts into the fields: the plan's path and what lies there, the loop that it goes on from, the
//! changes to review.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgAction, Command};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::settings::{MOST_ROUNDS, positive};
use claudex_loop::program::start::{StartFields, StartRequest};
use claudex_loop::program::{locate, suggest};
use claudex_loop::review::Digest;
use claudex_loop::review::changes::{self as work_changes, Changes, ChangesError};
use claudex_loop::review::worktree::WorktreeError;
use claudex_loop::store::{LoopId, Store};
use claudex_loop::text;
use claudex_loop::{Actor, Timestamp};
use derive_more::{Display, Error};
use serde_json::Value;

use super::{AnyLoop, INFO, Mode, changes};

/// The plan's name.
pub const PLAN: &str = "PLAN.md";

/// The flags that are for plan mode alone, by field.
const PLAN_ONLY: [(&str, &str); 5] = [
    ("from_draft", "--from-draft"),
    ("continues", "--continue"),
    ("subject", "--plan"),
    ("interview_used", "--interviewed"),
    ("skip_interview", "--skip-interview"),
];

/// The field of the base, which is for review mode alone, and its flag.
pub(super) const BASE: &str = "base";

/// Names the flags of a start as people type them, and says how far `more` may go.
pub fn arguments(command: Command) -> Command {
    let of_count = |arg: Arg| {
        arg.value_parser(rounds)
            .value_name("N")
            .allow_hyphen_values(true)
    };
    let of_both = move |mode: Command| {
        mode.mut_arg("max_rounds", |arg| of_count(arg).long("rounds"))
            .mut_arg("interview_used", |arg| arg.long("interviewed"))
            .mut_arg("subject", |arg| {
                arg.long("plan")
                    .help(format!("The plan’s file [default: {PLAN}]"))
            })
            .mut_arg("continues", |arg| arg.long("continue").value_name("LOOP"))
            .mut_arg(BASE, base)
            // The start sets it itself.
            .mut_arg("subject_before", |arg| arg.hide(true))
            .arg(
                Arg::new("skip_interview")
                    .long("skip-interview")
                    .action(ArgAction::SetTrue)
                    .help("Ask nothing before the plan is drafted"),
            )
    };
    let of_review = move |mode: Command| {
        let hidden = |mode: Command, (flag, _)| mode.mut_arg(flag, |arg| arg.hide(true));
        PLAN_ONLY.into_iter().fold(of_both(mode), hidden)
    };
    let of_plan = move |mode: Command| of_both(mode).mut_arg(BASE, |arg| arg.hide(true));
    command
        .mut_subcommand("start", |start| {
            start
                .mut_subcommand("plan", of_plan)
                .mut_subcommand("review", of_review)
        })
        .mut_subcommand("review", changes::arguments)
        .mut_subcommand("more", |more| {
            more.mut_arg("rounds", |arg| {
                of_count(arg)
                    .help("How many further rounds")
                    .required(false)
                    .default_value("1")
            })
        })
}

/// Describes the flag that names the base.
pub(super) fn base(arg: Arg) -> Arg {
    let help = "Compare with where the branch left REV [default: the branch with the fewest commits since]";
    arg.long(BASE).value_name("REV").help(help)
}

fn rounds(given: &str) -> Result<u64, String> {
    positive(given, MOST_ROUNDS)
        .ok_or_else(|| format!("it takes a positive integer up to {MOST_ROUNDS}"))
}

/// A start that was refused for what was asked.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum StartRefused {
    /// A loop that cannot be gone on from.
    #[display("cannot go on from `{given}`: {problem}")]
    #[diagnostic(
        code(claudex::start::continues),
        help(
            "{}",
            suggest::help(
                near.as_deref(),
                "--continue takes a plan loop of this project that is over; `claudex-loop list` shows them"
            )
        )
    )]
    Continues {
        /// What was given, on one line.
        given: String,
        /// The loop that was probably meant.
        near: Option<String>,
        /// What is wrong with it.
        problem: String,
    },
    /// No topic.
    #[display("Plan mode requires a topic")]
    #[diagnostic(
        code(claudex::start::topic),
        help("say what the plan is about, after the flags: start plan move the queue to Postgres")
    )]
    NoTopic,
    /// `--from-draft` without a draft.
    #[display("--from-draft requires PLAN.md to exist, and {path} does not", path = text::shown(path))]
    #[diagnostic(
        code(claudex::start::draft),
        help("write the draft first, or leave --from-draft out")
    )]
    NoDraft {
        /// Where it should be.
        path: Utf8PathBuf,
    },
    /// A flag of the other mode.
    #[display("{flag} only applies to {mode} mode")]
    #[diagnostic(code(claudex::start::mode), help("leave it out, or start {mode} mode"))]
    OtherMode {
        /// The flag.
        flag: &'static str,
        /// The mode that has it.
        mode: Mode,
    },
    /// Nothing to review, or nothing that can be read.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Changes(ChangesError),
    /// The system refused.
    #[display("could not read {path}: {source}", path = text::shown(path), source = text::shown(source.to_string()))]
    #[diagnostic(code(claudex::start::io))]
    Io {
        /// What.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl StartRefused {
    fn exit(&self) -> Exit {
        match self {
            Self::Io { .. }
            | Self::Changes(ChangesError::Worktree(
                WorktreeError::Io { .. } | WorktreeError::Answer { .. },
            )) => Exit::Internal,
            _ => Exit::Usage,
        }
    }
}

impl From<StartRefused> for Failure {
    fn from(refused: StartRefused) -> Self {
        Failure::new(refused.exit(), refused)
    }
}

/// Returns the fields of a loop that starts.
///
/// # Errors
/// See [`StartRefused`].
pub fn fields(request: StartRequest<'_>) -> Result<StartFields, Failure> {
    let fields = match request.mode.name.parse() {
        Ok(Mode::Review) => of_review(&request),
        _ => of_plan(&request),
    };
    fields.map_err(Failure::from)
}

fn of_plan(request: &StartRequest<'_>) -> Result<StartFields, StartRefused> {
    if request.text(BASE).is_some() {
        let (flag, mode) = ("--base", Mode::Review);
        return Err(StartRefused::OtherMode { flag, mode });
    }
    let store = request.store;
    let before = request
        .text("continues")
        .map(|given| over(store, given))
        .transpose()?;
    // Whoever goes on from a loop goes on with its plan.
    let from_draft = request.flag("from_draft") || before.is_some();
    let old_topic = before.as_ref().map(|before| before.fields().topic.clone());
    let topic = match request.text("topic").unwrap_or_default().trim() {
        "" => old_topic.as_deref().unwrap_or_default(),
        topic => topic,
    };
    if topic.is_empty() {
        return Err(StartRefused::NoTopic);
    }
    // The plan lies where the start ran: a client that was opened in a subfolder may not write outside it.
    let plan = match (&before, request.text("subject")) {
        (Some(before), None) => before.raw().path("{subject}"),
        (_, given) => request.here.join(given.unwrap_or(PLAN)),
    };
    let plan = plan
        .strip_prefix(store.root())
        .map(Utf8Path::to_owned)
        .unwrap_or(plan);
    let path = store.root().join(&plan);
    let existing = match store.read(&path) {
        Ok(content) => Some(content),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(source) => return Err(StartRefused::Io { path, source }),
    };
    if from_draft && existing.is_none() {
        return Err(StartRefused::NoDraft { path });
    }
    // The plan that is there already counts as written only with --from-draft.
    let subject_before = existing
        .filter(|_| !from_draft)
        .map(|content| Digest::of(&content));
    let continues = before.as_ref().map(|before| before.id().to_string());
    let text = |text: Option<String>| text.map_or(Value::Null, Value::from);
    Ok(StartFields {
        fields: vec![
            ("topic", Value::from(topic.to_owned())),
            ("from_draft", Value::from(from_draft)),
            ("subject", Value::from(plan.into_string())),
            (
                "subject_before",
                text(subject_before.map(|digest| digest.to_string())),
            ),
            ("continues", text(continues)),
        ],
        ..StartFields::default()
    })
}

/// Returns the fields of a loop that is started to review the changes of the work tree.
fn of_review(request: &StartRequest<'_>) -> Result<StartFields, StartRefused> {
    for (field, flag) in PLAN_ONLY {
        if request.text(field).is_some() || request.flag(field) {
            let mode = Mode::Plan;
            return Err(StartRefused::OtherMode { flag, mode });
        }
    }
    let topic = request.text("topic").unwrap_or_default();
    let found = changes(request.store, topic, request.text(BASE), request.now)?;
    Ok(StartFields {
        fields: vec![
            (BASE, found.base.map_or(Value::Null, Value::from)),
            ("topic", Value::from(found.topic)),
            ("subject", Value::from(found.subject.into_string())),
        ],
        id: Some(found.id),
    })
}

/// The changes that a loop is started to review.
pub struct ChangesFound {
    /// What they are about.
    pub topic: String,
    /// The id of the loop.
    pub id: LoopId,
    /// Where their copy will lie.
    pub subject: Utf8PathBuf,
    /// The commit that they are compared with, if a base was named.
    pub base: Option<String>,
}

/// Returns the changes of the work tree as they are now, under this topic, else their title.
///
/// # Errors
/// There are none, or they cannot be read.
pub fn changes(
    store: &Store,
    topic: &str,
    base: Option<&str>,
    now: Timestamp,
) -> Result<ChangesFound, StartRefused> {
    let found = work_changes::now(store, base).map_err(StartRefused::Changes)?;
    let Changes { title, .. } = found;
    let id = LoopId::new_stamp(now).map_err(|source| StartRefused::Io {
        path: store.folder().to_owned(),
        source,
    })?;
    let topic = match topic.trim() {
        "" => title,
        topic => topic.to_owned(),
    };
    Ok(ChangesFound {
        base: found.base.commit.filter(|_| base.is_some()),
        topic,
        subject: work_changes::copy_path(store, &id),
        id,
    })
}

/// Returns the loop that a new one goes on from: of this project, of plan mode, and over.
fn over(store: &Store, given: &str) -> Result<AnyLoop, StartRefused> {
    let refused = |problem: String| StartRefused::Continues {
        given: text::one_line(given, 60),
        near: None,
        problem,
    };
    let unknown = |problem: String| StartRefused::Continues {
        given: text::one_line(given, 60),
        near: locate::near_id(INFO.state, store.root(), given),
        problem,
    };
    let id = LoopId::parse(given, INFO.state.ids)
        .map_err(|_| unknown("it is not the id of a loop".to_owned()))?;
    if store.archived().iter().any(|one| one.id == id) {
        return Err(unknown(format!(
            "it is not over: it is in the archive; to bring it back:\n    claudex-loop resume {id}"
        )));
    }
    let archived = store.archived_store(id.as_str());
    let store = if store.has_archived(&id) {
        &archived
    } else {
        store
    };
    if store.path_of(&id).symlink_metadata().is_err() {
        return Err(unknown(format!(
            "{} has no such loop",
            text::shown(store.folder())
        )));
    }
    let before =
        AnyLoop::open(store, &id, Actor::Person).map_err(|error| refused(error.to_string()))?;
    if super::reviews_changes(&before) {
        return Err(refused("it reviewed changes, not a plan".to_owned()));
    }
    if !before.phase().is_terminal() {
        return Err(refused(format!(
            "it is not over yet (phase {}); see `claudex-loop status`",
            before.phase()
        )));
    }
    Ok(before)
}
