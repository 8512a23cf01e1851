//! A plan as the checks see it: sentences with what they are about, and steps. Knows how people write plans, and no check.

use std::sync::LazyLock;

use super::outline::{Kind, Outline};
use super::words::{self, Pattern, any, patterns};

/// What a section is about, by its title; inherited from the sections around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Other,
    Goal,
    OutOfScope,
    Background,
    Steps,
    Risks,
    Alternatives,
    Questions,
    Acceptance,
    Changelog,
}

/// A sentence of a paragraph, an item or a row; or a heading.
#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) words: Vec<String>,
    /// Index of its block; none for a heading.
    pub(super) block: Option<usize>,
    pub(super) topic: Topic,
    /// Says what will not be done.
    pub(super) excluded: bool,
    /// Leaves something open: a question without an answer, or a marker such as TBD.
    pub(super) open: bool,
    /// Says how well in words that promise nothing.
    pub(super) vague: bool,
}

/// Something the plan says will be done.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: u32,
    pub(super) title: String,
    pub(super) words: Vec<String>,
    /// A table's outcome column, or words that say what is true afterwards.
    pub(super) outcome: bool,
}

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) outline: Outline,
    pub(super) sentences: Vec<Sentence>,
    pub(super) steps: Vec<Step>,
    pub(super) word_count: usize,
}

pub(super) const OPEN_MARKS: &[&str] = &[
    "tbd",
    "tbc",
    "todo",
    "fixme",
    "xxx",
    "to be decided|determined|defined|clarified|discussed|confirmed|specified",
    "decide*|clarif*|figure .. later",
    "later .. decide*",
    "not yet decided|known|clear|defined",
    "still unclear|open|unknown",
    "open question*",
    "depending on what works",
    "we will|ll see",
    "need* to figure out",
    "not sure",
];

pub(super) const VAGUE: &[&str] = &[
    "fast",
    "faster",
    "quick",
    "quickly",
    "scalab*",
    "robust*",
    "performant",
    "snappy",
    "intuitive",
    "reliabl*",
    "as needed|required|necessary|appropriate",
    "if|when|where needed|necessary|appropriate",
    "where|as possible",
    "appropriate",
    "appropriately",
    "etc",
    "soon",
    "eventually",
    "timely",
    "reasonabl*",
    "best practice*",
    "industry standard*",
    "many",
    "lots of",
    "a lot of",
    "significant*",
    "minimal",
    "user friendly",
    "seamless*",
    "properly",
    "good enough",
    "high enough",
    "should be good",
    "state of the art",
    "modern",
    "secure manner",
    "easy to use",
    "efficient*",
    "cutting edge",
    "some kind of",
    "gradually",
    "straightforward",
];

const EXCLUDES: &[&str] = &[
    "out of scope",
    "not in scope",
    "outside the scope",
    "non goal*",
    "not part of",
    "left out",
    "not now",
    "we will not",
    "we wont",
    "we are not",
    "we do not plan",
    "not included",
    "not covered",
];

pub(super) const NEGATIONS: &[&str] = &[
    "no",
    "not",
    "never",
    "without",
    "nothing",
    "none",
    "neither",
    "nor",
    "cannot",
    "dont",
    "doesnt",
    "wont",
    "isnt",
    "unchanged",
    "already",
    "existing",
    "stays",
    "instead of",
];

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

pub(super) fn read(outline: Outline) -> Plan {
    let topics = section_topics(&outline);
    let mut sentences = sentences(&outline, &topics);
    sentences.sort_by_key(|sentence| sentence.line);
    let word_count = sentences.iter().map(|sentence| sentence.words.len()).sum();
    let steps = steps(&outline, &topics, &sentences);
    Plan {
        outline,
        sentences,
        steps,
        word_count,
    }
}

impl Plan {
    /// The line of the first section about this, else the last line.
    pub(super) fn place(&self, topic: Topic) -> u32 {
        let mut sections = self.outline.sections.iter();
        sections
            .find(|section| topic_of(&section.title) == topic)
            .map_or(self.outline.last_line, |section| section.line)
    }
}

