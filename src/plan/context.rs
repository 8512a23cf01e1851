//! The variables of the plan loop's messages, in addition to those of every machine.
//!
//! Text of a user or a model (topic, findings) becomes one plain line with a limited length.

use claudex_loop::Timestamp;
use claudex_loop::machine::Raw;
use claudex_loop::message::{self, Message, Render as _};
use claudex_loop::program::rounds;
use claudex_loop::program::{Variables, shell};
use claudex_loop::review::finding_history::{self, Standing};
use claudex_loop::review::findings::Severity;
use claudex_loop::review::findings_file::{self, bullet};
use claudex_loop::review::personas::Personas;
use claudex_loop::review::runs::{self, Run};
use claudex_loop::text;
use serde_json::{Value as Json, json};

use super::typestate::DecisionSignal;
use super::{AnyLoop, caveats, is_of_run, report, runner};

/// The sentences about how the rounds ended.
const OUTCOME: Message = Message {
    name: "outcome.md",
    text: include_str!("messages/outcome.md"),
};
/// Upper limit of a topic or a path in a message, in characters.
const MAX_TEXT_CHARS: usize = 300;
/// Upper limit of a finding in a message, in characters.
const MAX_FINDING_CHARS: usize = 200;
/// Upper limit of findings that a block shows of the round before.
const MAX_TOP_FINDINGS: usize = 3;
/// Upper limit of high findings that a summary lists as not reviewed again.
const MAX_LEFT_FINDINGS: usize = 5;

/// Returns the variables.
pub(super) fn variables(held: &AnyLoop, now: Timestamp) -> Variables {
    let raw = held.raw();
    let fields = held.fields();
    let personas = Personas::of_machine(raw.table());
    let round = fields.round;
    let lines = rounds::rounds(raw);
    let previous = lines.iter().find(|line| line.round + 1 == round);
    let (report, fixes) = report::existing_files(held);
    let path = |path: &str| text::one_line(path, MAX_TEXT_CHARS);

    let variables = json!({
        "topic": pasteable(&fields.topic, MAX_TEXT_CHARS),
        "driven": !is_of_run(held),
        "persona": personas.of_round(round).label,
        "missing": missing_personas(held, personas),
        "left_high": high_findings_left(raw),
        "plan": path(&fields.subject),
        "plan_name": text::exact(&fields.subject),
        "plan_path": path(raw.path("{subject}").as_str()),
        "plan_argument": shell::quote(&text::exact(raw.path("{subject}"))),
        "plan_is_there": raw.read("{subject}").is_ok(),
        "review_line": runner::line(raw),
        "findings": text::exact(findings_file::findings_path(raw.store(), raw.id(), round)),
        "previous": previous.and_then(|line| line.counts).map(|counts| counts.to_string()),
        "top": top_findings(held, round),
        "rounds": lines,
        "across": rounds::across(raw),
        "stalled": fields.decision_signal == DecisionSignal::Stalled,
        "elapsed": rounds::elapsed(rounds::seconds(raw, now)),
        "reviewers": rounds::reviewers(raw),
        "caveats": caveats::all(held),
        "cause": failure_cause(raw),
        "reviewed": lines.last().is_some_and(|line| line.counts.is_some()),
        "report": report.map(text::exact),
        "fixes": fixes.map(text::exact),
    });
    let Json::Object(mut variables) = variables else {
        unreachable!("the variables are an object");
    };
    let outcome = outcome(held, &variables);
    variables.insert("outcome".to_owned(), json!(outcome));
    variables
}

/// Returns the sentences about how the rounds ended, and which personas did not review the plan.
fn outcome(held: &AnyLoop, variables: &Variables) -> String {
    let mut facts = message::facts(held.raw(), MAX_TEXT_CHARS);
    facts.extend(variables.clone());
    let mut runs = rounds::runs(held.raw()).into_iter();
    let last = runs.rfind(|run| run.began.round == held.fields().round);
    facts.insert("failed".to_owned(), json!(last.as_ref().and_then(cause_of)));
    let rendered = OUTCOME.render(&facts);
    rendered.map_or_else(|error| error.to_string(), |text| text.trim().to_owned())
}

/// Returns why the last review that failed gave no verdict, without a full stop.
pub(super) fn failure_cause(raw: &Raw) -> String {
    let runs = rounds::runs(raw);
    let cause = runs.iter().rev().find_map(cause_of);
    cause.unwrap_or_else(|| "the reviewer failed".to_owned())
}

fn cause_of(run: &Run) -> Option<String> {
    let cause = run.cause()?.to_string();
    Some(cause.trim_end_matches(['.', ' ']).to_owned())
}

/// Returns the short labels of the personas that only rounds after this one would have.
fn missing_personas(held: &AnyLoop, personas: Personas) -> Vec<String> {
    let fields = held.fields();
    let most = fields.max_rounds.min(personas.all().len() as u64);
    let label = |round| personas.of_round(round).label;
    let is_missing = |later: &u64| (1..=fields.round).all(|round| label(round) != label(*later));
    (fields.round + 1..=most)
        .filter(is_missing)
        .map(|round| label(round).trim_end_matches(" review"))
        .map(|label| text::one_line(label, MAX_TEXT_CHARS))
        .collect()
}

/// Returns the gravest findings of the round before: a user sees only the first lines of a block.
fn top_findings(held: &AnyLoop, round: u64) -> Vec<String> {
    let verdicts = runs::verdicts(rounds::runs(held.raw()));
    let run = verdicts.get(&round.saturating_sub(1));
    let mut findings: Vec<_> = run.iter().flat_map(|run| run.findings()).collect();
    findings.sort_by_key(|finding| finding.severity);
    let lines = findings
        .iter()
        .map(|finding| format!("{}: {}", finding.severity, bullet(finding)));
    lines
        .take(MAX_TOP_FINDINGS)
        .map(|line| pasteable(&line, MAX_FINDING_CHARS))
        .collect()
}

/// Returns the high findings that no later round reviewed again, each with its round and file.
fn high_findings_left(raw: &Raw) -> Vec<String> {
    let mut left = finding_history::standings(&rounds::history(raw));
    left.retain(|one| one.standing == Standing::Unseen && one.finding.severity == Severity::High);

    let mut lines = Vec::new();
    for one in left.iter().take(MAX_LEFT_FINDINGS) {
        let round = one.rounds.last().copied().unwrap_or_default();
        let file = text::exact(findings_file::findings_path(raw.store(), raw.id(), round));
        let problem = pasteable(&one.finding.what, MAX_FINDING_CHARS);
        lines.push(format!("Round {round}: {problem} (`{file}`)"));
    }
    let more = left.len().saturating_sub(MAX_LEFT_FINDINGS);
    if more > 0 {
        lines.push(format!("and {more} more in these files"));
    }
    lines
}

/// Returns text as one plain line that ends no quotes of a message or a shell.
fn pasteable(line: &str, max_chars: usize) -> String {
    text::pasteable(&text::one_line(line, max_chars)).replace('"', "”")
}
