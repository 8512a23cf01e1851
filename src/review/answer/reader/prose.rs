//! Text, quotations and code: findings, details, or prose that is ignored.

use super::Reader;
use super::frame::Place;
use crate::review::answer::blocks::{Block, ITEM_LEVEL};
use crate::review::answer::severity::{
    is_rated_item, stated_severities, stated_severity, states_finding,
};
use crate::review::answer::titles::is_none;
use crate::review::answer::{Cause, item};
use crate::review::findings::Severity;
use crate::text;

/// Languages of code that is text.
const TEXT_LANGUAGES: [&str; 4] = ["", "markdown", "md", "text"];

/// Longest part of a text that an error quotes, in characters.
const MAX_QUOTE_CHARS: usize = 60;

impl Reader {
    /// Takes a paragraph. `is_end`: no heading or item follows.
    pub(super) fn paragraph(&mut self, block: &Block, is_end: bool) -> Result<(), Cause> {
        let mut lines = item::lines(&block.text);
        let stated: Vec<Severity> = stated_severities(&block.text).collect();
        let is_text = |line: &String| stated_severity(line).is_none();
        let first = lines.iter().position(is_text);
        let is_vague = stated.is_empty() && lines.iter().any(|line| states_finding(line));
        let top = self.top();
        let before = top.before;
        let last = self.findings.len().checked_sub(1);
        let is_empty = last.is_none_or(|last| last < before);
        let is_behind_none =
            top.place == Place::Section && top.says_none && is_empty && stated.is_empty();
        match (top.place, last) {
            (Place::Finding, _) => self.hang(before, &lines),
            (Place::Section, _) if lines.len() == 1 && is_none(&lines[0]) => {
                self.top_mut().says_none = true;
            }
            // Only the end of an answer may have text behind a word for none.
            _ if is_behind_none && (!is_end || is_vague) => return Err(uncounted(block)),
            _ if is_behind_none => {}
            (Place::Section, Some(last))
                if top.has_items && (stated.is_empty() || first.is_none()) =>
            {
                self.hang(last, &lines);
            }
            (Place::Praise, _) if first.is_none() => return Err(uncounted(block)),
            _ if stated.len() > 1 || top.place != Place::Section && is_vague => {
                return Err(uncounted(block));
            }
            (place, _) if place == Place::Section || !stated.is_empty() => {
                let text = lines.remove(first.unwrap_or_default());
                self.add(stated.first().copied(), &text);
                self.hang(self.findings.len() - 1, &lines);
            }
            (Place::Outside, Some(last)) => self.hang(last, &lines),
            _ => {}
        }
        Ok(())
    }

    /// Takes a quotation, code or HTML.
    pub(super) fn aside(&mut self, block: &Block, next: Option<&Block>) -> Result<(), Cause> {
        let lines = item::lines(&block.text);
        let top = self.top();
        let in_section = top.place == Place::Section;
        let last = self.findings.len().checked_sub(1);
        let finding = match top.place {
            Place::Finding => Some(top.before),
            _ => last.filter(|last| in_section && *last >= top.before),
        };
        let text = block.text.trim();
        let (fence, code) = text.split_once('\n').unwrap_or((text, ""));
        let language = fence.trim_start_matches(['`', '~']);
        let is_fenced = fence.len() - language.len() > 2;
        let is_source = is_fenced && !TEXT_LANGUAGES.contains(&language.trim());
        let quoted = text.lines();
        let mut quoted = quoted.map(|line| line.trim_start_matches(['>', ' ', '\t']));
        let is_counted = match finding {
            // It is cut off.
            _ if is_fenced && !code.ends_with(&fence[..3]) => false,
            // A list of findings is no detail, unless it is in code.
            Some(_) => is_source || !quoted.any(is_rated_item),
            None if lines[0].is_empty() || text.starts_with("<!--") => true,
            // What it belongs to has to follow.
            None if in_section && next.is_none_or(|next| next.level < ITEM_LEVEL) => false,
            None if text.starts_with('<') => false,
            None if in_section && !text.starts_with('>') => true,
            None => !quoted.any(states_finding),
        };
        if !is_counted {
            return Err(uncounted(block));
        }
        if let Some(finding) = finding {
            self.hang(finding, &lines);
        }
        Ok(())
    }
}

fn uncounted(block: &Block) -> Cause {
    let line = block.line;
    let text = text::one_line(&block.text, MAX_QUOTE_CHARS);
    let problem = format!("line {line} is not counted: no severity is known for ‘{text}’");
    Cause::not_a_verdict(&problem)
}