/// Titles of sections, most telling first.
static TITLES: LazyLock<Vec<(Topic, Vec<Pattern>)>> = LazyLock::new(|| {
    vec![
        (Topic::OutOfScope, patterns(EXCLUDES)),
        (Topic::OutOfScope, patterns(&["excluded"])),
        (
            Topic::Alternatives,
            patterns(&["alternative*", "rejected", "considered"]),
        ),
        (
            Topic::Questions,
            patterns(&["question*", "unclear", "unknowns", "open points|items|issues"]),
        ),
        (Topic::Changelog, patterns(&["changelog", "revision history"])),
        (
            Topic::Acceptance,
            patterns(&[
                "accept*",
                "done",
                "success",
                "criteria",
                "know it worked",
                "verification",
                "measure",
            ]),
        ),
        (
            Topic::Goal,
            patterns(&[
                "goal*",
                "aim*",
                "objective*",
                "purpose",
                "why",
                "motivation",
                "problem",
            ]),
        ),
        (
            Topic::Risks,
            patterns(&["risk*", "go wrong", "fail*", "drawback*"]),
        ),
        (
            Topic::Steps,
            patterns(&[
                "step*",
                "task*",
                "plan",
                "phase*",
                "work",
                "implementation",
                "milestone*",
                "schedule",
                "timeline",
                "changes",
                "roadmap",
                "getting there",
                "cut over",
                "cutover",
                "rollout",
                "todo",
                "delivery",
                "stages",
            ]),
        ),
        (
            Topic::Background,
            patterns(&[
                "background",
                "context",
                "where we are",
                "today",
                "overview",
                "introduction",
                "summary",
                "conclusion",
            ]),
        ),
    ]
});

fn topic_of(title: &str) -> Topic {
    let words = words::words(title);
    TITLES
        .iter()
        .find(|(_, patterns)| any(patterns, &words))
        .map_or(Topic::Other, |(topic, _)| *topic)
}

fn section_topics(outline: &Outline) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::with_capacity(outline.sections.len());
    for section in &outline.sections {
        // The title of the whole document says what it is, not what this part of it is about.
        let own = if section.level == 1 {
            Topic::Other
        } else {
            topic_of(&section.title)
        };
        let inherited = section.parent.map_or(Topic::Other, |parent| topics[parent]);
        topics.push(if own == Topic::Other { inherited } else { own });
    }
    topics
}

fn sentences(outline: &Outline, topics: &[Topic]) -> Vec<Sentence> {
    let (excludes, marks, vague) = (patterns(EXCLUDES), patterns(OPEN_MARKS), patterns(VAGUE));
    let none = patterns(&["none", "no open", "resolved", "answered"]);
    let mut out = Vec::new();
    for (index, section) in outline.sections.iter().enumerate() {
        let words = words::words(&section.title);
        out.push(Sentence {
            line: section.line,
            text: section.title.trim().to_owned(),
            words,
            block: None,
            topic: topics[index],
            excluded: topics[index] == Topic::OutOfScope,
            open: false,
            vague: false,
        });
    }
    for (index, block) in outline.blocks.iter().enumerate() {
        let topic = block.section.map_or(Topic::Other, |section| topics[section]);
        let ranges = words::sentences(&block.text);
        let count = ranges.len();
        // "Out of scope: ..." and "**Not now.** ..." speak for their whole block.
        let lead = ranges
            .first()
            .map(|range| words::words(&block.text[range.clone()]))
            .unwrap_or_default();
        let lead_excludes = excludes
            .iter()
            .any(|pattern| pattern.find(&lead).is_some_and(|at| at < 2))
            && lead.first().is_none_or(|word| word != "we");
        for (nth, range) in ranges.into_iter().enumerate() {
            let raw = &block.text[range.clone()];
            let lead_in = raw.len() - raw.trim_start().len();
            let text = raw.trim().to_owned();
            let words = words::words(&text);
            let last = nth + 1 == count;
            let question =
                text.ends_with('?') && last && !block.text.trim_start().starts_with(['"', '\u{201c}']);
            let marked = any(&marks, &words) || text.contains("???");
            let listed = topic == Topic::Questions && !words.is_empty() && count == 1 && !any(&none, &words);
            out.push(Sentence {
                line: block.line_at(range.start + lead_in),
                excluded: topic == Topic::OutOfScope || lead_excludes || any(&excludes, &words),
                open: question || marked || listed,
                vague: any(&vague, &words)
                    && !words
                        .iter()
                        .any(|word| word.starts_with(|c: char| c.is_ascii_digit())),
                text,
                words,
                block: Some(index),
                topic,
            });
        }
    }
    out
}

