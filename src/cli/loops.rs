//! Looking at loops and deciding about them: status, list, journal, resume, adopt, sweep, rollback, personas, verbs.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::SystemTime;

use claudex_loop::plan::caller::{Caller, UNKNOWN};
use claudex_loop::plan::{AnyLoop, Phase, Transition, Verb, locate, personas, runner, start, summary};
use claudex_loop::review::runs::How;
use claudex_loop::store::{Entry, Listed, LoopId, Store};
use claudex_loop::{Actor, text};
use jiff::Timestamp;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::{args, hooks, out};

/// The loop that a call is about: by id, or the active one.
pub(crate) fn find(id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let here = super::here()?;
    let found = match id {
        Some(id) => locate::by_id(&here, id),
        None => locate::active(&here),
    };
    found.map_err(|error| {
        let exit = if matches!(error, locate::NotFound::BadId { .. }) {
            Exit::Usage
        } else {
            Exit::Refused
        };
        Failure::new(exit, error)
    })
}

/// The loop that a person means who names none: the active one of their session, else one of theirs that was swept, else
/// the one that is active.
fn find_for(caller: &Caller) -> Result<(Store, LoopId), Failure> {
    let here = super::here()?;
    if let Some(session) = caller.session.as_deref() {
        let own = |listed: &Listed| listed.session.as_deref() == Some(session) && !listed.terminal;
        let active = locate::loops(&here);
        if let Some((store, listed)) = active.into_iter().find(|(_, listed)| own(listed)) {
            return Ok((store, listed.id));
        }
        for store in locate::stores(&[&here]) {
            if let Some(listed) = store.swept().into_iter().find(own) {
                return Ok((store, listed.id));
            }
        }
    }
    find(None)
}

/// What a command was given: an id typed here, or what its prompt hook stored, with who stands behind it.
fn named(id: Option<&str>, from_prompt: bool, command: &str) -> Result<(Option<String>, Actor), Failure> {
    let caller = Caller::from_env();
    if !from_prompt {
        return Ok((id.map(str::to_owned), caller.actor(false)));
    }
    let typed = hooks::take(command, &caller)?.ok_or_else(hooks::nothing_stored)?;
    let id = Some(typed.trim().to_owned()).filter(|id| !id.is_empty());
    Ok((id, caller.actor(true)))
}

fn person_only(actor: Actor, command: &str) -> Result<(), Failure> {
    if actor == Actor::Person {
        return Ok(());
    }
    Err(Failure::plain(
        Exit::Refused,
        "claudex::person",
        format!("`{command}` is a person's decision, and this call comes from an agent"),
        &format!(
            "ask the person to type /claudex:{command}, or to run `claudex-loop {command}` in a terminal"
        ),
    ))
}

fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<AnyLoop, Failure> {
    let held = AnyLoop::open(store, id, actor).map_err(|error| Failure::new(Exit::Internal, error))?;
    for repair in held.raw().repairs() {
        out::note(&format!("claudex: {repair}"));
    }
    Ok(held)
}

/// A verb of the machine.
pub(crate) fn verb(verb: Verb) -> Result<Exit, Failure> {
    let transition = verb.transition();
    let name = <&str>::from(transition).replace('_', "-");
    let (id, actor) = named(verb.id(), verb.from_prompt(), &name)?;
    let (store, id) = find(id.as_deref())?;
    let held = open(&store, &id, actor)?;
    let now = verb.run(held).map_err(|refused| {
        store.log(&format!("{id} {name} refused: {refused}"));
        Failure::plain(
            Exit::Refused,
            "claudex::verb",
            format!("loop {id}: {refused}"),
            &help_after(&refused.held),
        )
    })?;
    let round = now.fields().round();
    store.log(&format!(
        "{id} {name} by {actor}: now {}, round {round}",
        now.phase()
    ));
    if now.phase().is_terminal() {
        runner::clear(now.raw()).map_err(|error| Failure::new(Exit::Internal, error))?;
    }
    out::line(&match transition {
        Transition::MarkDone => {
            format!("Loop {id} marked as done. Stop hook will deliver the summary on next fire.")
        }
        Transition::Cancel => format!("Loop {id} cancelled. Its files stay in {}", store.folder()),
        _ => format!("Loop {id}: {name}, now in phase {}", now.phase()),
    });
    Ok(Exit::Complete)
}

fn help_after(held: &AnyLoop) -> String {
    match held.phase() {
        phase if phase.is_terminal() => format!("the loop is over ({phase}); nothing was changed"),
        phase => format!(
            "the loop is in phase {phase}, round {}; nothing was changed",
            held.fields().round()
        ),
    }
}

