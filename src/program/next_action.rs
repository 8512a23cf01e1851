//! Where a loop of any machine stands: what it waits for, and what the agent does next.

use super::app::{App, Program};
use super::info::ProgramInfo;
use super::{messages, rounds};
use crate::behaviours::ask::Asked;
use crate::behaviours::observe::{RequireFileSeen, require_file};
use crate::behaviours::words;
use crate::machine::LoopHandle;
use crate::machine::table::BehaviourInfo;
use crate::machine::{Actor, EdgeAt, Raw, Requirement};
use crate::review::runs::{self, RunOutcome};
use crate::review::{ReviewSpec, evidence, subject};
use crate::text;

/// Most ways on that a note for the person names.
const WAYS: usize = 6;

/// Where a loop stands, each a part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextAction {
    /// Names what it waits for.
    pub waits_for: String,
    /// Says what is done next; a command line on a line of its own.
    pub next: String,
}

impl NextAction {
    /// Says what a loop waits for, and what is done next.
    pub fn new(waits_for: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            waits_for: waits_for.into(),
            next: next.into(),
        }
    }
}

/// Returns where a loop stands.
pub(super) fn of<M: App>(program: &Program<M>, held: &M::Any) -> NextAction {
    let (info, raw) = (program.info, held.raw());
    let phase = &raw.table().phases[raw.phase()];
    if phase.terminal {
        return NextAction::new("nothing", "nothing: the loop is over");
    }
    if raw.store().is_paused(raw.id()) {
        let resume = info.command(&format!("resume {}", raw.id()));
        return NextAction::new(
            "the person, who paused it",
            format!("a person goes on with it:{resume}"),
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
            "require-file" => Some(of_file(raw, behaviour)),
            "review" => phase.review.map(|spec| of_review(info, raw, spec)),
            "ask" if asked != Ok(None) => None,
            "approve" | "announce" | "ask" => Some(NextAction::new(
                "the agent, to end its turn",
                "do what the loop said last, then end the turn",
            )),
            _ => None,
        });
    known.unwrap_or_else(|| {
        let asked = asked.ok().flatten();
        let (waits_for, verbs) = words::next_action(raw, asked.as_ref());
        let next = match verbs.is_empty() {
            true => text::one_line(phase.doc, 200),
            false => format!("a person goes on with:{}", words::lines(&verbs)),
        };
        NextAction { waits_for, next }
    })
}

fn of_file(raw: &Raw, behaviour: &BehaviourInfo) -> NextAction {
    let path = behaviour.parameter("path").unwrap_or_default();
    let before = behaviour.parameter("before").unwrap_or_default();
    let shown = text::shown(raw.fill(path));
    let seen = require_file(raw, path, before);
    match seen.is_ok_and(|looked| matches!(looked.seen, RequireFileSeen::Written)) {
        true => NextAction::new(
            "the agent, to end its turn",
            format!("end the turn: {shown} is written"),
        ),
        false => NextAction::new(
            format!("the agent, to write {shown}"),
            format!("write {shown}, then end the turn"),
        ),
    }
}

fn of_review(info: &ProgramInfo, raw: &Raw, spec: &ReviewSpec) -> NextAction {
    let (program, id) = (info.program, raw.id());
    let (round, of) = (raw.count(spec.round), rounds::named(raw, spec));
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
    let of_round = runs.iter().rev().filter(|run| run.is_of(raw, round));
    let mut ended = of_round.filter_map(|run| run.ended.as_ref());
    match ended.find(|how| how.digest().is_some()) {
        Some(RunOutcome::Clean { .. }) => NextAction::new(
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
                subject::shown(raw, spec),
                marks_done(info, raw)
            ),
        ),
        None => NextAction::new(
            format!("the review of {of}"),
            format!("run the review:\n    {program} review {id}"),
        ),
    }
}

/// Returns whether an edge is one by which an agent says that nothing is open any more.
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

/// Returns the lines of the edges by which an agent can say now that nothing is open.
fn marks_done(info: &ProgramInfo, raw: &Raw) -> String {
    let open = raw.open_edges().into_iter().filter(is_mark);
    let ways = open.map(|edge| {
        format!(
            ", or:\n    {} {}",
            info.program,
            words::call(raw.id().as_str(), &edge)
        )
    });
    ways.collect()
}

/// Returns a note for the person when a loop waits: for what, and what they can type.
pub(super) fn waiting(
    info: &ProgramInfo,
    raw: &Raw,
    asked: Option<&Asked>,
    own: Option<&NextAction>,
) -> String {
    let phase = &raw.table().phases[raw.phase()];
    let what = match (phase.review, own) {
        _ if !raw.violations().is_empty() => {
            let violations: Vec<String> = raw
                .violations()
                .iter()
                .map(|one| text::one_line(one, 300).trim_end_matches('.').to_owned())
                .collect();
            format!(
                "what breaks its rules to be mended: {}.",
                violations.join("; ")
            )
        }
        (_, Some(own)) => {
            return format!(
                "loop {} waits for {}. Next: {}",
                raw.id(),
                own.waits_for,
                own.next
            );
        }
        (Some(spec), None) => {
            format!(
                "the review of {}:\n    {} review {}",
                rounds::of_most(raw, spec),
                info.program,
                raw.id()
            )
        }
        (None, None) => {
            let what = words::next_action(raw, asked).0;
            let stop = if what.ends_with(['?', '.', '!']) {
                ""
            } else {
                "."
            };
            format!("{what}{stop}")
        }
    };
    let ways = messages::ways(info, raw);
    let answer = asked.map(|_| words::answering(raw));
    let answer = answer.map(|command| format!("\n    {command}"));
    let ways = ways.iter().take(WAYS).map(|way| {
        let typed = info
            .slash(&format!("{} {}", way.verb, raw.id()))
            .filter(|_| way.is_plain);
        let typed = typed.map(|typed| format!("\n    {typed}"));
        format!("{}\n    {}", typed.unwrap_or_default(), way.command)
    });
    let commands: Vec<String> = answer.into_iter().chain(ways).collect();
    match commands.is_empty() {
        true => format!("loop {} waits for {what}", raw.id()),
        false => format!(
            "loop {} waits for {what}\nA person goes on with:{}",
            raw.id(),
            commands.concat()
        ),
    }
}
