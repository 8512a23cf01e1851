//! `review`: one round, for the runner and for people. And the progress lines that `run` shows too.

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8Path;
use jiff::Timestamp;

use super::app::{App, Program};
use super::arguments::Review;
use super::caller::Caller;
use super::display::Past;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::reviewers::{Chosen, Preferred};
use super::settings::Settings;
use super::{Tone, attempts, incompatible, locate, loops, messages, out, reviewers, rounds};
use crate::behaviours::verify::{self, Commands, Purpose, Verification};
use crate::machine::LoopHandle;
use crate::machine::{Actor, Raw};
use crate::process::environment::Environment;
use crate::review::file::{self, FileReport};
use crate::review::personas::Personas;
use crate::review::prompt::{self, Prompt};
use crate::review::reviewer::Outcome;
use crate::review::round::{self, Brief, Report, ReportSource, RoundError, RoundEvent};
use crate::review::runs::RunOutcome;
use crate::review::{ReviewSpec, evidence, findings_file};
use crate::store::{LoopId, Store};
use crate::text;

const PERSONS_CHOICE: &str = "who reviews is a person’s choice, and this call comes from an agent";

/// How many of the reviewer's last lines `--follow` begins with.
const LAST: usize = 20;

/// Shows a review that another process runs, to its end; never starts one.
fn follow<M: App>(store: &Store, id: &LoopId) -> Result<Exit, Failure> {
    let info = M::INFO;
    let held = M::open(store, id, Caller::from_env().actor(false))
        .map_err(|error| incompatible::failure(info, error))?;
    let interrupted = interrupts();
    let (mut lines, mut budget) = (0, Lines::of_stdout());
    let running = round::watch(held.raw(), LAST, &mut |said| {
        match said {
            RoundEvent::Attached => out::line(&info.line("following the review that is running")),
            said => {
                if let Some(line) = budget.shown(said, "") {
                    lines += 1;
                    out::line(&info.line(&line));
                }
            }
        }
        if interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .map_err(|error| match error {
        // The review goes on without who watched it.
        RoundError::Interrupted => Failure::plain(
            Exit::Interrupted,
            "claudex::review::follow",
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
    let told = Past::of(store, id, entries.into());
    let Some(run) = told.runs.last() else {
        out::line(&info.line(&format!("no review of loop {id} has run yet")));
        return Ok(Exit::Complete);
    };
    if !running {
        let which = if lines == 0 {
            "and it left no lines"
        } else {
            "its last lines are above"
        };
        out::line(&info.line(&format!(
            "no review is running; this was the last one, {which}"
        )));
    }
    out::line(&info.line(&format!(
        "run {} of round {} by {}: {}",
        text::one_line(&run.began.run, 60),
        run.began.round,
        text::one_line(&run.began.reviewer, 60),
        told.outcome(run)
    )));
    let has_verdict = run.ended.as_ref().is_some_and(|how| how.digest().is_some());
    if has_verdict {
        out::text(&format!(
            "{}: {}\n",
            info.name,
            text::exact(run.findings_path(store, id))
        ));
    }
    Ok(if has_verdict || !running {
        Exit::Complete
    } else {
        Exit::Reviewer
    })
}

/// Who reviews is the person's choice: an agent that could name another reviewer could name one that finds nothing.
fn not_the_agents(info: &ProgramInfo, store: &Store, id: &LoopId, named: &str) -> Failure {
    let why = PERSONS_CHOICE;
    let tried = format!("review --reviewer {}", text::one_line(named, 60));
    store.log(&format!("{id} {tried} refused: {why}"));
    attempts::note(store, id, Actor::Agent, &tried, why);
    persons_choice(&format!("{} review {id}", info.program))
}

/// Returns the refusal of a reviewer that an agent chose. `review` is the command line without the choice.
pub fn persons_choice(review: &str) -> Failure {
    Failure::plain(
        Exit::Refused,
        "claudex::review::reviewer",
        PERSONS_CHOICE.to_owned(),
        &format!(
            "leave the choice out:\n    {review}\na person chooses by `reviewer` in the configuration, or in a \
             terminal:\n    {review} --reviewer NAME"
        ),
    )
}

/// Reviews the round that a loop is in.
pub(super) fn review<M: App>(program: &Program<M>, arguments: &Review) -> Result<Exit, Failure> {
    let info = program.info;
    if let Some(file) = &arguments.file {
        return of_file(info, file, arguments);
    }
    let caller = Caller::from_env();
    let (store, id) = loops::find_called(info, arguments.id.as_deref(), &caller)?;
    if arguments.follow {
        return follow::<M>(&store, &id);
    }
    let actor = caller.actor(false);
    let held = M::open(&store, &id, actor).map_err(|error| incompatible::failure(info, error))?;
    let raw = held.raw();
    let session = Some(raw.text(info.state.fields.session));
    let settings = loops::settings(info, store.root(), session.as_deref())?;
    program.prepare(&held, &settings, actor);
    if let Some(named) = arguments.reviewer.as_deref()
        && actor == Actor::Agent
        && named != settings.reviewer
    {
        return Err(not_the_agents(info, &store, &id, named));
    }
    let spec = messages::phase(raw).review;
    let preferred = spec.and_then(|spec| Preferred::of(raw, spec));
    let named = arguments.reviewer.as_deref();
    let chosen = reviewers::choose(named, preferred.as_ref(), &settings, store.root())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let Some(spec) = spec else {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::review::phase",
            format!(
                "loop {id} is in phase {}, where nothing is reviewed",
                messages::phase(raw).name
            ),
            &format!("`{} status` shows what the loop waits for", info.program),
        ));
    };
    let personas = settings.personas.of_phase(spec);
    let round = raw.count(spec.round);
    let line = format!(
        "{}, {}",
        rounds::of_most(raw, spec),
        personas.of_round(round).label
    );
    out::line(&info.line(&line));
    let shown_as = chosen.shown_in(raw, round);
    let interrupted = interrupts();
    let mut lines = Lines::of_stdout();
    let job = Job {
        spec,
        personas: &personas,
        settings: &settings,
        limits: arguments.time.limits(chosen.limits)?,
    };
    let report = run(program, &held, &job, &chosen, &mut |said| {
        if let Some(line) = lines.shown(said, &shown_as) {
            out::line(&info.line(&line));
        }
        if interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .map_err(failure)?;
    out::toned(&info.line(&result(&report)), NOTHING, Tone::Good);
    let output = round::output_path(&store, &id, &report.run.began.run);
    if report.how.cause().is_some() && output.exists() {
        out::text(&format!(
            "{}: what it wrote: {}\n",
            info.name,
            text::exact(output)
        ));
    }
    if let RunOutcome::Findings { .. } = report.how
        && let Ok(findings) = store.read(&report.path).and_then(crate::files::text)
    {
        // Whoever ran this in a client may not be allowed to read a file outside the folder that the client was opened in.
        out::line("");
        out::markdown(&shortened(&text::plain(&findings)));
    }
    if report.how.digest().is_some() {
        let more = program.extension.reviewed(&held);
        if !more.is_empty() {
            out::line("");
        }
        for line in more {
            out::line(&info.line(&line));
        }
    }
    Ok(exit_of(&report))
}

/// Reviews a file that belongs to no loop.
fn of_file(
    info: &'static ProgramInfo,
    file: &Utf8Path,
    arguments: &Review,
) -> Result<Exit, Failure> {
    let here = loops::here()?;
    let path = here.join(file);
    let path = path.canonicalize_utf8().unwrap_or(path);
    let store = locate::for_start(info.state, &here);
    let settings = loops::settings(info, store.root(), None)?;
    let named = arguments.reviewer.as_deref();
    if Caller::from_env().actor(false) == Actor::Agent
        && named.is_some_and(|named| named != settings.reviewer)
    {
        let again = format!("{} review --file {}", info.program, text::exact(file));
        return Err(persons_choice(&again));
    }
    let chosen = reviewers::choose(named, None, &settings, store.root())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let interrupted = interrupts();
    let mut lines = Lines::of_stdout();
    let persona = settings.personas.of_round(1);
    let limits = arguments.time.limits(chosen.limits)?;
    let mut listener = |said: RoundEvent<'_>| {
        if let Some(line) = lines.shown(said, &chosen.shown) {
            out::line(&info.line(&line));
        }
        match interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let report = chosen
        .in_turn(
            |came: &Result<FileReport, RoundError>| came.as_ref().ok()?.outcome.cause(),
            |next, line| {
                let _ = line.map(|line| listener(RoundEvent::Line(line)));
                let reviewer = next.reviewer.as_ref();
                file::review(&store, &path, persona, limits, reviewer, &mut listener)
            },
        )
        .map_err(failure)?;
    let said = match (&report.outcome, &report.path) {
        (Outcome::Findings(findings), Some(path)) => {
            format!("{}. Findings: {}", findings.counts(), text::shown(path))
        }
        (Outcome::CouldNotRun(cause), _) => format!("could not run: {cause}"),
        (Outcome::Unreadable(cause), _) => format!("unreadable: {cause}"),
        (_, path) => {
            let path = path.as_ref().map(text::shown);
            format!("{NOTHING}. {}", path.unwrap_or_default())
        }
    };
    out::line(&info.line(&said));
    if let Outcome::Findings(findings) = &report.outcome {
        out::line("");
        out::markdown(&shortened(&text::plain(&findings_file::render(
            1, findings,
        ))));
    }
    Ok(match report.path {
        Some(_) => Exit::Complete,
        None => Exit::Reviewer,
    })
}

fn failure(error: RoundError) -> Failure {
    let exit = match error {
        RoundError::Interrupted => Exit::Interrupted,
        RoundError::NoSubject { .. }
        | RoundError::NotText { .. }
        | RoundError::Outside { .. }
        | RoundError::Changes(_)
        | RoundError::Copy { .. }
        | RoundError::Verify(_)
        | RoundError::Prompt(_) => Exit::Refused,
        _ => Exit::Internal,
    };
    Failure::new(exit, error)
}

/// Holds what a round is run with.
#[derive(Debug)]
pub struct Job<'j> {
    /// What the loop's phase reviews.
    pub spec: &'static ReviewSpec,
    /// Who reviews in which round.
    pub personas: &'j Personas,
    /// What the person configured.
    pub settings: &'j Settings,
    /// How long it may take.
    pub limits: crate::process::limits::Limits,
}

/// Runs the round that a loop is in, or follows who runs it.
///
/// # Errors
/// See [`RoundError`].
pub fn run<M: App>(
    program: &Program<M>,
    held: &M::Any,
    job: &Job<'_>,
    chosen: &Chosen,
    listener: &mut round::Listener<'_>,
) -> Result<Report, RoundError> {
    let raw = held.raw();
    let environment = Environment::default();
    verify_first(raw, job.spec, listener)?;
    let brief = Brief {
        prompt: prompt_of(program, held, job),
        limits: job.limits,
        environment: &environment,
    };
    chosen.in_turn(
        |came: &Result<Report, RoundError>| came.as_ref().ok()?.how.cause(),
        |next, line| match line.is_some_and(|line| listener(RoundEvent::Line(line)).is_break()) {
            true => Err(RoundError::Interrupted),
            false => round::run(&brief, next.reviewer.as_ref(), listener),
        },
    )
}

/// Runs the allowed commands that verify the work, unless there is a result for this work tree or the
/// round is reviewed already. The prompt says what they came to.
fn verify_first(
    raw: &Raw,
    spec: &ReviewSpec,
    listener: &mut round::Listener<'_>,
) -> Result<(), RoundError> {
    let is_reviewed = || evidence::verdict(raw, spec).is_ok_and(|verdict| verdict.is_some());
    if !matches!(Commands::of(raw), Ok(Some(_))) || is_reviewed() {
        return Ok(());
    }
    let ran = verify::verify(raw, Purpose::Review, &mut |line| match line {
        Some(line) => listener(RoundEvent::Line(&format!(
            "running {}",
            text::one_line(line, 200)
        ))),
        None => listener(RoundEvent::Tick),
    });
    let ran = ran.map_err(|refusal| RoundError::Verify(refusal.to_string()))?;
    match ran.came_to {
        Verification::Interrupted => Err(RoundError::Interrupted),
        Verification::Missing(why) => {
            let line = format!("commands that verify the work were not run: {why}");
            match listener(RoundEvent::Line(&text::lines(&line, 500))).is_break() {
                true => Err(RoundError::Interrupted),
                false => Ok(()),
            }
        }
        Verification::Passed(_) | Verification::Failed(_) | Verification::Running => Ok(()),
    }
}

/// Returns the prompt of the round that a loop is in.
fn prompt_of<'p, M: App>(program: &Program<M>, held: &'p M::Any, job: &Job<'p>) -> Prompt<'p> {
    let (raw, spec) = (held.raw(), job.spec);
    let mut earlier = program.extension.earlier_findings(held);
    earlier.extend(prompt::earlier(raw, spec));
    Prompt {
        raw,
        spec,
        persona: job.personas.of_round(raw.count(spec.round)),
        context: program
            .extension
            .context(held, job.settings, Timestamp::now()),
        earlier,
        verified: verify::text(raw),
        failed: verify::failed(raw),
    }
}

/// The most of the findings that is printed, in characters: a client shows an agent about 30,000 of a command's output.
const PRINTED: usize = 20_000;

/// Whole lines, as many as fit; the file has the rest.
fn shortened(findings: &str) -> String {
    let mut printed = String::new();
    for line in findings.lines() {
        if printed.chars().count() + line.chars().count() > PRINTED {
            printed.push_str("(The file has more.)\n");
            break;
        }
        printed.push_str(line);
        printed.push('\n');
    }
    printed
}

/// Set once the process is asked to end.
pub fn interrupts() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ] {
        // The second signal ends the process at once, whatever it is waiting for.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}

/// Limits the bytes of a program's lines that are printed where no person watches: with the findings they are what a client
/// shows an agent of a command's output. The kept output has the rest.
const WATCHED: usize = 8 * 1024;

/// Chooses the lines of progress that are printed, and counts those that a program wrote.
#[derive(Debug)]
pub struct Lines {
    /// In bytes; None: no limit, or that there are more has been said.
    left: Option<usize>,
    limited: bool,
}

impl Lines {
    /// Makes one for stdout as it is.
    fn of_stdout() -> Self {
        Self::limited(!std::io::stdout().is_terminal())
    }

    /// Makes one with a limit, or without.
    pub fn limited(limited: bool) -> Self {
        Self {
            left: limited.then_some(WATCHED),
            limited,
        }
    }

    /// Returns a line of progress, where there is one.
    pub fn shown(&mut self, said: RoundEvent<'_>, reviewer: &str) -> Option<String> {
        match said {
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

    /// Returns a line that a program wrote; once there are too many, what is said instead, and then nothing.
    pub fn of_program<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        if !self.limited {
            return Some(line);
        }
        self.left = self.left?.checked_sub(line.len() + 10);
        Some(self.left.map_or("it says more than is shown", |_| line))
    }
}

/// Begins the line of a round in which nothing was found.
pub const NOTHING: &str = "no substantive findings";

/// What a round came to, on one line.
pub fn result(report: &Report) -> String {
    let before = match report.way {
        ReportSource::Before => "reviewed before: ",
        ReportSource::Ran | ReportSource::Followed => "",
    };
    match &report.how {
        RunOutcome::Clean { .. } => format!("{before}{NOTHING}. {}", text::shown(&report.path)),
        RunOutcome::Findings { .. } => {
            format!(
                "{before}{}. Findings: {}",
                report.findings.counts(),
                text::shown(&report.path)
            )
        }
        RunOutcome::CouldNotRun { cause } => format!("could not run: {cause}"),
        RunOutcome::Unreadable { cause } => format!("unreadable: {cause}"),
    }
}

fn exit_of(report: &Report) -> Exit {
    match report.how {
        RunOutcome::Clean { .. } | RunOutcome::Findings { .. } => Exit::Complete,
        RunOutcome::CouldNotRun { .. } | RunOutcome::Unreadable { .. } => Exit::Reviewer,
    }
}
