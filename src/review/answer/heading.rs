//! The meaning of headings, and whether an answer is clean.

use std::collections::BTreeMap;

use pulldown_cmark::Tag;

use super::markdown::Part;
use super::severity::{SeverityWords, is_numbered, label, only, severity_words, stated_severity};
use super::titles::{
    is_answer_title, is_clean_line, is_list_title, is_none, is_praise_title, is_review_title,
    is_summary_title,
};
use super::{Cause, item};
use crate::review::findings::Severity;

/// The meaning of a heading.
pub(super) enum Heading<'t> {
    /// The items below have a severity: `High`, `High (2)`.
    Severity(SeverityWords),
    /// A finding with this severity and text.
    Finding(Severity, &'t str),
    /// The items below are findings, of which it may announce a number: `Issues (3)`.
    List(Option<usize>),
    Praise,
    /// `Summary`, `Overall verdict`.
    Summary,
    /// `Code review`, `Scope`: no finding itself, but findings may be below.
    Review,
    /// Words that we do not know.
    Other,
}

/// Returns the meaning of a heading above these parts.
pub(super) fn heading<'t>(title: &'t str, below: &[Part]) -> Heading<'t> {
    let text = item::bullet(title).unwrap_or(title);
    let is_summary = is_summary_title(title);
    let is_review = is_review_title(title);
    let stated = || {
        let severity = stated_below(title, below).filter(|_| !is_summary && !is_review)?;
        Some((severity, text))
    };
    if let Some(words) = section_words(title) {
        Heading::Severity(words)
    } else if let Some((severity, text)) = label(text).or_else(stated) {
        Heading::Finding(severity, text)
    } else if is_list_title(title) || title.is_empty() {
        let number = title
            .rsplit_once('(')
            .map(|(_, number)| number.trim_matches(['*', ')']));
        Heading::List(number.and_then(|number| number.parse().ok()))
    } else if is_praise_title(title) {
        Heading::Praise
    } else if is_summary {
        Heading::Summary
    } else if is_review {
        Heading::Review
    } else {
        Heading::Other
    }
}

/// Reads a heading such as `High`, `High (2)` or `High: none`.
fn section_words(title: &str) -> Option<SeverityWords> {
    let none = || {
        let (severity, _) = label(title).filter(|(_, rest)| is_none(rest))?;
        Some(SeverityWords {
            severities: vec![severity],
            announced: Some(0),
        })
    };
    severity_words(title).or_else(none)
}

/// Returns the severity of a heading, if exactly one part below states it: the next one, or a later
/// one of its kind that begins with it.
fn stated_below(title: &str, below: &[Part]) -> Option<Severity> {
    let next = below.first()?;
    let is_list = is_list_title(title) && !is_numbered(title);
    let reach = below.iter().take(if is_list { 1 } else { below.len() });
    let parts = reach.take_while(|part| part.level.is_none() && part.is_item() == next.is_item());
    let begins = |part: &Part| part.text.lines().next().and_then(stated_severity);
    let rest = parts.skip(1).filter_map(begins);
    only(next.stated().into_iter().chain(rest))
}

/// Returns whether an answer is clean: it ends with the clean line, or each of the three sections
/// has it, and there is no other text.
pub(super) fn is_clean(parts: &[Part]) -> Result<bool, Cause> {
    let mut has_line = false;
    let mut section = Vec::new();
    let mut none = BTreeMap::new();
    for part in parts {
        let lines = item::lines(&part.text);
        let text = lines[0].as_str();
        let is_text = matches!(part.tag, Tag::Paragraph | Tag::Item) && lines.len() == 1;
        let is_none = is_text && !item::is_doubtful(&part.text) && is_none(text);
        match (part.level, section_words(text)) {
            (None, _) if text.is_empty() => continue,
            (Some(_), Some(words)) => {
                section = words.severities;
                none.extend(section.iter().map(|one| (*one, words.announced == Some(0))));
            }
            (Some(1), None) if is_answer_title(text) => section.clear(),
            (None, _) if is_none => {
                none.extend(section.iter().map(|one| (*one, true)));
            }
            _ => return Ok(false),
        }
        has_line = is_text && is_clean_line(text);
    }
    let is_missing = |severity: &Severity| none.get(severity) != Some(&true);
    match Severity::ALL.into_iter().find(is_missing) {
        Some(missing) if !has_line && !none.is_empty() => Err(Cause::not_a_verdict(&format!(
            "it names no finding and says nothing of {missing}: it may have been cut off"
        ))),
        missing => Ok(has_line || missing.is_none()),
    }
}
