//! The digest of earlier rounds, which stages are given from round 4 on in place of all summaries.

use claudex_loop::{Timestamp, text};

use crate::contract::Stage;
use crate::gates::REQUIRED_SECTIONS;
use crate::kept::{Kept, cell, flags, gaps, mode, rounds};

/// The most lines of a digest.
pub const MOST_LINES: usize = 100;

/// A decision of the person that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its key, such as `analysis_mode_round_2`.
    pub key: String,
    /// What was chosen.
    pub value: String,
    /// The round in which.
    pub round: u32,
}

/// Returns the digest of the rounds before this one, `rounds-digest.md`. `decisions` are oldest first.
///
/// It has 100 lines at most: the oldest lines per round go first, then gaps that are resolved, then old decisions; the last line says
/// what went.
pub fn digest(kept: &Kept, before: u32, decisions: &[Recorded], generated_at: Timestamp) -> String {
    let rounds = rounds(kept, before);
    let mut rows: Vec<String> = rounds.iter().map(|round| row(kept, *round)).collect();
    let mut lines: Vec<String> = rounds.iter().map(|round| line(kept, *round)).collect();
    let mut chosen: Vec<String> = decisions
        .iter()
        .map(|one| {
            format!(
                "| {} | {} | {} |",
                cell(&one.key),
                cell(&one.value),
                one.round
            )
        })
        .collect();
    let (mut resolved, mut open) = (Vec::new(), Vec::new());
    for (at, gap) in gaps(kept, before).iter().enumerate() {
        let (status, round) = match gap.resolved_in {
            Some(round) => ("resolved", round.to_string()),
            None => ("open", "-".to_owned()),
        };
        let (number, section, first) = (at + 1, section(&gap.text), gap.first_seen);
        let row = format!("| GAP-{number:03} | {section} | {first} | {status} | {round} |");
        if gap.resolved_in.is_some() {
            resolved.push(row)
        } else {
            open.push(row)
        }
    }
    let head = head(kept, &rounds, generated_at);
    let titles: usize = TABLES.iter().map(|table| table.len() + 1).sum();
    let rest = [&lines, &resolved, &chosen, &open, &rows]
        .into_iter()
        .map(Vec::len)
        .sum::<usize>();
    let total = head.len() + titles + rest;
    let mut over = if total > MOST_LINES {
        total + 2 - MOST_LINES
    } else {
        0
    };
    let mut gone = Vec::new();
    for (pool, name) in [
        (&mut lines, "lines per round"),
        (&mut resolved, "resolved gaps"),
        (&mut chosen, "decisions"),
        (&mut rows, "rows of rounds"),
        (&mut open, "open gaps"),
    ] {
        let count = over.min(pool.len());
        pool.drain(..count);
        over -= count;
        if count > 0 {
            gone.push(format!("{count} {name}"));
        }
    }
    resolved.extend(open);
    let mut all = head;
    for (title, body) in TABLES.into_iter().zip([rows, chosen, resolved, lines]) {
        all.push(String::new());
        all.extend(title.iter().map(|line| (*line).to_owned()));
        all.extend(body);
    }
    if !gone.is_empty() {
        all.extend([
            String::new(),
            format!("Left out, the oldest first: {}.", gone.join(", ")),
        ]);
    }
    all.join("\n") + "\n"
}

/// The lines above what each part holds.
const TABLES: [&[&str]; 4] = [
    &[
        "# Rounds",
        "",
        "| Round | Mode | Questions | Completion | Gaps Found | ThinkDeep % | Outcome |",
        "|---|---|---|---|---|---|---|",
    ],
    &[
        "## Decisions",
        "",
        "| Key | Value | Round |",
        "|---|---|---|",
    ],
    &[
        "## Gaps",
        "",
        "| Gap | Section | First Seen | Status | Resolved In |",
        "|---|---|---|---|---|",
    ],
    &["## In short", ""],
];

/// Returns the frontmatter.
fn head(kept: &Kept, rounds: &[u32], generated_at: Timestamp) -> Vec<String> {
    let mut modes: Vec<String> = Vec::new();
    let (mut asked, mut answered) = (0.0, 0.0);
    for round in rounds {
        let questions = questions(kept, *round).map_or(0.0, f64::from);
        asked += questions;
        answered += (questions * rate(kept, *round).unwrap_or_default()).round();
        let mode = mode(kept, *round).map(|mode| mode.to_string());
        modes.extend(mode.filter(|mode| !modes.contains(mode)));
    }
    let rounds: Vec<String> = rounds.iter().map(|round| round.to_string()).collect();
    vec![
        "---".to_owned(),
        "digest_version: 1".to_owned(),
        format!("rounds_covered: [{}]", rounds.join(", ")),
        format!("generated_at: \"{generated_at:.0}\""),
        format!("total_questions_asked: {asked}"),
        format!("total_questions_answered: {answered}"),
        format!("modes_used: [{}]", modes.join(", ")),
        "---".to_owned(),
    ]
}

fn questions(kept: &Kept, round: u32) -> Option<u32> {
    flags(kept, round, Stage::AnalysisQuestions)?.questions_count
}

fn rate(kept: &Kept, round: u32) -> Option<f64> {
    flags(kept, round, Stage::ResponseAnalysis)?.completion_rate
}

fn row(kept: &Kept, round: u32) -> String {
    let number =
        |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let asked = flags(kept, round, Stage::AnalysisQuestions);
    let found = flags(kept, round, Stage::ResponseAnalysis).and_then(|flags| flags.gaps_found);
    let share = asked.and_then(|flags| flags.thinkdeep_completion_pct);
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |",
        round,
        mode(kept, round).map_or_else(|| "-".to_owned(), |mode| mode.to_string()),
        number(questions(kept, round)),
        rate(kept, round).map_or_else(|| "-".to_owned(), |rate| format!("{:.0} %", rate * 100.0)),
        number(found),
        share.map_or_else(|| "-".to_owned(), |share| format!("{:.0}", share)),
        outcome(kept, round),
    )
}

/// Returns what a round led to: the decision, else where stage 4 went, else how its last stage ended.
fn outcome(kept: &Kept, round: u32) -> String {
    let validated = flags(kept, round, Stage::ValidationGeneration);
    if let Some((decision, flags)) =
        validated.and_then(|flags| Some((flags.validation_decision?, flags)))
    {
        let score = flags
            .validation_score
            .map(|score| format!(" ({:.1})", score));
        return format!("{decision}{}", score.unwrap_or_default());
    }
    let looped = flags(kept, round, Stage::ResponseAnalysis).and_then(|flags| flags.next_action);
    let last = kept
        .range((round, Stage::Setup)..=(round, Stage::Retrospective))
        .next_back();
    let ended = || {
        last.map_or_else(
            || "-".to_owned(),
            |((_, stage), summary)| format!("{stage} {}", summary.status),
        )
    };
    looped.map_or_else(ended, |action| action.to_string())
}

/// Returns what the last stage of a round said.
fn line(kept: &Kept, round: u32) -> String {
    let last = kept
        .range((round, Stage::Setup)..=(round, Stage::Retrospective))
        .next_back();
    let said = last.map_or("", |(_, summary)| summary.summary.as_str());
    format!("- Round {}: {}", round, text::one_line(said, 300))
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
