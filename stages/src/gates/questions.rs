//! The questions of a file, each with its boxes.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::plain;
use crate::contract::body_start;

/// The longest heading that questions are looked for below, in bytes.
const LONGEST_HEADING: usize = 200;
/// What of an item is looked at for its box, in bytes.
const LONGEST_BOX: usize = 80;

/// A question of the file: its heading, and what stands below it.
pub(super) struct Question {
    pub(super) heading: Range<usize>,
    pub(super) id: String,
    pub(super) is_critical: bool,
    pub(super) boxes: usize,
    pub(super) broken: Vec<usize>,
    /// The text of the block, and of the heading that it stands below.
    pub(super) words: String,
}

/// Reads the questions: each from its heading to the next one of its level.
pub(super) fn questions(text: &str) -> Vec<Question> {
    let (mut questions, mut open, mut above) = (Vec::<Question>::new(), false, String::new());
    let body = body_start(text);
    let mut events = Parser::new_ext(&text[body..], Options::ENABLE_TASKLISTS).into_offset_iter();
    while let Some((event, span)) = events.next() {
        let span = span.start + body..span.end + body;
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let source = text[span.clone()].trim().trim_matches('#').trim();
                open = if level <= HeadingLevel::H2 {
                    false
                } else {
                    open
                };
                if level == HeadingLevel::H2 && source.starts_with("Q-") {
                    let id = source
                        .split([':', ' '])
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    questions.push(Question {
                        heading: span.clone(),
                        id,
                        is_critical: source.contains("[CRITICAL]"),
                        boxes: 0,
                        broken: Vec::new(),
                        words: format!("{above} {}", plain(source)),
                    });
                    open = true;
                } else if level <= HeadingLevel::H2 {
                    above = plain(&source[..source.floor_char_boundary(LONGEST_HEADING)]);
                }
                // What stands in it was read.
                events
                    .by_ref()
                    .find(|(event, _)| matches!(event, Event::End(TagEnd::Heading(_))));
            }
            Event::TaskListMarker(_) => {
                if let Some(question) = questions.last_mut().filter(|_| open) {
                    question.boxes += 1;
                }
            }
            Event::Start(Tag::Item | Tag::Paragraph) => {
                let is_item = matches!(event, Event::Start(Tag::Item));
                if let Some(question) = questions.last_mut().filter(|_| open) {
                    question.broken.extend(broken_boxes(text, span, is_item));
                }
            }
            Event::Text(part) => {
                if let Some(question) = questions.last_mut().filter(|_| open) {
                    question.words.push(' ');
                    question.words.push_str(&plain(&part));
                }
            }
            _ => {}
        }
    }
    questions
}

/// Returns where boxes are that no reader takes for one: `- []`, `- [y]`, `-[ ]`.
fn broken_boxes(text: &str, span: Range<usize>, is_item: bool) -> Vec<usize> {
    let mut broken = Vec::new();
    let mut at = span.start;
    let end = match is_item {
        // Items in items are on one line.
        true => text.floor_char_boundary(span.end.min(at + LONGEST_BOX)),
        false => span.end,
    };
    for line in text[at..end].split_inclusive('\n') {
        let rest = line.trim_start();
        let marker = rest.starts_with(['-', '*', '+']);
        let behind = if marker { &rest[1..] } else { rest };
        let label = behind.trim_start_matches(' ');
        // A paragraph that begins so was meant as an item.
        let is_meant = if is_item {
            marker
        } else {
            marker && behind.starts_with('[')
        };
        if is_meant && is_broken(label, is_item) {
            broken.push(at + line.len() - rest.len());
        }
        if is_item {
            break;
        }
        at += line.len();
    }
    broken
}

/// Returns whether an item begins with something like a box that is none.
fn is_broken(label: &str, is_item: bool) -> bool {
    let Some((inside, behind)) = label
        .strip_prefix('[')
        .and_then(|label| label.split_once(']'))
    else {
        return label.starts_with("[ ") || label.starts_with("[x ");
    };
    let is_whole = is_item && matches!(inside, " " | "x" | "X") && behind.starts_with([' ', '\t']);
    // A link, or words in brackets, are none.
    let is_other = behind.starts_with(['(', '[', ':']) || inside.chars().count() > 3;
    !is_whole && !is_other
}
