//! The Stop hook, step by step: read the input, locate the loop, open it, check whether this stop
//! drives it, let the machine decide and commit, render the message, print the decision.
//!
//! Every internal error ends the turn with one line. A change that was committed before it stays.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::app::{HeldLoop, Program};
use super::caller::{self, UNKNOWN};
use super::exit::{Exit, with_help};
use super::extension::Variables;
use super::locate::{FoundLoop, StateFolders};
use super::settings::{self, Settings};
use super::{console, loops, next_action, open_error, out, rounds, turn_end};
use crate::behaviours::Step;
use crate::git;
use crate::hooks::input::{self, INPUT_TIMEOUT};
use crate::hooks::session_records::SessionRecord as _;
use crate::hooks::waits::{Wait, Waits};
use crate::hooks::{Action, Decision, Input};
use crate::machine::{Actor, EdgeAt, LoopHandle, Raw};
use crate::review::runs;
use crate::store::Entry;
use crate::text;

/// The start of the log line about a stop that let the turn end, which `status` shows.
pub(super) const LET_END: &str = "let the turn end: ";

pub(super) fn answer(program: &Program) -> Exit {
    let name = program.info.program;
    let decided = catch_unwind(AssertUnwindSafe(|| {
        match input::read(std::io::stdin(), INPUT_TIMEOUT) {
            Ok(input) => decide(program, &input),
            Err(error) => approve(format!(
                "cannot read the Stop hook's input as JSON: {error}"
            )),
        }
    }));
    let failure = format!("the Stop hook failed; the turn may end. `{name} doctor` may say why");
    let mut decision = decided.unwrap_or_else(|_| approve(failure));
    decision.note = decision.note.map(|note| program.info.line(&note));
    out::text(&decision.to_json(&format!("{name} status")));
    Exit::Complete
}

fn decide(program: &Program, input: &Input) -> Decision {
    if caller::is_in_reviewer() || input.is_subagent() {
        return Decision::approve(None);
    }
    let info = program.info;
    let folders = StateFolders::find_for_hook(info.state, input);
    let mut notes = folders.vanished(Some("stop"));
    let located = folders.find_for_stop(info, input.session_id.as_deref());
    let mut decision = match located {
        Ok(Some(found)) => {
            let stop = Stop {
                program,
                input,
                found,
            };
            let decided = stop.run_steps(&mut notes);
            decided.unwrap_or_else(|error| stop.approve_failure("was left as it is", &error))
        }
        Err(note) => approve(note),
        Ok(None) => Decision::approve(None),
    };
    notes.extend(decision.note);
    decision.note = (!notes.is_empty()).then(|| notes.join("; "));
    decision
}

struct Stop<'a> {
    program: &'a Program,
    input: &'a Input,
    found: FoundLoop,
}

