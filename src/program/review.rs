//! The command `review`: one round of a loop, step by step, or the review that another process runs.

use jiff::Timestamp;

use super::builder::Program;
use super::caller::Caller;
use super::console::Console;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::reviewers::Chosen;
use super::settings::Settings;
use super::{Tone, arguments, attempts, incompatible, loops, messages, out, reviewers, rounds};
use crate::behaviours::verify::{self, NotRun};
use crate::machine::{Actor, LoopFacts as _, LoopHandle, PersonaInfo, PhaseDeclaration as _, Raw};
use crate::review::ReviewSpec;
use crate::review::evidence::Round;
use crate::review::personas::Personas;
use crate::review::prompt::Prompt;
use crate::review::round::{self, Report, RoundError, RoundEvent};
use crate::review::runs::Run;
use crate::text;

/// The reason for which an agent may not choose the reviewer.
const USERS_CHOICE: &str = "the user chooses the reviewer, and this call comes from an agent";
/// The number of the reviewer's last lines with which `--follow` begins.
const FOLLOWED_LINES: usize = 20;
/// The most findings that are printed, in characters: a client shows an agent about 30,000 of a command's output.
const MAX_PRINTED_CHARS: usize = 20_000;

/// Reviews the round that a loop is in.
pub(super) fn review(program: &Program, arguments: &arguments::Review) -> Result<Exit, Failure> {
    let info = program.info;
    let (store, id) = loops::find(info, arguments.id.as_deref())?;
    let actor = Caller::from_env().actor(false);
    let opened = program.app.open(&store, &id, actor);
    let held = opened.map_err(|error| incompatible::failure(info, error))?;
    let raw = held.raw();
    if arguments.follow {
        return follow(info, raw);
    }
    let session = raw.text(info.state.fields.session);
    let settings = loops::settings(info, store.root(), Some(&session))?;
    program.prepare(&*held, &settings, actor);

    let named = arguments.reviewer.as_deref();
    let is_other = |named: &&str| actor == Actor::Agent && *named != settings.reviewer;
    if let Some(named) = named.filter(is_other) {
        let tried = format!("review --reviewer {}", text::one_line(named, 60));
        store.log(&format!("{id} {tried} refused: {USERS_CHOICE}"));
        attempts::note(&store, &id, actor, &tried, USERS_CHOICE);
        return Err(users_choice(&format!("{} review {id}", info.program)));
    }
    let phase = messages::phase(raw);
    let review = phase.review().map(|spec| (raw, spec));
    let reviewer = reviewers::choose(named, review, &settings, store.root())?;
    let Some((_, spec)) = review else {
        return Err(Failure::refuse(
            format!(
                "loop {id} is in phase {}, where nothing is reviewed",
                phase.name
            ),
            &format!("`{} status` shows what the loop waits for", info.program),
        ));
    };
    let review = Review {
        program,
        held: &*held,
        spec,
        settings: &settings,
        reviewer: &reviewer,
    };
    review.run_and_print()
}

/// Reviews what a phase reviews in another phase, which has no review, and prints the findings. They are evidence of nothing.
///
/// # Errors
/// Returns an error if the review cannot begin or be recorded.
pub fn by_hand(
    program: &Program,
    held: &dyn LoopHandle,
    spec: &'static ReviewSpec,
) -> Result<Exit, Failure> {
    let raw = held.raw();
    let root = raw.store().root();
    let settings = loops::settings(program.info, root, None)?;
    let _ = raw.program_facts().subjects.set(program.app.subjects(held));
    let review = Review {
        program,
        held,
        spec,
        settings: &settings,
        reviewer: &reviewers::choose(None, Some((raw, spec)), &settings, root)?,
    };
    review.run_and_print()
}

/// A review of the round that a loop is in.
pub struct Review<'r> {
    /// The program.
    pub program: &'r Program,
    /// The loop.
    pub held: &'r dyn LoopHandle,
    /// The review that the machine declares.
    pub spec: &'static ReviewSpec,
    /// The settings.
    pub settings: &'r Settings,
    /// The reviewer. Its time limits are also those of a reviewer that takes over.
    pub reviewer: &'r Chosen,
}

