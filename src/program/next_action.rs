//! The next action in a loop of any machine, and the commands that change it.

use serde_json::{Value as Json, json};

use super::app::Program;
use super::caller::Caller;
use super::exit::with_help;
use super::extension::NextAction;
use super::info::ProgramInfo;
use super::locate::is_for_any_session;
use super::{loops, rounds};
use crate::behaviours::loop_message::{self, AvailableVerb};
use crate::behaviours::observe::require_file;
use crate::machine::{
    Actor, EdgeAt, LoopFacts as _, LoopHandle, PhaseDeclaration as _, Raw, Requirement,
};
use crate::message::{Message, Render as _};
use crate::review::ReviewSpec;
use crate::review::evidence::{EvidencePolicy, Round};
use crate::review::subject::{self, SubjectText};
use crate::{template, text};

const MAX_COMMANDS: usize = 6;

/// The text whose first line is what a loop waits for; the rest is the next step.
const NEXT_ACTION: Message = template!("next_action.txt");

pub(super) fn describe(program: &Program, held: &dyn LoopHandle) -> NextAction {
    let info = program.info;
    let raw = held.raw();
    let phase = raw.phase_info();
    let is_paused = raw.store().is_paused(raw.id());
    if !phase.terminal {
        raw.set_violations(program.app.violations(held));
    }
    let plain = |one: &String| text::one_line(one, 300).trim_end_matches('.').to_owned();
    let violations: Vec<String> = raw.violations().iter().map(plain).collect();
    let is_open = !phase.terminal && !is_paused && violations.is_empty();
    if is_open && let Some(own) = program.extension.next_action(held) {
        return own;
    }
    let review = phase.review().filter(|_| is_open);
    let question = program.question(held);
    let has_question = question != Ok(None);
    let asked = question.ok().flatten();
    let mut commands = Vec::from_iter(asked.as_ref().map(|_| loop_message::answer_line(raw)));
    commands.extend(open_commands(info, raw, |verb| verb.person));
    let behaviour = phase.on_stop.as_ref();
    let parameter = |name| behaviour.and_then(|one| one.parameter(name));
    let path = parameter("path");
    let before = parameter("before").unwrap_or_default();
    let file = path.map(|path| require_file(raw, path, before));
    let facts = json!({
        "program": info.program,
        "id": raw.id().as_str(),
        "is_over": phase.terminal,
        "resume": is_paused.then(|| info.command(&format!("resume {}", raw.id()))),
        "violations": text::one_line(&violations.join("; "), 600),
        "review": review.map(|spec| review_facts(raw, spec)),
        "behaviour": behaviour.map(|one| one.name),
        "file": path.map(|path| text::printable(raw.fill(path))),
        "is_written": file.is_some_and(|file| file.is_ok_and(|file| file.seen)),
        "event": loop_message::awaited_event(raw, asked.as_ref()),
        "has_question": has_question,
        "is_for_any": is_for_any_session(raw.table(), raw.phase()),
        "commands": text::command_lines(&commands),
        "doc": phase.doc,
    });
    let rendered = NEXT_ACTION.render(&facts);
    let text = rendered.unwrap_or_else(|error| error.to_string());
    let text = text.trim_end();
    let (waits_for, next) = text.split_once('\n').unwrap_or((text, ""));
    NextAction::new(waits_for, next)
}

/// Returns the next action. If another session has the loop, that is to take it over.
pub(super) fn for_caller(program: &Program, held: &dyn LoopHandle) -> NextAction {
    let raw = held.raw();
    let mut action = describe(program, held);
    if let Some(caller) = Caller::from_env().session
        && !raw.phase_info().terminal
        && !is_for_any_session(raw.table(), raw.phase())
        && loops::owner(raw).is_some_and(|owner| owner != caller)
    {
        let adopt = program.info.command(&format!("adopt {}", raw.id()));
        action.next =
            format!("another session has this loop; to take it over into this one:{adopt}");
    }
    action
}

fn review_facts(raw: &Raw, spec: &ReviewSpec) -> Json {
    let round = Round::read(raw, spec).ok();
    let verdict = round.as_ref().and_then(Round::verdict);
    let has_changes = subject::has_changes(raw, spec);
    let mut problem = None;
    if verdict.is_none() && !has_changes {
        let error = SubjectText::read(raw, spec, false).err();
        problem = error.map(|error| with_help(&error));
    }
    let reviewed = round.as_ref().zip(verdict);
    let blocks = reviewed.is_some_and(|(round, run)| round.blocks(run));
    let is_current = reviewed.is_some_and(|(round, run)| round.is_current(run));
    let mut marks = raw.open_edges();
    marks.retain(|edge| is_current && is_mark(edge));
    let why = if blocks { " --rejecting \"WHY\"" } else { "" };
    let marks = marks
        .iter()
        .map(|edge| loop_message::command_line(raw, edge) + why);
    json!({
        "name": rounds::name(raw, spec),
        "subject": subject::title(raw, spec),
        "has_changes": has_changes,
        "is_running": raw.store().is_running(raw.id()),
        "continues_with": decided(raw).map(|edge| raw.table().phases[edge.to].name),
        "problem": problem,
        "findings": verdict.map(|run| run.findings().len()),
        "blocks": blocks,
        "marks": marks.collect::<Vec<_>>(),
    })
}

