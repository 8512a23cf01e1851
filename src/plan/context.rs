//! The variables of the plan loop's messages, besides those of every machine.
//!
//! Text of a user or a model (topic, findings) becomes one plain line with a limited length.

use claudex_loop::Timestamp;
use claudex_loop::machine::Raw;
use claudex_loop::program::caller::RUN;
use claudex_loop::program::rounds::{self, RoundLine};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::shell;
use claudex_loop::review::evidence;
use claudex_loop::review::finding_history::{self, Standing};
use claudex_loop::review::findings::Severity;
use claudex_loop::review::findings_file::bullet;
use claudex_loop::review::findings_json::{self, FindingsJson};
use claudex_loop::review::personas::Personas;
use claudex_loop::review::runs::Run;
use claudex_loop::text;
use serde_json::{Map, Value as Json, json};

use super::typestate::DecisionSignal;
use super::{AnyLoop, caveats, report, resume, reviews_changes, runner};

/// Upper limit of a topic or a path in a message, in characters.
const MAX_TEXT_CHARS: usize = 300;
/// Upper limit of a finding in a message, in characters.
const MAX_FINDING_CHARS: usize = 200;
/// Upper limit of findings that a block shows of the round before.
const MAX_TOP_FINDINGS: usize = 3;
/// Upper limit of high findings that a summary lists as not reviewed again.
const MAX_LEFT_FINDINGS: usize = 5;
/// Upper limit of a persona's label in a sentence, in characters.
const MAX_LABEL_CHARS: usize = 100;

/// Returns the variables.
pub fn variables(held: &AnyLoop, settings: &Settings, now: Timestamp) -> Map<String, Json> {
    let raw = held.raw();
    let fields = held.fields();
    let personas = &settings.personas;
    let round = fields.round;
    let lines = rounds::rounds(raw, personas);
    let previous = lines.iter().find(|line| line.round + 1 == round);
    let (report, fixes) = report::existing_files(held);
    let missing = missing_personas(personas, round, fields.max_rounds);
    let is_settled = fields.decision_signal == DecisionSignal::NoMaterialFindings;
    let offers_more = is_settled && !missing.is_empty() && !reviews_changes(held);
    let path = |path: &str| text::one_line(path, MAX_TEXT_CHARS);

    let variables = json!({
        "topic": pasteable(&fields.topic, MAX_TEXT_CHARS),
        "again": again(held),
        "driven": held.header().session != RUN,
        "persona": personas.of_round(round).label,
        "next_persona": personas.of_round(round + 1).label,
        "outcome": outcome(held, personas, lines.last()),
        "left_high": high_findings_left(raw),
        "look": offers_more.then(|| more(held, missing.len())),
        "plan": path(&fields.subject),
        "plan_name": text::exact(&fields.subject),
        "plan_path": path(raw.path("{subject}").as_str()),
        "plan_is_there": raw.read("{subject}").is_ok(),
        "review_line": runner::line(raw),
        "findings": text::exact(findings_json::findings_path(raw.store(), raw.id(), round)),
        "previous": previous.and_then(|line| line.counts).map(|counts| counts.to_string()),
        "top": top_findings(raw, round),
        "rounds": rounds::table(&lines),
        "across": rounds::across(raw),
        "stalled": fields.decision_signal == DecisionSignal::Stalled,
        "elapsed": rounds::elapsed(rounds::seconds(raw, now)),
        "reviewers": rounds::reviewers(raw),
        "caveats": caveats::all(held, settings),
        "cause": failure_cause(raw),
        "reviewed": lines.last().is_some_and(|line| line.counts.is_some()),
        "report": report.map(text::exact),
        "fixes": fixes.map(text::exact),
    });
    let Json::Object(variables) = variables else {
        unreachable!("the variables are an object");
    };
    variables
}

/// Returns why the last review that failed gave no verdict, without a full stop.
pub fn failure_cause(raw: &Raw) -> String {
    let runs = rounds::runs(raw);
    let cause = runs.iter().rev().find_map(cause_of);
    cause.unwrap_or_else(|| "the reviewer failed".to_owned())
}

fn cause_of(run: &Run) -> Option<String> {
    let cause = run.ended.as_ref()?.cause()?.to_string();
    Some(cause.trim_end_matches(['.', ' ']).to_owned())
}

/// Returns the sentences about how the rounds ended. `last` is the last round.
pub fn outcome(held: &AnyLoop, personas: &Personas, last: Option<&RoundLine>) -> String {
    let fields = held.fields();
    let round = fields.round;
    let is_reviewed = last.is_some_and(|line| line.counts.is_some());
    if reviews_changes(held) && !is_reviewed {
        let runs = rounds::runs(held.raw());
        let run = runs.iter().rev().find(|run| run.began.round == round);
        let cause = run.and_then(cause_of).map(|cause| format!(": {cause}"));
        return format!(
            "Round {round} was not reviewed{}. This counts neither as clean nor as findings.",
            cause.unwrap_or_default()
        );
    }
    match fields.decision_signal {
        DecisionSignal::Stalled if !reviews_changes(held) => {
            "The plan was not settled: the same reviewer found the same for the third time."
                .to_owned()
        }
        DecisionSignal::MaxReached | DecisionSignal::None if !reviews_changes(held) => {
            "The plan was not settled.".to_owned()
        }
        _ => ended(held, personas),
    }
}

