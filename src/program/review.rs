//! The command `review`: one round of a loop, and the progress lines that `run` shows, too.

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8Path;
use jiff::Timestamp;

use super::arguments::Review;
use super::builder::Program;
use super::caller::Caller;
use super::display::Past;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::reviewers::Chosen;
use super::settings::Settings;
use super::{Tone, attempts, incompatible, loops, messages, out, reviewers, rounds};
use crate::behaviours::verify::{self, Missing, Purpose};
use crate::machine::LoopHandle;
use crate::machine::{Actor, PhaseDeclaration as _, Raw};
use crate::review::prompt::{self, Prompt};
use crate::review::round::{self, Report, RoundError, RoundEvent};
use crate::review::runs::RunOutcome;
use crate::review::{ReviewSpec, evidence};
use crate::store::{LoopId, Store};
use crate::text;

/// The reason for which an agent may not choose the reviewer.
const USERS_CHOICE: &str = "the user chooses the reviewer, and this call comes from an agent";

/// The number of the reviewer's last lines with which `--follow` begins.
const FOLLOWED_LINES: usize = 20;

/// The listener of a command: it prints progress, and cancels once the process is asked to end.
struct Console {
    info: &'static ProgramInfo,
    lines: Lines,
    interrupted: Arc<AtomicBool>,
}

impl Console {
    fn new(info: &'static ProgramInfo) -> Self {
        Self {
            info,
            lines: Lines::default(),
            interrupted: interrupts(),
        }
    }

    fn event(&mut self, event: RoundEvent<'_>, reviewer: &str) -> ControlFlow<()> {
        if let Some(line) = self.lines.line_of(event, reviewer) {
            self.line(&line);
        }
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn line(&self, line: &str) {
        out::line(&self.info.line(line));
    }

    /// Prints a line with a path that can be copied.
    fn path(&self, label: &str, path: &Utf8Path) {
        let line = self.info.line(&format!("{label}{}\n", text::exact(path)));
        out::text(&line);
    }
}

/// Shows a review that another process runs, to its end. Never starts one.
fn follow(program: &Program, store: &Store, id: &LoopId) -> Result<Exit, Failure> {
    let info = program.info;
    let held = program
        .app
        .open(store, id, Caller::from_env().actor(false))
        .map_err(|error| incompatible::failure(info, error))?;
    let mut console = Console::new(info);
    let is_running = round::watch(held.raw(), FOLLOWED_LINES, &mut |event| {
        let event = match event {
            RoundEvent::Attached => RoundEvent::Line("following the review that is running"),
            event => event,
        };
        console.event(event, "")
    });
    let is_running = is_running.map_err(|error| match error {
        RoundError::Interrupted => Failure::plain(
            Exit::Interrupted,
            "no longer followed; the review itself goes on".to_owned(),
            &format!(
                "to see it again:\n    {} review {id} --follow",
                info.program
            ),
        ),
        error => Failure::new(Exit::Internal, error),
    })?;

    let entries = store
        .journal(id)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let past = Past::new(info.table, store, id, entries);
    let Some(run) = past.runs.last() else {
        console.line(&format!("no review of loop {id} has run yet"));
        return Ok(Exit::Complete);
    };
    if !is_running {
        console.line("no review is running; this was the last one");
    }
    console.line(&format!(
        "run {} of round {} by {}: {}",
        text::one_line(&run.began.run, 60),
        run.began.round,
        text::one_line(&run.began.reviewer, 60),
        past.outcome(run)
    ));
    let has_verdict = run.digest().is_some();
    if has_verdict {
        console.path("", &run.findings_path(store, id));
    }
    Ok(if has_verdict || !is_running {
        Exit::Complete
    } else {
        Exit::Reviewer
    })
}

/// Returns the refusal of an agent's choice of a reviewer; `review` is the command without the choice.
pub fn users_choice(review: &str) -> Failure {
    Failure::plain(
        Exit::Refused,
        USERS_CHOICE.to_owned(),
        &format!(
            "leave the choice out:\n    {review}\nthe user chooses it by `reviewer` in the configuration, or in a \
             terminal:\n    {review} --reviewer NAME"
        ),
    )
}

/// Reviews the round that a loop is in.
pub(super) fn review(program: &Program, arguments: &Review) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let (store, id) = loops::find(info, arguments.id.as_deref())?;
    if arguments.follow {
        return follow(program, &store, &id);
    }
    let actor = caller.actor(false);
    let held = program
        .app
        .open(&store, &id, actor)
        .map_err(|error| incompatible::failure(info, error))?;
    let raw = held.raw();
    let session = Some(raw.text(info.state.fields.session));
    let settings = loops::settings(info, store.root(), session.as_deref())?;
    program.prepare(&*held, &settings, actor);

