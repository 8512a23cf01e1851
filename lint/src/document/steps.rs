//! The steps of a plan, in whatever form it gives them: headings, items, rows, or told in prose.

use super::outline::{Block, BlockKind, Outline};
use super::pattern::{self, Pattern, any, patterns};
use super::sentence::{Sentence, Topic};

/// First words of sentences that say what to do.
const VERBS: &str = "add|build|create|implement|split|introduce|improve|update|clean|set|move|write|deploy|migrate|remove|replace|change|fix|publish|use|make|run|roll|sign|send|backend|train|collect|delete|extract|convert|release|refactor|rename";

const OUTCOME: &[&str] = &[
    "done|finished|complete|completed|ready|accepted|successful when|once|if",
    "until",
    "verif*",
    "check*",
    "test*",
    "tested",
    "result*",
    "outcome*",
    "shown",
    "shows",
    "pass*",
    "green",
    "fails|failed",
    "measur*",
    "compar*",
    "equal*",
    "confirm*",
    "accept*",
    "so that",
    "must",
    "approved",
    "agreed",
    "refuse*|reject*",
    "no longer",
    "stays",
    "stay",
    "prevent*",
    "proven|proved|proof",
    "under|below|within|least|most|over|than #",
    "after this step",
    "finds nothing",
    "is empty",
    "works|work",
    "reviewed",
    "loses|lost",
    "merged",
    "without error*|loss",
    "expect*",
];

/// A step shorter than this cannot say what is true afterwards.
const OUTCOME_WORDS: usize = 6;

/// Something the plan says will be done.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: u32,
    pub(super) title: String,
    pub(super) words: Vec<String>,
    /// A table's outcome column, or words that say what is true afterwards.
    pub(super) outcome: bool,
}

/// First words of a heading, a paragraph or an item that says when it is done, or as the how manieth.
const NAMED: &str =
    "phase|phases|step|steps|stage|milestone|week|weeks|day|days|sprint|iteration #";

/// Returns all steps, in the first of these forms that the plan has: headings; items and rows; paragraphs and items that begin
/// with a time or a phase; items that begin with a verb; prose.
pub(super) fn find(outline: &Outline, topics: &[Topic], sentences: &[Sentence]) -> Vec<Step> {
    let outcome = patterns(OUTCOME);
    // "What we do, and how we know that it is done": such items are steps, whatever their heading is about.
    let accepted = patterns(&["done|finished|complete|accepted when|if|once"]);
    // An arrow is a result where the plan makes a habit of it.
    let arrows = outline
        .blocks
        .iter()
        .filter(|block| states(&block.text))
        .count()
        >= ARROWS;
    let topic = |section: Option<usize>| section.map_or(Topic::Other, |section| topics[section]);
    let no_steps = |topic: Topic| {
        matches!(
            topic,
            Topic::Goal
                | Topic::OutOfScope
                | Topic::Background
                | Topic::Risks
                | Topic::Alternatives
                | Topic::Questions
                | Topic::Acceptance
                | Topic::Changelog
        )
    };
    let mut out = headed(outline, topics, &outcome);
    if !out.is_empty() {
        return out;
    }
    for (index, block) in outline.blocks.iter().enumerate() {
        let topic = topic(block.section);
        let is_step = match block.kind {
            BlockKind::Item {
                depth,
                ordered,
                task,
            } => {
                let stated =
                    topic == Topic::Acceptance && any(&accepted, &pattern::words(&block.text));
                depth == 0
                    && (task || ordered && (stated || !no_steps(topic)) || topic == Topic::Steps)
            }
            BlockKind::Row => {
                !no_steps(topic)
                    && block
                        .header
                        .is_some_and(|header| step_table(&outline.headers[header]))
            }
            BlockKind::Paragraph => false,
        };
        if is_step {
            out.push(step(outline, index, &outcome, arrows));
        }
    }
    if out.is_empty() {
        out = labelled(outline, &outcome, arrows, |block| {
            !no_steps(topic(block.section))
        });
    }
    if out.is_empty() {
        let verb = Pattern::new(VERBS);
        for (index, block) in outline.blocks.iter().enumerate() {
            let first = unnumbered(&block.text)
                .into_iter()
                .take(1)
                .collect::<Vec<_>>();
            if matches!(block.kind, BlockKind::Item { depth: 0, .. })
                && !no_steps(topic(block.section))
                && verb.find(&first).is_some()
            {
                out.push(step(outline, index, &outcome, arrows));
            }
        }
    }
    if out.is_empty() {
        let items = outline.blocks.iter().enumerate().filter(|(_, block)| {
            matches!(block.kind, BlockKind::Item { depth: 0, .. })
                && !no_steps(topic(block.section))
        });
        out = items
            .map(|(index, _)| step(outline, index, &outcome, arrows))
            .collect();
        // A list in which some items say when they are done is a list of steps.
        if out.iter().filter(|step| step.outcome).count() < 2 {
            out.clear();
        }
    }
    if out.is_empty() {
        out = told(sentences, &outcome);
    }
    out
}