impl Stop<'_> {
    fn run_steps(&self, notes: &mut Vec<String>) -> Result<Decision, String> {
        let held = self.open()?;
        notes.extend_from_slice(held.raw().record().repairs());

        if let Some(reason) = self.reason_not_to_drive(held.raw(), notes) {
            self.found.log(&format!("{LET_END}{reason}"));
            return Ok(Decision::approve(None));
        }

        let settings = self.load_settings()?;
        self.program.prepare(&*held, &settings, Actor::Hook);
        let question = self.program.question(&*held);
        let was_asked = question
            .map_err(|error| format!("cannot ask: {error}"))?
            .is_some();

        // A command of the loop ends with the stop.
        console::set_on_signals(&git::INTERRUPTED);
        match self.program.app.stop(held) {
            Ok(Step::Over(_)) => Ok(Decision::approve(None)),
            Ok(Step::Waits(held)) => Ok(self.render_wait(&*held)),
            Ok(Step::Moved { now, edge }) => {
                let decided = self.render_move(&*now, edge, was_asked, &settings);
                let state = "has changed, but the message about it failed";
                Ok(decided.unwrap_or_else(|error| self.approve_failure(state, &error)))
            }
            // Another process was faster and has reported the change.
            Err(refused) if refused.refusal.is_stale() => Ok(Decision::approve(None)),
            Err(refused) => Err(with_help(&*refused.refusal)),
        }
    }

    /// Opens the loop, and binds it to the session if no session has it.
    fn open(&self) -> Result<HeldLoop, String> {
        let store = &self.found.store;
        let id = &self.found.id;
        let open = || {
            let opened = self.program.app.open(store, id, Actor::Hook);
            opened.map_err(|error| open_error::line(self.program.info, &error))
        };
        let mut held = open()?;
        let session = self.input.session_id.as_deref();
        if let Some(session) = session.filter(|session| *session != UNKNOWN)
            && loops::owner(held.raw()).is_none()
        {
            store
                .set_session(held.raw().record(), session, "bind", "hook")
                .map_err(|error| error.to_string())?;
            held = open()?;
        }
        if let Err(error) = store.touch(id) {
            self.found.log(&format!("touch: {error}"));
        }
        Ok(held)
    }

    /// Returns why this stop does not drive the loop, or `None` if it does. Adds notes.
    fn reason_not_to_drive(&self, raw: &Raw, notes: &mut Vec<String>) -> Option<&'static str> {
        let id = &self.found.id;
        let wait = self.count_wait();
        if self.found.store.is_paused(id) {
            let resume = self.program.info.command(&format!("resume {id}"));
            notes.push(format!("loop {id} is paused. To continue it:{resume}"));
            return Some("it is paused");
        }
        if wait == Wait::Waits {
            return Some("its review or a helper of the agent is running");
        }
        // Our next reminder or retry is for the user's turn.
        if self.input.stop_hook_active == Some(true) && has_let_turn_end(raw) {
            return Some("it let the turn end before, and another hook held it");
        }
        if wait == Wait::GivesUp {
            notes.push(format!(
                "three stops have waited for the same background task, so loop {id} continues while that runs"
            ));
        }
        None
    }

    /// Adds this stop to the count for background tasks, if the state home works (see `doctor`).
    fn count_wait(&self) -> Wait {
        // The client wakes the agent when a task ends. Shells count if they run the loop's review.
        let store = &self.found.store;
        let id = &self.found.id;
        let program = self.program.info.program;
        let calls = [format!("{program} review"), format!("{id}-runner.sh")];
        let tasks = self.input.awaited_tasks(|command| {
            calls.iter().any(|call| command.contains(call)) && store.is_running(id)
        });
        let home = self.program.info.home();
        let session = self.input.session_id.as_deref().unwrap_or(UNKNOWN);
        let before = home.as_ref().and_then(|home| Waits::load(session, home));
        let mut waits = before.unwrap_or_default();
        let wait = waits.count(&tasks);
        let _ = home.map(|home| waits.save(session, &home));
        wait
    }

    /// Loads the settings, and keeps the hook's environment for commands inside the session.
    fn load_settings(&self) -> Result<Settings, String> {
        let settings = Settings::load(self.program.info, self.found.store.root())
            .map_err(|error| error.to_string())?;
        if let Some(session) = &self.input.session_id {
            settings::keep_environment(self.program.info, session)
                .map_err(|error| format!("cannot keep the session's reviewer: {error}"))?;
        }
        Ok(settings)
    }

    fn render_wait(&self, held: &dyn LoopHandle) -> Decision {
        let waits_for = next_action::describe(self.program, held).waits_for;
        self.found
            .log(&format!("{LET_END}it waits for {waits_for}"));
        approve(next_action::waiting(self.program, held))
    }

    /// Renders the message of an edge or its phase, or a note if the turn ends.
    fn render_move(
        &self,
        held: &dyn LoopHandle,
        edge: EdgeAt,
        was_asked: bool,
        settings: &Settings,
    ) -> Result<Decision, String> {
        let program = self.program;
        let raw = held.raw();
        let table = raw.table();
        program.prepare(held, settings, Actor::Hook);
        self.found.log(&self.describe_move(raw, edge));
        let caveats = program.enter(held)?;

        let mut rendered = None;
        if !edge.lets_turn_end(table) && !runs::has_lasting_failure(raw) {
            rendered = program.render(held, edge.effective_message(table), Variables::new())?;
        }
        // Without a message, nothing tells the agent to continue.
        let Some(message) = rendered else {
            let note = turn_end::note(program, held, edge, was_asked, &caveats);
            return Ok(Decision::approve(note));
        };
        if !edge.reminds(table) {
            let action = Action::Block(message);
            return Ok(Decision { action, note: None });
        }
        let waits_for = text::one_line(&next_action::describe(program, held).waits_for, 150);
        let id = &self.found.id;
        let note = format!("reminded the agent: loop {id} waits for {waits_for}");
        Ok(Decision {
            action: Action::Remind(message),
            note: Some(note),
        })
    }

    fn describe_move(&self, raw: &Raw, edge: EdgeAt) -> String {
        let table = raw.table();
        let from = table.phases[edge.from].name;
        let to = &table.phases[edge.to];
        let mut line = format!("{}: {from} -> {}", edge.transition, to.name);
        if to.terminal {
            let elapsed = text::elapsed(rounds::seconds(raw));
            line += &format!(", elapsed {elapsed}");
        }
        line
    }

    fn approve_failure(&self, state: &str, error: &str) -> Decision {
        let line = text::note(error, 900);
        self.found.log(&format!("{LET_END}{line}"));
        approve(format!("loop {} {state}: {line}", self.found.id))
    }
}

fn approve(note: String) -> Decision {
    Decision::approve(Some(note))
}

/// Returns whether the newest journal entry is an edge by which the hook let the turn end.
fn has_let_turn_end(raw: &Raw) -> bool {
    let table = raw.table();
    let journal = raw.visit_journal().unwrap_or_default();
    let newest = journal.last().and_then(Entry::change);
    newest.is_some_and(|change| {
        let mut edges = rounds::edges_of(table, change).into_iter();
        change.by == Actor::Hook.to_string() && edges.any(|edge| edge.lets_turn_end(table))
    })
}