/// Returns whether an agent declares by this edge that no finding is open.
fn is_mark(edge: &EdgeAt) -> bool {
    edge.by.contains(&Actor::Agent) && edge.requires == Some(Requirement::Settled)
}

/// Returns the edge of the next stop if the agent has declared that no finding is open.
fn decided(raw: &Raw) -> Option<EdgeAt> {
    let open = raw.open_edges();
    let mut here = raw.table().edges().filter(|edge| edge.from == raw.phase());
    let was_marked = here.any(|edge| is_mark(&edge)) && !open.iter().any(is_mark);
    let mut open = open.into_iter().filter(|_| was_marked);
    open.find(|edge| {
        edge.to != edge.from && edge.by.is_empty() && edge.requires == Some(Requirement::Reviewed)
    })
}

/// Returns the note for the user about a waiting loop: the next action and other commands.
pub(super) fn waiting(program: &Program, held: &dyn LoopHandle) -> String {
    let raw = held.raw();
    let action = describe(program, held);
    let id = raw.id();
    let next = &action.next;
    let waits_for = &action.waits_for;
    let note = format!("loop {id} waits for {waits_for}. Next: {next}");
    let mut commands = open_commands(program.info, raw, |_| true);
    commands.retain(|command| !next.contains(&**command));
    if commands.is_empty() || program.extension.next_action(held).is_some() {
        return note;
    }
    let end = if next.contains('\n') { "\n" } else { ". " };
    let sentence = note.trim_end_matches('.');
    let commands = text::command_lines(&commands);
    format!("{sentence}{end}You can also run:{commands}")
}

/// Returns the verbs that can be taken now: those that rest on a review only after its verdict.
fn possible_verbs(raw: &Raw) -> Vec<AvailableVerb> {
    let mut verbs = loop_message::available_verbs(raw);
    let spec = raw.phase_info().review();
    let round = spec.and_then(|spec| Round::read(raw, spec).ok());
    let is_reviewed = round.is_some_and(|round| round.verdict().is_some());
    if !is_reviewed && raw.evidence_policy() == EvidencePolicy::Required {
        let open = raw.open_edges();
        let rests = |name| {
            open.iter()
                .any(|edge| edge.transition == name && edge.requires.is_some())
        };
        verbs.retain(|verb| !rests(verb.transition));
    }
    verbs
}

/// Returns the commands of the open verbs.
fn open_commands(
    info: &ProgramInfo,
    raw: &Raw,
    is_wanted: impl Fn(&AvailableVerb) -> bool,
) -> Vec<String> {
    let mut verbs = possible_verbs(raw);
    verbs.retain(is_wanted);
    let words = verbs.iter().filter_map(|verb| verb.command.split_once(' '));
    let commands = words.map(|(_, words)| info.terminal_and_slash(words, words));
    commands.take(MAX_COMMANDS).collect()
}

/// Returns the help of a refusal: nothing was changed, and the commands that are open now.
pub fn unchanged(raw: &Raw) -> String {
    let phase = raw.phase_info();
    let name = phase.name;
    if phase.terminal {
        return format!("nothing was changed; the loop is {name}");
    }
    let commands = possible_commands(raw);
    if commands.is_empty() {
        return format!(
            "nothing was changed; the loop is in phase {name}, where no command changes it"
        );
    }
    format!("nothing was changed; possible in phase {name}:{commands}")
}

/// Returns the commands that change a loop now: the answer to its question, and open transitions.
pub(super) fn possible_commands(raw: &Raw) -> String {
    let behaviour = raw.phase_info().on_stop.as_ref();
    let asks = behaviour.is_some_and(|one| one.name == "ask");
    let mut commands = Vec::from_iter(asks.then(|| loop_message::answer_line(raw)));
    let mut verbs = possible_verbs(raw);
    verbs.retain(|verb| verb.agent || raw.actor() != Actor::Agent);
    commands.extend(verbs.into_iter().map(|verb| verb.command));
    text::command_lines(&commands)
}
