//! A plan as the checks see it: its outline, its sentences, its steps.

use super::outline::{MAX_BYTES, Outline, outline};
use super::pattern::{self, any, patterns};
use super::sentence::{self, Sentence, Topic, topic_of};
use super::steps::{self, Step};

/// A plan that was read.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) outline: Outline,
    pub(super) sentences: Vec<Sentence>,
    pub(super) steps: Vec<Step>,
    pub(super) word_count: usize,
    /// All words, also those of headings, code and comments.
    all_words: Vec<String>,
}

pub(super) fn read(text: &str) -> Plan {
    let outline = outline(text);
    let topics = sentence::section_topics(&outline);
    let mut sentences = sentence::sentences(&outline, &topics);
    sentences.sort_by_key(|sentence| sentence.line);
    let word_count = sentences.iter().map(|sentence| sentence.words.len()).sum();
    let steps = steps::find(&outline, &topics, &sentences);
    Plan {
        outline,
        sentences,
        steps,
        word_count,
        all_words: pattern::words(&text[..text.floor_char_boundary(MAX_BYTES)]),
    }
}

impl Plan {
    /// Returns the line of the first section about this, else the last line.
    pub(super) fn place(&self, topic: Topic) -> u32 {
        let mut sections = self.outline.sections.iter();
        sections
            .find(|section| topic_of(&section.title) == topic)
            .map_or(self.outline.last_line, |section| section.line)
    }

    /// Returns whether any of these words stands anywhere, in whatever form: what is so much as named is not certainly missing.
    pub(super) fn names(&self, sources: &[&'static str]) -> bool {
        any(&patterns(sources), &self.all_words)
    }
}