fn steps(outline: &Outline, topics: &[Topic], sentences: &[Sentence]) -> Vec<Step> {
    let outcome = patterns(OUTCOME);
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
            Kind::Item { depth, ordered, task } => {
                depth == 0 && (task || ordered && !no_steps(topic) || topic == Topic::Steps)
            }
            Kind::Row => {
                !no_steps(topic)
                    && block
                        .header
                        .is_some_and(|header| step_table(&outline.headers[header]))
            }
            Kind::Paragraph => false,
        };
        if is_step {
            out.push(step(outline, index, &outcome));
        }
    }
    if out.is_empty() {
        let verb = Pattern::new(
            "add|build|create|implement|split|introduce|improve|update|clean|set|move|write|deploy|migrate|remove|replace|change|fix|publish|use|make|run|roll|sign|backend|train|collect|delete|extract|convert|release|refactor|rename",
        );
        for (index, block) in outline.blocks.iter().enumerate() {
            let first = words::words(&block.text).into_iter().take(1).collect::<Vec<_>>();
            if matches!(block.kind, Kind::Item { depth: 0, .. })
                && !no_steps(topic(block.section))
                && verb.find(&first).is_some()
            {
                out.push(step(outline, index, &outcome));
            }
        }
    }
    if out.is_empty() {
        out = told(sentences, &outcome);
    }
    out
}

fn step_table(header: &[String]) -> bool {
    let heads = patterns(&["step*|phase*|item*|change*|task*|week|day|milestone*|action*|stage*|work"]);
    header.iter().take(3).any(|cell| any(&heads, &words::words(cell)))
}

/// "Phase 2: core" and, below a heading that announces steps, "3.1 Index" or "Receiver".
fn headed(outline: &Outline, topics: &[Topic], outcome: &[Pattern]) -> Vec<Step> {
    let named = Pattern::new("phase|step|stage|milestone|week|day|sprint|iteration #");
    let mut out: Vec<Step> = Vec::new();
    let mut last_level = None;
    // The step that each section belongs to.
    let mut owner: Vec<Option<usize>> = Vec::with_capacity(outline.sections.len());
    for section in &outline.sections {
        let words = words::words(&section.title);
        let numbered = words
            .first()
            .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let below = section
            .parent
            .is_some_and(|parent| topics[parent] == Topic::Steps)
            && section.level < 7;
        let deeper = last_level.is_some_and(|level| section.level > level);
        if deeper || !(named.find(&words) == Some(0) || numbered && below) {
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
            out[step].words.extend(words::words(&block.text));
        }
    }
    for step in &mut out {
        step.outcome = step.words.len() >= OUTCOME_WORDS && any(outcome, &step.words);
    }
    if out.len() < 2 { Vec::new() } else { out }
}

fn step(outline: &Outline, index: usize, outcome: &[Pattern]) -> Step {
    let block = &outline.blocks[index];
    let mut all = words::words(&block.text);
    for below in outline.blocks[index + 1..]
        .iter()
        .take_while(|below| below.parent.is_some_and(|parent| parent >= index))
    {
        all.extend(words::words(&below.text));
    }
    let heads = patterns(&[
        "done|finished|accepted when",
        "result*|outcome*|shown|check*|accept*|verif*|deliverable*|proof|evidence",
    ]);
    let column = block.header.and_then(|header| {
        let cell = outline.headers[header]
            .iter()
            .position(|head| any(&heads, &words::words(head)))?;
        block
            .text
            .split('\n')
            .nth(cell)
            .filter(|text| words::words(text).len() > 1)
    });
    let known = column.is_some() || all.len() >= OUTCOME_WORDS && any(outcome, &all);
    let title = block
        .text
        .lines()
        .find(|line| words::words(line).len() > 1)
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
