//! The digest of earlier rounds, which stages get from round 4 on instead of all summaries.

use claudex_loop::{Timestamp, text};

use crate::contract::{Flags, Stage, Summary};
use crate::gates::REQUIRED_SECTIONS;
use crate::kept::{Gap, Kept, cell, flags, gaps, mode, rounds};

/// The most lines of a digest.
pub const MAX_LINES: usize = 100;
/// The digest with the names of its parts.
const TEMPLATE: &str = include_str!("../messages/digest.md");
/// The lines of the template that are parts.
const TEMPLATE_PARTS: usize = 4;

/// A recorded decision of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The key, such as `analysis_mode_round_2`.
    pub key: String,
    /// The choice.
    pub value: String,
    /// The round of the decision.
    pub round: u32,
}

/// Returns the digest of the rounds before this one, `rounds-digest.md`. `decisions` are oldest first.
///
/// It has 100 lines at most: the oldest lines per round are left out first, then resolved gaps, then
/// old decisions; the last line names what is left out.
pub fn digest(kept: &Kept, before: u32, decisions: &[Recorded], generated_at: Timestamp) -> String {
    let rounds = rounds(kept, before);
    let mut rows: Vec<String> = rounds.iter().map(|round| row(kept, *round)).collect();
    let mut lines: Vec<String> = rounds.iter().map(|round| line(kept, *round)).collect();
    let mut chosen: Vec<String> = decisions.iter().map(decision_row).collect();
    let gaps = gaps(kept, before);
    let gap_rows = gaps
        .iter()
        .enumerate()
        .map(|(at, gap)| (gap, gap_row(at, gap)));
    let (resolved, open): (Vec<_>, Vec<_>) =
        gap_rows.partition(|(gap, _)| gap.resolved_in.is_some());
    let [mut resolved, mut open] =
        [resolved, open].map(|gaps| gaps.into_iter().map(|(_, row)| row).collect::<Vec<_>>());

    let rest = lines.len() + resolved.len() + chosen.len() + open.len() + rows.len();
    let total = TEMPLATE.lines().count() - TEMPLATE_PARTS + rest;
    // The last line is below a blank one.
    let mut over = match total > MAX_LINES {
        true => total + 2 - MAX_LINES,
        false => 0,
    };
    let mut left_out = Vec::new();
    for (part, name) in [
        (&mut lines, "lines per round"),
        (&mut resolved, "resolved gaps"),
        (&mut chosen, "decisions"),
        (&mut rows, "rows of rounds"),
        (&mut open, "open gaps"),
    ] {
        let count = over.min(part.len());
        part.drain(..count);
        over -= count;
        if count > 0 {
            left_out.push(format!("{count} {name}"));
        }
    }

    resolved.extend(open);
    let head = head(kept, &rounds, generated_at);
    let mut all: Vec<String> = Vec::new();
    for line in TEMPLATE.lines() {
        match line {
            "{rows}" => all.append(&mut rows),
            "{decisions}" => all.append(&mut chosen),
            "{gaps}" => all.append(&mut resolved),
            "{lines}" => all.append(&mut lines),
            line => all.push(head.iter().fold(line.to_owned(), |line, (name, value)| {
                line.replace(name, value)
            })),
        }
    }
    if !left_out.is_empty() {
        all.push(String::new());
        all.push(format!(
            "Left out, the oldest first: {}.",
            left_out.join(", ")
        ));
    }
    all.join("\n") + "\n"
}

