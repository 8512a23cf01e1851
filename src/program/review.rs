//! The commands `review` (a round of a loop) and `verify` (commands that verify the work).

use super::app::Program;
use super::arguments::ReviewArgs;
use super::caller::Caller;
use super::console::Console;
use super::exit::{CommandResult, Exit, Failure};
use super::info::ProgramInfo;
use super::settings::Settings;
use super::{attempts, loops, next_action, open_error, out, reviewers, rounds};
use crate::behaviours::verify;
use crate::machine::{Actor, LoopFacts as _, LoopHandle, PersonaInfo, PhaseDeclaration as _, Raw};
use crate::review::ReviewSpec;
use crate::review::evidence::Round;
use crate::review::findings_file;
use crate::review::personas::{persona, review_personas};
use crate::review::prompt::Prompt;
use crate::review::reviewer::Reviewer;
use crate::review::round::{self, Report, RoundError, RoundEvent};
use crate::review::runs::Run;
use crate::text;

const USERS_CHOICE: &str = "the user chooses the reviewer, and this call comes from an agent";
/// The number of last lines of the reviewer with which `--follow` begins.
const FOLLOWED_LINES: usize = 20;
/// The most characters of findings to print: a client shows an agent about 30,000 of all output.
const MAX_PRINTED_CHARS: usize = 20_000;

pub(super) fn review(program: &Program, arguments: &ReviewArgs) -> CommandResult {
    let info = program.info;
    let (store, id) = loops::find(info, arguments.id.as_deref())?;
    let actor = Caller::from_env().actor();
    let opened = program.app.open(&store, &id, actor);
    let held = opened.map_err(|error| open_error::failure(info, error))?;
    let raw = held.raw();
    if arguments.follow {
        return follow(info, raw);
    }
    let session = raw.text(info.state.fields.session);
    let settings = loops::settings(info, store.root(), Some(&session))?;
    program.prepare(&*held, &settings, actor);

    let named = arguments.reviewer.as_deref();
    check_choice(named, &settings, actor).inspect_err(|_| {
        let named = text::one_line(named.unwrap_or_default(), 60);
        let tried = format!("review --reviewer {named}");
        attempts::note(&store, &id, actor, &tried, USERS_CHOICE);
    })?;
    let phase = raw.phase_info();
    let review = phase.review().map(|spec| (raw, spec));
    let reviewers = &reviewers::choose(named, review, &settings, store.root())?;
    let Some((_, spec)) = review else {
        let name = phase.name;
        let problem = format!("loop {id} is in phase {name}, where nothing is reviewed");
        let help = format!("`{} status` shows what the loop waits for", info.program);
        return Err(Failure::refuse(problem, &help));
    };
    let review = Review {
        program,
        held: &*held,
        spec,
        reviewers,
    };
    review.run_and_print()
}

/// Reviews in a phase without a review, and prints the findings. They are no evidence.
///
/// # Errors
/// Returns an error if the review cannot begin or be recorded.
pub fn by_hand(
    program: &Program,
    held: &dyn LoopHandle,
    spec: &'static ReviewSpec,
) -> CommandResult {
    let raw = held.raw();
    let root = raw.store().root();
    let settings = loops::settings(program.info, root, None)?;
    let _ = raw.program_facts().subjects.set(program.app.subjects(held));
    let review = Review {
        program,
        held,
        spec,
        reviewers: &reviewers::choose(None, Some((raw, spec)), &settings, root)?,
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
    /// The reviewer, and those that replace it in turn if it cannot run.
    pub reviewers: &'r [Reviewer],
}

impl Review<'_> {
    fn run_and_print(&self) -> CommandResult {
        let raw = self.held.raw();
        let console = Console::new(self.program.info.line(""), false);
        let persona = self.persona().label;
        console.line(&format!("{}, {persona}", rounds::full_name(raw, self.spec)));
        let report = self
            .run(&mut |event| console.event(event))
            .map_err(|error| {
                let exit = match error {
                    RoundError::Interrupted(_) => Exit::Interrupted,
                    _ if error.is_refusal() => Exit::Refused,
                    _ => Exit::Internal,
                };
                Failure::new(exit, error)
            })?;
        self.print_result(&console, &report);
        let run = &report.run;
        if run.ended.cause.is_some() {
            return Ok(Exit::Reviewer);
        }
        self.print_findings(run);
        let newest = self.program.app.open(raw.store(), raw.id(), raw.actor());
        let phase = newest.ok().map(|now| now.raw().phase_info());
        if let Some(phase) = phase.filter(|phase| phase.terminal) {
            let id = raw.id();
            let name = phase.name;
            out::line("");
            console.line(&format!("loop {id} is {name}: these findings do not count"));
        }
        let more = self.program.extension.after_review(self.held);
        if !more.is_empty() {
            out::line("");
        }
        more.iter().for_each(|line| console.line(line));
        Ok(Exit::Complete)
    }

    /// Prints the result of a round.
    pub fn print_result(&self, console: &Console, report: &Report) {
        let raw = self.held.raw();
        let run = &report.run;
        let mut line = result_line(raw, run);
        if report.was_reviewed {
            line.insert_str(0, "reviewed before: ");
        }
        console.emphasize(&line, rounds::CLEAN, out::GOOD);
        let output = round::output_path(raw.store(), raw.id(), &run.began.run);
        if run.ended.cause.is_some() && output.exists() {
            console.line(&format!("what it wrote: {}", text::escape_hidden(&output)));
        }
    }

    /// Prints as many whole lines of findings as fit: an agent may not be allowed to read the file.
    fn print_findings(&self, run: &Run) {
        if run.findings().is_empty() {
            return;
        }
        let store = self.held.raw().store();
        let file = store.read(&run.findings_path(store, self.held.raw().id()));
        let of_journal = |_| findings_file::render(run.began.round, run.findings());
        let findings = file.and_then(crate::files::text).unwrap_or_else(of_journal);
        out::line("");
        let mut chars_left = MAX_PRINTED_CHARS;
        for line in text::strip_hidden(&findings).trim_end().lines() {
            let Some(left) = chars_left.checked_sub(line.chars().count()) else {
                return out::line("(The file has more.)");
            };
            chars_left = left;
            out::line(line);
        }
    }

    fn persona(&self) -> &'static PersonaInfo {
        let raw = self.held.raw();
        let personas = review_personas(raw.table(), self.spec);
        persona(personas, raw.count(self.spec.round))
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
            context: extension.context(self.held),
            earlier: extension.earlier_findings(self.held),
            verified: verify::render_results(raw),
            failed: verify::failed_findings(raw),
        };
        for pair in self.reviewers.windows(2) {
            let report = round::run(&prompt, &pair[0], listener)?;
            let cause = report.run.ended.cause.as_ref();
            let Some(cause) = cause.filter(|cause| cause.kind.fails_over()) else {
                return Ok(report);
            };
            let [from, to] = [&pair[0].name, &pair[1].name];
            let line = format!("{from} could not run, {to} reviews instead: {cause}");
            // A listener that cancels does so again at the next event.
            let _ = listener(RoundEvent::Line(&line));
        }
        round::run(&prompt, &self.reviewers[self.reviewers.len() - 1], listener)
    }
}

