//! What the templates of the plan loop can say of a loop besides what those of any machine can.
//!
//! Whatever a person or a model wrote (topic, plan, findings) goes in as quoted data: one plain line, capped.

use claudex_loop::Timestamp;
use claudex_loop::machine::Raw;
use claudex_loop::program::caller::RUN;
use claudex_loop::program::rounds::{self, RoundLine};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::shell;
use claudex_loop::review::evidence;
use claudex_loop::review::finding_history::{self, FindingHistory, Standing};
use claudex_loop::review::findings::{Counts, Finding, Severity};
use claudex_loop::review::findings_file;
use claudex_loop::review::findings_json::{self, FindingsJson};
use claudex_loop::review::personas::Personas;
use claudex_loop::review::runs::Run;
use claudex_loop::text;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::typestate::DecisionSignal;
use super::{AnyLoop, report, resume, reviews_changes, runner, summary};

/// How many characters of a topic a message shows.
const TOPIC: usize = 300;
/// Limits what is shown of a finding, in characters.
const FINDING: usize = 200;
/// Limits how many findings of the round before are shown.
const TOP: usize = 3;
/// Limits how many findings are shown of those that nobody looked at again.
const LEFT: usize = 5;
/// Limits what is shown of a persona's label, in characters.
const LABEL: usize = 100;

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
    /// Says how the rounds came out.
    outcome: String,
    /// High findings that no later round of the same persona has looked at again, each a line.
    left_high: Vec<String>,
    /// The line with which a person has the missing personas look.
    look: Option<String>,
    plan: String,
    plan_name: String,
    plan_path: String,
    /// The one line with which the agent runs the review.
    review_line: String,
    findings: String,
    previous: Option<String>,
    /// The gravest findings of the round before, each a line.
    top: Vec<String>,
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
        let round = fields.round;
        let previous: Option<Counts> = lines
            .iter()
            .find(|line| line.round + 1 == round)
            .and_then(|line| line.counts);
        let runs = rounds::runs(raw);
        let cause = runs.iter().rev().find_map(told);
        let reviewed = lines.last().is_some_and(|line| line.counts.is_some());
        let (report, fixes) = report::there(held);
        let unseen = unseen(personas, round, fields.max_rounds);
        Self {
            reviewed,
            plan_is_there: raw.read("{subject}").is_ok(),
            report: report.map(text::exact),
            fixes: fixes.map(text::exact),
            topic: text::one_line(&fields.topic, TOPIC).replace('"', "”"),
            again: again(held),
            driven: held.header().session != RUN,
            persona: personas.of_round(round).label.clone(),
            next_persona: personas.of_round(round + 1).label.clone(),
            outcome: outcome(held, personas, lines.last()),
            left_high: left_high(raw),
            look: (!unseen.is_empty() && !reviews_changes(held)).then(|| look(held, unseen.len())),
            plan: text::one_line(&fields.subject, TOPIC),
            plan_name: text::exact(&fields.subject),
            plan_path: text::one_line(raw.path("{subject}").as_str(), TOPIC),
            review_line: runner::line(raw),
            findings: text::exact(findings_json::findings_path(raw.store(), raw.id(), round)),
            previous: previous.map(|counts| counts.to_string()),
            top: top(raw, round),
            rounds: rounds::table(&lines),
            across: rounds::across(raw),
            stalled: fields.decision_signal == DecisionSignal::Stalled,
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

/// Says why a review gave no verdict. What a client says of itself may end with a full stop; the texts around it have their own.
fn told(run: &Run) -> Option<String> {
    let cause = run.ended.as_ref()?.cause()?.to_string();
    Some(cause.trim_end_matches(['.', ' ']).to_owned())
}

/// Says how the rounds of a loop came out. `last` is the last of them.
pub fn outcome(held: &AnyLoop, personas: &Personas, last: Option<&RoundLine>) -> String {
    let fields = held.fields();
    let round = fields.round;
    let most = fields.max_rounds;
    let is_reviewed = last.is_some_and(|line| line.counts.is_some());
    match (reviews_changes(held), fields.decision_signal) {
        (true, _) if !is_reviewed => {
            let runs = rounds::runs(held.raw());
            let of_round = runs.iter().rev().find(|run| run.began.round == round);
            let why = of_round.and_then(told).map(|why| format!(": {why}"));
            format!(
                "Round {round} was not reviewed{}. This counts neither as clean nor as findings.",
                why.unwrap_or_default()
            )
        }
        (true, _) | (_, DecisionSignal::NoMaterialFindings) => {
            ended(&unseen(personas, round, most), round, most)
        }
        (_, DecisionSignal::Stalled) => {
            "The plan was not settled: the same reviewer found the same for the third time."
                .to_owned()
        }
        _ => "The plan was not settled.".to_owned(),
    }
}

/// Returns the gravest findings of the round before, for whoever sees no more of a block than its first lines.
fn top(raw: &Raw, round: u64) -> Vec<String> {
    let runs = rounds::runs(raw);
    let of_round = |run: &&Run| run.began.round + 1 == round && run.ended.is_some();
    let verdict = runs.iter().rev().filter(of_round).find_map(|run| {
        let json = FindingsJson::of_run(raw.store(), raw.id(), run);
        json.ok().flatten()
    });
    let mut findings = verdict
        .map(|verdict| verdict.findings.0)
        .unwrap_or_default();
    findings.sort_by_key(|finding| finding.severity);
    let line = |finding: &Finding| {
        let line = format!("{}: {}", finding.severity, findings_file::bullet(finding));
        quoted(&line)
    };
    findings.iter().take(TOP).map(line).collect()
}

/// Names the personas that no round has had up to this one, of those that the rounds after it have.
fn unseen(personas: &Personas, round: u64, most: u64) -> Vec<&str> {
    let labels = personas.all().iter().map(|persona| persona.label.as_str());
    let at = |round| usize::try_from(round).unwrap_or(usize::MAX);
    let seen: Vec<&str> = labels.clone().take(at(round)).collect();
    let mut left: Vec<&str> = labels.take(at(most)).skip(at(round)).collect();
    left.retain(|label| !seen.contains(label));
    left
}

/// Says how many of its rounds a loop had, and who has not looked.
fn ended(unseen: &[&str], round: u64, most: u64) -> String {
    let rounds = if most == 1 { "round" } else { "rounds" };
    let names: Vec<String> = unseen
        .iter()
        .map(|label| text::one_line(label.strip_suffix(" review").unwrap_or(label), LABEL))
        .collect();
    match &names[..] {
        [] => format!("Ended after {round} of {most} {rounds}."),
        [one] => format!("Ended after {round} of {most} {rounds}; {one} has not looked."),
        [all @ .., last] => {
            let all = all.join(", ");
            format!("Ended after {round} of {most} {rounds}; {all} and {last} have not looked.")
        }
    }
}

/// Returns the high findings that nobody looked at again, each with its round and the file that has it in full.
fn left_high(raw: &Raw) -> Vec<String> {
    let history = rounds::spec(raw).and_then(|spec| evidence::history(raw, spec).ok());
    let mut left = finding_history::standings(&history.unwrap_or_default());
    left.retain(|one| one.standing == Standing::Unseen && one.severity == Severity::High);
    let line = |one: &FindingHistory| {
        let round = one.rounds.last().copied().unwrap_or_default();
        let file = text::exact(findings_json::findings_path(raw.store(), raw.id(), round));
        format!("Round {round}: {} (`{file}`)", quoted(&one.what))
    };
    let mut lines: Vec<String> = left.iter().take(LEFT).map(line).collect();
    if let Some(more) = left.len().checked_sub(LEFT).filter(|more| *more > 0) {
        lines.push(format!("and {more} more in these files"));
    }
    lines
}

/// Returns a reviewer's line as data: one plain line, in which nothing ends a shell's quotes.
fn quoted(line: &str) -> String {
    text::pasteable(&text::one_line(line, FINDING)).replace('"', "”")
}

/// Returns the line with which a user has the missing personas look, which also works once the loop is over.
fn look(held: &AnyLoop, rounds: usize) -> String {
    if held.header().session == RUN {
        // No drafter: with one, a clean round ends the rounds, whoever has not looked.
        let plan = shell::quoted(held.raw().path("{subject}").as_str());
        format!("claudex-loop run {plan}{}", reviewer(held))
    } else {
        format!("/claudex:more {rounds}")
    }
}

/// The line that runs the loop again with more rounds, as whoever started it would type it.
fn again(held: &AnyLoop) -> String {
    let fields = held.fields();
    let rounds = fields.max_rounds.saturating_mul(2);
    if held.header().session == RUN {
        let plan = shell::quoted(held.raw().path("{subject}").as_str());
        let reviewer = reviewer(held);
        format!("claudex-loop run --rounds {rounds}{reviewer} --drafter COMMAND {plan}")
    } else {
        format!("/claudex:plan --continue {} --rounds {rounds}", held.id())
    }
}

/// The flag that chooses the reviewer of a loop of `run` again, where one was chosen.
fn reviewer(held: &AnyLoop) -> String {
    let given = resume::noted(&held.raw().journal().unwrap_or_default());
    resume::typed(&given, "reviewer").unwrap_or_default()
}
