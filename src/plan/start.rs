//! `start`: the fields of a new loop. These are the plan's path and digest, the loop that it
//! continues, or the changes to review.

use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgAction, Command};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::settings::{MOST_ROUNDS, positive};
use claudex_loop::program::start::{StartFields, StartRequest};
use claudex_loop::program::{locate, suggest};
use claudex_loop::review::Digest;
use claudex_loop::review::changes::{self as work_changes, ChangesError};
use claudex_loop::review::worktree::WorktreeError;
use claudex_loop::store::{LoopId, Store};
use claudex_loop::text;
use claudex_loop::{Actor, Timestamp};

use super::{AnyLoop, INFO, Mode, changes};

/// The default name of the plan's file.
pub const PLAN: &str = "PLAN.md";

/// The flags of plan mode, by field.
const PLAN_ONLY: [(&str, &str); 5] = [
    ("from_draft", "--from-draft"),
    ("continues", "--continue"),
    ("subject", "--plan"),
    ("interview_used", "--interviewed"),
    ("skip_interview", "--skip-interview"),
];

/// The field of the base, and the flag of review mode that sets it.
pub(super) const BASE: &str = "base";

/// Sets the names and limits of the flags of `start`, `review` and `more`.
pub fn arguments(command: Command) -> Command {
    let hide = |mode: Command, field| mode.mut_arg(field, |arg| arg.hide(true));
    let plan = move |mode| hide(with_flags(mode), BASE);
    let review = move |mode| {
        let plan_only = PLAN_ONLY.into_iter().map(|(field, _)| field);
        plan_only.fold(with_flags(mode), hide)
    };
    let rounds = |arg| {
        with_rounds(arg)
            .help("How many further rounds")
            .required(false)
            .default_value("1")
    };
    command
        .mut_subcommand("start", |start| {
            start
                .mut_subcommand("plan", plan)
                .mut_subcommand("review", review)
        })
        .mut_subcommand("review", changes::arguments)
        .mut_subcommand("more", |more| more.mut_arg("rounds", rounds))
}

/// Sets the flags of a start in any mode.
fn with_flags(mode: Command) -> Command {
    let plan = format!("The plan’s file [default: {PLAN}]");
    mode.mut_arg("max_rounds", |arg| with_rounds(arg).long("rounds"))
        .mut_arg("interview_used", |arg| arg.long("interviewed"))
        .mut_arg("subject", |arg| arg.long("plan").help(plan))
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
}

fn with_rounds(arg: Arg) -> Arg {
    arg.value_parser(parse_rounds)
        .value_name("N")
        .allow_hyphen_values(true)
}

/// Sets the help of the flag that names the base.
pub(super) fn base(arg: Arg) -> Arg {
    let help = "Compare with where the branch left REV [default: the branch with the fewest commits since]";
    arg.long(BASE).value_name("REV").help(help)
}

/// Parses the value of `--rounds`.
///
/// # Errors
/// Returns an error if it is not a positive integer, or too large.
pub fn parse_rounds(given: &str) -> Result<u64, String> {
    positive(given, MOST_ROUNDS)
        .ok_or_else(|| format!("it takes a positive integer up to {MOST_ROUNDS}"))
}

/// Returns the fields of a loop that starts.
///
/// # Errors
/// Returns an error if the arguments do not fit the mode, or if the files that they name cannot be
/// used.
pub fn fields(request: StartRequest<'_>) -> Result<StartFields, Failure> {
    match request.mode.name.parse() {
        Ok(Mode::Review) => review_fields(&request),
        _ => plan_fields(&request),
    }
}

fn plan_fields(request: &StartRequest<'_>) -> Result<StartFields, Failure> {
    if request.text(BASE).is_some() {
        return Err(wrong_mode("--base", Mode::Review));
    }
    let store = request.store;
    let continued = request
        .text("continues")
        .map(|id| open_continued(store, id))
        .transpose()?;
    let continued = continued.as_ref();
    let from_draft = request.flag("from_draft") || continued.is_some();
    let topic = match (request.text("topic").unwrap_or_default().trim(), continued) {
        ("", Some(continued)) => &continued.fields().topic,
        ("", None) => {
            return Err(usage(
                "claudex::start::topic",
                "Plan mode requires a topic",
                "say what the plan is about, after the flags: start plan move the queue to Postgres",
            ));
        }
        (topic, _) => topic,
    };

    // The plan lies in the folder of the start: a client that was opened in a subfolder may not
    // write outside it.
    let path = match (continued, request.text("subject")) {
        (Some(continued), None) => continued.raw().path("{subject}"),
        (_, subject) => request.here.join(subject.unwrap_or(PLAN)),
    };
    // Without --from-draft the plan counts as written only once it differs from this.
    let digest = match store.read(&path) {
        Ok(_) if from_draft => None,
        Ok(content) => Some(Digest::of(&content).to_string()),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(unreadable(&path, &error)),
        Err(_) if from_draft => {
            let path = text::shown(&path);
            return Err(usage(
                "claudex::start::draft",
                &format!("--from-draft requires PLAN.md to exist, and {path} does not"),
                "write the draft first, or leave --from-draft out",
            ));
        }
        Err(_) => None,
    };

    let subject = path.strip_prefix(store.root()).unwrap_or(&path);
    Ok(StartFields {
        fields: vec![
            ("topic", topic.into()),
            ("from_draft", from_draft.into()),
            ("subject", subject.as_str().into()),
            ("subject_before", digest.into()),
            (
                "continues",
                continued.map(|continued| continued.id().as_str()).into(),
            ),
        ],
        ..StartFields::default()
    })
}