/// Lets a loop that waits, or that was swept, go on.
pub(crate) fn resume(target: &args::Target) -> Result<Exit, Failure> {
    let (id, actor) = named(target.id.as_deref(), target.from_prompt, "resume")?;
    person_only(actor, "resume")?;
    let (store, id) = match id {
        Some(id) => find(Some(&id))?,
        None => find_for(&Caller::from_env())?,
    };
    if store.swept().iter().any(|listed| listed.id == id) {
        store
            .bring_back(&id)
            .map_err(|error| Failure::new(Exit::Refused, error))?;
        out::line(&format!(
            "Loop {id} was brought back from {}/swept",
            store.folder()
        ));
    }
    let held = open(&store, &id, actor)?;
    if held.phase() == Phase::Summarizing {
        out::line(&format!(
            "Loop {id} is in phase summarizing: the next stop ends it."
        ));
        return Ok(Exit::Complete);
    }
    let now = (Verb::Resume {
        id: None,
        from_prompt: false,
    })
    .run(held)
    .map_err(|refused| {
        Failure::plain(
            Exit::Refused,
            "claudex::resume",
            format!("loop {id}: {refused}"),
            &help_after(&refused.held),
        )
    })?;
    store.log(&format!("{id} resume by {actor}"));
    if now.phase() == Phase::Reviewing {
        claudex_loop::plan::runner::write(&now).map_err(|error| {
            Failure::plain(
                Exit::Internal,
                "claudex::resume::runner",
                error.to_string(),
                "see the message",
            )
        })?;
    }
    out::line(&format!(
        "Loop {id} goes on in phase {}, round {} of {}. The next stop of its session drives it.",
        now.phase(),
        now.fields().round(),
        now.fields().max_rounds()
    ));
    let (caller, owner) = (Caller::from_env(), now.fields().session_id());
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
    person_only(actor, "adopt")?;
    let (store, id) = find(id.as_deref())?;
    let held = open(&store, &id, actor)?;
    if held.phase().is_terminal() {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::adopt",
            format!("loop {id} is over"),
            &help_after(&held),
        ));
    }
    // From a terminal no session is known: the next one whose stop meets the loop takes it.
    let session = Caller::from_env().session.unwrap_or_else(|| UNKNOWN.to_owned());
    store
        .set_session(held.raw().record(), &session, "adopt", &actor.to_string())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    store.log(&format!("{id} adopted by session {session}"));
    out::line(&if session == UNKNOWN {
        format!(
            "Loop {id} belongs to nobody now: the next session that ends a turn in this project takes it."
        )
    } else {
        format!("Loop {id} belongs to this session now.")
    });
    Ok(Exit::Complete)
}

#[derive(Serialize)]
struct Shown {
    review_id: String,
    mode: String,
    phase: String,
    round: u64,
    max_rounds: u64,
    persona: &'static str,
    topic: String,
    plan: String,
    session_id: String,
    elapsed_seconds: u64,
    decision: String,
    rounds: Vec<summary::RoundLine>,
    reviewer: Option<String>,
    running: bool,
    notes: Vec<String>,
    next: String,
    state: String,
}

fn shown(held: &AnyLoop) -> Shown {
    let (raw, fields) = (held.raw(), held.fields());
    let running = raw.store().is_running(raw.id());
    let runs = summary::runs(held);
    let last = runs.last();
    let mut notes = summary::admissions(held);
    if let Some(cause) = last.and_then(|run| run.ended.as_ref()).and_then(How::cause) {
        notes.push(format!("the last review gave no verdict: {cause}"));
    }
    let id = held.id();
    let next = match held.phase() {
        Phase::Drafting => format!("write {}, then end the turn", fields.plan()),
        Phase::Reviewing if running => format!("the review is running; follow it: claudex-loop review {id}"),
        Phase::Reviewing => {
            let verdict = last
                .filter(|run| run.began.round == fields.round())
                .and_then(|run| run.ended.as_ref());
            match verdict {
                Some(How::Clean { .. }) => "end the turn: the reviewer found nothing".to_owned(),
                Some(How::Findings { .. }) => {
                    format!(
                        "revise {} and end the turn, or: claudex-loop mark-done {id}",
                        fields.plan()
                    )
                }
                _ => format!("run the review: claudex-loop review {id}"),
            }
        }
        Phase::Summarizing => "print the summary and end the turn".to_owned(),
        phase if phase.is_terminal() => "nothing: the loop is over".to_owned(),
        // A phase that machine.toml gains says itself what it is for.
        phase => phase.info().doc.to_owned(),
    };
    Shown {
        review_id: id.to_string(),
        mode: fields.mode(),
        phase: held.phase().to_string(),
        round: fields.round(),
        max_rounds: fields.max_rounds(),
        persona: personas::of_round(fields.round()).label,
        topic: text::one_line(&fields.topic(), 200),
        plan: fields.plan(),
        session_id: fields.session_id(),
        elapsed_seconds: summary::seconds(held, Timestamp::now()),
        decision: fields.decision_signal().to_string(),
        rounds: if held.phase() == Phase::Drafting {
            Vec::new()
        } else {
            summary::rounds(held)
        },
        reviewer: last.map(|run| run.began.reviewer.clone()),
        running,
        notes,
        next,
        state: raw.store().path_of(id).to_string(),
    }
}