/// Returns the sentences that say how many rounds a loop had, and which personas did not review it.
fn ended(held: &AnyLoop, personas: &Personas) -> String {
    let fields = held.fields();
    let unit = if fields.max_rounds == 1 {
        "round"
    } else {
        "rounds"
    };
    let ended = format!(
        "Ended after {} of {} {unit}.",
        fields.round, fields.max_rounds
    );
    let missing: Vec<String> = missing_personas(personas, fields.round, fields.max_rounds)
        .into_iter()
        .map(|label| label.strip_suffix(" review").unwrap_or(label))
        .map(|label| text::one_line(label, MAX_LABEL_CHARS))
        .collect();
    match missing.is_empty() {
        true => ended,
        false => format!("{ended} Not reviewed by: {}.", missing.join(", ")),
    }
}

/// Returns the labels of the personas that had no round up to this one, but would have one in the
/// rounds after it.
fn missing_personas(personas: &Personas, round: u64, max_rounds: u64) -> Vec<&str> {
    let labels = || personas.all().iter().map(|persona| persona.label.as_str());
    let count = |rounds| usize::try_from(rounds).unwrap_or(usize::MAX);
    let seen: Vec<&str> = labels().take(count(round)).collect();
    labels()
        .take(count(max_rounds))
        .skip(count(round))
        .filter(|label| !seen.contains(label))
        .collect()
}

/// Returns the gravest findings of the round before, for a user who sees only the first lines of a
/// block.
fn top_findings(raw: &Raw, round: u64) -> Vec<String> {
    let runs = rounds::runs(raw);
    let verdict = runs
        .iter()
        .rev()
        .filter(|run| run.began.round + 1 == round && run.ended.is_some())
        .find_map(|run| FindingsJson::of_run(raw.store(), raw.id(), run).ok()?);
    let mut findings = verdict
        .map(|verdict| verdict.findings.0)
        .unwrap_or_default();
    findings.sort_by_key(|finding| finding.severity);
    findings
        .iter()
        .take(MAX_TOP_FINDINGS)
        .map(|finding| format!("{}: {}", finding.severity, bullet(finding)))
        .map(|line| pasteable(&line, MAX_FINDING_CHARS))
        .collect()
}

/// Returns the high findings that no later round reviewed again, each with its round and the file
/// that has it in full.
fn high_findings_left(raw: &Raw) -> Vec<String> {
    let history = rounds::spec(raw).and_then(|spec| evidence::history(raw, spec).ok());
    let mut left = finding_history::standings(&history.unwrap_or_default());
    left.retain(|one| one.standing == Standing::Unseen && one.severity == Severity::High);

    let mut lines = Vec::new();
    for finding in left.iter().take(MAX_LEFT_FINDINGS) {
        let round = finding.rounds.last().copied().unwrap_or_default();
        let file = text::exact(findings_json::findings_path(raw.store(), raw.id(), round));
        let what = pasteable(&finding.what, MAX_FINDING_CHARS);
        lines.push(format!("Round {round}: {what} (`{file}`)"));
    }
    let more = left.len().saturating_sub(MAX_LEFT_FINDINGS);
    if more > 0 {
        lines.push(format!("and {more} more in these files"));
    }
    lines
}

/// Returns text as one plain line that ends no quotes, neither those of a message nor those of a
/// shell.
fn pasteable(line: &str, max_chars: usize) -> String {
    text::pasteable(&text::one_line(line, max_chars)).replace('"', "”")
}

/// Returns the line with which a user has the missing personas review, also once the loop is over.
fn more(held: &AnyLoop, rounds: usize) -> String {
    match rounds {
        // Without a drafter, which would make a clean round the last one.
        _ if held.header().session == RUN => {
            format!("claudex-loop run {}{}", plan(held), reviewer_flag(held))
        }
        1 => "/claudex:more".to_owned(),
        _ => format!("/claudex:more {rounds}"),
    }
}

/// Returns the line that runs the loop again with more rounds.
fn again(held: &AnyLoop) -> String {
    let rounds = held.fields().max_rounds.saturating_mul(2);
    if held.header().session == RUN {
        let reviewer = reviewer_flag(held);
        let plan = plan(held);
        format!("claudex-loop run --rounds {rounds}{reviewer} --drafter COMMAND {plan}")
    } else {
        format!("/claudex:plan --continue {} --rounds {rounds}", held.id())
    }
}

fn plan(held: &AnyLoop) -> String {
    shell::quoted(held.raw().path("{subject}").as_str())
}

/// Returns the flag that chose the reviewer of a loop of `run`, if there was one.
fn reviewer_flag(held: &AnyLoop) -> String {
    let flags = resume::noted_flags(&held.raw().journal().unwrap_or_default());
    let mut flags = flags.into_iter();
    flags
        .find(|flag| flag.starts_with(" --reviewer"))
        .unwrap_or_default()
}
