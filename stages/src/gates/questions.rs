//! The questions of a file, each with its boxes.

use super::plain;
use crate::contract::{body_start, lines};

/// The longest part of a heading that is compared, in bytes.
const MAX_HEADING_BYTES: usize = 200;

/// A question of the file.
pub(super) struct Question {
    /// The byte of its heading.
    pub(super) at: usize,
    pub(super) id: String,
    pub(super) is_critical: bool,
    /// The number of boxes.
    pub(super) boxes: usize,
    /// The bytes of the broken boxes.
    pub(super) broken: Vec<usize>,
    /// The words of the question and of the heading above it.
    pub(super) words: String,
}

/// Reads the questions: each from its heading to the next one of its level. Code is skipped.
pub(super) fn questions(text: &str) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    let mut above = String::new();
    let mut is_open = false;
    let body = lines(text, body_start(text));
    for (at, line, _) in body.filter(|(_, _, is_code)| !is_code) {
        let heading = line.strip_prefix("# ").or(line.strip_prefix("## "));
        if let Some(heading) = heading.map(str::trim) {
            is_open = line.starts_with("## ") && heading.starts_with("Q-");
            if !is_open {
                above = plain(&heading[..heading.floor_char_boundary(MAX_HEADING_BYTES)]);
                continue;
            }
            let id = heading.split([':', ' ']).next().unwrap_or_default();
            questions.push(Question {
                at,
                id: id.to_owned(),
                is_critical: heading.contains("[CRITICAL]"),
                boxes: 0,
                broken: Vec::new(),
                words: format!("{above} {}", plain(heading)),
            });
        } else if let Some(question) = questions.last_mut().filter(|_| is_open) {
            question.words += &format!(" {}", plain(line));
            match is_whole_box(line) {
                Some(true) => question.boxes += 1,
                Some(false) => question
                    .broken
                    .push(at + line.len() - line.trim_start().len()),
                None => {}
            }
        }
    }
    questions
}

/// Returns whether the box of a line is whole, such as `- [ ] a`, or broken, such as `- []`, `- [y]` and `-[ ]`.
/// Returns `None` if the line has no box.
fn is_whole_box(line: &str) -> Option<bool> {
    let item = line.trim_start().strip_prefix(['-', '*', '+'])?;
    let label = item.trim_start_matches(' ').strip_prefix('[')?;
    let Some((inside, behind)) = label.split_once(']') else {
        return label.starts_with([' ', 'x']).then_some(false);
    };
    // A link, or words in brackets, are no box.
    if behind.starts_with(['(', '[', ':']) || inside.chars().count() > 3 {
        return None;
    }
    let is_marked = matches!(inside, " " | "x" | "X") && behind.starts_with([' ', '\t']);
    Some(is_marked && item.starts_with(' '))
}