fn review_fields(request: &StartRequest<'_>) -> Result<StartFields, Failure> {
    for (field, flag) in PLAN_ONLY {
        if request.text(field).is_some() || request.flag(field) {
            return Err(wrong_mode(flag, Mode::Plan));
        }
    }
    let topic = request.text("topic").unwrap_or_default();
    let found = changes_to_review(request.store, topic, request.text(BASE), request.now)?;
    Ok(StartFields {
        fields: vec![
            (BASE, found.base.into()),
            ("topic", found.topic.into()),
            ("subject", found.subject.into_string().into()),
        ],
        id: Some(found.id),
    })
}

/// The changes that a loop is started to review.
pub struct ChangesFound {
    /// The topic.
    pub topic: String,
    /// The id of the loop.
    pub id: LoopId,
    /// The path of their copy.
    pub subject: Utf8PathBuf,
    /// The commit that they are compared with, if a base was named.
    pub base: Option<String>,
}

/// Returns the changes of the work tree as they are now. Without a topic their title is the topic.
///
/// # Errors
/// Returns an error if there are no changes, or if they cannot be read.
pub fn changes_to_review(
    store: &Store,
    topic: &str,
    base: Option<&str>,
    now: Timestamp,
) -> Result<ChangesFound, Failure> {
    let found = work_changes::now(store, base).map_err(|error| {
        let exit = match error {
            ChangesError::Worktree(WorktreeError::Io { .. }) => Exit::Internal,
            _ => Exit::Usage,
        };
        Failure::new(exit, error)
    })?;
    let id = LoopId::new_stamp(now).map_err(|error| unreadable(store.folder(), &error))?;
    let topic = match topic.trim() {
        "" => found.title,
        topic => topic.to_owned(),
    };
    Ok(ChangesFound {
        base: found.base.commit.filter(|_| base.is_some()),
        topic,
        subject: work_changes::copy_path(store, &id),
        id,
    })
}

/// Opens the loop that a new one continues: a plan loop of this project that is over.
fn open_continued(store: &Store, given: &str) -> Result<AnyLoop, Failure> {
    let refused = |problem: &str, near: Option<&str>| {
        let known = "--continue takes a plan loop of this project that is over; `claudex-loop list` shows them";
        let given = text::one_line(given, 60);
        Failure::plain(
            Exit::Usage,
            "claudex::start::continues",
            format!("cannot continue `{given}`: {problem}"),
            &suggest::help(near, known),
        )
    };
    let unknown = |problem: &str| {
        let near = locate::near_id(INFO.state, store.root(), given);
        refused(problem, near.as_deref())
    };
    let id = LoopId::parse(given, INFO.state.ids).map_err(|_| unknown("not the id of a loop"))?;
    let store = match store.has_archived(&id) {
        true => &store.archived_store(id.as_str()),
        false => store,
    };
    if store.path_of(&id).symlink_metadata().is_err() {
        let folder = text::shown(store.folder());
        return Err(unknown(&format!("{folder} has no such loop")));
    }
    let continued = AnyLoop::open(store, &id, Actor::Person)
        .map_err(|error| refused(&error.to_string(), None))?;
    if super::reviews_changes(&continued) {
        return Err(refused("it reviewed changes, not a plan", None));
    }
    if !continued.phase().is_terminal() {
        let phase = continued.phase();
        let resume = format!("to go on with it:\n    claudex-loop resume {id}");
        let problem = format!("it is not over yet (phase {phase}); {resume}");
        return Err(refused(&problem, None));
    }
    Ok(continued)
}

fn wrong_mode(flag: &str, mode: Mode) -> Failure {
    usage(
        "claudex::start::mode",
        &format!("{flag} only applies to {mode} mode"),
        &format!("leave it out, or start {mode} mode"),
    )
}

fn usage(code: &str, message: &str, help: &str) -> Failure {
    Failure::plain(Exit::Usage, code, message.to_owned(), help)
}

fn unreadable(path: &Utf8Path, error: &std::io::Error) -> Failure {
    Failure::plain(
        Exit::Internal,
        "claudex::start::io",
        format!("cannot read {}: {error}", text::shown(path)),
        "check that the file is regular and that you may read it",
    )
}
