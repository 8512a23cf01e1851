//! `report`: one loop on one page: timeline, rounds, findings with their history, changes of the reviewed text, journal.
//!
//! The facts are one struct, which `--format json` prints and the template reads. Nothing is written to disk.

mod changes;

use jiff::Timestamp;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::history;
use super::loop_facts::{self, Shown};
use super::past::Past;
use crate::machine::Raw;
use crate::machine::table::PhaseInfo;
use crate::message::{Message, Render as _};
use crate::program::Program;
use crate::program::arguments::{Report as Arguments, ReportFormat};
use crate::program::exit::{Exit, Failure};
use crate::program::{change_text, durations, out};
use crate::review::finding_history::{self, Round, Standing};
use crate::review::findings::{Counts, Finding, Severity};
use crate::review::findings_json::FindingsJson;
use crate::review::runs::{Run, RunOutcome};
use crate::store::Entry;
use crate::text;

const PAGE: Message = Message {
    name: "report/page.html",
    text: include_str!("report/page.html"),
};
const STYLE: &str = include_str!("report/page.css");

/// The facts of a report. Their names are documented in docs/status.md.
#[derive(Serialize)]
struct Report {
    program: &'static str,
    version: &'static str,
    written: Timestamp,
    about: String,
    #[serde(rename = "loop")]
    shown: Shown,
    /// The phases that the loop was in, in order.
    phases: Vec<String>,
    path: Vec<Step>,
    runs: Vec<RunFacts>,
    findings: Vec<FindingFacts>,
    changes: Vec<changes::TextChange>,
    journal: Vec<Event>,
}

/// A change of the loop, and the time until the next one.
#[derive(Serialize)]
struct Step {
    revision: u64,
    at: Timestamp,
    /// Seconds since the start.
    begin: u64,
    /// Seconds until the next one.
    seconds: u64,
    what: String,
    by: String,
    from: Option<String>,
    to: String,
    why: String,
}

/// A run of a reviewer.
#[derive(Serialize)]
struct RunFacts {
    run: String,
    phase: String,
    round: u64,
    persona: String,
    reviewer: String,
    begin: u64,
    /// The seconds that it took; `None` if it is running or was cut off.
    seconds: Option<u64>,
    /// `clean`, `findings`, `failed` or `unfinished`.
    outcome: &'static str,
    came_to: String,
    counts: Option<Counts>,
}

/// A finding in its last wording, with its history.
#[derive(Serialize)]
struct FindingFacts {
    id: String,
    phase: String,
    severity: Severity,
    what: String,
    place: Option<String>,
    recommendation: Option<String>,
    detail: Vec<String>,
    rounds: Vec<u64>,
    /// `None` if each review starts clean, since nothing is carried there.
    standing: Option<Standing>,
    /// The standing in words.
    stands: Option<String>,
}

/// A line of the journal.
#[derive(Serialize)]
struct Event {
    at: Timestamp,
    /// `None` for a note, which changed nothing.
    revision: Option<u64>,
    text: String,
}

/// Prints the page.
pub(in crate::program) fn report(
    program: &Program,
    Arguments { target, format }: &Arguments,
) -> Result<Exit, Failure> {
    let (held, settings, past) = super::open(program, target, "report")?;
    let now = Timestamp::now();
    let raw = held.raw();
    let path = path(raw, &past, now);
    let mut phases: Vec<String> = Vec::new();
    for step in &path {
        if !phases.contains(&step.to) {
            phases.push(step.to.clone());
        }
    }
    let report = Report {
        program: program.info.program,
        version: program.version,
        written: now,
        about: super::listing::about(raw.table())
            .map(|field| text::one_line(&raw.text(field), 300))
            .unwrap_or_default(),
        shown: loop_facts::shown(program, &*held, &settings, &[], now),
        phases,
        path,
        runs: past
            .runs
            .iter()
            .map(|run| run_facts(raw, &past, run))
            .collect(),
        findings: findings(raw, &past),
        changes: changes::changes(raw, &past),
        journal: past
            .entries
            .iter()
            .map(|entry| event(raw, &past, entry))
            .collect(),
    };
    match format {
        ReportFormat::Json => out::json(&report),
        ReportFormat::Html => out::text(&html(&report)?),
    }
    Ok(Exit::Complete)
}

/// Renders the page. Every value is escaped, and the page's policy lets it load and run nothing.
fn html(report: &Report) -> Result<String, Failure> {
    let with = |environment: &mut Environment<'static>| {
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_filter("elapsed", durations::elapsed);
        environment.add_global("style", Value::from_safe_string(STYLE.to_owned()));
        Ok(())
    };
    let page = PAGE.render_in(with, report);
    page.map_err(|error| Failure::new(Exit::Internal, error))
}

/// Returns the seconds from one time to a later one.
fn between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_second() - from.as_second()).unwrap_or_default()
}

/// Returns when the loop was started.
fn start(past: &Past) -> Timestamp {
    let first = past.entries.iter().find_map(Entry::change);
    first.map_or(Timestamp::UNIX_EPOCH, |change| change.at)
}

