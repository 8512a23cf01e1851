//! Deciding about loops: resume, adopt, sweep, rollback. The machine's own verbs are next door.

use std::io::{self, BufRead, IsTerminal, Write};

use claudex_loop::app::{attempts, loops as any, stranded};
use claudex_loop::plan::caller::Caller;
use claudex_loop::plan::locate::SPEAKER;
use claudex_loop::plan::typestate::TABLE;
use claudex_loop::plan::{AnyLoop, Phase, Transition, Verb, locate, outlook, runner};
use claudex_loop::store::{Listed, LoopId, Store};
use claudex_loop::{Actor, OpenError, drive, text};
use jiff::Timestamp;

use super::exit::{Exit, Failure};
use super::verbs::go_on;
use super::{args, hooks, out};

/// The loop that a call is about: by id, or the active one.
pub(crate) fn find(id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    any::find(&SPEAKER, id)
}

/// The loop that a person means who names none.
pub(crate) fn find_for(caller: &Caller) -> Result<(Store, LoopId), Failure> {
    any::find_for(&SPEAKER, caller)
}

/// What a command was given: an id typed here, or what its prompt hook stored, with who stands behind it.
pub(crate) fn named(
    id: Option<&str>,
    from_prompt: bool,
    command: &str,
) -> Result<(Option<String>, Actor), Failure> {
    let caller = Caller::from_env();
    if !from_prompt {
        return Ok((id.map(str::to_owned), caller.actor(false)));
    }
    let typed = hooks::take(command, &caller)?.ok_or_else(hooks::nothing_stored)?;
    let id = Some(typed.trim().to_owned()).filter(|id| !id.is_empty());
    Ok((id, caller.actor(true)))
}

fn person_only(actor: Actor, command: &str, id: Option<&str>) -> Result<(), Failure> {
    any::person_only(&SPEAKER, actor, command, id)
}

/// Opens a loop for a change, and tells what was put right.
pub(crate) fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<AnyLoop, Failure> {
    opened(AnyLoop::open(store, id, actor))
}

/// A loop that was opened, with what was put right told.
pub(crate) fn opened(opened: Result<AnyLoop, OpenError>) -> Result<AnyLoop, Failure> {
    let held = opened.map_err(|error| stranded::failure(&SPEAKER, error))?;
    any::tell_repairs(&SPEAKER, held.raw());
    Ok(held)
}

/// What a refusal says below its message: where the loop is, and that it stays there.
pub(crate) fn help_after(held: &AnyLoop) -> String {
    match held.phase() {
        phase if phase.is_terminal() => format!("the loop is over ({phase}); nothing was changed"),
        phase => format!(
            "the loop is in phase {phase}, round {}; nothing was changed",
            held.fields().round()
        ),
    }
}

/// Whether the transition `resume` leaves the loop's phase: where it does not, there is nothing to take back.
fn can_resume(held: &AnyLoop) -> bool {
    let phase = held.raw().phase();
    let mut edges = TABLE.edges.iter();
    edges.any(|edge| edge.from == phase && edge.transition == <&str>::from(Transition::Resume))
}

/// Whether every edge that the hook takes from the loop's phase ends it.
fn ends_at_a_stop(held: &AnyLoop) -> bool {
    let phase = held.raw().phase();
    let mut edges = TABLE
        .edges
        .iter()
        .filter(|edge| edge.from == phase && edge.by.is_empty());
    edges.all(|edge| TABLE.phases[edge.to].terminal)
}

/// Lets a loop that waits, or that was swept, go on.
pub(crate) fn resume(target: &args::Target) -> Result<Exit, Failure> {
    let (id, actor) = named(target.id.as_deref(), target.from_prompt, "resume")?;
    person_only(actor, "resume", id.as_deref())?;
    let (store, id) = match id {
        Some(id) => find(Some(&id))?,
        None => find_for(&Caller::from_env())?,
    };
    let settings = super::settings(store.root())?;
    any::bring_back(&store, &id)?;
    let held = open(&store, &id, actor)?;
    let goes_on_by_itself = !held.phase().is_terminal() && !can_resume(&held);
    if goes_on_by_itself {
        out::line(&match held.phase() {
            Phase::Summarizing if ends_at_a_stop(&held) => {
                format!("Loop {id} is in phase summarizing: the next stop ends it.")
            }
            phase => format!(
                "Loop {id} is in phase {phase}: {}",
                drive::words::waiting(held.raw())
            ),
        });
        tell_summary(&held);
        return Ok(Exit::Complete);
    }
    let now = (Verb::Resume {
        id: None,
        from_prompt: false,
    })
    .run(held)
    .map_err(|refused| {
        attempts::refused(&store, &id, actor, "resume", &refused.refusal);
        let help = match refused.held.phase().is_terminal() {
            true => format!("the loop is over; {}", go_on(id.as_str())),
            false => help_after(&refused.held),
        };
        Failure::plain(
            Exit::Refused,
            "claudex::resume",
            format!("loop {id}: {refused}"),
            &help,
        )
    })?;
    store.log(&format!("{id} resume by {actor}"));
    if now.phase().review().is_some() {
        runner::write(&now, &settings.personas).map_err(|error| {
            Failure::plain(
                Exit::Internal,
                "claudex::resume::runner",
                format!("loop {id} goes on, and its runner could not be written: {error}"),
                "make room or the folder writable, then run the same again",
            )
        })?;
    }
    out::line(&format!(
        "Loop {id} goes on in phase {}, round {} of {}. The next stop of its session drives it.",
        now.phase(),
        now.fields().round(),
        now.fields().max_rounds()
    ));
    let (caller, owner) = (
        Caller::from_env(),
        text::one_line(&now.fields().session_id(), 200),
    );
    if caller.session.as_deref().is_some_and(|session| session != owner) {
        out::line(&format!(
            "It belongs to session {owner}; to take it over into this one: /claudex:adopt {id}"
        ));
    }
    Ok(Exit::Complete)
}

