//! The machine's verbs: mark-done, more, cancel, and whatever machine.toml opens to an agent or a person.

use claudex_loop::app::{attempts, loops as any};
use claudex_loop::plan::caller::Caller;
use claudex_loop::plan::settings::{MOST_ROUNDS, Settings, positive};
use claudex_loop::plan::typestate::{DecisionSignal, STATE, TABLE};
use claudex_loop::plan::{AnyLoop, Phase, Transition, Verb, changes, locate, runner, summary};
use claudex_loop::store::LoopId;
use claudex_loop::{Refusal, drive, text};

use super::exit::{Exit, Failure};
use super::loops::{find, find_for, help_after, named, opened};
use super::out;

/// A verb of the machine.
pub(crate) fn verb(mut verb: Verb) -> Result<Exit, Failure> {
    let transition = verb.transition();
    let name = <&str>::from(transition).replace('_', "-");
    let (mut id, actor) = named(verb.id(), verb.from_prompt(), &name)?;
    if let Verb::More {
        rounds, from_prompt, ..
    } = &mut verb
        && *from_prompt
        && let Some(typed) = id.take()
    {
        (id, *rounds) = further(&typed)?;
    }
    let found = match (&id, transition) {
        (None, Transition::More) => find_for(&Caller::from_env()),
        _ => find(id.as_deref()),
    };
    let (store, id) = found.map_err(|failure| match transition {
        Transition::More if id.is_none() => over_instead().unwrap_or(failure),
        _ => failure,
    })?;
    let settings = super::settings_for(transition, store.root())?;
    let result = AnyLoop::open(&store, &id, actor);
    if any::can_be_given_up(&result, &TABLE, <&str>::from(transition)) {
        return any::give_up(&store, &id);
    }
    let held = opened(result)?;
    let now = verb.run(held).map_err(|refused| {
        store.log(&format!("{id} {name} refused: {refused}"));
        attempts::refused(&store, &id, actor, &name, &refused.refusal);
        let help = match (transition, &*refused.refusal) {
            (Transition::More, Refusal::Undeclared { .. } | Refusal::Guard { .. }) => why_no_more(&refused.held),
            (Transition::More, Refusal::Actor { .. }) => format!(
                "{}; ask the person to type /claudex:more, or to run in a terminal:\n    claudex-loop more {id} --rounds N",
                help_after(&refused.held)
            ),
            _ => help_after(&refused.held),
        };
        Failure::plain(
            Exit::Refused,
            "claudex::verb",
            format!("loop {id}: {refused}"),
            &help,
        )
    })?;
    let round = now.fields().round();
    store.log(&format!(
        "{id} {name} by {actor}: now {}, round {round}",
        now.phase()
    ));
    if now.phase().is_terminal() {
        runner::clear(now.raw()).map_err(|error| Failure::new(Exit::Internal, error))?;
    } else if now.phase().review().is_some() {
        runner::write(&now, &settings.personas).map_err(|error| {
            Failure::plain(
                Exit::Internal,
                "claudex::verb::runner",
                format!("loop {id}: {name} was done, and the runner could not be written: {error}"),
                "make room or the folder writable, then:\n    claudex-loop resume",
            )
        })?;
    }
    out::line(&match transition {
        Transition::MarkDone => {
            format!("Loop {id} marked as done. Stop hook will deliver the summary on next fire.")
        }
        Transition::Cancel => format!(
            "Loop {id} cancelled. Its files stay in {}",
            text::shown(store.folder())
        ),
        Transition::More => granted(&now, &settings),
        _ => gone_on(&now, &name),
    });
    Ok(Exit::Complete)
}

/// Where a verb that machine.toml gains has taken a loop, and what comes next.
fn gone_on(now: &AnyLoop, name: &str) -> String {
    let (id, phase) = (now.id(), now.phase());
    let next = match phase {
        _ if phase.is_terminal() => return format!("Loop {id}: {name}, now in phase {phase}. It is over."),
        _ if phase.review().is_some() => {
            format!("Deal with what the review finds, then end the turn:\n    claudex-loop review {id}")
        }
        _ => format!("It waits for {}", drive::words::outlook(now.raw()).0),
    };
    format!("Loop {id}: {name}, now in phase {phase}. {next}")
}

