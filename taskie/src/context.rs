//! The variables of messages in addition to the fields, and the words of `next_phase`.

use claudex_loop::machine::Raw;
use claudex_loop::program::{Variables, loops};
use claudex_loop::review::evidence::Round;
use claudex_loop::text;
use serde_json::json;

use crate::files::Directory;
use crate::files::name::{Group, Name};
use crate::typestate::PHASES;
use crate::{Phase, stops, work};

pub(crate) fn variables(raw: &Raw) -> Variables {
    let dir = shown_dir(raw);
    let path = |name: Name| format!("{dir}/{name}");
    let review = review_to_answer(raw);
    let directory = stops::directory(raw).unwrap_or_default();
    let missing = work::transition(raw, &directory).err().filter(|missing| {
        missing.reminds && (phase(raw) != Phase::NewPlan || directory.has(Name::Plan))
    });
    let variables = json!({
        "missing": missing.map(|missing| missing.what),
        "outdated": is_outdated(raw),
        "changed": work::changed_file(raw, &directory),
        "dir": dir,
        "review": review.map(|(group, number)| path(Name::Review(group, number))),
        "answer": review.map(|(group, number)| path(Name::PostReview(group, number))),
        "target": target(phase(raw)).map(word),
        "task": task(raw, &directory),
    });
    variables.as_object().cloned().unwrap_or_default()
}

/// Returns a plan's directory, from the project's root.
pub(crate) fn dir(raw: &Raw) -> String {
    format!(".taskie/plans/{}", raw.id())
}

/// Returns the directory for a message: in a subfolder of the project, its absolute path.
fn shown_dir(raw: &Raw) -> String {
    let root = raw.root();
    match loops::current_folder() {
        Ok(here) if here != root => text::printable(root.join(dir(raw))),
        _ => dir(raw),
    }
}

pub(crate) fn phase(raw: &Raw) -> Phase {
    PHASES[raw.phase()]
}

/// Returns whether the subject changed after it passed.
pub(crate) fn is_outdated(raw: &Raw) -> bool {
    let review = phase(raw).review();
    let round = review.and_then(|spec| Round::read(raw, spec).ok());
    round.is_some_and(|round| round.is_outdated())
}

/// Returns the phase that an agent's advance leads to, or `None` if there is nothing to advance.
pub(crate) fn target(phase: Phase) -> Option<Phase> {
    Some(match phase {
        Phase::NewPlan | Phase::PostPlanReview => Phase::PlanReview,
        Phase::CreateTasks | Phase::PostTasksReview => Phase::TasksReview,
        Phase::CompleteTask | Phase::CompleteTaskTdd | Phase::PostCodeReview => Phase::CodeReview,
        Phase::PostAllCodeReview => Phase::AllCodeReview,
        _ => return None,
    })
}

/// Returns the word of a phase in `next_phase`.
pub(crate) fn word(phase: Phase) -> &'static str {
    phase.info().name
}

/// Reads a word of `next_phase`, also of the bash version. Returns `None` for an unknown word.
pub(crate) fn parse_word(text: &str) -> Option<Phase> {
    match text {
        "next-task" => Some(Phase::CompleteTask),
        "next-task-tdd" => Some(Phase::CompleteTaskTdd),
        "continue-plan" | "add-task" => Some(Phase::Standalone),
        _ => {
            let mut phases = PHASES.iter().copied();
            phases.find(|phase| *phase != Phase::Standalone && word(*phase) == text)
        }
    }
}

/// Returns the sentence part that lists the words of `next_phase`.
pub(crate) fn legal_words() -> String {
    let phases = PHASES.iter().filter(|phase| **phase != Phase::Standalone);
    let words: Vec<&str> = phases.map(|phase| word(*phase)).collect();
    format!(
        "the legal words are null, {}, next-task, next-task-tdd, continue-plan, add-task",
        words.join(", ")
    )
}

/// Returns the group and number of the review that the agent must answer in this phase.
pub(crate) fn review_to_answer(raw: &Raw) -> Option<(Group, u64)> {
    let is_post = phase(raw).review().is_none();
    let group = group(raw, phase(raw)).filter(|_| is_post)?;
    Some((group, raw.count("review_file")))
}

/// Returns the group of the reviews of a phase, or of those that are answered in it.
pub(crate) fn group(raw: &Raw, phase: Phase) -> Option<Group> {
    Some(match phase {
        Phase::PlanReview | Phase::PostPlanReview => Group::Plan,
        Phase::TasksReview | Phase::PostTasksReview => Group::Tasks,
        Phase::CodeReview | Phase::PostCodeReview => Group::TaskCode(raw.count("current_task")),
        Phase::AllCodeReview | Phase::PostAllCodeReview => Group::AllCode,
        _ => return None,
    })
}

/// Returns the number of the current task, or else of the next one.
pub(crate) fn task(raw: &Raw, directory: &Directory) -> Option<u64> {
    match phase(raw) {
        // A task whose row is done, but whose subtasks are not, is still current.
        Phase::CompleteTask | Phase::CompleteTaskTdd => {
            work::newest_done(raw, directory).or_else(|| directory.next_task())
        }
        _ => Some(raw.count("current_task")).filter(|task| *task > 0),
    }
}