fn print(shown: &Shown) {
    out::line(&format!("review_id: {}", shown.review_id));
    out::line(&format!("mode:      {}", shown.mode));
    out::line(&format!("phase:     {}", shown.phase));
    out::line(&format!(
        "round:     {} of {} ({})",
        shown.round, shown.max_rounds, shown.persona
    ));
    out::line(&format!("topic:     {}", shown.topic));
    out::line(&format!("plan:      {}", shown.plan));
    out::line(&format!("elapsed:   {}", summary::elapsed(shown.elapsed_seconds)));
    out::line(&format!("decision:  {}", shown.decision));
    if let Some(reviewer) = &shown.reviewer {
        out::line(&format!(
            "reviewer:  {reviewer}{}",
            if shown.running { " (running)" } else { "" }
        ));
    }
    out::line(&format!("session:   {}", shown.session_id));
    if !shown.rounds.is_empty() {
        out::line("findings by round:");
        shown
            .rounds
            .iter()
            .for_each(|line| out::line(&format!("  {line}")));
    }
    shown
        .notes
        .iter()
        .for_each(|note| out::line(&format!("note:      {note}")));
    out::line(&format!("next:      {}", shown.next));
}

/// Where the loop is: the active ones, else the newest. Always exits 0: a look changes nothing and fails nobody.
pub(crate) fn status(format: &args::Format) -> Result<Exit, Failure> {
    let loops = locate::loops(&super::here()?);
    let mut picked: Vec<_> = loops.iter().filter(|(_, listed)| !listed.terminal).collect();
    if picked.is_empty() {
        picked.extend(loops.first());
    }
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for (store, listed) in picked {
        match AnyLoop::open(store, &listed.id, Actor::Person) {
            Ok(held) => {
                problems.extend(held.raw().repairs().iter().map(ToString::to_string));
                all.push(shown(&held));
            }
            Err(error) => problems.push(format!("{}: {error}", listed.path)),
        }
    }
    if format.json {
        out::json(&serde_json::json!({ "loops": all, "problems": problems }));
        return Ok(Exit::Complete);
    }
    if all.is_empty() {
        out::line("There are no claudex loops in this project. Start one with /claudex:plan <topic>.");
    }
    for (index, shown) in all.iter().enumerate() {
        if index > 0 {
            out::line("");
        }
        print(shown);
    }
    problems
        .iter()
        .for_each(|problem| out::line(&format!("problem:   {problem}")));
    Ok(Exit::Complete)
}

#[derive(Serialize)]
struct Row {
    review_id: String,
    phase: String,
    terminal: bool,
    session_id: Option<String>,
    swept: bool,
    problem: Option<String>,
    path: String,
}

impl Row {
    fn of(listed: &Listed, swept: bool) -> Self {
        Self {
            review_id: listed.id.to_string(),
            phase: listed.phase.clone().unwrap_or_else(|| "?".to_owned()),
            terminal: listed.terminal,
            session_id: listed.session.clone(),
            swept,
            problem: listed.problem.clone(),
            path: listed.path.to_string(),
        }
    }
}

/// The loops of this project, newest first.
pub(crate) fn list(format: &args::Format) -> Result<Exit, Failure> {
    let here = super::here()?;
    let mut rows: Vec<Row> = locate::loops(&here)
        .iter()
        .map(|(_, listed)| Row::of(listed, false))
        .collect();
    for store in locate::stores(&[&here]) {
        rows.extend(store.swept().iter().map(|listed| Row::of(listed, true)));
    }
    if format.json {
        out::json(&rows);
    } else if rows.is_empty() {
        out::line("There are no claudex loops in this project.");
    } else {
        for row in rows {
            let more = match (&row.problem, row.swept) {
                (Some(problem), _) => format!("  {}", text::one_line(problem, 160)),
                (None, true) => "  swept; claudex-loop resume brings it back".to_owned(),
                (None, false) => String::new(),
            };
            out::line(&format!("{}  {:<11}{more}", row.review_id, row.phase));
        }
    }
    Ok(Exit::Complete)
}

