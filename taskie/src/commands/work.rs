//! The commands that begin or end work: in automation, and by hand.

use claudex_loop::program::exit::{CommandResult, Failure};
use claudex_loop::program::review::by_hand;
use claudex_loop::program::{attempts, out};
use claudex_loop::{Actor, text};

use super::Call;
use crate::context::{self, legal_words, parse_word, word};
use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::typestate::{LeaveCommand, Transition};
use crate::{AnyLoop, Phase, stops, work};

/// Goes from standalone into the phase of the command's name, and prints its instruction.
pub(super) fn begin(call: &Call) -> CommandResult {
    let held = call.open_to_work()?;
    if is_at_command(call, &held)? {
        return call.print_instruction(&held);
    }
    let transition = if call.name == "create-tasks" {
        Transition::BeginTasks
    } else {
        let directory = call.directory(&held)?;
        let (total, done) = work::count_reviewed(held.raw(), &directory);
        if total == 0 {
            return Err(no_task(call, &held, &directory));
        }
        Transition::BeginTask {
            total,
            done,
            tdd: call.name == "complete-task-tdd",
        }
    };
    call.print_instruction(&call.take(held, transition)?)
}

/// Returns whether a plan is at the command's phase. Refuses any other phase except standalone.
fn is_at_command(call: &Call, held: &AnyLoop) -> Result<bool, Failure> {
    if word(held.phase()) == call.name {
        return Ok(true);
    }
    call.refuse_agent()?;
    match held.phase() {
        Phase::Standalone => Ok(false),
        _ => Err(wrong_phase(call, held)),
    }
}

fn wrong_phase(call: &Call, held: &AnyLoop) -> Failure {
    let at = word(held.phase());
    refuse(held, &format!("is at {at}, and {} is not next", call.name))
}

/// Refuses a command for a plan, and names the command that shows its next step.
fn refuse(held: &AnyLoop, problem: &str) -> Failure {
    let id = held.id();
    let help = format!("nothing was changed; what is next:\n    taskie next {id}");
    Failure::refuse(format!("plan {id} {problem}"), &help)
}

fn no_task(call: &Call, held: &AnyLoop, directory: &Directory) -> Failure {
    if held.phase().is_terminal() {
        return wrong_phase(call, held);
    }
    if !directory.has(Name::Tasks) {
        return refuse(held, "has no tasks.md yet");
    }
    let id = held.id();
    let (found, help) = match &directory.tasks[..] {
        [] => (
            "row that can be read",
            "what is wrong with it:\n    taskie check",
        ),
        _ => ("pending task", "to add one:\n    taskie add-task"),
    };
    let problem = format!("plan {id}: tasks.md has no {found}");
    Failure::refuse(problem, &format!("nothing was changed; {help} {id}"))
}

/// Leaves automation for one task without reviews.
pub(super) fn next_task(call: &Call) -> CommandResult {
    call.refuse_agent()?;
    let held = call.open_to_work()?;
    let directory = call.directory(&held)?;
    let pending = directory.next_task();
    let task = pending.ok_or_else(|| no_task(call, &held, &directory))?;
    let (command, how) = match call.name.as_str() {
        "next-task" => (LeaveCommand::NextTask, ""),
        _ => (LeaveCommand::NextTaskTdd, ", test first"),
    };
    let now = call.take(held, Transition::Leave { command, task })?;
    let id = now.id();
    call.print(&format!(
        "Plan {id}: do task {task}{how}, without reviews. The automation is off."
    ))
}

pub(super) fn continue_task(call: &Call) -> CommandResult {
    call.refuse_agent()?;
    let held = call.open_to_work()?;
    mark(call, &held)?;
    let directory = call.directory(&held)?;
    let instruction = match context::task(held.raw(), &directory) {
        Some(task) => format!("continue task {task}."),
        None => "no task is under way; ask the user which one to continue.".to_owned(),
    };
    call.print(&format!("Plan {}: {instruction}", held.id()))
}

