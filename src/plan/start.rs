//! The start of a loop: the flags and fields of `start`, `run` and `review --changes`.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgAction, ArgMatches, Command};
use claudex_loop::digest::sha256;
use claudex_loop::files::{Lock, MAX_BYTES, folder_of, optional};
use claudex_loop::program::caller::RUN;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::settings::MAX_ROUNDS_LIMIT;
use claudex_loop::program::start::{StartRequest, begin_loop};
use claudex_loop::program::{locate, loops};
use claudex_loop::review::changes::{self, Since};
use claudex_loop::review::round::RoundError;
use claudex_loop::review::subject;
use claudex_loop::store::{LoopId, OrIo as _};
use claudex_loop::{Actor, Beginning, git, text};
use serde_json::Value;

use super::drive::Driver;
use super::{AnyLoop, INFO, Mode, run};

/// The default name of the plan's file.
const PLAN: &str = "PLAN.md";

/// The field of the base, and its flag in review mode.
pub(super) const BASE: &str = "base";

const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The flags of only one mode, by field.
const ONE_MODE: [(&str, &str, Mode); 6] = [
    (BASE, "--base", Mode::Review),
    ("from_draft", "--from-draft", Mode::Plan),
    ("continues", "--continue", Mode::Plan),
    ("subject", "--plan", Mode::Plan),
    ("interview_used", "--interviewed", Mode::Plan),
    ("skip_interview", "--skip-interview", Mode::Plan),
];

/// Sets the names and limits of the flags of `start`, `review` and `more`.
pub(super) fn arguments(command: Command) -> Command {
    let rounds = |arg| {
        with_rounds(arg)
            .help("How many further rounds")
            .required(false)
            .default_value("1")
    };
    command
        .mut_subcommand("start", |start| {
            start
                .mut_subcommand("plan", |plan| with_flags(plan, Mode::Plan))
                .mut_subcommand("review", |review| with_flags(review, Mode::Review))
        })
        .mut_subcommand("review", run::review_arguments)
        .mut_subcommand("more", |more| more.mut_arg("rounds", rounds))
}

/// Sets the flags of a start, and hides those of the other mode.
fn with_flags(command: Command, mode: Mode) -> Command {
    let plan = format!("The plan’s file [default: {PLAN}]");
    let command = command
        .mut_arg("max_rounds", |arg| with_rounds(arg).long("rounds"))
        .mut_arg("interview_used", |arg| arg.long("interviewed"))
        .mut_arg("subject", |arg| arg.long("plan").help(plan))
        .mut_arg("continues", |arg| arg.long("continue").value_name("LOOP"))
        .mut_arg(BASE, with_base)
        // The start itself sets it.
        .mut_arg("subject_before", |arg| arg.hide(true))
        .arg(
            Arg::new("skip_interview")
                .long("skip-interview")
                .action(ArgAction::SetTrue)
                .help("Ask nothing before the plan is drafted"),
        );
    let others = ONE_MODE.into_iter().filter(|(_, _, only)| *only != mode);
    others.fold(command, |command, (field, ..)| {
        command.mut_arg(field, |arg| arg.hide(true))
    })
}

fn with_rounds(arg: Arg) -> Arg {
    arg.value_parser(|value: &str| parse_rounds(value).map(Value::from))
        .value_name("N")
        .allow_hyphen_values(true)
}

pub(super) fn with_base(arg: Arg) -> Arg {
    let help = "Compare with where the branch left REV [default: the branch with the fewest commits since]";
    arg.long(BASE).value_name("REV").help(help)
}

pub(super) fn parse_rounds(value: &str) -> Result<u64, String> {
    let is_digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let rounds = value.parse().ok();
    rounds
        .filter(|rounds| is_digits && (1..=MAX_ROUNDS_LIMIT).contains(rounds))
        .ok_or_else(|| format!("it takes a positive integer up to {MAX_ROUNDS_LIMIT}"))
}

pub(super) fn set_fields(request: &mut StartRequest<'_>) -> Result<(), Failure> {
    let mode = request.mode.name.parse().unwrap_or(Mode::Plan);
    let is_set = |field| request.text(field).is_some() || request.flag(field);
    let mut others = ONE_MODE.into_iter().filter(|(_, _, only)| *only != mode);
    if let Some((_, flag, only)) = others.find(|(field, ..)| is_set(field)) {
        return Err(usage(
            &format!("{flag} only applies to {only} mode"),
            &format!("leave it out, or start {only} mode"),
        ));
    }
    match mode {
        Mode::Plan => plan_fields(request),
        Mode::Review => review_fields(request),
    }
}

