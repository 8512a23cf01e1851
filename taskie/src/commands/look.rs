//! `next` and `check`, which change nothing.

use camino::Utf8DirEntry;
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{locate, loops, open_error, out};
use claudex_loop::store::{IdForm, LoopId};
use claudex_loop::{Actor, Store, text};

use super::{Call, take_up, unreadable};
use crate::context::{self, word};
use crate::files::Directory;
use crate::next::{Next, State, next as next_of};
use crate::{AnyLoop, Phase, rules, stops};

/// A plan to look at.
pub(super) struct Plan {
    pub(super) store: Store,
    pub(super) id: LoopId,
    /// The loop, if there is one and its document can be read.
    pub(super) held: Option<AnyLoop>,
    pub(super) directory: Directory,
    state: State,
}

impl Plan {
    /// Finds the plan of a call, be it a loop or a directory alone.
    pub(super) fn find(call: &Call) -> Result<Self, Failure> {
        let (store, id) = locate_plan(call)?;
        let directory = Directory::read_plan(store.root(), id.as_str()).map_err(unreadable)?;
        let bytes = store.read(&store.path_of(&id)).ok();
        let document = bytes.map(|bytes| take_up::state(&bytes));
        let has_journal = store.has_journal(&id);
        let mut held = None;
        let state = match document {
            // Opening a loop with a broken document repairs it, and nobody can be asked.
            Some(State::None) if has_journal => State::Broken,
            _ if has_journal => {
                let opened = AnyLoop::open(&store.clone().read_only(), &id, Actor::Person)
                    .map_err(|error| open_error::failure(call.program.info, error))?;
                let state = State::read(opened.raw(), &directory);
                held = Some(opened);
                state
            }
            document => document.unwrap_or(State::None),
        };
        Ok(Self {
            store,
            id,
            held,
            directory,
            state,
        })
    }

    pub(super) fn next(&self) -> Next {
        next_of(&self.state, &self.directory)
    }

    /// Prints the next step, the reason, and the commands that continue.
    pub(super) fn print_next(&self, call: &Call, next: &Next) -> CommandResult {
        let id = &self.id;
        out::line(&format!(
            "Plan {id}: {} ({}: {}).",
            next.step, next.row, next.why
        ));
        let at = self.held.as_ref().map(AnyLoop::phase);
        if at.is_some_and(|at| !at.is_terminal()) && self.print_violations() {
            return call.print("Fix that, then end the turn.");
        }
        if let Some(target) = at.and_then(context::target).map(word) {
            out::line(&format!(
                "Once the work is there, end the turn, or run:\n    taskie advance {target} {id}"
            ));
        }
        let commands = self.commands(next);
        if !commands.is_empty() {
            out::line(&format!(
                "To continue, the user runs one of:\n    {}",
                commands.join("\n    ")
            ));
        }
        let is_review = |held: &&AnyLoop| held.phase().review().is_some();
        match self.held.as_ref().filter(is_review) {
            _ if next.row == "C24" => Ok(Exit::Refused),
            Some(held) if next.step.starts_with("end the turn") => call.print_instruction(held),
            _ => Ok(Exit::Complete),
        }
    }

    /// Prints the violations of the structure rules. Returns whether there is one.
    fn print_violations(&self) -> bool {
        let id = &self.id;
        let violations = match &self.held {
            Some(held) => stops::violations(held.raw(), &self.directory),
            None => rules::violations(&self.directory, None, None),
        };
        if violations.is_empty() {
            return false;
        }
        let folder = text::printable(self.store.root().join(".taskie/plans").join(id.as_str()));
        out::line(&format!("Plan {id} has problems in {folder}:"));
        for one in &violations {
            out::line(&one.to_string());
        }
        true
    }

    /// Returns the commands with which the user continues from a question, or from the end.
    fn commands(&self, next: &Next) -> Vec<String> {
        let id = &self.id;
        let at = self.held.as_ref().map(AnyLoop::phase);
        let commands = match next.row {
            "C21" => return vec!["taskie new-plan DESCRIPTION".to_owned()],
            // The directory has only the plan, which may be good enough without a review.
            "C26" if at == Some(Phase::PlanReview) => {
                return vec![format!("taskie pause {id} && taskie create-tasks {id}")];
            }
            "C24" | "C25" => &next.commands,
            _ if at.is_none() => "continue-plan",
            _ => &next.commands,
        };
        let commands = commands.split(", ").filter(|command| !command.is_empty());
        let line = |command| format!("taskie {command} {id}");
        commands.map(line).collect()
    }
}

/// Returns the plan of a call, a loop or only a directory: that of the first word, or else the
/// caller's own. After a slash command, words that name no plan are for the agent, but not a lone
/// one if the command takes nothing else.
pub(super) fn locate_plan(call: &Call) -> Result<(Store, LoopId), Failure> {
    let (store, ids) = plan_directories(call.program.info)?;
    let first = call.first();
    let directory = ids.iter().find(|id| Some(id.as_str()) == first);
    let takes_only_plan = ["more", "continue-plan"].contains(&&*call.name);
    let is_lone = takes_only_plan && call.words.split_whitespace().nth(1).is_none();
    let named = first.filter(|_| directory.is_some() || is_lone || !call.caller.is_slash_command);
    loops::find_or_newest(call.program.info, named).or_else(|failure| match (directory, &ids[..]) {
        (Some(alone), _) => Ok((store, alone.clone())),
        (None, [only]) if named.is_none() => Ok((store, only.clone())),
        (None, [first, ..]) if named.is_none() && !ids.iter().any(|id| store.has_journal(id)) => {
            let count = ids.len();
            let names: Vec<&str> = ids.iter().map(LoopId::as_str).collect();
            let problem = format!("{count} plans can be taken over: {}", names.join(", "));
            let help = format!("name one:\n    taskie continue-plan {first}");
            Err(Failure::refuse(problem, &help))
        }
        _ => Err(failure),
    })
}

/// Returns the store of the working directory, and the ids of the plans that have a directory.
fn plan_directories(info: &ProgramInfo) -> Result<(Store, Vec<LoopId>), Failure> {
    let store = locate::for_start(info.state, &loops::current_folder()?);
    let plans = store.root().join(".taskie/plans").read_dir_utf8();
    let folders = plans.into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.path().is_dir());
    let id = |entry: Utf8DirEntry| LoopId::parse(entry.file_name(), IdForm::Name).ok();
    let mut ids: Vec<LoopId> = folders.filter_map(id).collect();
    ids.sort();
    Ok((store, ids))
}

/// Prints the status of plans that are no loops here, as in a clone, or `None` if there are loops.
pub(super) fn status_without_loops(info: &ProgramInfo) -> Option<CommandResult> {
    let (store, ids) = plan_directories(info).ok()?;
    if ids.is_empty() || store.list().next().is_some() {
        return None;
    }
    for id in ids {
        let (why, command) = if store.has_archived(&id) {
            ("is in the archive. To bring it back", "resume")
        } else {
            ("was not started here. To take it up", "continue-plan")
        };
        out::line(&format!("Plan {id} {why}:\n    taskie {command} {id}"));
    }
    Some(Ok(Exit::Complete))
}

pub(super) fn next(call: &Call) -> CommandResult {
    let plan = Plan::find(call)?;
    plan.print_next(call, &plan.next())
}

/// Checks the structure rules of any plan.
pub(super) fn check(call: &Call) -> CommandResult {
    let plan = Plan::find(call)?;
    if plan.print_violations() {
        return Ok(Exit::Refused);
    }
    call.print(&format!("The files of plan {} are in order.", plan.id))
}