/// Takes a loop over into this session.
pub(crate) fn adopt(target: &args::Target) -> Result<Exit, Failure> {
    let (id, actor) = named(target.id.as_deref(), target.from_prompt, "adopt")?;
    person_only(actor, "adopt", id.as_deref())?;
    let (store, id) = find(id.as_deref())?;
    any::take_up(&SPEAKER, &store, &id, actor)?;
    let held = open(&store, &id, actor)?;
    let exit = any::adopt_held(held.raw())?;
    tell_summary(&held);
    Ok(exit)
}

/// Hands a session the summary of a loop that sums up: the stop gave it to another one, or to a conversation that was cut short.
fn tell_summary(held: &AnyLoop) {
    if held.phase() != Phase::Summarizing || Caller::from_env().session.is_none() {
        return;
    }
    // The loop goes on without it; what the configuration has against it, `doctor` and the next stop say.
    let Ok(settings) = super::settings(held.raw().store().root()) else {
        return;
    };
    if let Some(summary) = outlook::again(held, &settings.personas, Timestamp::now()) {
        out::text(&format!("\n{summary}\n"));
    }
}

/// Puts loops aside that show no sign of life.
pub(crate) fn sweep(dry_run: bool) -> Result<Exit, Failure> {
    any::sweep(&SPEAKER, super::settings_here()?.stale_after, dry_run)
}

/// Moves everything of every loop to a dated folder. Asks first: who has no terminal to be asked on says `--yes`, and
/// whoever typed the slash command has said it.
pub(crate) fn rollback(yes: bool, from_prompt: bool) -> Result<Exit, Failure> {
    let (_, actor) = named(None, from_prompt, "rollback")?;
    person_only(actor, "rollback", None)?;
    let stores = locate::stores(&[&super::here()?]);
    let mut found: Vec<(String, bool)> = Vec::new();
    for store in &stores {
        let ours = |one: &Listed| store.is_for(one.root.as_deref());
        let loops = store.list().into_iter().chain(store.swept()).filter(ours);
        found.extend(loops.map(|one| (one.id.to_string(), !one.terminal)));
        let by_hand = store.list_foreign().into_iter();
        found.extend(by_hand.map(|one| (one.path.file_name().unwrap_or_default().to_owned(), !one.terminal)));
    }
    if found.is_empty() {
        out::line("There are no claudex loops to roll back.");
        return Ok(Exit::Complete);
    }
    for store in &stores {
        if let Some(running) = store.list().iter().find(|one| store.is_running(&one.id)) {
            return Err(Failure::plain(
                Exit::Refused,
                "claudex::rollback::running",
                format!(
                    "a review of loop {} is running, and its findings would be lost",
                    running.id
                ),
                "wait for it, or end it (`claudex-loop status` shows it); nothing was changed",
            ));
        }
    }
    if !yes && !from_prompt {
        if !io::stdin().is_terminal() {
            return Err(Failure::plain(
                Exit::Refused,
                "claudex::rollback::consent",
                format!(
                    "rollback would move {} aside, and there is no terminal to ask on",
                    counted(&found)
                ),
                "nothing was changed; run it in a terminal, or say so beforehand:\n    claudex-loop rollback --yes",
            ));
        }
        if !asked(&found) {
            out::line("Nothing was changed.");
            return Ok(Exit::Refused);
        }
    }
    let now = Timestamp::now();
    for store in stores {
        let moved = store
            .roll_back_all(now)
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        let folder = store.rolled_back_folder(now);
        let to = text::shown(&folder);
        for id in &moved {
            store.log(&format!("{id} rolled back by {actor}, to {to}"));
            out::line(&format!("Loop {id} was moved to {to}"));
        }
        if moved.is_empty() && folder.is_dir() {
            out::line(&format!(
                "What lay in {} was moved to {to}",
                text::shown(store.folder())
            ));
        }
    }
    Ok(Exit::Complete)
}

/// `3 loops (1 of them is not over)`
fn counted(found: &[(String, bool)]) -> String {
    let loops = if found.len() == 1 { "loop" } else { "loops" };
    let open = match found.iter().filter(|(_, open)| *open).count() {
        0 => String::new(),
        1 if found.len() == 1 => " (it is not over)".to_owned(),
        1 => " (1 of them is not over)".to_owned(),
        open => format!(" ({open} of them are not over)"),
    };
    format!("{} {loops}{open}", found.len())
}

/// Asks on the terminal, with the loops before the question; only a yes is one.
fn asked(found: &[(String, bool)]) -> bool {
    const SHOWN: usize = 10;
    let mut question = String::new();
    for (name, open) in found.iter().take(SHOWN) {
        let open = if *open { ", not over" } else { "" };
        question.push_str(&format!("  {}{open}\n", text::one_line(name, 100)));
    }
    if found.len() > SHOWN {
        question.push_str(&format!("  and {} more\n", found.len() - SHOWN));
    }
    question.push_str(&format!(
        "{}. Nothing is deleted.\nMove all of it to a dated folder? [y/N] ",
        counted(found)
    ));
    let _ = write!(io::stderr(), "{question}");
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}