fn plan_fields(request: &mut StartRequest<'_>) -> Result<(), Failure> {
    let store = request.store;
    let continues = request.text("continues").map(open_continued).transpose()?;
    let continued = continues.as_ref();
    let from_draft = request.flag("from_draft") || continued.is_some();
    let topic = match (request.text("topic").unwrap_or_default().trim(), continued) {
        ("", Some(continued)) => continued.fields().topic.clone(),
        (topic, _) => topic.to_owned(),
    };
    if topic.is_empty() {
        let help =
            "say what the plan is about, after the flags: start plan move the queue to Postgres";
        return Err(usage("Plan mode requires a topic", help));
    }

    // The plan is in the folder of the start, since a client may not write outside of it.
    let path = match (continued, request.text("subject")) {
        (Some(continued), None) => continued.raw().path("{subject}"),
        (_, subject) => request.here.join(subject.unwrap_or(PLAN)),
    };
    let shown = text::printable(&path);
    if path.is_dir() || path.as_str().ends_with('/') {
        return Err(usage(
            &format!("the plan {shown} is a folder"),
            "name a Markdown file",
        ));
    }
    if path.starts_with(store.folder()) && store.folder() != store.root() {
        let problem =
            format!("the plan {shown} is in the folder of the loops, where nobody may write");
        return Err(usage(&problem, "name a file in another folder"));
    }
    let found = optional(store.read(&path))
        .or_io("read", &path)
        .map_err(Failure::internal)?;
    let is_empty = found.is_some();
    // A file without text is no plan yet.
    let plan = found.filter(|bytes| !bytes.trim_ascii().is_empty());
    if from_draft && plan.is_none() {
        let flag = continued.map_or("--from-draft", |_| "--continue");
        let state = if is_empty { "is empty" } else { "does not" };
        return Err(usage(
            &format!("{flag} requires PLAN.md to exist, and {shown} {state}"),
            &format!("write the plan there first, or leave {flag} out"),
        ));
    }
    // Without --from-draft, the plan counts as written only if it differs from this text.
    let digest = plan.filter(|_| !from_draft).map(sha256);

    let subject = path.strip_prefix(store.root()).unwrap_or(&path);
    request.set("topic", topic);
    request.set("from_draft", from_draft);
    request.set("subject", subject.as_str());
    request.set("subject_before", digest);
    request.set(
        "continues",
        continued.map(|continued| continued.id().as_str()),
    );
    Ok(())
}

fn review_fields(request: &mut StartRequest<'_>) -> Result<(), Failure> {
    let store = request.store;
    let base = request.text(BASE);
    let is_named = base.is_some();
    let topic = request.text("topic").unwrap_or_default().trim();
    if !is_named && is_commit(store.root(), topic) {
        let problem = format!("`{topic}` is a commit: give it with --base {topic}");
        let help = "to use it as the topic, write more than one word";
        return Err(usage(&problem, help));
    }
    let since = base.map_or(Since::Branch, Since::Revision);
    let found = changes::read(store, since).map_err(|error| match error {
        RoundError::Nothing { .. } => {
            let help = "change something first, or name the commit to compare with: --base REV";
            usage(&error.to_string(), help)
        }
        error if error.is_refusal() => Failure::new(Exit::Usage, error),
        error => Failure::internal(error),
    })?;
    let id = LoopId::new_stamp(request.beginning.now)
        .or_io("start a loop in", store.folder())
        .map_err(Failure::internal)?;
    let topic = match topic {
        "" => found.base.title(),
        topic => topic.to_owned(),
    };
    request.set(BASE, found.base.commit.filter(|_| is_named));
    request.set("topic", topic);
    request.set("subject", changes::copy_path(store, &id).as_str());
    request.beginning.id = Some(id);
    Ok(())
}

/// Returns whether a topic is one word that names a commit of the repository at `root`.
fn is_commit(root: &Utf8Path, topic: &str) -> bool {
    let is_word = !topic.is_empty() && !topic.contains(char::is_whitespace);
    let parse = format!("rev-parse --verify --quiet --end-of-options {topic}^{{commit}}");
    is_word && git::call(root, &parse, GIT_TIMEOUT).is_ok()
}

