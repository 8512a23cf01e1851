//! `new-plan` and `continue-plan`.

use clap::ArgMatches;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{adopt, consent, locate, loops, out, start};
use claudex_loop::store::{IdForm, LoopId, StartError, StoreError};
use claudex_loop::{Actor, Beginning, Store};

use super::limits::MOST;
use super::look::{self, Plan};
use super::{Call, shown, take_up};
use crate::context::{self, stored};
use crate::entered;
use crate::next::Step;
use crate::typestate::{Mode, Start};

/// Most characters of an id that is made of a description.
const LONGEST: usize = 40;

/// Starts a plan.
pub(super) fn new_plan(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    call.persons_only()?;
    let (max_reviews, tdd, description) = settings(&call)?;
    if description.trim().is_empty() {
        let help = "say what it is about:\n    taskie new-plan max_reviews=4 tdd=true DESCRIPTION";
        return Err(call.usage("a plan needs a description".to_owned(), help));
    }
    if description.len() > start::LONGEST {
        let what = format!(
            "the description is {} bytes long, and {} are the most",
            description.len(),
            start::LONGEST
        );
        return Err(call.usage(
            what,
            "put the details into a file of the project and name it there",
        ));
    }
    let store = locate::for_start(info.state, &loops::here()?);
    let session = call
        .caller
        .session
        .clone()
        .unwrap_or_else(|| "unknown".to_owned());
    let words = id_of(description);
    // A directory that is there is another plan's, also where two start at once.
    for at in 1.. {
        let name = if at == 1 {
            words.clone()
        } else {
            format!("{words}-{at}")
        };
        let id = match LoopId::parse(&name, IdForm::Name) {
            Ok(id) => id,
            // The engine keeps a few names for itself.
            Err(_) if at == 1 => continue,
            Err(_) => break,
        };
        if is_taken(&store, &id) {
            continue;
        }
        let begin = Start {
            mode: Mode::Plan,
            max_reviews,
            tdd,
            description: description.to_owned(),
        };
        let how = Beginning {
            id: Some(id),
            ..Beginning::now(session.clone())
        };
        return match begin.begin(&store, how, call.actor) {
            Ok(held) => {
                store.log(&format!("{} start by {}", held.id(), call.actor));
                call.entered(&held)?;
                out::line(&format!("Plan {} is at new-plan.\n", held.id()));
                call.say(&held)
            }
            Err(StartError::Store(StoreError::Active { .. } | StoreError::NotOurs { .. })) => {
                continue;
            }
            Err(error) => Err(start::refused(info, error)),
        };
    }
    Err(call.refused(
        "no name is free for the plan".to_owned(),
        "move plans that are over out of .taskie/plans",
    ))
}

/// Returns what stands before the description: `max_reviews=N` and `tdd=true`, in any order; and the description, byte for byte.
fn settings(call: &Call) -> Result<(Option<u64>, Option<bool>, &str), Failure> {
    let (mut max_reviews, mut tdd) = (None, None);
    let mut rest = call.words.trim_start();
    loop {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if let Some(number) = word.strip_prefix("max_reviews=") {
            let parsed = number.parse().ok().filter(|number| *number <= MOST);
            max_reviews = Some(parsed.ok_or_else(|| {
                let what = format!(
                    "max_reviews is “{}”, and takes a whole number from 0 to {MOST}",
                    shown(number)
                );
                call.usage(
                    what,
                    "for example: max_reviews=4; without it there are at most 8 reviews per cycle",
                )
            })?);
        } else if let Some(flag) = word.strip_prefix("tdd=") {
            tdd = Some(flag.parse().map_err(|_| {
                call.usage(
                    format!("tdd is “{}”, and takes true or false", shown(flag)),
                    "for example: tdd=true",
                )
            })?);
        } else {
            return Ok((max_reviews, tdd, rest));
        }
        rest = after.trim_start();
    }
}

/// Makes an id of the first words of a description.
fn id_of(description: &str) -> String {
    let mut id = String::new();
    for letter in description.chars() {
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_alphanumeric() => id.push(letter),
            _ if !id.is_empty() && !id.ends_with('-') => id.push('-'),
            _ => {}
        }
        if id.len() >= LONGEST {
            break;
        }
    }
    match id.trim_matches('-') {
        "" => "plan".to_owned(),
        id => id.to_owned(),
    }
}

fn is_taken(store: &Store, id: &LoopId) -> bool {
    let folder = store
        .path_of(id)
        .parent()
        .is_some_and(|folder| folder.symlink_metadata().is_ok());
    folder || store.loop_folder(id).symlink_metadata().is_ok()
}

/// Prints the next step. Takes the plan over into this session, and takes up a directory without a journal.
pub(super) fn continue_plan(
    info: &'static ProgramInfo,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    let mut plan = Plan::of(&call)?;
    let mut next = plan.next();
    let is_over = matches!(next.step, Step::Finished | Step::Refuse | Step::Restore);
    if plan.held.is_none() && !is_over {
        let held = take_up::take_up(&call, &plan.root, &plan.id, &plan.directory)?;
        out::line(&format!(
            "Plan {} was taken up at {}.",
            plan.id,
            stored(held.phase())
        ));
        // A plan that had no state has one now, and the row stays the one that says why.
        plan.held = Some(held);
        if next.row != "C26" {
            next = plan.next();
        }
    } else if !is_over {
        take_over(&call, &plan)?;
    }
    if let Some(held) = &plan.held {
        // A kill may have come between the document and what it does not say.
        entered::taken_up(held)
            .map_err(|why| call.refused(format!("plan {}: {why}", plan.id), "try again"))?;
    }
    let target = plan
        .held
        .as_ref()
        .and_then(|held| context::target(held.phase()))
        .map(stored);
    look::tell(&plan, &next, target);
    Ok(match next.step {
        Step::Refuse => Exit::Refused,
        _ => Exit::Complete,
    })
}

/// Takes a plan over into the session that continues it. If another session may still be at work on it, the user is asked.
fn take_over(call: &Call, plan: &Plan) -> Result<(), Failure> {
    let (Some(held), Some(session)) = (&plan.held, &call.caller.session) else {
        return Ok(());
    };
    if held.raw().text("session_id") == *session {
        // Of several plans of this session, its stops drive the one that was touched last.
        let _ = held.raw().store().touch(&plan.id);
        return Ok(());
    }
    if call.actor != Actor::Person {
        return Ok(());
    }
    let again = format!("adopt {}", plan.id);
    if !consent::to_take_over(call.info, &plan.id, &again)? {
        return Err(call.refused(
            format!("plan {} stays with its session", plan.id),
            "nothing was changed",
        ));
    }
    let held = call.open(call.actor)?;
    adopt::adopt_held(held.raw()).map(drop)
}
