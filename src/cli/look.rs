//! Looking at loops: status, list, journal, personas. Nothing here changes one, but for what opening heals.

use claudex_loop::plan::personas::Personas;
use claudex_loop::plan::settings::Settings;
use claudex_loop::plan::{AnyLoop, Phase, locate, summary};
use claudex_loop::review::runs::How;
use claudex_loop::store::{Entry, Listed};
use claudex_loop::{Actor, text};
use jiff::Timestamp;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::loops::find;
use super::{args, out};

#[derive(Serialize)]
struct Shown {
    review_id: String,
    mode: String,
    phase: String,
    round: u64,
    max_rounds: u64,
    persona: String,
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

fn shown(held: &AnyLoop, personas: &Personas) -> Shown {
    let (raw, fields) = (held.raw(), held.fields());
    let running = raw.store().is_running(raw.id());
    let runs = summary::runs(held);
    let last = runs.last();
    let mut notes = summary::admissions(held, personas);
    if let Some(cause) = last.and_then(|run| run.ended.as_ref()).and_then(How::cause) {
        notes.push(format!("the last review gave no verdict: {cause}"));
    }
    let id = held.id();
    let next = match held.phase() {
        Phase::Drafting => format!("write {}, then end the turn", fields.subject()),
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
                        fields.subject()
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
        persona: personas.of_round(fields.round()).label.clone(),
        topic: text::one_line(&fields.topic(), 200),
        plan: fields.subject(),
        session_id: text::one_line(&fields.session_id(), 200),
        elapsed_seconds: summary::seconds(held, Timestamp::now()),
        decision: fields.decision_signal().to_string(),
        rounds: if held.phase() == Phase::Drafting {
            Vec::new()
        } else {
            summary::rounds(held, personas)
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
                let settings = Settings::load(store.root()).unwrap_or_else(|error| {
                    problems.push(error.to_string());
                    Settings::default()
                });
                all.push(shown(&held, &settings.personas));
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

/// Who reviews in which round.
pub(crate) fn personas() -> Result<Exit, Failure> {
    let settings = super::settings_here()?;
    let all = settings.personas.all();
    for (index, persona) in all.iter().enumerate() {
        let last = if index + 1 == all.len() { " and later" } else { "" };
        out::line(&format!("Round {}{last}: {}", index + 1, persona.label));
        out::line(&format!("  {}", text::one_line(&persona.prompt, 1000)));
    }
    Ok(Exit::Complete)
}
