//! The machine's verbs: whatever transitions its file opens to an agent or a person.

use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::program::{App, Program};
use super::{attempts, loops, out, told};
use crate::drive::{Held, words};
use crate::machine::{Actor, Refusal};
use crate::text;

/// A verb, as the command line has it.
pub(super) fn verb<M: Program>(verb: M::Verb) -> Result<Exit, Failure> {
    let speaker = App::<M>::SPEAKER;
    if M::from_prompt(&verb) {
        return Err(Failure::plain(
            Exit::Usage,
            "claudex::prompt::none",
            "this program keeps no arguments of slash commands".to_owned(),
            "give the loop's id as an argument",
        ));
    }
    let name = M::transition(&verb).replace('_', "-");
    let actor = Caller::from_env().actor(false);
    let (store, id) = loops::find(&speaker, M::id(&verb))?;
    let opened = M::open(&store, &id, actor);
    if loops::can_be_given_up(&opened, M::TABLE, M::transition(&verb)) {
        return loops::give_up(&store, &id);
    }
    let held = loops::opened::<M>(opened)?;
    let now = take::<M>(verb, held)?;
    let raw = now.raw();
    out::line(&format!(
        "Loop {id}: {name}, now in phase {}",
        told::phase(raw).name
    ));
    if told::phase(raw).terminal {
        out::line(&format!(
            "It is over. Its files stay in {}",
            text::shown(store.folder())
        ));
        return Ok(Exit::Complete);
    }
    let Some(edge) = raw.taken() else {
        return Ok(Exit::Complete);
    };
    match words::of(raw, edge) {
        Ok(Some(text)) => out::text(&format!("\n{}\n", text.trim_end())),
        Ok(None) => {}
        Err(error) => out::note(&speaker.line(&error.to_string())),
    }
    Ok(Exit::Complete)
}

/// Takes a verb's transition, and says why where it is refused.
pub(super) fn take<M: Program>(verb: M::Verb, held: M::Any) -> Result<M::Any, Failure> {
    let name = M::transition(&verb).replace('_', "-");
    let (store, id, actor) = {
        let raw = held.raw();
        (raw.store().clone(), raw.id().clone(), raw.actor())
    };
    let now = M::run(verb, held).map_err(|refused| {
        store.log(&format!("{id} {name} refused: {refused}"));
        attempts::refused(&store, &id, actor, &name, &refused.refusal);
        let help = match &*refused.refusal {
            Refusal::Actor { .. } if actor == Actor::Person => format!(
                "nothing was changed: only the agent takes it, from the client’s shell; tell it to run:\n    {} {name} {id}",
                M::NAME
            ),
            Refusal::Actor { .. } => format!(
                "nothing was changed; ask the person to run in a terminal:\n    {} {name} {id}",
                M::NAME
            ),
            _ => told::unchanged(refused.held.raw()),
        };
        Failure::plain(
            Exit::Refused,
            "claudex::verb",
            format!("loop {id}: {refused}"),
            &help,
        )
    })?;
    store.log(&format!(
        "{id} {name} by {actor}: now {}",
        told::phase(now.raw()).name
    ));
    told::clear(now.raw());
    Ok(now)
}