/// Opens the loop that a new one continues: a finished plan loop of this project.
fn open_continued(named: &str) -> Result<AnyLoop, Failure> {
    let found = loops::find(INFO, Some(named));
    let (store, id) = found.map_err(|failure| failure.exiting(Exit::Usage))?;
    let store = loops::place_of(&store, &id);
    let problem = match AnyLoop::open(&store, &id, Actor::Person) {
        Err(error) => error.to_string(),
        Ok(held) if super::reviews_changes(held.raw()) => {
            "it reviewed changes, not a plan".to_owned()
        }
        Ok(held) if held.phase().is_terminal() => return Ok(held),
        Ok(held) => format!(
            "it is not over yet (phase {}); to continue it:\n    claudex-loop resume {id}",
            held.phase()
        ),
    };
    Err(usage(
        &format!("cannot continue {id}: {problem}"),
        "--continue takes a plan loop of this project that is over; `claudex-loop list` shows them",
    ))
}

/// Starts a loop of `run` or `review --changes` in a folder of its project, and locks it.
pub(super) fn begin(
    driver: &Driver<'_>,
    mode: Mode,
    fields: Vec<(&'static str, Value)>,
    folder: &Utf8Path,
    arguments: &ArgMatches,
) -> Result<(AnyLoop, Lock), Failure> {
    let store = locate::for_start(INFO.state, folder);
    let request = StartRequest {
        mode: mode.info(),
        fields: fields.into_iter().collect(),
        arguments,
        here: folder,
        store: &store,
        beginning: Beginning::now(RUN),
        actor: Actor::Person,
    };
    let begun = begin_loop(driver.program, request, &driver.settings);
    let (held, _) = begun.map_err(|failure| match failure.exit {
        Exit::Refused => failure.exiting(Exit::Active),
        _ => failure,
    })?;
    let id = held.raw().id();
    let lock = run::lock(&store, id)?;
    // The user starts the loop. The driver makes all later changes, as the hook.
    let held = AnyLoop::open(&store, id, Actor::Hook).map_err(Failure::internal)?;
    Ok((held, lock))
}

/// Reads a plan. Returns its path without symlinks, and its first heading, line or name as topic.
pub(super) fn read_plan(
    here: &Utf8Path,
    plan: &Utf8Path,
) -> Result<(Utf8PathBuf, String), Failure> {
    let path = here.join(plan);
    if !path.exists() {
        let problem = format!(
            "cannot review {}: it does not exist",
            text::printable(&path)
        );
        return Err(usage(&problem, "name the plan’s Markdown file"));
    }
    if path.is_dir() {
        let problem = format!("cannot review {}: it is a folder", text::printable(&path));
        return Err(usage(&problem, "name the plan’s Markdown file"));
    }
    // Below the project's root no symlink is followed; elsewhere the user chose the folder.
    let found = folder_of(&[locate::nearest(INFO.state, here).root()], &path);
    let read = found.and_then(|(folder, name)| {
        let path = folder.path().canonicalize_utf8()?.join(&name);
        Ok((path, folder.read(&name, MAX_BYTES)?))
    });
    let (path, bytes) = read
        .or_io("read", &path)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let refused = |problem: &str, help: &str| {
        let path = text::printable(&path);
        usage(&format!("cannot review the plan {path}: {problem}"), help)
    };
    // As with every unreviewed plan, it has no verdict.
    subject::check_size(bytes.len())
        .map_err(|problem| refused(&problem, subject::SPLIT_HELP).exiting(Exit::Reviewer))?;
    let content = String::from_utf8(bytes)
        .map_err(|_| refused("it is not UTF-8 text", "save it as UTF-8"))?;
    let content = content.trim_start_matches('\u{feff}');
    let mut lines = content.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else {
        return Err(refused("it is empty", "write the plan first"));
    };
    let heading = content.lines().find(|line| line.starts_with('#'));
    let title = heading.unwrap_or(first).trim_start_matches('#');
    let topic = match title.trim() {
        "" => path.file_name().unwrap_or("plan"),
        title => title,
    };
    let topic = text::one_line(topic, 200);
    Ok((path, topic))
}

fn usage(message: &str, help: &str) -> Failure {
    Failure::with_help(Exit::Usage, message, help)
}