/// Returns the values of the frontmatter by their names in the template.
fn head(kept: &Kept, rounds: &[u32], generated_at: Timestamp) -> [(&'static str, String); 5] {
    let mut modes: Vec<String> = Vec::new();
    let (mut asked, mut answered) = (0.0, 0.0);
    for round in rounds {
        let questions = questions(kept, *round).map_or(0.0, f64::from);
        asked += questions;
        answered += (questions * rate(kept, *round).unwrap_or_default()).round();
        let mode = mode(kept, *round).map(|mode| mode.to_string());
        modes.extend(mode.filter(|mode| !modes.contains(mode)));
    }
    let rounds: Vec<String> = rounds.iter().map(u32::to_string).collect();
    [
        ("{rounds}", rounds.join(", ")),
        ("{at}", format!("{generated_at:.0}")),
        ("{asked}", asked.to_string()),
        ("{answered}", answered.to_string()),
        ("{modes}", modes.join(", ")),
    ]
}

fn questions(kept: &Kept, round: u32) -> Option<u32> {
    flags(kept, round, Stage::AnalysisQuestions)?.questions_count
}

fn rate(kept: &Kept, round: u32) -> Option<f64> {
    flags(kept, round, Stage::ResponseAnalysis)?.completion_rate
}

fn decision_row(one: &Recorded) -> String {
    format!(
        "| {} | {} | {} |",
        cell(&one.key),
        cell(&one.value),
        one.round
    )
}

fn gap_row(at: usize, gap: &Gap) -> String {
    let (status, resolved_in) = match gap.resolved_in {
        Some(round) => ("resolved", round.to_string()),
        None => ("open", "-".to_owned()),
    };
    let (number, section, first) = (at + 1, section(&gap.text), gap.first_seen);
    format!("| GAP-{number:03} | {section} | {first} | {status} | {resolved_in} |")
}

fn row(kept: &Kept, round: u32) -> String {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let asked = flags(kept, round, Stage::AnalysisQuestions);
    let read = flags(kept, round, Stage::ResponseAnalysis);
    let share = asked.and_then(|flags| flags.thinkdeep_completion_pct);
    let cells = [
        mode(kept, round).map(|mode| mode.to_string()),
        questions(kept, round).map(|count| count.to_string()),
        rate(kept, round).map(|rate| format!("{:.0} %", rate * 100.0)),
        read.and_then(|flags| Some(flags.gaps_found?.to_string())),
        share.map(|share| format!("{share:.0}")),
        outcome(kept, round),
    ];
    format!("| {round} | {} |", cells.map(or_dash).join(" | "))
}

/// Returns the outcome of a round: the decision, else the next action of stage 4, else the end of
/// its last stage.
fn outcome(kept: &Kept, round: u32) -> Option<String> {
    let decided = |flags: &Flags| {
        let score = flags.validation_score.map(|score| format!(" ({score:.1})"));
        Some(format!(
            "{}{}",
            flags.validation_decision?,
            score.unwrap_or_default()
        ))
    };
    let looped = || flags(kept, round, Stage::ResponseAnalysis)?.next_action;
    let ended = || {
        let (stage, summary) = last(kept, round)?;
        Some(format!("{stage} {}", summary.status))
    };
    flags(kept, round, Stage::ValidationGeneration)
        .and_then(decided)
        .or_else(|| looped().map(|action| action.to_string()))
        .or_else(ended)
}

/// Returns the last summary of a round.
fn last(kept: &Kept, round: u32) -> Option<(Stage, &Summary)> {
    let mut all = kept.range((round, Stage::Setup)..=(round, Stage::Retrospective));
    all.next_back()
        .map(|((_, stage), summary)| (*stage, summary))
}

fn line(kept: &Kept, round: u32) -> String {
    let summary = last(kept, round).map_or("", |(_, summary)| summary.summary.as_str());
    format!("- Round {round}: {}", text::one_line(summary, 300))
}

/// Returns the section that a gap is about, else the gap itself.
fn section(gap: &str) -> String {
    let lower = gap.to_lowercase();
    let named = REQUIRED_SECTIONS
        .into_iter()
        .find(|section| lower.contains(&section.to_lowercase()));
    match named {
        Some(section) if gap.len() == section.len() => section.to_owned(),
        Some(section) => format!("{section}: {}", cell(gap)),
        None => cell(gap),
    }
}