/// Records the last command. No edge depends on it.
fn mark(call: &Call, held: &AnyLoop) -> Result<(), Failure> {
    if held.phase().is_terminal() {
        return Err(wrong_phase(call, held));
    }
    let store = held.raw().store();
    let name = call.name.as_str().into();
    let set = store.set_field(held.id(), "phase", name, &call.actor.to_string(), true);
    set.map(drop).map_err(Failure::internal)
}

/// Runs a review: in automation that of the phase, else by hand. After a slash command the agent
/// runs it, because a review takes longer than a slash command may.
pub(super) fn review(call: &Call) -> CommandResult {
    let held = call.open_to_work()?;
    let id = held.id();
    if !call.caller.is_slash_command
        && held.phase() == Phase::Standalone
        && let Some(spec) = parse_word(&call.name).and_then(Phase::review)
    {
        let document = group(call, &held)?.document();
        let directory = call.directory(&held)?;
        if let Some(missing) = document.filter(|name| !directory.has(*name)) {
            return Err(refuse(&held, &format!("has no {missing} to review")));
        }
        mark(call, &held)?;
        return by_hand(call.program, &held, spec);
    }
    if is_at_command(call, &held)? {
        return call.print_instruction(&held);
    }
    mark(call, &held)?;
    let name = &call.name;
    call.print(&format!(
        "Plan {id}: run this with a timeout of 600000 ms, then tell the user the findings:\n\n    taskie {name} {id}"
    ))
}

/// Has the newest review answered: in automation the phase's own work.
pub(super) fn post_review(call: &Call) -> CommandResult {
    let held = call.open_to_work()?;
    if is_at_command(call, &held)? {
        return call.print_instruction(&held);
    }
    let group = group(call, &held)?;
    let Some(number) = call.directory(&held)?.newest_review(group) else {
        return Err(refuse(&held, "has no review of that kind"));
    };
    mark(call, &held)?;
    let id = held.id();
    let [review, answer] = [Name::Review, Name::PostReview].map(|name| name(group, number));
    call.print(&format!("Plan {id}: answer {review} in {answer}."))
}

/// Returns the group of the reviews that a command is about.
fn group(call: &Call, held: &AnyLoop) -> Result<Group, Failure> {
    let group = parse_word(&call.name).and_then(|phase| context::group(held.raw(), phase));
    let known = group.filter(|group| *group != Group::TaskCode(0));
    known.ok_or_else(|| refuse(held, "has no task under way with code to review"))
}

/// Takes the transition that a stop would take, if the work is complete: `advance TARGET [PLAN]`.
pub(super) fn advance(mut call: Call) -> CommandResult {
    let target = call.take_first();
    let Some(target) = parse_word(&target) else {
        let found = text::one_line(&target, 60);
        let problem = format!("expected a word of next_phase, found “{found}”");
        return Err(call.usage(problem, &legal_words()));
    };
    let held = call.open(Actor::Hook)?;
    let raw = held.raw();
    let id = held.id();
    let now = held.phase();
    if now == target {
        out::line(&format!("Plan {id} is at {} already.", word(target)));
        return call.print_instruction(&held);
    }
    let tried = format!("advance {}", word(target));
    let refused = |why: String| {
        attempts::note(raw.store(), id, call.actor, &tried, &why);
        let problem = format!("cannot advance to {}: {why}", word(target));
        refuse(&held, &problem)
    };
    if context::target(now) != Some(target) {
        let at = word(now);
        let why = format!("it is at {at}, from where no advance leads there");
        return Err(refused(why));
    }
    let directory = call.directory(&held)?;
    let violations = stops::violations(raw, &directory);
    if !violations.is_empty() {
        let lines: Vec<String> = violations.iter().map(|one| format!("\n- {one}")).collect();
        let why = format!("its files have problems:{}", lines.concat());
        return Err(refused(why));
    }
    let transition = work::transition(raw, &directory).map_err(|missing| refused(missing.what))?;
    let run = |held: AnyLoop| Ok(work::take(held, transition));
    let now = call.program.change_held(&tried, held, run)?;
    call.print_instruction(&now)
}
