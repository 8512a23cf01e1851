//! `status`: where a loop is, on one screen. The names in `--json` are documented in docs/status.md.

use claudex_loop::app::told::Outlook;
use claudex_loop::app::{stranded, words};
use claudex_loop::plan::settings::Settings;
use claudex_loop::plan::{AnyLoop, Phase, locate, outlook, reviewers, summary};
use claudex_loop::review::runs::How;
use claudex_loop::store::{LoopId, Store};
use claudex_loop::{Actor, text};
use jiff::Timestamp;
use serde::Serialize;

use super::words::Told;
use crate::cli::exit::{Exit, Failure};
use crate::cli::{args, out, screen};

/// Most rounds that a terminal is shown; of more the first ones are left out.
const ROUNDS: usize = 5;

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
    continues: Option<String>,
    elapsed_seconds: u64,
    decision: String,
    last_decision: Option<Decision>,
    rounds: Vec<summary::RoundLine>,
    reviewer: Option<String>,
    running: bool,
    reminders: u64,
    failures: u64,
    max_failures: u64,
    notes: Vec<String>,
    waits_for: String,
    next: String,
    state: String,
}

/// The last change, and why.
#[derive(Serialize)]
struct Decision {
    what: String,
    by: String,
    at: Timestamp,
    from: Option<String>,
    to: Option<String>,
    run: Option<String>,
    why: String,
    revision: u64,
}

impl Decision {
    fn of(told: &Told) -> Option<Self> {
        let change = told.last_decision()?;
        Some(Self {
            what: text::one_line(&change.what, 80),
            by: text::one_line(&change.by, 80),
            at: change.at,
            from: change.from.clone(),
            to: change.to.clone(),
            run: change.run.clone(),
            why: told.why(change),
            revision: change.revision,
        })
    }

    /// `revise by the hook at …, 2m 3s ago, for run r1-…: high=1 medium=1 low=1`
    fn line(&self, now: Timestamp) -> String {
        let way = match (&self.from, &self.to) {
            (Some(from), Some(to)) if from != to => format!(" ({from} -> {to})"),
            _ => String::new(),
        };
        let why = match self.why.as_str() {
            "" => String::new(),
            why if why.starts_with("for run ") => format!(", {why}"),
            why => format!(": {why}"),
        };
        format!(
            "{}{way} by {} at {}, {}{why}",
            self.what,
            words::who(&self.by),
            self.at,
            words::ago(self.at, now),
        )
    }
}

fn shown(held: &AnyLoop, settings: &Settings, now: Timestamp) -> Shown {
    let (raw, fields, id) = (held.raw(), held.fields(), held.id());
    let running = raw.store().is_running(id);
    let told = Told::of(raw.store(), id, raw.store().journal(id).unwrap_or_default());
    let personas = &settings.personas;
    let last = told.runs.last();
    let over = held.phase().is_terminal();
    let mut notes = summary::admissions(held, personas);
    if let Some(cause) = last.and_then(|run| run.ended.as_ref()).and_then(How::cause) {
        notes.push(format!(
            "the last review gave no verdict (failure {} of {}): {cause}",
            fields.failures(),
            fields.max_failures()
        ));
    }
    let waits = matches!(held.phase(), Phase::Drafting | Phase::Reviewing);
    if waits && !running && fields.reminders() > 0 {
        notes.push(format!(
            "the agent was reminded once and will not be again; to have it reminded:{}",
            locate::SPEAKER.command(&format!("resume {id}"))
        ));
    }
    let chosen = || {
        reviewers::choose(None, settings, raw.store().root())
            .ok()
            .map(|chosen| chosen.shown)
    };
    let reviewer = last
        .map(|run| text::one_line(&run.began.reviewer, 80))
        .or_else(|| if over { None } else { chosen() });
    let Outlook { waits_for, next } = outlook::of(held, &told.runs, running);
    Shown {
        review_id: id.to_string(),
        mode: fields.mode(),
        phase: held.phase().to_string(),
        round: fields.round(),
        max_rounds: fields.max_rounds(),
        persona: personas.of_round(fields.round()).label.clone(),
        topic: text::one_line(&fields.topic(), 200),
        plan: text::one_line(&fields.subject(), 200),
        session_id: text::one_line(&fields.session_id(), 200),
        continues: Some(text::one_line(&fields.continues(), 80)).filter(|id| !id.is_empty()),
        elapsed_seconds: summary::seconds(held, now),
        decision: fields.decision_signal().to_string(),
        last_decision: Decision::of(&told),
        rounds: if held.phase() == Phase::Drafting {
            Vec::new()
        } else {
            summary::rounds(held, personas)
        },
        reviewer,
        running,
        reminders: fields.reminders(),
        failures: fields.failures(),
        max_failures: fields.max_failures(),
        notes,
        waits_for,
        next,
        state: raw.store().path_of(id).to_string(),
    }
}

