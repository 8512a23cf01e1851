//! What the templates of the plan loop can say of a loop besides what those of any machine can.
//!
//! Whatever a person or a model wrote (topic, plan, findings) goes in as quoted data: one plain line, capped.

use claudex_loop::Timestamp;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{rounds, shell};
use claudex_loop::review::findings::Counts;
use claudex_loop::review::findings_json;
use claudex_loop::review::personas::Personas;
use claudex_loop::review::runs::Run;
use claudex_loop::text;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::driver::RUN;
use super::typestate::DecisionSignal;
use super::{AnyLoop, report, runner, summary};

/// How many characters of a topic a message shows.
const TOPIC: usize = 300;

/// Returns the variables.
pub fn of(held: &AnyLoop, settings: &Settings, now: Timestamp) -> Map<String, Json> {
    match serde_json::to_value(Facts::of(held, settings, now)) {
        Ok(Json::Object(facts)) => facts,
        // A struct of texts and numbers is an object.
        _ => Map::new(),
    }
}

/// Holds what every message can say of its loop.
#[derive(Debug, Serialize)]
pub struct Facts {
    topic: String,
    again: String,
    /// Whether stops drive it: a loop of `run` is driven by its own process.
    driven: bool,
    persona: String,
    next_persona: String,
    /// The personas of the rounds that are left, but for those that have looked; empty where none is left out.
    unseen: String,
    plan: String,
    plan_name: String,
    plan_path: String,
    runner: String,
    findings: String,
    previous: Option<String>,
    rounds: String,
    /// How the findings of all rounds stand; None where that says nothing new.
    across: Option<String>,
    stalled: bool,
    elapsed: String,
    reviewers: String,
    caveats: Vec<String>,
    cause: String,
    /// Whether the last round that was begun has a findings file.
    reviewed: bool,
    /// Why it has none, where a review of it was tried.
    no_verdict: Option<String>,
    /// Whether there is a plan to save once more.
    plan_is_there: bool,
    report: Option<String>,
    fixes: Option<String>,
}

impl Facts {
    /// Collects what a loop knows of itself now.
    pub fn of(held: &AnyLoop, settings: &Settings, now: Timestamp) -> Self {
        let (raw, fields, personas) = (held.raw(), held.fields(), &settings.personas);
        let lines = rounds::rounds(raw, personas);
        let round = fields.round();
        let previous: Option<Counts> = lines
            .iter()
            .find(|line| line.round + 1 == round)
            .and_then(|line| line.counts);
        // What a client says of itself may end with a full stop; the texts around it have their own.
        let told = |run: &Run| {
            let cause = run.ended.as_ref()?.cause()?.to_string();
            Some(cause.trim_end_matches(['.', ' ']).to_owned())
        };
        let runs = rounds::runs(raw);
        let cause = runs.iter().rev().find_map(told);
        let of_round = runs.iter().rev().find(|run| run.began.round == round);
        let reviewed = lines.last().is_some_and(|line| line.counts.is_some());
        let (report, fixes) = report::there(held);
        Self {
            reviewed,
            no_verdict: of_round.and_then(told).filter(|_| !reviewed),
            plan_is_there: raw.read("{subject}").is_ok(),
            report: report.map(text::exact),
            fixes: fixes.map(text::exact),
            topic: text::one_line(&fields.topic(), TOPIC).replace('"', "”"),
            again: again(held),
            driven: fields.session_id() != RUN,
            persona: personas.of_round(round).label.clone(),
            next_persona: personas.of_round(round + 1).label.clone(),
            unseen: unseen(personas, round, fields.max_rounds()),
            plan: text::one_line(&fields.subject(), TOPIC),
            plan_name: text::exact(fields.subject()),
            plan_path: text::one_line(raw.path("{subject}").as_str(), TOPIC),
            runner: format!("bash {}", shell::quoted(runner::path(raw).as_str())),
            findings: text::exact(findings_json::findings_path(raw.store(), raw.id(), round)),
            previous: previous.map(|counts| counts.to_string()),
            rounds: rounds::table(&lines),
            across: rounds::across(raw),
            stalled: fields.decision_signal() == DecisionSignal::Stalled,
            elapsed: rounds::elapsed(rounds::seconds(raw, now)),
            reviewers: rounds::reviewers(raw),
            caveats: summary::all_caveats(held, settings),
            cause: cause.unwrap_or_else(|| "the reviewer failed".to_owned()),
        }
    }

    /// Tells why the last review failed.
    pub fn cause(&self) -> &str {
        &self.cause
    }
}

/// Names the personas that no round has had up to this one, of those that the rounds after it have.
fn unseen(personas: &Personas, round: u64, most: u64) -> String {
    let labels = personas.all().iter().map(|persona| persona.label.as_str());
    let at = |round| usize::try_from(round).unwrap_or(usize::MAX);
    let seen: Vec<&str> = labels.clone().take(at(round)).collect();
    let mut left: Vec<&str> = labels.take(at(most)).skip(at(round)).collect();
    left.retain(|label| !seen.contains(label));
    left.join(", ")
}

/// The line that runs the loop again with more rounds, as whoever started it would type it.
fn again(held: &AnyLoop) -> String {
    let fields = held.fields();
    let rounds = fields.max_rounds().saturating_mul(2);
    if fields.session_id() == RUN {
        let plan = shell::quoted(held.raw().path("{subject}").as_str());
        format!("claudex-loop run --rounds {rounds} --drafter <command> {plan}")
    } else {
        format!("/claudex:plan --continue {} --rounds {rounds}", held.id())
    }
}
