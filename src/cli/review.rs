//! `review`: one round, for the runner and for people. And the progress lines that `run` shows too.

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use claudex_loop::Actor;
use claudex_loop::app::{attempts, stranded};
use claudex_loop::plan::caller::Caller;
use claudex_loop::plan::locate::SPEAKER;
use claudex_loop::plan::settings::Settings;
use claudex_loop::plan::{AnyLoop, Phase, changes, report, reviewers, runner, summary};
use claudex_loop::process::environment::Environment;
use claudex_loop::review::focus::Kind;
use claudex_loop::review::round::{self, Brief, Report, RoundError, Said, Way};
use claudex_loop::review::runs::How;
use claudex_loop::review::twin;
use claudex_loop::store::{LoopId, Store};
use claudex_loop::text;
use miette::Diagnostic as _;

use super::exit::{Exit, Failure};
use super::look::words::Told;
use super::{args, out};

/// How many of the reviewer's last lines `--follow` begins with.
const LAST: usize = 20;

/// Shows a review that another process runs, to its end; never starts one.
fn follow(store: &Store, id: &LoopId) -> Result<Exit, Failure> {
    let held = AnyLoop::open(store, id, Caller::from_env().actor(false))
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let interrupted = interrupts();
    let (mut lines, mut budget) = (0, Lines::new());
    let running = round::watch(held.raw(), LAST, &mut |said| {
        match said {
            Said::Attached => out::line("claudex: following the review that is running"),
            said => {
                if let Some(line) = budget.shown(said, "") {
                    lines += 1;
                    out::line(&format!("claudex: {line}"));
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
            &format!("to see it again:\n    claudex-loop review {id} --follow"),
        ),
        error => Failure::new(Exit::Internal, error),
    })?;
    let entries = store
        .journal(id)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let told = Told::of(store, id, entries);
    let Some(run) = told.runs.last() else {
        out::line(&format!("claudex: no review of loop {id} has run yet"));
        return Ok(Exit::Complete);
    };
    if !running {
        let which = if lines == 0 {
            "and it left no lines"
        } else {
            "its last lines are above"
        };
        out::line(&format!(
            "claudex: no review is running; this was the last one, {which}"
        ));
    }
    out::line(&format!(
        "claudex: run {} of round {} by {}: {}",
        text::one_line(&run.began.run, 60),
        run.began.round,
        text::one_line(&run.began.reviewer, 60),
        told.outcome(run)
    ));
    let has_verdict = run.ended.as_ref().is_some_and(|how| how.digest().is_some());
    if has_verdict {
        out::text(&format!(
            "claudex: {}\n",
            text::exact(twin::findings_path(store, id, run.began.round))
        ));
    }
    Ok(if has_verdict || !running {
        Exit::Complete
    } else {
        Exit::Reviewer
    })
}

/// Who reviews is the person's choice: an agent that could name another reviewer could name one that finds nothing.
fn not_the_agents(store: &Store, id: &LoopId, named: &str) -> Failure {
    let why = "who reviews is a person’s choice, and this call comes from an agent";
    let tried = format!("review --reviewer {}", text::one_line(named, 60));
    store.log(&format!("{id} {tried} refused: {why}"));
    attempts::note(store, id, Actor::Agent, &tried, why);
    Failure::plain(
        Exit::Refused,
        "claudex::review::reviewer",
        why.to_owned(),
        &format!(
            "leave the choice out:\n    claudex-loop review {id}\na person chooses by `reviewer` in the configuration, or in a \
             terminal:\n    claudex-loop review {id} --reviewer NAME"
        ),
    )
}

/// Reviews the round that a loop is in.
pub(crate) fn review(arguments: args::Review) -> Result<Exit, Failure> {
    let (store, id) = super::loops::find(Some(&arguments.id))?;
    if arguments.follow {
        return follow(&store, &id);
    }
    let caller = Caller::from_env();
    let actor = caller.actor(false);
    let held = AnyLoop::open(&store, &id, actor).map_err(|error| stranded::failure(&SPEAKER, error))?;
    let session = Some(held.fields().session_id());
    let settings = super::settings_of(store.root(), session.as_deref())?;
    if let Some(named) = arguments.reviewer.as_deref()
        && actor == Actor::Agent
        && named != settings.reviewer
    {
        return Err(not_the_agents(&store, &id, named));
    }
    let chosen = reviewers::choose(arguments.reviewer.as_deref(), &settings, store.root())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let Some(spec) = held.phase().review() else {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::review::phase",
            format!(
                "loop {id} is in phase {}, where nothing is reviewed",
                held.phase()
            ),
            match held.phase() {
                Phase::Drafting => "write the plan and end the turn: the review begins then",
                _ => "`claudex-loop status` shows what the loop waits for",
            },
        ));
    };
    let fields = held.fields();
    let persona = settings.personas.of_round(fields.round());
    let of_changes = changes::are_reviewed(&held);
    let make = || changes::make(&held);
    let prompt = |text: &str| runner::prepare(&held, &settings.personas, text);
    let environment = Environment::default();
    let brief = Brief {
        persona: &persona.label,
        focus: persona.focus,
        kind: if of_changes { Kind::Diff } else { Kind::Document },
        make: if of_changes { Some(&make) } else { None },
        prompt: &prompt,
        limits: arguments.time.limits(chosen.limits),
        environment: &environment,
    };
    out::line(&format!(
        "claudex: round {} of {}, {}",
        fields.round(),
        fields.max_rounds(),
        persona.label
    ));
    let name = chosen.reviewer.name();
    if let Some(program) =
        Settings::seen(&caller, session.as_deref()).and_then(|seen| Some(seen.replaced(name)?.to_owned()))
    {
        summary::note_replaced(&store, &id, fields.round(), name, &program)
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        out::line(&format!(
            "claudex: the program of {name} is not the one that this session began with: {program} was updated or replaced. The summary \
             will say so."
        ));
    }
    let shown_as = chosen.shown_in(held.raw(), fields.round());
    let interrupted = interrupts();
    let mut lines = Lines::new();
    let report = round::run(held.raw(), spec, brief, chosen.reviewer.as_ref(), &mut |said| {
        if let Some(line) = lines.shown(said, &shown_as) {
            out::line(&format!("claudex: {line}"));
        }
        if interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .map_err(|error| {
        let exit = match error {
            RoundError::Interrupted => Exit::Interrupted,
            RoundError::NoSubject { .. }
            | RoundError::NotText { .. }
            | RoundError::Outside { .. }
            | RoundError::Prepare(_) => Exit::Refused,
            _ => Exit::Internal,
        };
        Failure::new(exit, error)
    })?;
    out::line(&format!("claudex: {}", result(&report)));
    let output = round::output_path(&store, &id, &report.run.began.run);
    if report.how.cause().is_some() && output.exists() {
        out::text(&format!("claudex: what it wrote: {}\n", text::exact(output)));
    }
    if let How::Findings { .. } = report.how
        && let Ok(findings) = store.read(&report.path).and_then(claudex_loop::files::text)
    {
        // Whoever ran this in a client may not be allowed to read a file outside the folder that the client was opened in.
        out::line("");
        out::text(&shortened(&text::plain(&findings)));
    }
    if of_changes && report.how.digest().is_some() {
        report_on(&held);
    }
    Ok(exit_of(&report))
}

/// Writes the report of a review of changes into the project. That it could not be written is said, and takes nothing
/// away from the review.
fn report_on(held: &AnyLoop) {
    out::line("");
    match report::write(held) {
        Ok(written) => {
            out::text(&format!("claudex: report: {}\n", text::exact(written.report)));
            if let Some(fixes) = written.fixes {
                let (applying, all) = written.applying;
                out::text(&format!(
                    "claudex: proposed patches, none of them applied: {} ({applying} of {all} would apply)\n",
                    text::exact(fixes)
                ));
            }
        }
        Err(error) => {
            let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
            out::line(&format!(
                "claudex: {error}{help}. The review counts all the same."
            ));
        }
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
pub(crate) fn interrupts() -> Arc<AtomicBool> {
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
pub(crate) struct Lines {
    /// In bytes; None: no limit, or that there are more has been said.
    left: Option<usize>,
    limited: bool,
}

impl Lines {
    /// Makes one for stdout as it is.
    pub(crate) fn new() -> Self {
        Self::limited(!std::io::stdout().is_terminal())
    }

    /// Makes one with a limit, or without.
    pub(crate) fn limited(limited: bool) -> Self {
        Self {
            left: limited.then_some(WATCHED),
            limited,
        }
    }

    /// Returns a line of progress, where there is one.
    pub(crate) fn shown(&mut self, said: Said<'_>, reviewer: &str) -> Option<String> {
        match said {
            Said::Began { .. } => Some(format!("reviewer: {reviewer}")),
            Said::Attached => Some("this round's review is running already; following it".to_owned()),
            Said::Line(line) => Some(line.to_owned()),
            Said::Reviewer(line) => self.of_program(line).map(str::to_owned),
            Said::Tick => None,
        }
    }

    /// Returns a line that a program wrote; once there are too many, what is said instead, and then nothing.
    pub(crate) fn of_program<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        if !self.limited {
            return Some(line);
        }
        self.left = self.left?.checked_sub(line.len() + 10);
        Some(self.left.map_or("it says more than is shown", |_| line))
    }
}

/// What a round came to, on one line.
pub(crate) fn result(report: &Report) -> String {
    let before = match report.way {
        Way::Before => "reviewed before: ",
        Way::Ran | Way::Followed => "",
    };
    match &report.how {
        How::Clean { .. } => format!("{before}no substantive findings. {}", text::shown(&report.path)),
        How::Findings { .. } => format!(
            "{before}{}. Findings: {}",
            report.findings.counts(),
            text::shown(&report.path)
        ),
        How::CouldNotRun { cause } => format!("could not run: {cause}"),
        How::Unreadable { cause } => format!("unreadable: {cause}"),
    }
}

fn exit_of(report: &Report) -> Exit {
    match report.how {
        How::Clean { .. } | How::Findings { .. } => Exit::Complete,
        How::CouldNotRun { .. } | How::Unreadable { .. } => Exit::Reviewer,
    }
}