/// "**Weeks 1-4.** Core" and "6.1. Phase 2: core", if there are two of them.
fn labelled(
    outline: &Outline,
    outcome: &[Pattern],
    arrows: bool,
    may_be: impl Fn(&Block) -> bool,
) -> Vec<Step> {
    let named = Pattern::new(NAMED);
    let mut out = Vec::new();
    for (index, block) in outline.blocks.iter().enumerate() {
        let form = matches!(
            block.kind,
            BlockKind::Paragraph | BlockKind::Item { depth: 0, .. }
        );
        if form && may_be(block) && named.find(&unnumbered(&block.text)) == Some(0) {
            out.push(step(outline, index, outcome, arrows));
        }
    }
    if out.len() < 2 { Vec::new() } else { out }
}

/// Returns the words of a text without the number in front.
fn unnumbered(text: &str) -> Vec<String> {
    let mut words = pattern::words(text);
    if words
        .first()
        .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    {
        words.remove(0);
    }
    words
}

fn step_table(header: &[String]) -> bool {
    let heads =
        patterns(&["step*|phase*|item*|change*|task*|week|day|milestone*|action*|stage*|work"]);
    let has = |heads: &[Pattern]| header.iter().any(|cell| any(heads, &pattern::words(cell)));
    // A table that says of each row when it is done, or by whom and when, has steps for rows.
    header
        .iter()
        .take(3)
        .any(|cell| any(&heads, &pattern::words(cell)))
        || has(&patterns(&[
            "done|finished|ready|complete|accepted when|if|once",
        ]))
        || has(&patterns(&["when|date|start|due"]))
            && has(&patterns(&["who|owner|lead|responsible"]))
}

/// "Phase 2: core" and, below a heading that announces steps, "3.1 Index" or "M1: Index".
fn headed(outline: &Outline, topics: &[Topic], outcome: &[Pattern]) -> Vec<Step> {
    let named = Pattern::new(NAMED);
    let mut out: Vec<Step> = Vec::new();
    let delivers = delivering(outline);
    let mut last_level = None;
    // The step that each section belongs to.
    let mut owner: Vec<Option<usize>> = Vec::with_capacity(outline.sections.len());
    for (index, section) in outline.sections.iter().enumerate() {
        let words = pattern::words(&section.title);
        let numbered = words.first().is_some_and(|word| {
            let number = word.strip_prefix(|c: char| c.is_ascii_alphabetic());
            number
                .unwrap_or(word)
                .starts_with(|c: char| c.is_ascii_digit())
        });
        let below = section
            .parent
            .is_some_and(|parent| topics[parent] == Topic::Steps)
            && section.level < 7;
        let deeper = last_level.is_some_and(|level| section.level > level);
        let step =
            named.find(&words) == Some(0) || numbered && (below || delivers.contains(&index));
        if deeper || !step {
            owner.push(section.parent.and_then(|parent| owner[parent]));
            continue;
        }
        last_level = Some(section.level);
        owner.push(Some(out.len()));
        out.push(Step {
            line: section.line,
            title: section.title.trim().to_owned(),
            words,
            outcome: false,
        });
    }
    for block in &outline.blocks {
        if let Some(step) = block.section.and_then(|section| owner[section]) {
            out[step].words.extend(pattern::words(&block.text));
        }
    }
    for step in &mut out {
        step.outcome = step.words.len() >= OUTCOME_WORDS && any(outcome, &step.words);
    }
    if out.len() < 2 { Vec::new() } else { out }
}

