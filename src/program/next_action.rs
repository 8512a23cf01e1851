//! The next action in a loop of any machine.

use super::builder::Program;
use super::extension::NextAction;
use super::info::ProgramInfo;
use super::{messages, rounds};
use crate::behaviours::ask::Asked;
use crate::behaviours::loop_message;
use crate::behaviours::observe::{RequireFileSeen, require_file};
use crate::machine::LoopHandle;
use crate::machine::table::BehaviourInfo;
use crate::machine::{Actor, EdgeAt, LoopFacts as _, PhaseDeclaration as _, Raw, Requirement};
use crate::review::runs::{self, RunOutcome};
use crate::review::{ReviewSpec, evidence, subject};
use crate::text;

/// The most commands that a note for the user names.
const MAX_COMMANDS: usize = 6;

/// Returns the next action in a loop.
pub(super) fn describe(program: &Program, held: &dyn LoopHandle) -> NextAction {
    let info = program.info;
    let raw = held.raw();
    let phase = &raw.table().phases[raw.phase()];
    if phase.terminal {
        return NextAction::new("nothing", "nothing: the loop is over");
    }
    if raw.store().is_paused(raw.id()) {
        let resume = info.command(&format!("resume {}", raw.id()));
        return NextAction::new(
            "the user, who paused it",
            format!("the user continues it:{resume}"),
        );
    }
    if let Some(own) = program.extension.next_action(held) {
        return own;
    }
    let asked = program.question(held);
    let known = phase
        .on_stop
        .as_ref()
        .and_then(|behaviour| match behaviour.name {
            "require-file" => Some(write_file(raw, behaviour)),
            "review" => phase.review().map(|spec| run_review(info, raw, spec)),
            "ask" if asked != Ok(None) => None,
            "approve" | "announce" | "ask" => Some(NextAction::new(
                "the agent, to end its turn",
                "do what the loop said last, then end the turn",
            )),
            _ => None,
        });
    known.unwrap_or_else(|| {
        let asked = asked.ok().flatten();
        let waits_for = loop_message::awaited(raw, asked.as_ref());
        let verbs = loop_message::person_commands(raw, asked.as_ref());
        let next = if verbs.is_empty() {
            text::one_line(phase.doc, 200)
        } else {
            format!("the user continues it:{}", text::command_lines(&verbs))
        };
        NextAction { waits_for, next }
    })
}

fn write_file(raw: &Raw, behaviour: &BehaviourInfo) -> NextAction {
    let path = behaviour.parameter("path").unwrap_or_default();
    let before = behaviour.parameter("before").unwrap_or_default();
    let shown = text::shown(raw.fill(path));
    let seen = require_file(raw, path, before);
    if seen.is_ok_and(|looked| matches!(looked.seen, RequireFileSeen::Written)) {
        NextAction::new(
            "the agent, to end its turn",
            format!("end the turn: {shown} is written"),
        )
    } else {
        NextAction::new(
            format!("the agent, to write {shown}"),
            format!("write {shown}, then end the turn"),
        )
    }
}

fn run_review(info: &ProgramInfo, raw: &Raw, spec: &ReviewSpec) -> NextAction {
    let program = info.program;
    let id = raw.id();
    let of = rounds::named(raw, spec);
    if raw.store().is_running(id) {
        return NextAction::new(
            format!("the review of {of}, which is running"),
            format!("follow it:\n    {program} review {id} --follow"),
        );
    }
    if let Some(edge) = decided(raw) {
        let to = raw.table().phases[edge.to].name;
        return NextAction::new(
            "the agent, to end its turn",
            format!("end the turn: the loop goes on to {to}"),
        );
    }
    let journal = raw.recent().unwrap_or_default();
    let runs = runs::read(&journal);
    let of_round = runs
        .iter()
        .rev()
        .filter(|run| run.is_of(raw, raw.count(spec.round)));
    let mut verdicts = of_round.filter(|run| run.digest().is_some());
    match verdicts.next().and_then(|run| run.outcome()) {
        Some(RunOutcome::Clean) => NextAction::new(
            "the agent, to end its turn",
            "end the turn: the reviewer found nothing",
        ),
        Some(_) if evidence::is_clean(raw, spec) => NextAction::new(
            "the agent, to end its turn",
            "end the turn: nothing that the reviewer found blocks",
        ),
        Some(_) if subject::has_changes(raw, spec) => NextAction::new(
            format!("the agent, to read the findings of {of}"),
            "read the findings and end the turn",
        ),
        Some(_) => NextAction::new(
            format!("the agent, to deal with the findings of {of}"),
            format!(
                "revise {} and end the turn{}",
                subject::title(raw, spec),
                marks_done(raw)
            ),
        ),
        None => NextAction::new(
            format!("the review of {of}"),
            format!("run the review:\n    {program} review {id}"),
        ),
    }
}

/// Returns whether an edge is one by which an agent says that no finding is open.
fn is_mark(edge: &EdgeAt) -> bool {
    edge.by.contains(&Actor::Agent) && edge.requires == Some(Requirement::Settled)
}

/// Returns the edge by which the next stop leaves the phase, if the agent has said that nothing is open: no verdict and no
/// edit changes that.
fn decided(raw: &Raw) -> Option<EdgeAt> {
    let open = raw.open_edges();
    let mut here = raw.table().edges().filter(|edge| edge.from == raw.phase());
    let was_marked = here.any(|edge| is_mark(&edge)) && !open.iter().any(is_mark);
    let mut open = open.into_iter().filter(|_| was_marked);
    open.find(|edge| {
        edge.to != edge.from && edge.by.is_empty() && edge.requires == Some(Requirement::Reviewed)
    })
}

/// Returns the command lines by which an agent can say now that no finding is open.
fn marks_done(raw: &Raw) -> String {
    let open = raw.open_edges().into_iter().filter(is_mark);
    open.map(|edge| format!(", or:\n    {}", loop_message::command_line(raw, &edge)))
        .collect()
}

/// Returns the note for the user about a loop that waits: the reason, and the commands that continue it.
pub(super) fn waiting(
    info: &ProgramInfo,
    raw: &Raw,
    asked: Option<&Asked>,
    own: Option<&NextAction>,
) -> String {
    let id = raw.id();
    let violations = raw.violations();
    if let (Some(own), true) = (own, violations.is_empty()) {
        return format!("loop {id} waits for {}. Next: {}", own.waits_for, own.next);
    }
    let what = match messages::phase(raw).review() {
        _ if !violations.is_empty() => {
            let plain = |one: &String| text::one_line(one, 300).trim_end_matches('.').to_owned();
            let violations: Vec<String> = violations.iter().map(plain).collect();
            format!("a fix of what breaks its rules: {}", violations.join("; "))
        }
        Some(spec) => format!(
            "the review of {}:\n    {} review {id}",
            rounds::of_most(raw, spec),
            info.program
        ),
        None => loop_message::awaited(raw, asked),
    };
    let end = if what.contains('\n') || what.ends_with(['?', '.', '!']) {
        ""
    } else {
        "."
    };
    let mut commands: Vec<String> = asked
        .map(|_| loop_message::answering(raw))
        .into_iter()
        .collect();
    for way in loop_message::ways(raw).into_iter().take(MAX_COMMANDS) {
        let verb = way.transition.replace('_', "-");
        let typed = info.slash(&format!("{verb} {id}"));
        commands.extend(typed.filter(|_| way.is_plain));
        commands.push(way.command);
    }
    let mut note = format!("loop {id} waits for {what}{end}");
    if !commands.is_empty() {
        note += &format!("\nTo continue it:{}", text::command_lines(&commands));
    }
    note
}
