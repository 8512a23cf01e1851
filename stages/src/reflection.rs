//! The reflection for a new round after a validation that said NOT_READY: what was tried, why it was not enough, what to do differently.

use std::fmt::Write as _;

use crate::contract::{Dimension, Flags, Round, Stage};
use crate::kept::{Gap, Kept, cell, flags, gaps, grade, mode, not_ready, weak};

/// The most characters of a reflection.
pub const MOST_CHARACTERS: usize = 6_000;
/// How many validations running make a weak dimension a blind spot.
const RUNNING: usize = 3;

/// What looking back says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reflection {
    /// The text of `reflection-round-{R}.md`.
    pub text: String,
    /// Dimensions that were weak in three validations running, without a gain. The person is told.
    pub blind_spots: Vec<Dimension>,
}

/// Returns the reflection for a round, from the summaries before it; `None` where no validation there said NOT_READY.
pub fn reflection(kept: &Kept, round: Round) -> Option<Reflection> {
    let validations = not_ready(kept, round);
    let (last, now) = *validations.last()?;
    let gaps: Vec<Gap> = gaps(kept, round)
        .into_iter()
        .filter(|gap| gap.resolved_in.is_none())
        .collect();
    let (earlier, new): (Vec<&Gap>, Vec<&Gap>) = gaps.iter().partition(|gap| gap.first_seen < last);
    let blind_spots = blind_spots(&validations);
    let weak = weak(now);

    let mut before = format!(
        "# Reflection for round {}\n\n## What was tried in round {}\n\n",
        round.get(),
        last.get()
    );
    before += &tried(kept, last);
    before += "\n## Why it was not enough\n\n";
    before += &scores(now, &weak);
    let mut after = String::new();
    if let [.., (_, then), _] = validations.as_slice() {
        after += &compared(then, now);
    }
    after += &differently(now, &weak, &blind_spots);
    // What is said of all of them has its place; the gaps have what is left.
    let left = MOST_CHARACTERS.saturating_sub(before.chars().count() + after.chars().count());
    let listed = listed(
        &[
            ("Gaps", &new),
            ("Gaps of earlier rounds that are still open", &earlier),
        ],
        left,
    );
    let text = before + &listed + &after;
    let cut = text
        .char_indices()
        .nth(MOST_CHARACTERS)
        .map_or(text.len(), |(at, _)| at);
    Some(Reflection {
        text: text[..cut].to_owned(),
        blind_spots,
    })
}

/// Returns dimensions that are weak in the last three validations, the last of them not above the first.
fn blind_spots(validations: &[(Round, &Flags)]) -> Vec<Dimension> {
    let Some((_, [(_, first), (_, second), (_, last)])) = validations.split_last_chunk::<RUNNING>()
    else {
        return Vec::new();
    };
    let is_one = |dimension: &Dimension| {
        let was = weak(first).contains(dimension) && weak(second).contains(dimension);
        was && grade(last, *dimension) <= grade(first, *dimension)
    };
    weak(last).into_iter().filter(is_one).collect()
}

fn tried(kept: &Kept, round: Round) -> String {
    let unknown = || "not known".to_owned();
    let asked =
        flags(kept, round, Stage::AnalysisQuestions).and_then(|flags| flags.questions_count);
    let rate = flags(kept, round, Stage::ResponseAnalysis).and_then(|flags| flags.completion_rate);
    format!(
        "- Mode: {}\n- Questions: {}\n- Answered: {}\n",
        mode(kept, round).map_or_else(unknown, |mode| mode.to_string()),
        asked.map_or_else(unknown, |count| count.get().to_string()),
        rate.map_or_else(unknown, |rate| format!("{:.0} %", rate.get() * 100.0)),
    )
}

fn scores(now: &Flags, weak: &[Dimension]) -> String {
    let mut text = match now.validation_score {
        Some(score) => format!(
            "- Score: {:.1} of 20; CONDITIONAL begins at 12, READY at 16\n",
            score.get()
        ),
        None => "- Score: none; CONDITIONAL begins at 12, READY at 16\n".to_owned(),
    };
    let _ = writeln!(text, "- Weak dimensions: {}", names(weak));
    if let Some(scores) = &now.dimension_scores {
        text += "\n| Dimension | Score of 4 |\n|---|---|\n";
        for (dimension, grade) in &scores.0 {
            let _ = writeln!(text, "| {dimension} | {} |", grade.get());
        }
    }
    text
}

/// Returns a table of what was weak the last time, then and now.
fn compared(then: &Flags, now: &Flags) -> String {
    let score = |flags: &Flags, dimension| grade(flags, dimension);
    let shown =
        |grade: Option<u32>| grade.map_or_else(|| "-".to_owned(), |grade| grade.to_string());
    let weak = weak(then);
    if weak.is_empty() {
        return String::new();
    }
    let mut text =
        "\n## What was weak the last time\n\n| Dimension | Before | After | |\n|---|---|---|---|\n"
            .to_owned();
    for dimension in weak {
        let (before, after) = (score(then, dimension), score(now, dimension));
        let is = if after > before {
            "improved"
        } else {
            "not improved"
        };
        let _ = writeln!(
            text,
            "| {dimension} | {} | {} | {is} |",
            shown(before),
            shown(after)
        );
    }
    text
}

fn differently(now: &Flags, weak: &[Dimension], blind_spots: &[Dimension]) -> String {
    let mut weakest = weak.to_vec();
    weakest.sort_by_key(|dimension| grade(now, *dimension));
    let mut text = "\n## What to do differently\n\n".to_owned();
    for dimension in weakest {
        let _ = writeln!(
            text,
            "- Ask about {dimension} first, and otherwise than before"
        );
    }
    let strong: Vec<Dimension> = match (&now.strong_dimensions, &now.dimension_scores) {
        (Some(strong), _) => strong.clone(),
        (None, Some(scores)) => scores
            .0
            .keys()
            .filter(|dimension| !weak.contains(dimension))
            .copied()
            .collect(),
        (None, None) => Vec::new(),
    };
    if !strong.is_empty() {
        let _ = writeln!(text, "- Leave alone: {}", names(&strong));
    }
    if !blind_spots.is_empty() {
        let _ = writeln!(
            text,
            "- Weak three times running, without a gain: {}",
            names(blind_spots)
        );
    }
    text
}

/// Returns lists of gaps, as much as there is room for.
fn listed(lists: &[(&str, &[&Gap])], mut left: usize) -> String {
    let mut text = String::new();
    for (title, gaps) in lists.iter().filter(|(_, gaps)| !gaps.is_empty()) {
        let title = format!("\n{title}:\n");
        // Room for the line that says how many more there are.
        let more = format!("- and {} more\n", gaps.len());
        let mut room = left.saturating_sub(title.len() + more.len());
        let lines = gaps.iter().map(|gap| format!("- {}\n", cell(&gap.text)));
        let shown: Vec<String> = lines
            .take_while(|line| {
                let length = line.chars().count();
                let fits = length <= room;
                room = room.saturating_sub(length);
                fits
            })
            .collect();
        if shown.is_empty() && left < title.len() + more.len() {
            break;
        }
        let rest = gaps.len() - shown.len();
        let part = title
            + &shown.concat()
            + &if rest > 0 {
                format!("- and {rest} more\n")
            } else {
                String::new()
            };
        left = left.saturating_sub(part.chars().count());
        text += &part;
    }
    text
}

fn names(dimensions: &[Dimension]) -> String {
    let names: Vec<String> = dimensions.iter().map(Dimension::to_string).collect();
    if names.is_empty() {
        "none named".to_owned()
    } else {
        names.join(", ")
    }
}
