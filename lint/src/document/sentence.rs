//! Sentences, with what they are about. Knows how people title and phrase plans, and no check.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::outline::{BlockKind, Outline};
use super::pattern::{self, Pattern, any, patterns};

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
    /// Where in the text each word begins, in bytes.
    begins: Vec<usize>,
    /// Where in the text of its block it begins, in bytes.
    start: usize,
    /// Words of its whole block.
    pub(super) block_words: usize,
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

impl Sentence {
    /// Returns what stands around a word, with that word's line: evidence shows what it is about, not where a sentence begins.
    pub(super) fn quote(&self, outline: &Outline, word: usize) -> Quote {
        /// Bytes of a sentence that are shown before the word.
        const BEFORE: usize = 40;
        let at = self.begins.get(word).copied().unwrap_or(0);
        let line = self.block.map_or(self.line, |block| {
            outline.blocks[block].line_at(self.start + at)
        });
        // From the beginning of a word, and from that of the sentence if that is near.
        let from = self
            .begins
            .iter()
            .copied()
            .find(|begin| begin + BEFORE >= at);
        match from.filter(|from| *from > BEFORE) {
            Some(from) => Quote::new(line, format!("...{}", &self.text[from..])),
            None => Quote::new(line, self.text.clone()),
        }
    }
}

/// Words of the plan that a finding is about.
#[derive(Debug)]
pub(super) struct Quote {
    pub(super) line: u32,
    pub(super) text: String,
}

impl Quote {
    pub(super) fn new(line: u32, text: String) -> Self {
        Self { line, text }
    }
}

const OPEN_MARKS: &[&str] = &[
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

/// A question that is to be answered by a day, or that has an answer until then, is a task.
const SETTLED: &[&str] = &[
    "until then",
    "answer*|decid*|decision*|due|resolve*|settle* .. by|before|until|on #",
    "answer*|decid*|decision*|due|resolve*|settle* .. by|before|in week|phase|step|stage|sprint|milestone #",
    "answer*|decid*|decision*|due|resolve*|settle* .. by|before|at the end of",
    "answer*|decid*|decision*|due|resolve*|settle* .. by|before|on monday|tuesday|wednesday|thursday|friday",
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
    "many .. per",
    "many users|events|requests|customers|devices|calls",
    "lots of",
    "a lot of",
    "significant*",
    "minimal",
    "user friendly",
    "seamless*",
    "properly",
    "important|relevant parts|things|cases|aspects",
    "comprehensive|thorough testing|tests",
    "good enough",
    "high enough",
    "should be good",
    "state of the art",
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
    "avoid*|prevent*|disallow*|discourag*|forbid*",
];

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
            patterns(&[
                "question|questions",
                "unclear",
                "unknowns",
                "open points|items|issues",
            ]),
        ),
        (
            Topic::Changelog,
            patterns(&["changelog", "revision history"]),
        ),
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
                "want",
                "wanted",
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

pub(super) fn topic_of(title: &str) -> Topic {
    let words = pattern::words(title);
    TITLES
        .iter()
        .find(|(_, patterns)| any(patterns, &words))
        .map_or(Topic::Other, |(topic, _)| *topic)
}

pub(super) fn section_topics(outline: &Outline) -> Vec<Topic> {
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

/// "Which currency is shown - Ana until 12 June": what stands behind the dash, or in brackets, is by when somebody answers.
fn assigned(text: &str) -> bool {
    let due = Pattern::new("by|until|before|on|due #|monday|tuesday|wednesday|thursday|friday");
    text.rsplit(['\u{2014}', '\u{2013}', '('])
        .next()
        .filter(|tail| tail.len() < text.len())
        .map(pattern::words)
        .is_some_and(|tail| tail.len() <= 6 && due.find(&tail).is_some_and(|at| at > 0))
}

pub(super) fn sentences(outline: &Outline, topics: &[Topic]) -> Vec<Sentence> {
    let (excludes, marks, vague) = (patterns(EXCLUDES), patterns(OPEN_MARKS), patterns(VAGUE));
    let none = patterns(&["none", "no open", "resolved", "answered"]);
    let settled = patterns(SETTLED);
    // A paragraph beside items is about them.
    let itemized: HashSet<Option<usize>> = outline
        .blocks
        .iter()
        .filter(|block| matches!(block.kind, BlockKind::Item { .. }))
        .map(|block| block.section)
        .collect();
    let defined = patterns(&["good enough when|if|means|is|at|once"]);
    let mut out = Vec::new();
    for (index, section) in outline.sections.iter().enumerate() {
        let text = section.title.trim().to_owned();
        let (begins, words): (Vec<usize>, Vec<String>) =
            pattern::placed_words(&text).into_iter().unzip();
        out.push(Sentence {
            line: section.line,
            text,
            block_words: words.len(),
            words,
            begins,
            start: 0,
            block: None,
            topic: topics[index],
            excluded: topics[index] == Topic::OutOfScope,
            open: false,
            vague: false,
        });
    }
    for (index, block) in outline.blocks.iter().enumerate() {
        let topic = block
            .section
            .map_or(Topic::Other, |section| topics[section]);
        let ranges = pattern::sentences(&block.text);
        let count = ranges.len();
        // A question is answered by what follows it.
        let followed = outline.blocks.get(index + 1).is_some_and(|next| {
            let below = next.parent == Some(index)
                || block.kind == BlockKind::Paragraph && next.section == block.section;
            below && !next.text.trim_end().ends_with('?')
        });
        let block_words = block.text.split_whitespace().count();
        // "Out of scope: ..." and "**Not now.** ..." speak for their whole block.
        let lead = ranges
            .first()
            .map(|range| pattern::words(&block.text[range.clone()]))
            .unwrap_or_default();
        let lead_excludes = excludes
            .iter()
            .any(|pattern| pattern.find(&lead).is_some_and(|at| at < 2))
            && lead.first().is_none_or(|word| word != "we");
        for (nth, range) in ranges.into_iter().enumerate() {
            let raw = &block.text[range.clone()];
            let lead_in = raw.len() - raw.trim_start().len();
            let text = raw.trim().to_owned();
            let (begins, words): (Vec<usize>, Vec<String>) =
                pattern::placed_words(&text).into_iter().unzip();
            let last = nth + 1 == count;
            let question = text.ends_with('?')
                && last
                && !block.text.trim_start().starts_with(['"', '\u{201c}']);
            let marked = (any(&marks, &words) || text.contains("???")) && !any(&settled, &words);
            let beside = block.kind == BlockKind::Paragraph && itemized.contains(&block.section);
            let listed = !followed
                && !beside
                && topic == Topic::Questions
                && !words.is_empty()
                && count == 1
                && !any(&none, &words)
                && !any(&settled, &words)
                && !assigned(&text);
            out.push(Sentence {
                line: block.line_at(range.start + lead_in),
                block_words,
                excluded: topic == Topic::OutOfScope || lead_excludes || any(&excludes, &words),
                open: question || marked || listed,
                vague: words.len() > 2
                    && any(&vague, &words)
                    && !any(&defined, &words)
                    && !words
                        .iter()
                        .any(|word| word.starts_with(|c: char| c.is_ascii_digit())),
                text,
                words,
                begins,
                start: range.start + lead_in,
                block: Some(index),
                topic,
            });
        }
    }
    out
}
