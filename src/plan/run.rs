//! `run` and `review --changes`: a whole loop outside Claude Code. `run --resume` continues one.

use std::io::Write as _;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{ArgMatches, Args, Command, CommandFactory as _, FromArgMatches, Parser};
use claudex_loop::files::Lock;
use claudex_loop::program::caller::{Caller, RUN, UNKNOWN};
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::{NextAction, Program, locate, loops};
use claudex_loop::store::OrIo as _;
use claudex_loop::{Actor, LoopId, Store, text};

use super::drive::Driver;
use super::start::{self, parse_rounds};
use super::typestate::Transition;
use super::{AnyLoop, INFO, Mode, Phase, belongs_to_run, reviews_changes};

/// The name of the flag of `review`.
pub(super) const CHANGES: &str = "changes";
/// The name of the lock in the loop's folder.
const LOCK: &str = "driver.lock";
/// The time to wait for the lock, in which another run writes its process id.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);

/// Take a plan document through the whole loop, outside Claude Code
#[derive(Debug, Default, Parser)]
#[command(
    name = "run",
    after_help = "Exit codes: 0 complete, 4 stopped at max rounds or stalled, 5 the reviewer could not run, 6 another loop is active"
)]
pub(super) struct RunArgs {
    /// The plan, a Markdown file
    #[arg(value_name = "PLAN.md", required_unless_present = "resume")]
    plan: Option<Utf8PathBuf>,
    /// Continue an interrupted loop, with the rounds that it has
    #[arg(long, value_name = "LOOP", conflicts_with_all = ["plan", "rounds"])]
    pub(super) resume: Option<String>,
    /// How many rounds at most [default: 3, or CLAUDEX_MAX_PLAN_ROUNDS]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = parse_rounds)]
    rounds: Option<u64>,
    /// The reviewer: codex, claude, lint (built in), one of your configuration, auto [default: as configured, or auto]
    #[arg(long, value_name = "NAME")]
    pub(super) reviewer: Option<String>,
    /// A command that revises the plan between rounds; it gets the findings on stdin
    #[arg(long, value_name = "COMMAND")]
    pub(super) drafter: Option<String>,
    /// Print the outcome as JSON on stdout, and nothing else there
    #[arg(long)]
    pub(super) json: bool,
}

// The flags of `review` that only `--changes` uses. A doc comment would become the help.
#[derive(Debug, Args)]
struct ChangesArgs {
    /// Have the work tree’s changes reviewed, in a new loop, from start to summary; the arguments are its topic
    #[arg(long, conflicts_with = "follow")]
    changes: bool,
    /// The topic's words after the first, which is in the place of the id.
    #[arg(hide = true, requires = CHANGES)]
    topic: Vec<String>,
    /// How many rounds at most [default: 1, or CLAUDEX_MAX_REVIEW_ROUNDS]
    #[arg(long, value_name = "N", requires = CHANGES, allow_hyphen_values = true, value_parser = parse_rounds)]
    rounds: Option<u64>,
    #[arg(requires = CHANGES)]
    base: Option<String>,
    /// Print the outcome as JSON on stdout, and nothing else there
    #[arg(long, requires = CHANGES)]
    json: bool,
}

impl RunArgs {
    /// Returns the flag of the reviewer, after a space, or nothing if none was given.
    pub(super) fn reviewer_flag(&self) -> String {
        flag("reviewer", self.reviewer.as_deref())
    }

    /// Returns the flags that a later run needs again.
    fn flags(&self) -> String {
        self.reviewer_flag() + &flag("drafter", self.drafter.as_deref())
    }
}

fn flag(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| {
        format!(" --{name} {}", text::shell_word(value))
    })
}

pub(super) fn command() -> Command {
    RunArgs::command()
}

/// Adds the flags of `--changes` to `review`.
pub(super) fn review_arguments(review: Command) -> Command {
    ChangesArgs::augment_args(review)
        .mut_arg(start::BASE, start::with_base)
        .after_help(
            "Exit codes: 0 complete, 5 the reviewer could not run;\n            \
             with --changes also 4 findings are open, 6 another loop is active",
        )
}

