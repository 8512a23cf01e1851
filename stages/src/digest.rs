//! The digest of earlier rounds, which replaces their summaries from round 4.

use std::collections::BTreeMap;
use std::io;

use claudex_loop::files::Folder;
use claudex_loop::message::Render as _;
use claudex_loop::{Timestamp, template, text};
use serde_json::{Value as Json, json};

use crate::contract::{Flags, Keys, Stage, Summary};
use crate::gates::REQUIRED_SECTIONS;
use crate::state::{Pipeline, SUMMARIES};

/// The name of the digest in the folder of the summaries.
pub(crate) const FILE_NAME: &str = "rounds-digest.md";
/// The first round in which the digest represents the summaries.
const FIRST_DIGESTED_ROUND: u32 = 4;
/// The most lines of a digest.
pub const MAX_LINES: usize = 100;
/// The lines of a digest of no rounds.
const EMPTY_LINES: usize = 26;
const MAX_CELL_CHARS: usize = 200;

/// The summaries that counted, by round and stage.
pub type Summaries = BTreeMap<(u32, Stage), Summary>;

/// Returns `rounds-digest.md` for the rounds before this one. The oldest decision comes first.
///
/// The digest has at most 100 lines. If some are left out, the last line names them.
pub fn digest(kept: &Summaries, before: u32, decisions: &Keys, generated_at: Timestamp) -> String {
    let mut rounds: Vec<u32> = kept.keys().map(|(round, _)| *round).collect();
    rounds.retain(|round| *round < before);
    rounds.dedup();
    let rows: Vec<Json> = rounds
        .iter()
        .map(|round| row(kept, decisions, *round))
        .collect();
    let is_open = |gap: &Json| gap["resolved_in"].is_null();
    let (open, resolved) = gaps(kept, &rounds).into_iter().partition(is_open);
    let decisions = decisions.iter().filter_map(|(key, value)| {
        let (_, round) = key.split_once("_round_")?;
        let round: u32 = round.split('_').next()?.parse().ok()?;
        let row = json!({ "key": cell(key), "value": cell(value.as_str()?), "round": round });
        (!key.ends_with("_timestamp")).then_some(row)
    });
    // In the order in which they are left out.
    let mut parts: [(&str, Vec<Json>); 5] = [
        ("lines per round", rows.clone()),
        ("resolved gaps", resolved),
        ("decisions", decisions.collect()),
        ("rows of rounds", rows.clone()),
        ("open gaps", open),
    ];
    let total = EMPTY_LINES + parts.iter().map(|(_, lines)| lines.len()).sum::<usize>();
    // The last line is below a blank one.
    let is_long = total > MAX_LINES;
    let mut over = if is_long { total + 2 - MAX_LINES } else { 0 };
    let mut left_out = Vec::new();
    for (name, lines) in &mut parts {
        let count = over.min(lines.len());
        lines.drain(..count);
        over -= count;
        if count > 0 {
            left_out.push(format!("{count} {name}"));
        }
    }

    let [lines, resolved, decisions, shown, open] = parts.map(|(_, lines)| lines);
    let facts = json!({
        "all": rows,
        "generated_at": format!("{generated_at:.0}"),
        "rows": shown,
        "decisions": decisions,
        "gaps": Vec::from_iter(resolved.into_iter().chain(open)),
        "lines": lines,
        "left_out": left_out,
    });
    template!("../messages/digest.md")
        .render(&facts)
        .unwrap_or_default()
}

/// Returns the facts of a round: the flags that its row shows, and its end.
fn row(kept: &Summaries, decisions: &Keys, round: u32) -> Json {
    let of_round = kept.range((round, Stage::Setup)..=(round, Stage::Retrospective));
    let mut newest = of_round.map(|(_, summary)| summary).rev();
    let last = newest.clone().next();
    let flags = |stage| {
        let summary = kept.get(&(round, stage));
        summary.map_or_else(Flags::default, |summary| summary.flags.clone())
    };
    let questions = flags(Stage::AnalysisQuestions);
    let responses = flags(Stage::ResponseAnalysis);
    let rate = responses.completion_rate.unwrap_or_default();
    let answered = f64::from(questions.questions_count.unwrap_or_default()) * rate;
    let mode = newest.find_map(|summary| summary.flags.analysis_mode);
    let chosen = decisions.get(&format!("analysis_mode_round_{round}"));
    json!({
        "round": round,
        "mode": mode.map(|mode| json!(mode)).or_else(|| chosen.cloned()),
        "answered": answered.round() as u64,
        "questions": questions,
        "responses": responses,
        "validation": flags(Stage::ValidationGeneration),
        "end": last.map(|last| format!("{} {}", last.stage, last.status)),
        "summary": last.map(|last| text::one_line(&last.summary, 300)),
    })
}

/// Returns the gaps of these rounds in the order of their first mention. A gap is open as long as
/// each round that looked names it.
fn gaps(kept: &Summaries, rounds: &[u32]) -> Vec<Json> {
    let mut gaps: Vec<Json> = Vec::new();
    for round in rounds {
        let summary = kept.get(&(*round, Stage::ResponseAnalysis));
        let named = summary.and_then(|summary| summary.flags.gap_descriptions.as_ref());
        let Some(named) = named else { continue };
        let mut new = Keys::new();
        let texts = named.iter().map(|gap| cell(gap));
        for text in texts.filter(|text| !text.is_empty()) {
            let section = section(&text);
            new.entry(text.to_lowercase()).or_insert(json!(section));
        }
        for gap in gaps.iter_mut().filter(|gap| gap["resolved_in"].is_null()) {
            let key = gap["key"].as_str().unwrap_or_default();
            match new.get_mut(key) {
                // It is known.
                Some(section) => *section = Json::Null,
                None => gap["resolved_in"] = json!(round),
            }
        }
        for (key, section) in new.into_iter().filter(|(_, section)| !section.is_null()) {
            let id = format!("GAP-{:03}", gaps.len() + 1);
            gaps.push(json!({
                "id": id, "section": section, "key": key, "first_seen": round, "resolved_in": null,
            }));
        }
    }
    gaps
}

/// Returns the section that a gap is about, else the gap itself.
fn section(gap: &str) -> String {
    let lower = gap.to_lowercase();
    let mut sections = REQUIRED_SECTIONS.into_iter();
    match sections.find(|section| lower.contains(&section.to_lowercase())) {
        Some(section) if gap.len() == section.len() => section.to_owned(),
        Some(section) => format!("{section}: {gap}"),
        None => gap.to_owned(),
    }
}

fn cell(words: &str) -> String {
    text::one_line(words, MAX_CELL_CHARS).replace('|', "\\|")
}

pub(crate) fn is_due(pipeline: Pipeline<'_>) -> bool {
    pipeline.round() >= FIRST_DIGESTED_ROUND
}

/// Makes the folder of the summaries. Writes the digest if it is due and differs.
pub(crate) fn write(pipeline: Pipeline<'_>) -> io::Result<()> {
    let folder = Folder::open(&pipeline.0.root())?.make_subfolder(SUMMARIES)?;
    if !is_due(pipeline) {
        return Ok(());
    }
    // The time of the dispatch makes a second write identical.
    let at: Timestamp = pipeline.open().since.parse().unwrap_or_default();
    let kept = pipeline.kept_summaries();
    let text = digest(&kept, pipeline.round(), &pipeline.decisions(), at);
    match folder.read(FILE_NAME, text.len() as u64 + 1) {
        Ok(bytes) if bytes == text.as_bytes() => Ok(()),
        _ => folder.replace(FILE_NAME, text.as_bytes()),
    }
}
