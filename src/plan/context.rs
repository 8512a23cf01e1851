//! The variables of the plan loop's messages, in addition to those of every machine.
//!
//! Text of a user or a model (topic, findings) becomes one plain line with a limited length.

use claudex_loop::behaviours::loop_message;
use claudex_loop::machine::{PersonaInfo, PhaseDeclaration as _, Raw};
use claudex_loop::message::Message;
use claudex_loop::program::exit::with_help;
use claudex_loop::program::{Variables, rounds};
use claudex_loop::review::finding_history::{self, Standing};
use claudex_loop::review::findings::Severity;
use claudex_loop::review::findings_file::{self, bullet};
use claudex_loop::review::personas::{machine_personas, persona};
use claudex_loop::review::runs;
use claudex_loop::review::subject::{self, SubjectText};
use claudex_loop::{template, text};
use serde_json::{Value as Json, json};

use super::typestate::DecisionSignal;
use super::{AnyLoop, belongs_to_run, caveats, report, runner};

const OUTCOME: Message = template!("messages/outcome.md");
const MAX_TEXT_CHARS: usize = 300;
const MAX_FINDING_CHARS: usize = 200;

pub(super) fn variables(held: &AnyLoop) -> Variables {
    let raw = held.raw();
    let fields = held.fields();
    let personas = machine_personas(raw.table());
    let round = fields.round;
    let lines = rounds::rounds(raw);
    let previous = lines.iter().find(|line| line.round + 1 == round);
    let [report, fixes] = report::existing_files(held);
    let path = raw.path("{subject}");

    let variables = json!({
        "topic": pasteable(&fields.topic, MAX_TEXT_CHARS),
        "driven": !belongs_to_run(raw),
        "persona": persona(personas, round).label,
        "missing": missing_personas(held, personas),
        "left_high": high_findings_left(raw),
        "plan": text::one_line(&fields.subject, MAX_TEXT_CHARS),
        "plan_name": text::escape_hidden(&fields.subject),
        "plan_path": text::one_line(path.as_str(), MAX_TEXT_CHARS),
        "plan_argument": text::shell_word(&text::escape_hidden(&path)),
        "plan_is_there": raw.read("{subject}").is_ok_and(|plan| !plan.trim_ascii().is_empty()),
        "problem": subject_problem(raw),
        "review_line": runner::line(raw),
        "findings": text::escape_hidden(findings_file::findings_path(raw.store(), raw.id(), round)),
        "previous": previous.and_then(|line| line.counts).map(|counts| counts.to_string()),
        "top": gravest_findings(raw, round.saturating_sub(1)),
        "rounds": lines,
        "across": rounds::summarize_standings(raw),
        "stalled": fields.decision_signal == DecisionSignal::Stalled,
        "elapsed": text::elapsed(rounds::seconds(raw)),
        "reviewers": rounds::reviewers(raw),
        "caveats": caveats::all(held),
        "cause": cause(raw),
        "reviewed": lines.last().is_some_and(|line| line.counts.is_some()),
        "report": report.map(text::escape_hidden),
        "fixes": fixes.map(text::escape_hidden),
    });
    let Json::Object(mut variables) = variables else {
        unreachable!("the variables are an object");
    };
    let outcome = loop_message::render(raw, Some(OUTCOME), variables.clone())
        .map_or_else(|error| error.to_string(), Option::unwrap_or_default);
    variables.insert("outcome".to_owned(), outcome.trim().into());
    variables
}

/// Returns why the plan under review cannot be reviewed, if so.
fn subject_problem(raw: &Raw) -> Option<String> {
    let spec = raw.phase_info().review()?;
    let is_plan = !subject::has_changes(raw, spec);
    let read = is_plan.then(|| SubjectText::read(raw, spec, false))?;
    Some(with_help(&read.err()?))
}

/// Returns why the newest review gave no verdict, without a full stop.
pub(super) fn cause(raw: &Raw) -> String {
    rounds::failure(raw).unwrap_or_else(|| "no review ran to its end".to_owned())
}

/// Returns the labels of the personas after this round. Each has one round.
fn missing_personas(held: &AnyLoop, personas: &'static [PersonaInfo]) -> Vec<&'static str> {
    let fields = held.fields();
    let most = fields.max_rounds.min(personas.len() as u64);
    let label = |round| persona(personas, round).label.trim_end_matches(" review");
    (fields.round + 1..=most).map(label).collect()
}

/// Returns the findings of a round, the gravest first: a user sees only the first lines of a block.
fn gravest_findings(raw: &Raw, round: u64) -> Vec<String> {
    let verdicts = runs::verdicts(rounds::runs(raw));
    let mut findings = (verdicts.get(&round)).map_or_else(Vec::new, |run| run.findings().to_vec());
    findings.sort_by_key(|finding| finding.severity);
    let lines = findings.iter().map(|finding| {
        let line = format!("{}: {}", finding.severity, bullet(finding));
        pasteable(&line, MAX_FINDING_CHARS)
    });
    lines.collect()
}

/// Returns the high findings that no later round reviewed again, each with its round and file.
fn high_findings_left(raw: &Raw) -> Vec<String> {
    let mut left = finding_history::standings(&rounds::counted_verdicts(raw));
    left.retain(|one| one.standing == Standing::Unseen && one.finding.severity == Severity::High);
    let lines = left.iter().map(|one| {
        let round = one.rounds.last().copied().unwrap_or_default();
        let file = text::escape_hidden(findings_file::findings_path(raw.store(), raw.id(), round));
        let problem = pasteable(&one.finding.what, MAX_FINDING_CHARS);
        format!("Round {round}: {problem} (`{file}`)")
    });
    lines.collect()
}

/// Returns text as one plain line that ends no quotes of a message or a shell.
fn pasteable(line: &str, max_chars: usize) -> String {
    text::pasteable(&text::one_line(line, max_chars)).replace('"', "”")
}
