//! The next action in a loop of any machine, and the commands that change it.

use super::app::Program;
use super::exit::with_help;
use super::extension::NextAction;
use super::info::ProgramInfo;
use super::rounds;
use crate::behaviours::loop_message::{self, AvailableVerb};
use crate::behaviours::observe::require_file;
use crate::machine::LoopHandle;
use crate::machine::table::BehaviourInfo;
use crate::machine::{Actor, EdgeAt, LoopFacts as _, PhaseDeclaration as _, Raw, Requirement};
use crate::review::ReviewSpec;
use crate::review::evidence::Round;
use crate::review::subject::{self, SubjectText};
use crate::text;

const MAX_COMMANDS: usize = 6;

pub(super) fn describe(program: &Program, held: &dyn LoopHandle) -> NextAction {
    let info = program.info;
    let raw = held.raw();
    let phase = raw.phase_info();
    if phase.terminal {
        return NextAction::new("nothing", "nothing: the loop is over");
    }
    if raw.store().is_paused(raw.id()) {
        let resume = info.command(&format!("resume {}", raw.id()));
        let next = format!("the user continues it:{resume}");
        return NextAction::new("the user, who paused it", next);
    }
    let violations = raw.violations();
    if !violations.is_empty() {
        let plain = |one: &String| text::one_line(one, 300).trim_end_matches('.').to_owned();
        let violations: Vec<String> = violations.iter().map(plain).collect();
        let fix = format!("a fix of these violations: {}", violations.join("; "));
        return NextAction::new(fix, "fix that, then end the turn");
    }
    if let Some(own) = program.extension.next_action(held) {
        return own;
    }
    if let Some(spec) = phase.review() {
        return run_review(info, raw, spec);
    }
    let question = program.question(held);
    if let Some(behaviour) = &phase.on_stop {
        let ends_turn = match behaviour.name {
            "require-file" => return write_file(raw, behaviour),
            "approve" | "announce" => true,
            "ask" => question == Ok(None),
            _ => false,
        };
        if ["run", "wait-for"].contains(&behaviour.name) {
            let event = loop_message::awaited_event(raw, None);
            return NextAction::new(event, "end the turn: the next stop looks again");
        }
        if ends_turn {
            let next = "do what the loop said last, then end the turn";
            return NextAction::new("the agent, to end its turn", next);
        }
    }
    let asked = question.ok().flatten();
    let mut commands = Vec::from_iter(asked.as_ref().map(|_| loop_message::answer_line(raw)));
    commands.extend(open_commands(info, raw, |verb| verb.person));
    let next = if commands.is_empty() {
        text::one_line(phase.doc, 200)
    } else {
        format!("the user continues it:{}", text::command_lines(&commands))
    };
    NextAction::new(loop_message::awaited_event(raw, asked.as_ref()), next)
}

fn end_turn(why: &str) -> NextAction {
    NextAction::new("the agent, to end its turn", format!("end the turn: {why}"))
}

fn write_file(raw: &Raw, behaviour: &BehaviourInfo) -> NextAction {
    let path = behaviour.parameter("path").unwrap_or_default();
    let before = behaviour.parameter("before").unwrap_or_default();
    let name = text::printable(raw.fill(path));
    if require_file(raw, path, before).is_ok_and(|is_written| is_written.seen) {
        return end_turn(&format!("{name} is written"));
    }
    let next = format!("write {name}, then end the turn");
    NextAction::new(format!("the agent, to write {name}"), next)
}

fn run_review(info: &ProgramInfo, raw: &Raw, spec: &ReviewSpec) -> NextAction {
    let review = format!("{} review {}", info.program, raw.id());
    let of = rounds::name(raw, spec);
    if raw.store().is_running(raw.id()) {
        let next = format!("follow it:\n    {review} --follow");
        return NextAction::new(format!("the review of {of}, which is running"), next);
    }
    if let Some(edge) = decided(raw) {
        let to = raw.table().phases[edge.to].name;
        return end_turn(&format!("the loop continues with {to}"));
    }
    let round = Round::read(raw, spec).ok();
    let verdict = round.as_ref().and_then(Round::verdict);
    let blocks = |run| round.as_ref().is_some_and(|round| round.blocks(run));
    if verdict.is_none()
        && !subject::has_changes(raw, spec)
        && let Err(error) = SubjectText::read(raw, spec, false)
    {
        let what = format!("{}, which cannot be reviewed", subject::title(raw, spec));
        return NextAction::new(what, with_help(&error));
    }
    match verdict {
        None => NextAction::new(
            format!("the review of {of}"),
            format!("run the review:\n    {review}"),
        ),
        Some(run) if run.findings().is_empty() => end_turn("the reviewer found nothing"),
        Some(run) if !blocks(run) => end_turn("nothing that the reviewer found blocks"),
        Some(_) if subject::has_changes(raw, spec) => NextAction::new(
            format!("the agent, to read the findings of {of}"),
            "read the findings and end the turn",
        ),
        Some(_) => {
            let subject = subject::title(raw, spec);
            let edges = raw.open_edges().into_iter().filter(is_mark);
            let commands = edges.map(|edge| loop_message::command_line(raw, &edge));
            let marks: String = commands.map(|mark| format!(", or:\n    {mark}")).collect();
            let next = format!("revise {subject} and end the turn{marks}");
            NextAction::new(
                format!("the agent, to deal with the findings of {of}"),
                next,
            )
        }
    }
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

/// Returns the commands of the open verbs, those without arguments also as slash commands.
fn open_commands(
    info: &ProgramInfo,
    raw: &Raw,
    is_wanted: impl Fn(&AvailableVerb) -> bool,
) -> Vec<String> {
    let mut verbs = loop_message::available_verbs(raw);
    verbs.retain(is_wanted);
    let mut commands = Vec::new();
    for verb in verbs.into_iter().take(MAX_COMMANDS) {
        if verb.is_plain {
            let name = verb.transition.replace('_', "-");
            commands.extend(info.slash(&format!("{name} {}", raw.id())));
        }
        commands.push(verb.command);
    }
    commands
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
    let mut verbs = loop_message::available_verbs(raw);
    verbs.retain(|verb| verb.agent || raw.actor() != Actor::Agent);
    commands.extend(verbs.into_iter().map(|verb| verb.command));
    text::command_lines(&commands)
}
