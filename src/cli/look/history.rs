//! `journal`: what happened to a loop, one line an event.

use claudex_loop::app::{attempts, words};
use claudex_loop::plan::closing;
use claudex_loop::review::runs::Run;
use claudex_loop::store::{ChangeEntry, Entry, NoteEntry, Value};
use claudex_loop::text;

use super::words::Told;
use crate::cli::exit::{Exit, Failure};
use crate::cli::loops::find;
use crate::cli::{args, out, screen};

/// What happened to a loop; without an id, which loops there are.
pub(crate) fn journal(arguments: &args::Look) -> Result<Exit, Failure> {
    let commands = ["history", "journal"];
    let Some(id) = super::asked(arguments.id.as_deref(), arguments.from_prompt, &commands)? else {
        let listed = super::list(&args::Format { json: arguments.json })?;
        if !arguments.json && !super::listing::is_empty()? {
            out::line("");
            out::line("The history of one: /claudex:history ID (in a terminal: claudex-loop journal ID)");
        }
        return Ok(listed);
    };
    let (store, id) = find(Some(&id))?;
    let entries = store
        .journal(&id)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    if arguments.json {
        out::json_lines(&entries);
        return Ok(Exit::Complete);
    }
    let told = Told::of(&store, &id, entries);
    let columns = screen::columns();
    for entry in &told.entries {
        let (at, line) = match entry {
            Entry::Change(change) => (change.at, of_change(&told, change)),
            Entry::Note(note) => (note.at, of_note(&told, note)),
        };
        for line in screen::wrap(&format!("{at}  "), &line, columns) {
            out::line(&line);
        }
    }
    Ok(Exit::Complete)
}

/// `revise by the hook in reviewing, now round 2 of 3, for run r1-…: high=1 medium=1 low=1`
fn of_change(told: &Told, change: &ChangeEntry) -> String {
    let way = words::way(change);
    let field = |name: &str| {
        let found = change.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    };
    let count = |name| field(name).and_then(Value::as_count);
    let round = match (change.what.as_str(), count("round"), count("max_rounds")) {
        ("revise" | "more" | "begin", Some(round), Some(most)) => format!(", round {round} of {most}"),
        _ => String::new(),
    };
    let about = match change.what.as_str() {
        "start" => field("topic")
            .and_then(Value::as_str)
            .map(|topic| format!("“{}”", text::one_line(topic, 200))),
        "bind" | "adopt" => field("session_id")
            .and_then(Value::as_str)
            .map(|session| format!("session {}", text::one_line(session, 80))),
        _ => Some(told.why(change)),
    };
    let about = match about.unwrap_or_default() {
        about if about.is_empty() => String::new(),
        about if about.starts_with("for run ") => format!(", {about}"),
        about => format!(": {about}"),
    };
    format!(
        "{} by {}{way}{round}{about}",
        text::one_line(&change.what, 80),
        words::who(&change.by)
    )
}

/// `run-began r1-…: round 1, lint as Senior-engineer review`
fn of_note(told: &Told, note: &NoteEntry) -> String {
    if let Some(told) = attempts::told(note).or_else(|| closing::shown(note)) {
        return told;
    }
    let run: Option<&Run> = note
        .data
        .get("run")
        .and_then(|run| run.as_str())
        .and_then(|run| told.runs.iter().find(|known| known.began.run == run));
    let plain = |text: &str| text::one_line(text, 100);
    match (note.note.as_str(), run) {
        ("run-began", Some(run)) => format!(
            "run-began {}: round {}, {} as {}",
            plain(&run.began.run),
            run.began.round,
            plain(&run.began.reviewer),
            plain(&run.began.persona)
        ),
        ("run-ended", Some(run)) => {
            let changed = match run.changed.len() {
                0 => String::new(),
                count => format!("; {count} files of the work tree changed meanwhile"),
            };
            format!(
                "run-ended {}: {}{changed}",
                plain(&run.began.run),
                told.outcome(run)
            )
        }
        (name, _) => {
            let data = serde_json::Value::Object(note.data.clone()).to_string();
            format!("{} {}", text::one_line(name, 80), text::one_line(&data, 300))
        }
    }
}