impl Review<'_> {
    /// Runs the round, and prints the findings.
    fn run_and_print(&self) -> Result<Exit, Failure> {
        let info = self.program.info;
        let raw = self.held.raw();
        let store = raw.store();
        let mut console = Console::new(info.line(""), false);
        let persona = self.persona().label;
        console.line(&format!("{}, {persona}", rounds::full_name(raw, self.spec)));
        let ended = self.run(&mut |event| console.event(event));
        let report = ended.map_err(|error| {
            let exit = match error {
                RoundError::Interrupted => Exit::Interrupted,
                _ if error.is_refusal() => Exit::Refused,
                _ => Exit::Internal,
            };
            Failure::new(exit, error)
        })?;

        let run = &report.run;
        console.emphasize(&info.line(&result(raw, &report)), rounds::CLEAN, Tone::Good);
        if run.cause().is_some() {
            let output = round::output_path(store, raw.id(), &run.began.run);
            if output.exists() {
                console.line(&format!("what it wrote: {}", text::exact(&output)));
            }
            return Ok(Exit::Reviewer);
        }
        if !run.findings().is_empty()
            && let Ok(findings) = store
                .read(&run.findings_path(store, raw.id()))
                .and_then(crate::files::text)
        {
            // An agent in a client may not be allowed to read a file outside of its folder.
            print_findings(&findings);
        }
        let more = self.program.extension.reviewed(self.held);
        if !more.is_empty() {
            out::line("");
        }
        more.iter().for_each(|line| console.line(line));
        Ok(Exit::Complete)
    }

    /// Returns the persona of the round.
    fn persona(&self) -> &'static PersonaInfo {
        let raw = self.held.raw();
        let personas = Personas::of_phase(raw.table(), self.spec);
        personas.of_round(raw.count(self.spec.round))
    }

    /// Runs the round, or follows the process that runs it.
    ///
    /// # Errors
    /// Returns an error if the round cannot begin or be recorded.
    pub fn run(&self, listener: &mut round::Listener<'_>) -> Result<Report, RoundError> {
        let raw = self.held.raw();
        verify_first(raw, self.spec, listener)?;

        let extension = &self.program.extension;
        let prompt = Prompt {
            raw,
            spec: self.spec,
            persona: self.persona(),
            context: extension.context(self.held, Timestamp::now()),
            earlier: extension.earlier_findings(self.held),
            verified: verify::text(raw),
            failed: verify::failed(raw),
        };
        let limits = self.reviewer.limits;
        self.reviewer.ask_in_turn(
            |report: &Result<Report, RoundError>| report.as_ref().ok()?.run.cause(),
            |next, line| {
                // A listener that cancels does so again at the next event.
                let _ = line.map(|line| listener(RoundEvent::Line(line)));
                round::run(&prompt, limits, &next.reviewer, &mut |event| {
                    listener(match event {
                        RoundEvent::Began(_) => RoundEvent::Began(&next.shown),
                        event => event,
                    })
                })
            },
        )
    }
}

/// Runs the allowed commands that verify the work, unless there is a result for this work tree or the
/// round has its verdict. The prompt has the results.
fn verify_first(
    raw: &Raw,
    spec: &ReviewSpec,
    listener: &mut round::Listener<'_>,
) -> Result<(), RoundError> {
    let is_reviewed = || Round::read(raw, spec).is_ok_and(|round| round.verdict().is_some());
    if !verify::is_used_in(raw) || is_reviewed() {
        return Ok(());
    }
    let ran = verify::verify(raw, &mut |line| match line {
        Some(line) => {
            let line = format!("running {}", text::one_line(line, 200));
            listener(RoundEvent::Line(&line))
        }
        None => listener(RoundEvent::Tick),
    });
    let not_run = match ran {
        Ok(ran) => ran.permission_problem(raw),
        Err(NotRun::Interrupted) => return Err(RoundError::Interrupted),
        Err(why) => Some(why.to_string()),
    };
    if let Some(why) = not_run {
        let line = format!("commands that verify the work were not run: {why}");
        let _ = listener(RoundEvent::Line(&text::lines(&line, 500)));
    }
    Ok(())
}

/// Shows a review that another process runs, to its end. Never starts one.
fn follow(info: &ProgramInfo, raw: &Raw) -> Result<Exit, Failure> {
    let id = raw.id();
    let mut console = Console::new(info.line(""), false);
    let watched = round::watch(raw, FOLLOWED_LINES, &mut |event| console.event(event));
    // Only an interrupt ends it early.
    let was_running = watched.map_err(|_| {
        Failure::with_help(
            Exit::Interrupted,
            "no longer followed; the review itself goes on".to_owned(),
            &format!(
                "to see it again:\n    {} review {id} --follow",
                info.program
            ),
        )
    })?;
    let Some(run) = rounds::runs(raw).pop() else {
        console.line(&format!("no review of loop {id} has run yet"));
        return Ok(Exit::Complete);
    };
    if !was_running {
        console.line("no review is running; this was the last one");
    }
    console.line(&format!(
        "run {} of round {} by {}: {}",
        text::one_line(&run.began.run, 60),
        run.began.round,
        text::one_line(&run.began.reviewer, 60),
        result_of(raw, &run)
    ));
    Ok(if run.verdict().is_some() || !was_running {
        Exit::Complete
    } else {
        Exit::Reviewer
    })
}

/// Returns the refusal of an agent's choice of a reviewer; `review` is the command without the choice.
pub fn users_choice(review: &str) -> Failure {
    Failure::with_help(
        Exit::Refused,
        USERS_CHOICE.to_owned(),
        &format!(
            "leave the choice out:\n    {review}\nthe user chooses it by `reviewer` in the configuration, or in a \
             terminal:\n    {review} --reviewer NAME"
        ),
    )
}

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
    out::line(printed.trim_end());
}

/// Returns the result of a round on one line.
pub fn result(raw: &Raw, report: &Report) -> String {
    let result = result_of(raw, &report.run);
    if report.was_reviewed {
        format!("reviewed before: {result}")
    } else {
        result
    }
}

/// Returns the outcome of a run, and its findings file.
fn result_of(raw: &Raw, run: &Run) -> String {
    let outcome = rounds::outcome(run);
    if run.verdict().is_none() {
        return outcome;
    }
    let path = run.findings_path(raw.store(), raw.id());
    format!("{outcome}. Findings: {}", text::exact(path))
}
