//! `advance TARGET [PLAN]`: takes the transition that a stop would take, if the work is complete.

use claudex_loop::Actor;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{attempts, loops, messages, out};

use clap::ArgMatches;

use super::{Call, phase_word, shown};
use crate::context::{self, stored};
use crate::next::WORDS;
use crate::stops;
use crate::typestate::TABLE;
use crate::{Phase, work};

/// Advances.
pub(super) fn advance(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let call = Call::of(info, matches)?;
    // The seed's names of the work targets.
    let target = match call.first.as_str() {
        "next-task" => "complete-task",
        "next-task-tdd" => "complete-task-tdd",
        target => target,
    };
    if !WORDS.contains(&target) {
        let what = format!("“{}” is no word of next_phase", shown(target));
        return Err(call.usage(what, &format!("they are {}", WORDS.join(", "))));
    }
    let held = call.open(Actor::Hook)?;
    let (store, id, by) = (
        held.raw().store().clone(),
        held.id().clone(),
        call.caller.actor(false),
    );
    let now = held.phase();
    if phase_word(held.raw()) == target {
        out::line(&format!("Plan {id} is at {target} already."));
        return call.say(&held);
    }
    let refused = |why: String| {
        attempts::note(&store, &id, by, &format!("advance {target}"), &why);
        call.refused(
            format!("plan {id} cannot go on to {target}: {why}"),
            &instead(now, target, id.as_str()),
        )
    };
    if context::target(now).map(stored) != Some(target) {
        let at = phase_word(held.raw());
        return Err(refused(format!(
            "it is at {at}, from where no advance leads there"
        )));
    }
    let settings = loops::settings(info, store.root(), None)?;
    let _ = held
        .raw()
        .told()
        .permissions
        .set(settings.permissions(Actor::Hook));
    let directory = stops::directory(held.raw())
        .map_err(|error| refused(format!("its directory cannot be read: {error}")))?;
    let broken = stops::broken(&held, &directory);
    if !broken.is_empty() {
        let all: Vec<String> = broken.iter().map(|one| format!("- {one}")).collect();
        return Err(refused(format!(
            "its files have problems:\n{}",
            all.join("\n")
        )));
    }
    let work = work::look(&held, &directory).map_err(|missing| refused(missing.what))?;
    match work::take(held, work) {
        Ok(now) => {
            store.log(&format!(
                "{id} advance by {by}: now {}",
                messages::phase(now.raw()).name
            ));
            call.entered(&now)?;
            call.say(&now)
        }
        Err(error) => Err(refused(error.to_string())),
    }
}

/// Returns the phases from which a target is legal, and the command that leads on from here.
fn instead(now: Phase, target: &str, id: &str) -> String {
    let phases = TABLE
        .phases
        .iter()
        .filter_map(|phase| phase.name.parse().ok());
    let from = phases
        .filter(|from| context::target(*from).map(stored) == Some(target))
        .map(stored);
    let from: Vec<&str> = from.collect();
    let legal = match from.is_empty() {
        true => format!("only a review or the user leads to {target}"),
        false => format!("an agent may advance to {target} from {}", from.join(", ")),
    };
    let here = match context::target(now) {
        Some(next) => {
            format!(
                "once the work is there:\n    {} advance {} {id}",
                TABLE.state.program,
                stored(next)
            )
        }
        None => format!("what is next here:\n    {} next {id}", TABLE.state.program),
    };
    format!("nothing was changed; {legal}; {here}")
}
