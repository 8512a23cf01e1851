//! `report`: one loop on one page: timeline, rounds, findings, changes of the text, journal.
//!
//! `--format json` prints the facts (docs/status.md). Nothing is written to disk.

use std::collections::BTreeMap;

use diffy::create_patch;
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::history::{self, LoopHistory};
use super::loop_facts;
use crate::machine::{Actor, PhaseDeclaration as _, Raw};
use crate::message::Message;
use crate::program::Program;
use crate::program::arguments::LoopArgs;
use crate::program::exit::{CommandResult, Exit};
use crate::program::settings::Settings;
use crate::program::{loops, out, rounds};
use crate::review::runs::{self, Run};
use crate::review::{finding_history, subject};
use crate::store::ChangeEntry;
use crate::{template, text};

/// The largest texts that are compared, in bytes: the time grows with the product of both.
const MAX_COMPARED_BYTES: usize = 512 * 1024;
/// The label of a text that no review has read.
const NOW: &str = "now";

const PAGE: Message = template!("page.html");

pub(in crate::program) fn report(
    program: &Program,
    target: &LoopArgs,
    format: &str,
) -> CommandResult {
    let info = program.info;
    let (store, id) = loops::find_or_newest(info, target.id.as_deref())?;
    let store = store.read_only();
    let held = loops::open(program, &store, &id, Actor::Person)?;
    let settings = Settings::load(info, store.root()).unwrap_or_else(|_| Settings::defaults(info));
    program.prepare(&*held, &settings, Actor::Person);
    let raw = held.raw();
    let past = LoopHistory::read(raw);
    let about = super::listing::about(raw.table()).map(|field| raw.text(field));
    let lines = past.lines(past.entries.iter());
    let events = past.entries.iter().zip(lines).map(|(entry, line)| {
        let revision = entry.change().map(|change| change.revision);
        json!({ "at": history::time(entry), "revision": revision, "text": line })
    });
    let facts = json!({
        "program": info.program,
        "version": program.version,
        "written": format!("{:.0}", Timestamp::now()),
        "about": text::one_line(&about.unwrap_or_default(), 300),
        "loop": loop_facts::facts(program, &*held, &settings),
        "path": timeline(raw, &past),
        "runs": past.runs.iter().map(|run| past.run_facts(run)).collect::<Vec<_>>(),
        "findings": findings(&past),
        "changes": changes(raw, &past),
        "journal": events.collect::<Vec<_>>(),
    });
    match format {
        "json" => out::json(&facts),
        _ => out::text(&super::render(PAGE, &facts)?),
    }
    Ok(Exit::Complete)
}

fn timeline(raw: &Raw, past: &LoopHistory) -> Vec<Json> {
    // A `bind` to a session is no step.
    let is_step = |change: &&ChangeEntry| change.what != "bind";
    let steps: Vec<&ChangeEntry> = past.changes().filter(is_step).collect();
    let is_over = raw.phase_info().terminal;
    let last = steps.last().filter(|_| is_over);
    let end = last.map_or_else(Timestamp::now, |last| last.at);
    let facts = steps.iter().enumerate().map(|(at, change)| {
        let until = steps.get(at + 1).map_or(end, |next| next.at);
        let mut facts = past.facts(change);
        facts["seconds"] = rounds::seconds_between(change.at, until).into();
        facts["by"] = past.maker(change).into();
        facts
    });
    facts.collect()
}

/// Returns all findings, oldest first. Each visit that starts clean has its own history.
fn findings(past: &LoopHistory) -> Vec<Json> {
    let mut groups: BTreeMap<(Option<u64>, &str), Vec<Run>> = BTreeMap::new();
    for run in &past.runs {
        let phase = past.phase_of(run);
        let review = phase.and_then(|phase| phase.review());
        let is_fresh = review.is_some_and(|spec| spec.fresh);
        let visit = run.began.visit.filter(|_| is_fresh);
        let group = groups.entry((visit, phase.map_or("", |phase| phase.name)));
        group.or_default().push(run.clone());
    }
    let mut facts = Vec::new();
    for ((visit, phase), runs) in groups {
        // Of several reviews of a round, the last one counts.
        let rounds = Vec::from_iter(runs::verdicts(runs).into_values());
        for history in finding_history::standings(&rounds) {
            // No finding is carried over if each review starts clean.
            let standing = Some(history.standing).filter(|_| visit.is_none());
            let finding = history.finding;
            facts.push(json!({
                "id": finding.id,
                "phase": phase,
                "severity": finding.severity,
                "what": finding.what,
                "file": finding.file,
                "line": finding.line,
                "recommendation": finding.recommendation,
                "detail": finding.detail,
                "rounds": history.rounds,
                "standing": standing,
                "stands": standing.map(|standing| standing.to_string()),
            }));
        }
    }
    facts
}

/// Returns the changes of the reviewed texts between verdicts and since the last one. Each text is
/// compared with the previous one of the same subject.
fn changes(raw: &Raw, past: &LoopHistory) -> Vec<Json> {
    let mut texts = Vec::new();
    for run in past.runs.iter().filter(|run| run.verdict().is_some()) {
        let label = format!("round {}", run.began.round);
        texts.extend(subject::text_of_run(raw, run).map(|(name, text)| (name, label, text)));
    }
    if let Some(spec) = rounds::spec(raw).filter(|spec| !subject::has_changes(raw, spec))
        && let Ok(Some(text)) = subject::read_current(raw, spec)
    {
        texts.push((subject::title(raw, spec), NOW.to_owned(), text));
    }
    let mut changes = Vec::new();
    for (at, (subject, label, text)) in texts.iter().enumerate() {
        let Some((_, from, before)) = texts[..at].iter().rfind(|(other, ..)| other == subject)
        else {
            continue;
        };
        if label == NOW && before == text {
            continue;
        }
        let diff = diff(before, text);
        let lines = diff.as_deref().unwrap_or_default().lines();
        changes.push(json!({
            "subject": text::one_line(subject, 300),
            "from": from,
            "to": label,
            "added": lines.clone().filter(|line| line.starts_with('+')).count(),
            "removed": lines.filter(|line| line.starts_with('-')).count(),
            "diff": diff,
        }));
    }
    changes
}

/// Returns the hunks between two texts, or `None` if one is too long.
fn diff(before: &str, after: &str) -> Option<String> {
    if before.len() + after.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let patch = create_patch(&text::strip_hidden(before), &text::strip_hidden(after)).to_string();
    // The two lines before the first hunk name files, which do not exist here.
    let hunks: Vec<&str> = patch.lines().skip(2).collect();
    Some(hunks.join("\n"))
}