fn print(shown: &Shown, columns: Option<usize>, now: Timestamp) {
    let say = |label: &str, text: &str| {
        for line in screen::wrap(&format!("{label:<11}"), text, columns) {
            out::line(&line);
        }
    };
    let room = columns.map(|columns| columns.saturating_sub(11));
    say("review_id:", &shown.review_id);
    say("mode:", &shown.mode);
    say("phase:", &shown.phase);
    say(
        "round:",
        &format!("{} of {} ({})", shown.round, shown.max_rounds, shown.persona),
    );
    say("topic:", &screen::cut(&shown.topic, room));
    say(
        if shown.mode == "review" {
            "changes:"
        } else {
            "plan:"
        },
        &shown.plan,
    );
    if let Some(before) = &shown.continues {
        say("continues:", before);
    }
    say("elapsed:", &summary::elapsed(shown.elapsed_seconds));
    say("decision:", &shown.decision);
    if let Some(last) = &shown.last_decision {
        say("last:", &last.line(now));
    }
    if let Some(reviewer) = &shown.reviewer {
        say(
            "reviewer:",
            &format!("{reviewer}{}", if shown.running { " (running)" } else { "" }),
        );
    }
    say("session:", &shown.session_id);
    if !shown.rounds.is_empty() {
        out::line("findings by round:");
        let hidden = match columns {
            Some(_) => shown.rounds.len().saturating_sub(ROUNDS),
            None => 0,
        };
        if hidden > 0 {
            out::line(&format!(
                "  (the first {hidden} rounds: claudex-loop status --json)"
            ));
        }
        for line in &shown.rounds[hidden..] {
            for line in screen::wrap("  - ", line.to_string().trim_start_matches("- "), columns) {
                out::line(&line);
            }
        }
    }
    shown.notes.iter().for_each(|note| say("note:", note));
    say("waits for:", &shown.waits_for);
    say("next:", &shown.next);
}

/// The loops to show: the one that is named, else the active ones, else the newest.
fn picked(id: Option<&str>, problems: &mut Vec<String>) -> Result<Vec<(Store, LoopId)>, Failure> {
    let here = crate::cli::here()?;
    if let Some(id) = id {
        return Ok(match locate::by_id(&here, id) {
            Ok((store, id)) if store.swept().iter().any(|swept| swept.id == id) => {
                problems.push(format!(
                    "loop {id} showed no sign of life and was put aside in {}/swept; this brings it back:{}",
                    text::shown(store.folder()),
                    locate::SPEAKER.command(&format!("resume {id}"))
                ));
                Vec::new()
            }
            Ok(found) => vec![found],
            Err(error) => {
                let help = miette::Diagnostic::help(&error).map(|help| help.to_string());
                problems.push(match help {
                    Some(help) => format!("{error}; {help}"),
                    None => error.to_string(),
                });
                Vec::new()
            }
        });
    }
    let loops = locate::loops(&here);
    let mut picked: Vec<_> = loops.iter().filter(|(_, listed)| !listed.terminal).collect();
    if picked.is_empty() {
        picked.extend(loops.first());
    }
    Ok(picked
        .into_iter()
        .map(|(store, listed)| (store.clone(), listed.id.clone()))
        .collect())
}

/// Where the loop is. Always exits 0: a look changes nothing and fails nobody.
pub(crate) fn status(arguments: &args::Look) -> Result<Exit, Failure> {
    let now = Timestamp::now();
    let id = super::asked(arguments.id.as_deref(), arguments.from_prompt, &["status"])?;
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for (store, id) in picked(id.as_deref(), &mut problems)? {
        match AnyLoop::open(&store, &id, Actor::Person) {
            Ok(held) => {
                problems.extend(held.raw().repairs().iter().map(ToString::to_string));
                let settings = Settings::load(store.root()).unwrap_or_else(|error| {
                    problems.push(error.to_string());
                    Settings::default()
                });
                all.push(shown(&held, &settings, now));
            }
            Err(error) => problems.push(stranded::line(&locate::SPEAKER, &store.path_of(&id), &error)),
        }
    }
    if arguments.json {
        out::json(&serde_json::json!({ "loops": all, "problems": problems }));
        return Ok(Exit::Complete);
    }
    let columns = screen::columns();
    if all.is_empty() && id.is_none() {
        let mut nothing =
            "There are no claudex loops in this project. Start one with /claudex:plan <topic>.".to_owned();
        if locate::stores(&[&crate::cli::here()?])
            .iter()
            .any(|store| store.swept().iter().any(|one| store.is_for(one.root.as_deref())))
        {
            nothing.push_str(" What was put aside for showing no sign of life: claudex-loop list");
        }
        for line in screen::wrap("", &nothing, columns) {
            out::line(&line);
        }
    }
    for (index, shown) in all.iter().enumerate() {
        if index > 0 {
            out::line("");
        }
        print(shown, columns, now);
    }
    for problem in &problems {
        for line in screen::wrap("problem:   ", &text::lines(problem, 1000), columns) {
            out::line(&line);
        }
    }
    Ok(Exit::Complete)
}
