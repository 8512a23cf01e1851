//! `next` and `check`, which change nothing.

use camino::Utf8PathBuf;
use clap::ArgMatches;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{incompatible, locate, loops, out};
use claudex_loop::store::{IdForm, LoopId};
use claudex_loop::{Actor, Store};
use serde_json::json;

use super::{Call, JSON, shown};
use crate::context::{self, stored};
use crate::files::Directory;
use crate::files::tasks::Tasks;
use crate::next::{Kind, Next, State, Step, next as next_of};
use crate::rules::{self, Context};
use crate::{AnyLoop, Phase, stops, summary};

/// A plan that is looked at.
pub(super) struct Plan {
    pub(super) id: LoopId,
    /// The loop, where there is one and its document can be read.
    pub(super) held: Option<AnyLoop>,
    pub(super) state: State,
    pub(super) directory: Directory,
    /// Where a plan lies that is no loop.
    pub(super) root: Utf8PathBuf,
}

impl Plan {
    /// Finds the plan of a call, be it a loop or a directory alone.
    pub(super) fn of(call: &Call) -> Result<Self, Failure> {
        let first = call.words.split_whitespace().next();
        let here = loops::here()?;
        let store = locate::for_start(call.info.state, &here);
        let named = first.and_then(|first| LoopId::parse(first, IdForm::Name).ok());
        let is_plan = |id: &LoopId| {
            store
                .root()
                .join(".taskie/plans")
                .join(id.as_str())
                .is_dir()
        };
        // What follows a slash command may be for the agent.
        let named = named.filter(|id| !call.from_prompt || is_plan(id));
        let found = match first {
            Some(first) if named.is_some() || !call.from_prompt => {
                loops::find(call.info, Some(first))
            }
            _ => loops::find_for(call.info, &call.caller)
                .or_else(|_| loops::find_to_look(call.info, None)),
        };
        let unread = |error: std::io::Error| {
            call.refused(
                format!("the plan’s directory cannot be read: {error}"),
                "see who owns it",
            )
        };
        if let Ok((store, id)) = found.as_ref()
            && store.has_journal(id)
        {
            let directory = Directory::of_plan(store.root(), id.as_str()).map_err(unread)?;
            // Opening would put it right, and nobody could be asked.
            if matches!(in_document(store, id), Some(State::None)) {
                return Ok(Self {
                    id: id.clone(),
                    held: None,
                    state: State::Broken,
                    directory,
                    root: store.root().to_owned(),
                });
            }
            let held = AnyLoop::open(&store.clone().to_look(), id, Actor::Person)
                .map_err(|error| incompatible::failure(call.info, error))?;
            let state = summary::state(&held);
            return Ok(Self {
                id: id.clone(),
                state,
                held: Some(held),
                directory,
                root: store.root().to_owned(),
            });
        }
        let only = || match &*plans(&store) {
            [only] => Some(only.clone()),
            _ => None,
        };
        // A name that was given and is no plan's must not stand for another plan.
        let is_named = first.is_some() && !call.from_prompt;
        let id = match named.or_else(|| only().filter(|_| !is_named)) {
            Some(id) if is_plan(&id) => id,
            _ => {
                return Err(found.err().unwrap_or_else(|| {
                    call.refused(
                        "there is no such plan".to_owned(),
                        "see those that there are: taskie list",
                    )
                }));
            }
        };
        let directory = Directory::of_plan(store.root(), id.as_str()).map_err(unread)?;
        let state = in_document(&store, &id).unwrap_or(State::None);
        Ok(Self {
            id,
            held: None,
            state,
            directory,
            root: store.root().to_owned(),
        })
    }

    /// Returns the row of the table.
    pub(super) fn next(&self) -> Next {
        next_of(&self.state, &self.directory)
    }
}

/// Returns the plans' directories of a project, by name.
fn plans(store: &Store) -> Vec<LoopId> {
    let entries = store
        .root()
        .join(".taskie/plans")
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut ids: Vec<LoopId> = folders
        .filter_map(|entry| LoopId::parse(entry.file_name(), IdForm::Name).ok())
        .collect();
    ids.sort();
    ids
}

/// Reads the state that the document alone has; `None`: there is no document. What is no JSON object is no state.
fn in_document(store: &Store, id: &LoopId) -> Option<State> {
    let bytes = store.read(&store.path_of(id)).ok()?;
    Some(super::take_up::state(&bytes))
}