/// Runs the verification commands for the prompt, unless they ran or the round has a verdict.
fn verify_first(
    raw: &Raw,
    spec: &ReviewSpec,
    listener: &mut round::Listener<'_>,
) -> Result<(), RoundError> {
    let is_reviewed = || Round::read(raw, spec).is_ok_and(|round| round.verdict().is_some());
    if !verify::is_used_in(raw) || is_reviewed() {
        return Ok(());
    }
    let not_run = match verify::verify(raw, listener) {
        Ok(Some(ran)) => ran.permission_problem(raw),
        Ok(None) => return Err(RoundError::INTERRUPTED),
        Err(why) => Some(why),
    };
    if let Some(why) = not_run {
        let line = format!("commands that verify the work were not run: {why}");
        let _ = listener(RoundEvent::Line(&text::lines(&line, 500)));
    }
    Ok(())
}

pub(super) fn verify(program: &Program, id: Option<&str>) -> CommandResult {
    let info = program.info;
    let held = loops::open_found(program, id)?;
    let raw = held.raw();
    let console = Console::new(info.line(""), false);
    let ran = match verify::verify(raw, &mut |event| console.event(event)) {
        Ok(Some(ran)) => ran,
        Ok(None) => return Ok(Exit::Interrupted),
        Err(why) => {
            let problem = format!("loop {}: {why}", raw.id());
            return Err(Failure::refuse(problem, &next_action::unchanged(raw)));
        }
    };
    out::text(&format!("\n{}\n\n", verify::render_results(raw)));
    if let Some(problem) = ran.problem(raw) {
        out::note(&info.line(&problem));
        return Ok(Exit::Refused);
    }
    console.line("all commands passed on the work tree as it is");
    Ok(Exit::Complete)
}

/// Follows a review that another process runs, to its end. Never starts one.
fn follow(info: &ProgramInfo, raw: &Raw) -> CommandResult {
    let id = raw.id();
    let console = Console::new(info.line(""), false);
    let watched = round::watch(raw, FOLLOWED_LINES, &mut |event| console.event(event));
    let was_running = watched.map_err(|error| Failure::new(Exit::Interrupted, error))?;
    let Some(run) = rounds::runs(raw).pop() else {
        console.line(&format!("no review of loop {id} has run yet"));
        return Ok(Exit::Complete);
    };
    if !was_running {
        console.line("no review is running; this was the last one");
    }
    let result = result_line(raw, &run);
    let began = &run.began;
    let [id, reviewer] = [&began.run, &began.reviewer].map(|text| text::one_line(text, 60));
    let round = began.round;
    let line = format!("run {id} of round {round} by {reviewer}: {result}");
    console.line(&line);
    if was_running && run.verdict().is_none() {
        return Ok(Exit::Reviewer);
    }
    Ok(Exit::Complete)
}

/// Refuses an agent the choice of a reviewer that the settings do not name.
///
/// # Errors
/// Returns an error if `actor` is an agent.
pub fn check_choice(named: Option<&str>, settings: &Settings, actor: Actor) -> Result<(), Failure> {
    if actor == Actor::Person || named.is_none_or(|named| named == settings.reviewer) {
        return Ok(());
    }
    Err(Failure::refuse(
        USERS_CHOICE,
        "leave --reviewer out; the user chooses by `reviewer` in the configuration, or by that flag in a terminal",
    ))
}

fn result_line(raw: &Raw, run: &Run) -> String {
    let outcome = rounds::outcome(run);
    if run.verdict().is_none() {
        return outcome;
    }
    let path = run.findings_path(raw.store(), raw.id());
    format!("{outcome} ({})", text::escape_hidden(path))
}