pub(super) fn run(program: &Program, matches: &ArgMatches) -> CommandResult {
    let arguments = RunArgs::from_arg_matches(matches)?;
    if let Some(id) = &arguments.resume {
        let (held, _lock) = reopen(id)?;
        return Driver::new(program, held.raw().store().root(), &arguments)?.drive(held);
    }
    let plan = arguments.plan.as_deref().expect("clap requires it");
    let (plan, topic) = start::read_plan(&loops::current_folder()?, plan)?;
    let mut fields = vec![
        ("topic", topic.into()),
        ("from_draft", true.into()),
        ("subject", plan.as_str().into()),
    ];
    fields.extend(arguments.rounds.map(|rounds| ("max_rounds", rounds.into())));
    let folder = plan.parent().unwrap_or(&plan);
    let driver = Driver::new(program, folder, &arguments)?;
    let (held, _lock) = start::begin(&driver, Mode::Plan, fields, folder, matches)?;
    driver.drive(held)
}

pub(super) fn run_changes(program: &Program, matches: &ArgMatches) -> CommandResult {
    let changes = ChangesArgs::from_arg_matches(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let topic: Vec<String> = text("id").into_iter().chain(changes.topic).collect();
    let mut fields = vec![("topic", topic.join(" ").into())];
    fields.extend(changes.base.map(|base| (start::BASE, base.into())));
    fields.extend(changes.rounds.map(|rounds| ("max_rounds", rounds.into())));
    let arguments = RunArgs {
        reviewer: text("reviewer"),
        json: changes.json,
        ..RunArgs::default()
    };
    let here = loops::current_folder()?;
    let driver = Driver::new(program, &here, &arguments)?;
    let (held, _lock) = start::begin(&driver, Mode::Review, fields, &here, matches)?;
    driver.drive(held)
}

/// Returns the command that resumes a loop of `run`, also from another folder. It has the flags of
/// the arguments, if they are known.
pub(super) fn resume_help(held: &AnyLoop, arguments: Option<&RunArgs>) -> String {
    let root = held.raw().store().root();
    let place = match loops::current_folder() {
        Ok(here) if locate::nearest(INFO.state, &here).root() == root => String::new(),
        _ => format!(", in {}", text::printable(root)),
    };
    let unknown = || "\ngive its flags again, such as --reviewer and --drafter".to_owned();
    let flags = arguments.map_or_else(unknown, RunArgs::flags);
    format!(
        "to continue it{place}:\n    claudex-loop run --resume {}{flags}",
        held.id()
    )
}

/// Returns the failure of a run that did not end its loop, or whose loop another process has ended.
pub(super) fn failure(held: &AnyLoop, arguments: &RunArgs, exit: Exit, problem: &str) -> Failure {
    let id = held.id();
    if let Some(phase) = ended_phase(held) {
        let message = format!("loop {id} is {phase}: another process ended it");
        let help = format!("what happened:\n    claudex-loop journal {id}");
        return Failure::refuse(message, &help);
    }
    let problem = problem.trim_end_matches(['.', ' ']);
    let now = AnyLoop::open(held.raw().store(), id, Actor::Hook);
    if now.is_ok_and(|now| now.raw().record().session().as_deref() != Some(RUN)) {
        let message = format!("{problem}; loop {id} was taken over, and `run` has it no longer");
        let help = format!("to see where it is:\n    claudex-loop status {id}");
        return Failure::with_help(exit, message, &help);
    }
    let message = format!("{problem}; loop {id} is kept, with the rounds that are finished");
    Failure::with_help(exit, message, &resume_help(held, Some(arguments)))
}

/// Returns the phase of a loop that is over, as it is stored now.
pub(super) fn ended_phase(held: &AnyLoop) -> Option<Phase> {
    let held = AnyLoop::open(held.raw().store(), held.id(), Actor::Hook).ok()?;
    Some(held.phase()).filter(|phase| phase.is_terminal())
}

/// Takes the lock of the run of a loop. Its file has the process id.
pub(super) fn lock(store: &Store, id: &LoopId) -> Result<Lock, Failure> {
    let take = || {
        let folder = store.open_loop_folder(id)?;
        let lock = Lock::take(&folder, LOCK, LOCK_TIMEOUT)?;
        if lock.is_some() {
            let mut file = folder.file_or_new(LOCK)?;
            file.set_len(0)?;
            write!(file, "{}", std::process::id())?;
        }
        let process = String::from_utf8_lossy(&folder.read(LOCK, 20)?).into_owned();
        Ok((lock, process))
    };
    let path = store.loop_folder(id).join(LOCK);
    let (lock, process) = take().or_io("lock", path).map_err(Failure::refusal)?;
    lock.ok_or_else(|| cannot_continue(id, &format!("process {process} runs it")))
}

fn cannot_continue(id: &LoopId, problem: &str) -> Failure {
    let message = format!("run cannot continue loop {id}: {problem}");
    let help = format!("to see where it is:\n    claudex-loop status {id}");
    Failure::refuse(message, &help)
}

/// Opens an unfinished loop of `run`, also from the archive, and locks it. A review of changes
/// without a session was started in a terminal, so it becomes one of `run`.
fn reopen(id: &str) -> Result<(AnyLoop, Lock), Failure> {
    let (store, id) = loops::find(INFO, Some(id))?;
    let open = |store: &Store, actor| AnyLoop::open(store, &id, actor).map_err(Failure::refusal);
    let place = loops::place_of(&store, &id);
    let held = open(&place, Actor::Hook)?;
    let session = held.raw().record().session().unwrap_or_default();
    let problem = match session.as_str() {
        _ if held.phase().is_terminal() => Some(format!("it is over ({})", held.phase())),
        _ if session == RUN || is_unowned_review(&held) => None,
        UNKNOWN => Some(
            "no session has it yet, and the next one that ends a turn here takes it".to_owned(),
        ),
        session => Some(format!("session {} drives it", text::one_line(session, 80))),
    };
    if let Some(problem) = problem {
        return Err(cannot_continue(&id, &problem));
    }

    let lock = lock(&place, &id)?;
    if store.has_archived(&id) {
        store.unarchive(&id).map_err(Failure::refusal)?;
    }
    let held = open(&store, Actor::Person)?;
    if session != RUN {
        let person = Actor::Person.to_string();
        store
            .set_session(held.raw().record(), RUN, "adopt", &person)
            .map_err(Failure::refusal)?;
    } else if held.fields().failures > 0 && Caller::from_env().actor() == Actor::Person {
        // The reviewer's failures start at 0 again, as after `resume`.
        let resumed = held.take_transition(Transition::Resume);
        drop(resumed.map_err(|error| Failure::refusal(*error.refusal))?);
    }
    Ok((open(&store, Actor::Hook)?, lock))
}

/// Returns whether a loop reviews changes and belongs to no session.
fn is_unowned_review(held: &AnyLoop) -> bool {
    loops::owner(held.raw()).is_none() && reviews_changes(held.raw())
}

/// Returns the next action in a loop that is driven from a terminal and is not being reviewed.
pub(super) fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let id = held.id();
    if held.phase().is_terminal() || held.raw().store().is_running(id) {
        return None;
    }
    if belongs_to_run(held.raw()) {
        let next = format!("if its run was interrupted, {}", resume_help(held, None));
        return Some(NextAction::new("its run", next));
    }
    let next = format!("to have it reviewed here:\n    claudex-loop run --resume {id}");
    is_unowned_review(held).then(|| NextAction::new("its review, or a session that takes it", next))
}

/// Refuses `resume` for a loop of `run`, which no session drives.
pub(super) fn refuse_session_resume(
    held: &AnyLoop,
    transition: &Transition,
) -> Result<(), Failure> {
    let id = held.id();
    let is_active_run = belongs_to_run(held.raw()) && !held.phase().is_terminal();
    if !is_active_run || *transition != Transition::Resume {
        return Ok(());
    }
    let adopt = INFO.command(&format!("adopt {id}"));
    let help = resume_help(held, None) + "\nto have a session take it over:" + &adopt;
    let problem = format!("loop {id} belongs to `run`; a session does not drive it");
    Err(Failure::refuse(problem, &help))
}