/// Sections with an item or a paragraph that begins with "Result:", "Done when" or an arrow, if there are three such.
fn delivering(outline: &Outline) -> Vec<usize> {
    let label = patterns(&[
        "result|results|outcome|exit|shown|proof|deliverable|deliverables",
        "done|finished|complete|accepted when|if|once",
    ]);
    let mut sections: Vec<usize> = Vec::new();
    for block in &outline.blocks {
        let begins = block.text.trim_start().starts_with('\u{2192}')
            || pattern::sentences(&block.text).into_iter().any(|range| {
                let words = pattern::words(&block.text[range]);
                label.iter().any(|label| label.find(&words) == Some(0))
            });
        if let Some(section) = block.section.filter(|_| begins)
            && sections.last() != Some(&section)
        {
            sections.push(section);
        }
    }
    if sections.len() < 3 {
        Vec::new()
    } else {
        sections
    }
}

/// This many blocks with an arrow are a habit.
const ARROWS: usize = 3;

/// Returns whether something stands behind an arrow.
fn states(text: &str) -> bool {
    text.split_once('\u{2192}')
        .is_some_and(|(_, after)| pattern::words(after).len() > 1)
}

fn step(outline: &Outline, index: usize, outcome: &[Pattern], arrows: bool) -> Step {
    let block = &outline.blocks[index];
    let mut all = pattern::words(&block.text);
    for below in outline.blocks[index + 1..]
        .iter()
        .take_while(|below| below.parent.is_some_and(|parent| parent >= index))
    {
        all.extend(pattern::words(&below.text));
    }
    let heads = patterns(&[
        "done|finished|accepted when",
        "result*|outcome*|shown|check*|accept*|verif*|deliverable*|proof|evidence",
    ]);
    let column = block.header.and_then(|header| {
        let cell = outline.headers[header]
            .iter()
            .position(|head| any(&heads, &pattern::words(head)))?;
        block
            .text
            .split('\n')
            .nth(cell)
            .filter(|text| pattern::words(text).len() > 1)
    });
    let known = column.is_some() || all.len() >= OUTCOME_WORDS && any(outcome, &all);
    let known = known || arrows && states(&block.text);
    let title = block
        .text
        .lines()
        .find(|line| pattern::words(line).len() > 1)
        .unwrap_or(&block.text);
    Step {
        line: block.line(),
        title: title.trim().to_owned(),
        words: all,
        outcome: known,
    }
}

/// Steps told in prose: "First ... Then ... Finally ...".
fn told(sentences: &[Sentence], outcome: &[Pattern]) -> Vec<Step> {
    let lead = Pattern::new("first|then|next|finally|last|afterwards|lastly|second|third");
    let after = Pattern::new("after that");
    let mut out: Vec<Step> = Vec::new();
    let mut block = None;
    for sentence in sentences.iter().filter(|sentence| sentence.block.is_some()) {
        let head = &sentence.words[..sentence.words.len().min(2)];
        if lead.find(&head[..head.len().min(1)]).is_some() || after.find(head).is_some() {
            block = sentence.block;
            let known = sentence.words.len() >= OUTCOME_WORDS && any(outcome, &sentence.words);
            out.push(Step {
                line: sentence.line,
                title: sentence.text.clone(),
                words: sentence.words.clone(),
                outcome: known,
            });
        } else if sentence.block == block
            && let Some(step) = out.last_mut()
        {
            step.words.extend(sentence.words.iter().cloned());
            step.outcome |= any(outcome, &sentence.words);
        }
    }
    if out.len() < 2 { Vec::new() } else { out }
}