    let named = arguments.reviewer.as_deref();
    let is_other = |named: &&str| actor == Actor::Agent && *named != settings.reviewer;
    if let Some(named) = named.filter(is_other) {
        let tried = format!("review --reviewer {}", text::one_line(named, 60));
        store.log(&format!("{id} {tried} refused: {USERS_CHOICE}"));
        attempts::note(&store, &id, Actor::Agent, &tried, USERS_CHOICE);
        return Err(users_choice(&format!("{} review {id}", info.program)));
    }
    let spec = messages::phase(raw).review();
    let review = spec.map(|spec| (raw, spec));
    let chosen = reviewers::choose(named, review, &settings, store.root())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let Some(spec) = spec else {
        let phase = messages::phase(raw).name;
        return Err(Failure::plain(
            Exit::Refused,
            format!("loop {id} is in phase {phase}, where nothing is reviewed"),
            &format!("`{} status` shows what the loop waits for", info.program),
        ));
    };
    let job = Job {
        spec,
        settings: &settings,
        limits: arguments.time.limits(chosen.limits)?,
    };

    let mut console = Console::new(info);
    let round = raw.count(spec.round);
    let personas = settings.personas.of_phase(spec);
    let persona = &personas.of_round(round).label;
    console.line(&format!("{}, {persona}", rounds::of_most(raw, spec)));
    let mut listener = |event: RoundEvent<'_>| console.event(event, &chosen.shown);
    let report = run(program, &*held, &job, &chosen, &mut listener).map_err(|error| {
        let exit = match error {
            RoundError::Interrupted => Exit::Interrupted,
            RoundError::Refused { .. } | RoundError::Nothing { .. } | RoundError::Worktree(_) => {
                Exit::Refused
            }
            _ => Exit::Internal,
        };
        Failure::new(exit, error)
    })?;

    out::toned(&info.line(&result(&report)), NOTHING, Tone::Good);
    let output = round::output_path(&store, &id, &report.run.began.run);
    if report.run.cause().is_some() && output.exists() {
        console.path("what it wrote: ", &output);
    }
    if report.run.outcome() == Some(RunOutcome::Findings)
        && let Ok(findings) = store.read(&report.path).and_then(crate::files::text)
    {
        // An agent in a client may not be allowed to read a file outside of its folder.
        print_findings(&findings);
    }
    if report.run.digest().is_some() {
        let more = program.extension.reviewed(&*held);
        if !more.is_empty() {
            out::line("");
        }
        more.iter().for_each(|line| console.line(line));
    }
    Ok(match report.run.cause() {
        None => Exit::Complete,
        Some(_) => Exit::Reviewer,
    })
}

/// The settings of a round.
#[derive(Debug)]
pub struct Job<'j> {
    /// The review of the loop's phase.
    pub spec: &'static ReviewSpec,
    /// The user's configuration.
    pub settings: &'j Settings,
    /// The time limits.
    pub limits: crate::process::limits::Limits,
}

/// Runs the round that a loop is in, or follows the process that runs it.
///
/// # Errors
/// Returns an error if the round cannot begin or be recorded.
pub fn run(
    program: &Program,
    held: &dyn LoopHandle,
    job: &Job<'_>,
    chosen: &Chosen,
    listener: &mut round::Listener<'_>,
) -> Result<Report, RoundError> {
    let raw = held.raw();
    verify_first(raw, job.spec, listener)?;

    let mut earlier = program.extension.earlier_findings(held);
    earlier.extend(prompt::earlier_files(raw, job.spec));
    let personas = job.settings.personas.of_phase(job.spec);
    let prompt = Prompt {
        raw,
        spec: job.spec,
        persona: personas.of_round(raw.count(job.spec.round)),
        context: program
            .extension
            .context(held, job.settings, Timestamp::now()),
        earlier,
        verified: verify::text(raw),
        failed: verify::failed(raw),
    };
    chosen.in_turn(
        |report: &Result<Report, RoundError>| report.as_ref().ok()?.run.cause(),
        |next, line| {
            if line.is_some_and(|line| listener(RoundEvent::Line(line)).is_break()) {
                Err(RoundError::Interrupted)
            } else {
                round::run(&prompt, job.limits, next.reviewer.as_ref(), listener)
            }
        },
    )
}