/// What happened to a loop.
pub(crate) fn journal(id: &str, json: bool) -> Result<Exit, Failure> {
    let (store, id) = find(Some(id))?;
    let entries = store
        .journal(&id)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    for entry in entries {
        if json {
            match serde_json::to_string(&entry) {
                Ok(line) => out::line(&line),
                Err(error) => out::note(&format!("claudex: an entry cannot be written as JSON: {error}")),
            }
            continue;
        }
        out::line(&match entry {
            Entry::Change(change) => {
                let way = match (&change.from, &change.to) {
                    (Some(from), Some(to)) if from == to => format!(" in {from}"),
                    (Some(from), Some(to)) => format!(" {from} -> {to}"),
                    (None, Some(to)) => format!(" -> {to}"),
                    _ => String::new(),
                };
                let run = change
                    .run
                    .map(|run| format!(" for run {run}"))
                    .unwrap_or_default();
                let evidence = change
                    .evidence
                    .map(|evidence| format!(" showing {}", text::one_line(&evidence.to_string(), 300)))
                    .unwrap_or_default();
                format!(
                    "{} {:>3}  {} by {}{way}{run}{}",
                    change.at, change.revision, change.what, change.by, evidence
                )
            }
            Entry::Note(note) => {
                let data = serde_json::Value::Object(note.data).to_string();
                format!("{}      {} {}", note.at, note.note, text::one_line(&data, 300))
            }
        });
    }
    Ok(Exit::Complete)
}

/// Puts loops aside that show no sign of life.
pub(crate) fn sweep(dry_run: bool) -> Result<Exit, Failure> {
    let older = start::stale_after().map_err(|error| Failure::new(Exit::Usage, error))?;
    let mut nothing = true;
    for store in locate::stores(&[&super::here()?]) {
        let swept = store
            .sweep(SystemTime::now(), older, dry_run)
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        let verb = if dry_run { "would be" } else { "was" };
        for id in swept.moved.iter().chain(&swept.would_move) {
            nothing = false;
            out::line(&format!(
                "Loop {id} {verb} moved to {}/swept; claudex-loop resume {id} brings it back",
                store.folder()
            ));
        }
        for path in &swept.foreign {
            nothing = false;
            out::line(&format!("{path} {verb} moved to {}/swept", store.folder()));
        }
        for path in swept.strays.iter().chain(&swept.expired) {
            nothing = false;
            out::line(&format!("{path} {verb} removed"));
        }
    }
    if nothing {
        out::line("Nothing to sweep.");
    }
    Ok(Exit::Complete)
}

/// Moves everything of every loop to a dated folder.
pub(crate) fn rollback(yes: bool, from_prompt: bool) -> Result<Exit, Failure> {
    let (_, actor) = named(None, from_prompt, "rollback")?;
    person_only(actor, "rollback")?;
    let stores = locate::stores(&[&super::here()?]);
    let count: usize = stores.iter().map(|store| store.list().len()).sum();
    if count == 0 {
        out::line("There are no claudex loops to roll back.");
        return Ok(Exit::Complete);
    }
    if !yes && !from_prompt && io::stdin().is_terminal() {
        let _ = write!(
            io::stderr(),
            "Move {count} loops with all their files to a dated folder? [y/N] "
        );
        let mut answer = String::new();
        let _ = io::stdin().lock().read_line(&mut answer);
        if !answer.trim().eq_ignore_ascii_case("y") {
            out::line("Nothing was changed.");
            return Ok(Exit::Refused);
        }
    }
    for store in stores {
        let moved = store
            .roll_back_all(Timestamp::now())
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        for id in moved {
            out::line(&format!("Loop {id} was moved to {}/rolled-back", store.folder()));
        }
    }
    Ok(Exit::Complete)
}

/// Who reviews in which round.
pub(crate) fn personas() -> Result<Exit, Failure> {
    for (index, persona) in personas::PERSONAS.iter().enumerate() {
        let last = if index + 1 == personas::PERSONAS.len() {
            " and later"
        } else {
            ""
        };
        out::line(&format!("Round {}{last}: {}", index + 1, persona.label));
        out::line(&format!("  looks at {}", persona.looks_at));
    }
    Ok(Exit::Complete)
}