fn path(raw: &Raw, past: &Past, now: Timestamp) -> Vec<Step> {
    let changes = past.entries.iter().filter_map(Entry::change);
    let mut steps: Vec<Step> = Vec::new();
    // That a session took the loop leads nowhere.
    for change in changes.filter(|change| change.what != "bind") {
        let Some(to) = &change.to else { continue };
        if let Some(last) = steps.last_mut() {
            last.seconds = between(last.at, change.at);
        }
        steps.push(Step {
            revision: change.revision,
            at: change.at,
            begin: between(start(past), change.at),
            seconds: 0,
            what: change.what.clone(),
            by: change_text::maker(raw.table(), change),
            from: change.from.clone(),
            to: to.clone(),
            why: past.why(raw.table(), change),
        });
    }
    if let Some(last) = steps.last_mut()
        && !raw.table().phases[raw.phase()].terminal
    {
        last.seconds = between(last.at, now);
    }
    steps
}

/// Returns the phase that a run reviewed, or `None` if this version of the machine does not have it.
fn phase_of(raw: &Raw, past: &Past, run: &Run) -> Option<&'static PhaseInfo> {
    let mut changes = past.entries.iter().filter_map(Entry::change);
    let visit = changes.find(|change| Some(change.revision) == run.began.visit)?;
    let table = raw.table();
    Some(&table.phases[table.stored(visit.to.as_deref()?)?])
}

fn phase_name(raw: &Raw, past: &Past, run: &Run) -> String {
    phase_of(raw, past, run).map_or_else(String::new, |phase| phase.stored.to_owned())
}

/// Returns the findings of a run, or `None` if their file is not as the journal noted it.
fn verdict(raw: &Raw, run: &Run) -> Option<FindingsJson> {
    let found = FindingsJson::of_run(raw.store(), raw.id(), run);
    let found = found.ok().flatten();
    found.filter(|json| json.run == run.began.run)
}

fn run_facts(raw: &Raw, past: &Past, run: &Run) -> RunFacts {
    let counts = verdict(raw, run).map(|json| json.findings.counts());
    let outcome = match &run.ended {
        Some(RunOutcome::Clean { .. }) => "clean",
        Some(RunOutcome::Findings { .. }) => "findings",
        Some(_) => "failed",
        None => "unfinished",
    };
    RunFacts {
        run: run.began.run.clone(),
        phase: phase_name(raw, past, run),
        round: run.began.round,
        persona: run.began.persona.clone(),
        reviewer: run.began.reviewer.clone(),
        begin: between(start(past), run.begin),
        seconds: run.end.map(|end| between(run.begin, end)),
        outcome,
        came_to: match counts.filter(|_| outcome == "findings") {
            Some(counts) => counts.to_string(),
            None => past.outcome(run),
        },
        counts,
    }
}

/// Rounds whose findings have a history in common.
struct Group {
    /// The visit, if each starts clean.
    visit: Option<u64>,
    is_fresh: bool,
    phase: String,
    rounds: Vec<Round>,
}

/// Returns all findings, oldest first. If each visit of a phase starts clean, its rounds have a history of their own.
fn findings(raw: &Raw, past: &Past) -> Vec<FindingFacts> {
    let mut groups: Vec<Group> = Vec::new();
    for run in &past.runs {
        let Some(json) = verdict(raw, run) else {
            continue;
        };
        let review = phase_of(raw, past, run).and_then(|phase| phase.review);
        let is_fresh = review.is_some_and(|spec| spec.fresh);
        let visit = run.began.visit.filter(|_| is_fresh);
        let known = groups
            .iter_mut()
            .find(|group| (group.is_fresh, group.visit) == (is_fresh, visit));
        let round = Round {
            number: run.began.round,
            persona: json.persona,
            findings: json.findings,
        };
        match known {
            Some(group) => {
                // Of several reviews of a round the last one counts.
                group.rounds.retain(|known| known.number != round.number);
                group.rounds.push(round);
                group.rounds.sort_by_key(|round| round.number);
            }
            None => groups.push(Group {
                visit,
                is_fresh,
                phase: phase_name(raw, past, run),
                rounds: vec![round],
            }),
        }
    }
    groups.iter().flat_map(of_group).collect()
}

fn of_group(group: &Group) -> Vec<FindingFacts> {
    let standings = finding_history::standings(&group.rounds).into_iter();
    let facts = standings.map(|one| {
        let rounds = group.rounds.iter().rev();
        let mut all = rounds.flat_map(|round| &round.findings.0);
        let latest = all.find(|finding| finding.id.as_ref() == Some(&one.id));
        let standing = Some(one.standing).filter(|_| !group.is_fresh);
        FindingFacts {
            id: one.id,
            phase: group.phase.clone(),
            severity: one.severity,
            what: one.what,
            place: latest.and_then(place),
            recommendation: latest.and_then(|finding| finding.recommendation.clone()),
            detail: latest.map_or_else(Vec::new, |finding| finding.detail.clone()),
            rounds: one.rounds,
            standing,
            stands: standing.map(|standing| standing.to_string()),
        }
    });
    facts.collect()
}

/// Returns the place of a finding: `src/x.rs:12`, `src/x.rs`, `line 12`.
fn place(finding: &Finding) -> Option<String> {
    let file = finding.file.clone();
    match (file, finding.line) {
        (Some(file), Some(line)) => Some(format!("{file}:{line}")),
        (None, Some(line)) => Some(format!("line {line}")),
        (file, None) => file,
    }
}

fn event(raw: &Raw, past: &Past, entry: &Entry) -> Event {
    match entry {
        Entry::Change(change) => Event {
            at: change.at,
            revision: Some(change.revision),
            text: history::of_change(raw.table(), past, change),
        },
        Entry::Note(note) => Event {
            at: note.at,
            revision: None,
            text: history::of_note(past, note),
        },
    }
}