/// What was typed after `/claudex:more`: a number of rounds, an id, both in either order, or nothing.
fn further(typed: &str) -> Result<(Option<String>, u64), Failure> {
    let wrong = |problem: String| {
        Failure::plain(
            Exit::Usage,
            "claudex::more::typed",
            problem,
            &format!(
                "type how many further rounds, 1 to {MOST_ROUNDS}, and a loop's id where several wait: /claudex:more 2"
            ),
        )
    };
    let (mut id, mut rounds) = (None, None);
    let mut words = typed.split_whitespace();
    while let Some(word) = words.next() {
        // Whoever knows the terminal's form types that.
        let word = match word {
            "--rounds" => words
                .next()
                .ok_or_else(|| wrong("--rounds needs a number after it".to_owned()))?,
            word => word.strip_prefix("--rounds=").unwrap_or(word),
        };
        if let Some(number) = positive(word, MOST_ROUNDS) {
            if rounds.replace(number).is_some() {
                return Err(wrong(format!(
                    "two numbers of rounds: `{}`",
                    text::one_line(typed, 60)
                )));
            }
        } else if LoopId::parse(word, STATE.ids).is_ok() {
            if id.replace(word.to_owned()).is_some() {
                return Err(wrong(format!("two ids: `{}`", text::one_line(typed, 60))));
            }
        } else {
            return Err(wrong(format!(
                "`{}` is neither a number of rounds nor the id of a loop",
                text::one_line(word, 60)
            )));
        }
    }
    Ok((id, rounds.unwrap_or(1)))
}

/// `more` without an id, and nothing is active: the loop that was meant is over, and goes on as another one.
fn over_instead() -> Option<Failure> {
    let loops = locate::loops(&super::here().ok()?);
    let (_, last) = loops
        .first()
        .filter(|_| loops.iter().all(|(_, one)| one.terminal))?;
    Some(Failure::plain(
        Exit::Refused,
        "claudex::more::over",
        format!(
            "no loop is active: the last one, {}, is over ({})",
            last.id,
            text::one_line(last.phase.as_deref().unwrap_or("?"), 40)
        ),
        &go_on(last.id.as_str()),
    ))
}

/// How to go on from a loop that is over.
pub(crate) fn go_on(id: &str) -> String {
    format!(
        "go on from it with a new loop: /claudex:plan --continue {id} --rounds N, or in a terminal:\n    claudex-loop start plan \
         --continue {id} --rounds N"
    )
}

/// Why a loop gets no further rounds, and what to do instead.
fn why_no_more(held: &AnyLoop) -> String {
    let (fields, id) = (held.fields(), held.id());
    match held.phase() {
        phase if phase.is_terminal() => format!("the loop is over ({phase}); {}", go_on(id.as_str())),
        Phase::Summarizing => format!(
            "the loop was settled ({}), not stopped at its last round; if the plan is to be reviewed further, {}",
            fields.decision_signal(),
            go_on(id.as_str())
        ),
        Phase::Reviewing if fields.decision_signal() != DecisionSignal::None => {
            "the loop was marked done, and the next stop sums up; nothing was changed".to_owned()
        }
        phase => format!(
            "the loop is in phase {phase}, round {} of {}: further rounds are for a loop that sums up after its last one; \
             nothing was changed",
            fields.round(),
            fields.max_rounds()
        ),
    }
}

/// What happens next, after further rounds were granted.
fn granted(now: &AnyLoop, settings: &Settings) -> String {
    let (fields, id) = (now.fields(), now.id());
    let (round, most) = (fields.round(), fields.max_rounds());
    let reviewed = summary::runs(now)
        .iter()
        .any(|run| run.began.round == round && run.ended.as_ref().is_some_and(|how| how.digest().is_some()));
    let next = if reviewed && changes::are_reviewed(now) {
        format!(
            "The findings of round {round} stand: end your turn. That stop opens round {} ({}).",
            round + 1,
            settings.personas.of_round(round + 1).label
        )
    } else if reviewed {
        format!(
            "The findings of round {round} stand: revise {}, then end the turn. That stop opens round {} ({}).",
            fields.subject(),
            round + 1,
            settings.personas.of_round(round + 1).label
        )
    } else {
        format!(
            "Round {round} was not reviewed yet: run the review, deal with what it finds, then end the turn. That stop opens round \
             {}.\n    claudex-loop review {id}",
            round + 1
        )
    };
    format!(
        "Loop {id} has further rounds, {most} in all, and is in phase {} again, round {round} of {most}.\n{next}",
        now.phase()
    )
}

#[cfg(test)]
mod tests {
    use super::further;

    const ID: &str = "20261122-005333-0a1b2c";

    #[test]
    fn a_number_and_an_id_stand_in_either_order_or_not_at_all() {
        let id = || Some(ID.to_owned());
        for (typed, wanted) in [
            ("", (None, 1)),
            ("2", (None, 2)),
            ("  007\n", (None, 7)),
            (ID, (id(), 1)),
            (&format!("2 {ID}"), (id(), 2)),
            (&format!("{ID}\t1000"), (id(), 1000)),
            ("--rounds 3", (None, 3)),
            (&format!("{ID} --rounds=3"), (id(), 3)),
        ] {
            assert_eq!(further(typed).ok(), Some(wanted), "{typed}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for typed in [
            "0",
            "-1",
            "1001",
            "two",
            "2 3",
            "2.5",
            "--rounds",
            "../x",
            "\u{202e}2",
            "2;rm",
        ] {
            assert!(further(typed).is_err(), "{typed}");
        }
        assert!(further(&format!("{ID} {ID}")).is_err());
    }
}