/// Runs the allowed commands that verify the work, unless there is a result for this work tree or the
/// round has its verdict. The prompt has the results.
fn verify_first(
    raw: &Raw,
    spec: &ReviewSpec,
    listener: &mut round::Listener<'_>,
) -> Result<(), RoundError> {
    let is_reviewed = || evidence::verdict(raw, spec).is_ok_and(|verdict| verdict.is_some());
    if !verify::is_used_in(raw) || is_reviewed() {
        return Ok(());
    }
    let ran = verify::verify(raw, Purpose::Review, &mut |line| match line {
        Some(line) => {
            let line = format!("running {}", text::one_line(line, 200));
            listener(RoundEvent::Line(&line))
        }
        None => listener(RoundEvent::Tick),
    });
    let ran = ran.map_err(|refusal| RoundError::Refused {
        message: refusal.to_string(),
        help: "fix that, then run the review again".to_owned(),
    })?;
    let flow = match ran.came_to {
        Err(Missing::Interrupted) => ControlFlow::Break(()),
        Err(Missing::NotRun(why)) => {
            let line = format!("commands that verify the work were not run: {why}");
            listener(RoundEvent::Line(&text::lines(&line, 500)))
        }
        Ok(_) | Err(Missing::NotPassed(_) | Missing::Running) => ControlFlow::Continue(()),
    };
    match flow {
        ControlFlow::Break(()) => Err(RoundError::Interrupted),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The most findings that are printed, in characters: a client shows an agent about 30,000 of a command's output.
const MAX_PRINTED_CHARS: usize = 20_000;

/// Prints the findings as whole lines, as many as fit. The file has the rest.
fn print_findings(findings: &str) {
    let mut printed = String::new();
    for line in text::plain(findings).lines() {
        if printed.chars().count() + line.chars().count() > MAX_PRINTED_CHARS {
            printed.push_str("(The file has more.)\n");
            break;
        }
        printed.push_str(line);
        printed.push('\n');
    }
    out::line("");
    out::markdown(&printed);
}

/// Returns a flag that is set once the process is asked to end.
pub fn interrupts() -> Arc<AtomicBool> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The second signal ends the process at once.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}

/// The most bytes of a program's lines that are printed without a terminal. A client shows an agent these lines and the findings;
/// the kept output has the rest.
const MAX_PROGRAM_BYTES: usize = 8 * 1024;

/// The lines of progress that are printed.
#[derive(Debug)]
pub struct Lines {
    /// The bytes that a program's lines may still have.
    bytes_left: usize,
}

impl Default for Lines {
    fn default() -> Self {
        let bytes_left = if std::io::stdout().is_terminal() {
            usize::MAX
        } else {
            MAX_PROGRAM_BYTES
        };
        Self { bytes_left }
    }
}

impl Lines {
    /// Returns the line for an event, if there is one.
    pub fn line_of(&mut self, event: RoundEvent<'_>, reviewer: &str) -> Option<String> {
        match event {
            RoundEvent::Began { reviewer: name } if !reviewer.starts_with(name) => {
                Some(format!("reviewer: {name} (auto)"))
            }
            RoundEvent::Began { .. } => Some(format!("reviewer: {reviewer}")),
            RoundEvent::Attached => {
                Some("this round's review is running already; following it".to_owned())
            }
            RoundEvent::Line(line) => Some(line.to_owned()),
            RoundEvent::Reviewer(line) => self.of_program(line).map(str::to_owned),
            RoundEvent::Tick => None,
        }
    }

    /// Returns a line that a program wrote. At the limit it returns a note instead, and then nothing.
    pub fn of_program<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        let before = self.bytes_left;
        self.bytes_left = before.saturating_sub(line.len() + 10);
        match (before, self.bytes_left) {
            (0, _) => None,
            (_, 0) => Some("it says more than is shown"),
            _ => Some(line),
        }
    }
}

/// The beginning of the line of a round without findings.
pub const NOTHING: &str = "no substantive findings";

/// Returns the result of a round on one line.
pub fn result(report: &Report) -> String {
    let path = text::shown(&report.path);
    let verdict = match (report.run.outcome(), report.run.cause()) {
        (Some(RunOutcome::CouldNotRun), Some(cause)) => return format!("could not run: {cause}"),
        (_, Some(cause)) => return format!("unreadable: {cause}"),
        (Some(RunOutcome::Clean), None) => format!("{NOTHING}. {path}"),
        (_, None) => format!("{}. Findings: {path}", report.findings.counts()),
    };
    if report.was_reviewed {
        format!("reviewed before: {verdict}")
    } else {
        verdict
    }
}
