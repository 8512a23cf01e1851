//! The Stop hook, step by step: read the input, locate the loop, open it, look at the turn, let the machine decide and
//! commit, render the message, print the decision.
//!
//! Every fault of ours ends the turn with one line and leaves the loop as it is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jiff::Timestamp;

use super::app::HeldLoop;
use super::builder::Program;
use super::caller::UNKNOWN;
use super::exit::Exit;
use super::extension::Variables;
use super::info::ProgramInfo;
use super::settings::Settings;
use super::surroundings::Surroundings;
use super::{
    incompatible, locate, loops, messages, next_action, out, rounds, session_loops, turn_end,
};
use crate::behaviours::Step;
use crate::hooks::input::{self, INPUT_TIMEOUT};
use crate::hooks::{Action, Decision, Input};
use crate::machine::{Actor, EdgeAt, LoopHandle, PhaseDeclaration as _, Raw};
use crate::review::runs;
use crate::store::{LoopId, Store};
use crate::text;

/// The beginning of the log line about a stop that changed nothing. `status` shows that line.
pub(super) const LET_END: &str = "let the turn end: ";

/// Answers the Stop hook: reads its input, decides, prints the decision.
pub(super) fn answer(program: &Program, surroundings: &Surroundings) -> Exit {
    let info = program.info;
    let decided = catch_unwind(AssertUnwindSafe(|| {
        match input::read(std::io::stdin(), INPUT_TIMEOUT) {
            Ok(input) => decide(program, &input, surroundings),
            Err(error) => approve(
                info,
                &format!("cannot read the Stop hook's input as JSON: {error}"),
            ),
        }
    }));
    let decision = decided.unwrap_or_else(|_| {
        let doctor = format!("{} doctor", info.program);
        approve(
            info,
            &format!("the Stop hook failed; the turn may end. `{doctor}` may say why"),
        )
    });
    out::text(&decision.to_json(&format!("{} status", info.program)));
    Exit::Complete
}

/// Locates the loop of a stop, and runs the other steps on it.
fn decide(program: &Program, input: &Input, surroundings: &Surroundings) -> Decision {
    if surroundings.reviewer_child || input.is_subagent() {
        return Decision::approve(None);
    }
    let info = program.info;
    let stores = surroundings.stores(info, input);
    let mut notes = locate::name_vanished(info, &surroundings.folders(input), Some("stop"));
    let located = session_loops::locate(info, &stores, input.session_id.as_deref());
    let decision = match located {
        Ok(Some((store, id))) => {
            let stop = Stop {
                program,
                input,
                store: &store,
                id: &id,
            };
            let decided = stop.run_steps(&mut notes);
            decided.unwrap_or_else(|error| stop.fail("was left as it is", &error))
        }
        Err(note) => approve(info, &note),
        Ok(None) => Decision::approve(None),
    };
    Decision {
        note: messages::with_notes(info, &notes, decision.note),
        ..decision
    }
}

/// A stop of one loop.
struct Stop<'a> {
    program: &'a Program,
    input: &'a Input,
    store: &'a Store,
    id: &'a LoopId,
}