/// Prints the next step.
pub(super) fn next(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    let plan = Plan::of(&call)?;
    let next = plan.next();
    let target = plan
        .held
        .as_ref()
        .and_then(|held| context::target(held.phase()))
        .map(stored);
    if matches.get_flag(JSON) {
        out::json(&json!({
            "plan": plan.id.as_str(), "row": next.row, "next": next.step.to_string(), "why": next.why,
            "advance": target, "person": asked(&plan, &next),
        }));
        return Ok(Exit::Complete);
    }
    tell(&plan, &next, target);
    Ok(match next.step {
        Step::Refuse => Exit::Refused,
        _ => Exit::Complete,
    })
}

/// Prints the next step, why, and what leads on.
pub(super) fn tell(plan: &Plan, next: &Next, target: Option<&str>) {
    out::line(&format!(
        "Plan {}: {} ({}: {}).",
        plan.id, next.step, next.row, next.why
    ));
    if let Some(target) = target {
        out::line(&format!(
            "Once the work is there, end the turn, or run:\n    taskie advance {target} {}",
            plan.id
        ));
    }
    let asked = asked(plan, next);
    if !asked.is_empty() {
        out::line(&format!(
            "To continue, the user runs one of:\n    {}",
            asked.join("\n    ")
        ));
    }
}

/// Returns the commands with which the user continues from a question, or from the end.
fn asked(plan: &Plan, next: &Next) -> Vec<String> {
    let id = &plan.id;
    let all = |commands: &[&str]| {
        commands
            .iter()
            .map(|command| format!("taskie {command} {id}"))
            .collect()
    };
    let is_standalone = plan
        .held
        .as_ref()
        .is_some_and(|held| held.phase() == Phase::Standalone);
    match (&next.step, plan.held.is_some()) {
        (Step::Restore, _) => all(&["resume"]),
        (Step::Refuse, _) => Vec::new(),
        (Step::Finished, _) => vec!["taskie new-plan DESCRIPTION".to_owned()],
        (_, false) => all(&["continue-plan"]),
        // The plan alone is there: it may be good enough without a review.
        (Step::EndTurn(Kind::Plan), true) if next.row == "C26" => {
            vec![format!("taskie pause {id} && taskie create-tasks {id}")]
        }
        (Step::Ask, _) if next.row == "C17" => {
            vec![
                format!("taskie add-task {id}"),
                format!("taskie drop-task K {id}"),
            ]
        }
        (Step::Ask, true) => {
            let is_pending = plan.directory.table().and_then(Tasks::next).is_some();
            all(match (is_standalone, is_pending) {
                (true, true) => &["create-tasks", "complete-task", "next-task"],
                (true, false) => &["create-tasks"],
                (false, true) => &["next-task", "pause"],
                (false, false) => &["pause"],
            })
        }
        (Step::CompleteTask { task: None, .. }, _) => {
            vec![
                format!("taskie add-task {id}"),
                format!("taskie drop-task K {id}"),
            ]
        }
        _ => Vec::new(),
    }
}

/// Checks the structure rules of any plan.
pub(super) fn check(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    let plan = Plan::of(&call)?;
    let broken = match &plan.held {
        Some(held) => stops::broken(held, &plan.directory),
        None => rules::violations(&plan.directory, &Context::default()),
    };
    if matches.get_flag(JSON) {
        let all = broken.iter().map(|one| {
            json!({ "rule": format!("S{}", one.rule), "file": one.problem.file, "line": one.problem.line, "what": one.problem.what })
        });
        out::json(&json!({ "plan": plan.id.as_str(), "violations": all.collect::<Vec<_>>() }));
    } else if broken.is_empty() {
        out::line(&format!("The files of plan {} are in order.", plan.id));
    } else {
        out::line(&format!(
            "Plan {} has problems in {}:",
            plan.id,
            shown(
                plan.root
                    .join(".taskie/plans")
                    .join(plan.id.as_str())
                    .as_str()
            )
        ));
        for one in &broken {
            out::line(&one.to_string());
        }
    }
    Ok(if broken.is_empty() {
        Exit::Complete
    } else {
        Exit::Refused
    })
}
