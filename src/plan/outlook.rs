//! Where a plan loop stands: what it waits for, what the agent does next, and what it was told to do.

use jiff::Timestamp;

use crate::app::told::Outlook;
use crate::drive;
use crate::drive::observe::{RequireFileSeen, require_file};
use crate::machine::message::Message;
use crate::plan::messages::{self, Facts};
use crate::plan::typestate::{DecisionSignal, TABLE};
use crate::plan::{AnyLoop, Phase, changes};
use crate::review::personas::Personas;
use crate::review::runs::{How, Run};
use crate::text;

/// Where a loop stands, with the runs that its journal tells of, and whether one is under way.
pub fn of(held: &AnyLoop, runs: &[Run], running: bool) -> Outlook {
    let (id, fields) = (held.id(), held.fields());
    let (plan, round) = (text::shown(fields.subject()), fields.round());
    let (waits_for, next) = match held.phase() {
        Phase::Drafting if is_drafted(held) => (
            "the agent, to end its turn".to_owned(),
            format!("end the turn: {plan} is written"),
        ),
        Phase::Drafting => (
            format!("the agent, to write {plan}"),
            format!("write {plan}, then end the turn"),
        ),
        Phase::Reviewing if running => (
            format!("the review of round {round}, which is running"),
            format!("follow it:\n    claudex-loop review {id} --follow"),
        ),
        Phase::Reviewing => {
            let verdict = runs
                .iter()
                .rev()
                .filter(|run| run.began.round == round)
                .find_map(|run| run.ended.as_ref().filter(|how| how.digest().is_some()));
            match verdict {
                Some(How::Clean { .. }) => (
                    "the agent, to end its turn".to_owned(),
                    "end the turn: the reviewer found nothing".to_owned(),
                ),
                Some(_) if changes::are_reviewed(held) => (
                    format!("the agent, to read the findings of round {round}"),
                    "read the findings and end the turn".to_owned(),
                ),
                Some(_) => (
                    format!("the agent, to deal with the findings of round {round}"),
                    format!("revise {plan} and end the turn, or:\n    claudex-loop mark-done {id}"),
                ),
                None => (
                    format!("the review of round {round}"),
                    format!("run the review:\n    claudex-loop review {id}"),
                ),
            }
        }
        Phase::Summarizing => (
            "the agent, to print the summary".to_owned(),
            "print the summary and end the turn".to_owned(),
        ),
        phase if phase.is_terminal() => ("nothing".to_owned(), "nothing: the loop is over".to_owned()),
        // A phase that machine.toml gains says itself what it waits for, and what it is for.
        phase => {
            let (what, verbs) = drive::words::outlook(held.raw());
            let next = match verbs.is_empty() {
                true => phase.info().doc.to_owned(),
                false => format!("a person goes on with:{}", drive::words::lines(&verbs)),
            };
            (what, next)
        }
    };
    Outlook { waits_for, next }
}

/// Whether the plan was written, so that the next stop begins the rounds.
fn is_drafted(held: &AnyLoop) -> bool {
    require_file(held.raw(), "{subject}", "{subject_before}")
        .is_ok_and(|looked| matches!(looked.seen, RequireFileSeen::Written))
}

/// What the block said that opened the round, or that handed out the summary, for an agent that has lost it. None where
/// there is nothing to say that [`of`] does not.
pub fn again(held: &AnyLoop, personas: &Personas, now: Timestamp) -> Option<String> {
    let message = match held.phase() {
        Phase::Summarizing => {
            let transition = match held.fields().decision_signal() {
                DecisionSignal::NoMaterialFindings => "accept",
                _ => "overrun",
            };
            let mut edges = TABLE.edges.iter();
            edges.find(|edge| edge.transition == transition)?.words(&TABLE)
        }
        phase => phase.info().message,
    };
    let render = |message: Message| {
        messages::for_mode(message, held)
            .render(&Facts::of(held, personas, now))
            .ok()
    };
    match message {
        Some(message) => render(message),
        None => drive::words::here(held.raw()).ok().flatten(),
    }
}