impl Stop<'_> {
    /// Runs the steps from opening the loop to rendering the decision, and adds notes for the user.
    fn run_steps(&self, notes: &mut Vec<String>) -> Result<Decision, String> {
        let held = self.open()?;
        notes.extend_from_slice(held.raw().repairs());

        let turn = turn_end::look(self.program.info, self.input, held.raw());
        notes.extend(turn.note);
        if let Some(reason) = turn.stays {
            self.log(&format!("{LET_END}{reason}"));
            return Ok(Decision::approve(None));
        }

        let settings = self.load_settings()?;
        self.program.prepare(&*held, &settings, Actor::Hook);
        let question = self.program.question(&*held);
        let was_asked = question
            .map_err(|error| format!("cannot ask: {error}"))?
            .is_some();

        let step = self.let_machine_decide(held)?;

        Ok(match step {
            None | Some(Step::Over(_)) => Decision::approve(None),
            Some(Step::Waits(held)) => self.render_wait(&*held),
            Some(Step::Moved { now, edge }) => self
                .render_move(&*now, edge, was_asked, &settings)
                .unwrap_or_else(|error| {
                    self.fail("has changed, but the message about it failed", &error)
                }),
        })
    }

    /// Opens the loop, and binds it to the session if no session has it.
    fn open(&self) -> Result<HeldLoop, String> {
        let info = self.program.info;
        let open = || {
            self.program
                .app
                .open(self.store, self.id, Actor::Hook)
                .map_err(|error| incompatible::line(info, &self.store.path_of(self.id), &error))
        };
        let mut held = open()?;
        let session = self.input.session_id.as_deref();
        if let Some(session) = session.filter(|session| *session != UNKNOWN)
            && loops::owner(held.raw()).is_none()
        {
            self.store
                .set_session(held.raw().record(), session, "bind", "hook")
                .map_err(|error| error.to_string())?;
            held = open()?;
        }
        if let Err(error) = self.store.touch(self.id) {
            self.log(&format!("touch: {error}"));
        }
        Ok(held)
    }

    /// Loads the settings, and keeps the hook's environment for commands inside the session.
    fn load_settings(&self) -> Result<Settings, String> {
        let settings = Settings::load(self.program.info, self.store.root())
            .map_err(|error| error.to_string())?;
        if let Some(session) = &self.input.session_id {
            settings
                .keep_seen(session)
                .map_err(|error| format!("cannot keep the session's reviewer: {error}"))?;
        }
        Ok(settings)
    }

    /// Lets the machine look at the loop, choose a transition, and commit it. Returns `None` if another process was faster and
    /// has reported the change.
    fn let_machine_decide(&self, held: HeldLoop) -> Result<Option<Step<HeldLoop>>, String> {
        match self.program.app.stop(held) {
            Ok(step) => Ok(Some(step)),
            Err(refused) if refused.refusal.is_stale() => Ok(None),
            Err(refused) => Err(refused.to_string()),
        }
    }

    /// Renders the note about a loop that stays in its phase and waits.
    fn render_wait(&self, held: &dyn LoopHandle) -> Decision {
        let note = next_action::waiting(self.program, held);
        let first = note.lines().next().unwrap_or_default();
        let reason =
            first
                .trim_end_matches([':', '.'])
                .replacen(&format!("loop {}", self.id), "it", 1);
        self.log(&format!("{LET_END}{reason}"));
        approve(self.program.info, &note)
    }

    /// Renders the decision after a transition: the message of the edge or of the phase, or a note if the turn ends.
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
        self.log(&self.describe_move(raw, edge));
        let caveats = program.extension.on_enter(held, settings)?;

        if edge.lets_turn_end(table) || runs::is_parked(raw) {
            messages::clear(raw);
            return Ok(self.render_turn_end(held, edge, was_asked, &caveats));
        }

        // A question that cannot be asked lets the turn end.
        program.question(held)?;
        let rendered = program.render(held, edge.words(table), settings, Variables::new());
        Ok(match rendered {
            Ok(None) => Decision::approve(None),
            Ok(Some(message)) if edge.reminds(table) => {
                let waits_for = next_action::describe(program, held).waits_for;
                let waits_for = text::one_line(&waits_for, 150);
                Decision {
                    action: Action::Remind(message),
                    note: Some(program.info.line(&format!(
                        "reminded the agent: loop {} waits for {waits_for}",
                        self.id
                    ))),
                }
            }
            Ok(Some(message)) => Decision {
                action: Action::Block(message),
                note: None,
            },
            // The loop has changed, so the agent has to know its next step.
            Err(error) => {
                let next = next_action::describe(program, held).next;
                Decision {
                    action: Action::Block(format!(
                        "{}: loop {} is in phase {}.\nNext: {next}\n",
                        program.info.name,
                        self.id,
                        messages::phase(raw).name
                    )),
                    note: Some(program.info.line(&error)),
                }
            }
        })
    }

    /// Renders the note about a transition that lets the turn end.
    fn render_turn_end(
        &self,
        held: &dyn LoopHandle,
        edge: EdgeAt,
        was_asked: bool,
        caveats: &[String],
    ) -> Decision {
        let program = self.program;
        // In a phase that only waits for the end of the turn, the block before it has said everything.
        let table = program.info.table;
        let behaviour = table.phases[edge.from].on_stop.as_ref();
        let was_said =
            !was_asked && behaviour.is_some_and(|one| ["approve", "ask"].contains(&one.name));
        if was_said && caveats.is_empty() {
            return Decision::approve(None);
        }
        let review = table.phases[edge.to].review();
        let next = program
            .extension
            .next_action(held)
            .or_else(|| review.map(|_| next_action::describe(program, held)));
        let note = messages::turn_end_note(program, held, caveats, next);
        Decision::approve(Some(note))
    }

    /// Returns the log line about a transition.
    fn describe_move(&self, raw: &Raw, edge: EdgeAt) -> String {
        let table = raw.table();
        let from = table.phases[edge.from].name;
        let to = &table.phases[edge.to];
        let mut line = format!("{}: {from} -> {}", edge.transition, to.name);
        if let Some(spec) = rounds::spec(raw) {
            line += &format!(", {}", rounds::full_name(raw, spec));
        }
        if to.terminal {
            let elapsed = rounds::elapsed(rounds::seconds(raw, Timestamp::now()));
            line += &format!(", elapsed {elapsed}");
        }
        line
    }

    /// Returns the decision if a step failed.
    fn fail(&self, state: &str, error: &str) -> Decision {
        let line = text::note(error, 900);
        self.log(&format!("{LET_END}{line}"));
        approve(
            self.program.info,
            &format!("loop {} {state}: {line}", self.id),
        )
    }

    fn log(&self, line: &str) {
        self.store.log(&format!("{} {line}", self.id));
    }
}

/// Lets the turn end, with a note for the user.
fn approve(info: &ProgramInfo, note: &str) -> Decision {
    Decision::approve(Some(info.line(note)))
}
