//! `advance TARGET [PLAN]`: takes the transition that a stop would take, if the work is complete.

use claudex_loop::Actor;
use claudex_loop::machine::LoopFacts as _;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{attempts, loops, out};
use claudex_loop::text;

use super::Call;
use crate::context::{self, legal_words, parse_word, word};
use crate::stops;
use crate::typestate::PHASES;
use crate::{Phase, work};

/// Advances.
pub(super) fn advance(mut call: Call) -> Result<Exit, Failure> {
    let target = call.take_first();
    let Some(target) = parse_word(&target) else {
        let what = format!("“{}” is no word of next_phase", text::one_line(&target, 60));
        return Err(call.usage(what, &legal_words()));
    };
    let held = call.open(Actor::Hook)?;
    let raw = held.raw();
    let id = held.id().clone();
    let now = held.phase();
    if now == target {
        out::line(&format!("Plan {id} is at {} already.", word(target)));
        return call.say(&held);
    }
    let store = raw.store().clone();
    let refused = |why: String| {
        let tried = format!("advance {}", word(target));
        attempts::note(&store, &id, call.actor, &tried, &why);
        let what = format!("plan {id} cannot go on to {}: {why}", word(target));
        call.refused(what, &alternatives(target, id.as_str()))
    };
    if context::target(now) != Some(target) {
        let at = word(now);
        return Err(refused(format!(
            "it is at {at}, from where no advance leads there"
        )));
    }
    let settings = loops::settings(call.info, store.root(), None)?;
    let permissions = settings.permissions(Actor::Hook);
    let _ = raw.told().permissions.set(permissions);
    let directory = call.directory(&held)?;
    let violations = stops::violations(raw, &directory);
    if !violations.is_empty() {
        let lines: Vec<String> = violations.iter().map(|one| format!("\n- {one}")).collect();
        let why = format!("its files have problems:{}", lines.concat());
        return Err(refused(why));
    }
    let transition = work::look(raw, &directory).map_err(|missing| refused(missing.what))?;
    let now = work::take(held, transition).map_err(|error| refused(error.to_string()))?;
    call.entered(&now)?;
    call.say(&now)
}

/// Returns the help of a refusal: the phases from which a target is legal, and `next`.
fn alternatives(target: Phase, id: &str) -> String {
    let leads_there = |from: &&Phase| context::target(**from) == Some(target);
    let phases = PHASES.iter().filter(leads_there);
    let from: Vec<&str> = phases.map(|from| word(*from)).collect();
    let target = word(target);
    let legal = match from.is_empty() {
        true => format!("only a review or the user leads to {target}"),
        false => format!("an agent may advance to {target} from {}", from.join(", ")),
    };
    format!("nothing was changed; {legal}; what is next:\n    taskie next {id}")
}
