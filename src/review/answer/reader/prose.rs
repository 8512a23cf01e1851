//! Text, quotations and code: findings, details, or prose that is ignored.

use super::Reader;
use super::context::{Context, Place};
use crate::review::answer::blocks::{Block, ITEM_LEVEL};
use crate::review::answer::severity::{
    is_rated_line, stated_severities, stated_severity, states_finding,
};
use crate::review::answer::titles::{is_none, is_praise};
use crate::review::answer::words::consists_of;
use crate::review::answer::{Cause, item};
use crate::review::findings::Severity;
use crate::text;

/// Languages of code that is text.
const TEXT_LANGUAGES: [&str; 4] = ["", "markdown", "md", "text"];

const MAX_QUOTE_CHARS: usize = 60;

impl Reader {
    pub(super) fn paragraph(&mut self, block: &Block, context: &mut Context) -> Result<(), Cause> {
        let mut lines = item::lines(&block.text);
        let stated: Vec<Severity> = stated_severities(&block.text).collect();
        let first = title_line(&lines);
        let is_vague = stated.is_empty() && lines.iter().any(|line| states_finding(line));
        let is_end = block.line > self.last_line;
        let in_section = context.place == Place::Section;
        let is_lead = context.lists_findings && begins_bold(&lines[0]) && !is_none(&lines[0]);
        let is_behind_none =
            in_section && context.says_none && !context.has_findings && stated.is_empty();
        match (context.place, self.findings.len().checked_sub(1)) {
            (Place::Finding(above), _) => self.append(above, &lines, context),
            (Place::Section, _) if lines.len() == 1 && is_none(&lines[0]) => {
                context.says_none = true;
            }
            // Only the end of an answer may have text behind a word for none.
            _ if is_behind_none && (!is_end || is_vague) => return Err(uncounted(block)),
            _ if is_behind_none => {}
            (Place::Section, Some(last))
                if context.has_items && (stated.is_empty() || first.is_none()) =>
            {
                self.append(last, &lines, context);
            }
            (Place::Praise, _) if first.is_none() => return Err(uncounted(block)),
            _ if stated.len() > 1 || !in_section && is_vague => return Err(uncounted(block)),
            _ if in_section || is_lead || !stated.is_empty() => {
                let text = lines.remove(first.unwrap_or_default());
                self.add(
                    stated.first().copied(),
                    problem(&text).unwrap_or(&text),
                    context,
                );
                self.append(self.findings.len() - 1, &lines, context);
            }
            (Place::Outside, Some(last)) => self.append(last, &lines, context),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn aside(
        &mut self,
        block: &Block,
        next: Option<&Block>,
        context: &mut Context,
    ) -> Result<(), Cause> {
        let is_last = next.is_none_or(|next| next.level < ITEM_LEVEL);
        let text = block.text.trim();
        let lines = item::lines(text);
        let (fence, code) = text.split_once('\n').unwrap_or((text, ""));
        let language = fence.trim_start_matches(['`', '~']);
        let is_fenced = fence.len() - language.len() > 2;
        let is_source = is_fenced && !TEXT_LANGUAGES.contains(&language.trim());
        let is_cut_off = is_fenced && !code.ends_with(&fence[..3]);
        let quoted = text.lines();
        let mut quoted = quoted.map(|line| line.trim_start_matches(['>', ' ', '\t']));
        let finding = match context.place {
            Place::Finding(above) => Some(above),
            Place::Section if context.has_findings => self.findings.len().checked_sub(1),
            _ => None,
        };
        let is_counted = match (finding, context.place) {
            // A list of findings is no detail, unless it is in code.
            (Some(_), _) => is_source || !quoted.filter_map(item::bullet).any(is_rated_line),
            _ if lines[0].is_empty() || text.starts_with("<!--") => true,
            // What it belongs to has to follow.
            (_, Place::Section) if is_last || text.starts_with('<') => false,
            (_, Place::Section) if !text.starts_with('>') => true,
            _ => !text.starts_with('<') && !quoted.any(states_finding),
        };
        if is_cut_off || !is_counted {
            return Err(uncounted(block));
        }
        match finding {
            Some(finding) if is_fenced => self.append(finding, &code_lines(&block.text), context),
            Some(finding) => self.append(finding, &lines, context),
            None => {}
        }
        Ok(())
    }
}

/// Returns the line of a paragraph that says what is wrong: `**Issue:** text`, or else the first
/// one that states no severity.
fn title_line(lines: &[String]) -> Option<usize> {
    let first = || {
        lines
            .iter()
            .position(|line| stated_severity(line).is_none())
    };
    lines
        .iter()
        .position(|line| problem(line).is_some())
        .or_else(first)
}

/// Returns the text behind the name of the problem: `**Issue:** text`.
pub(super) fn problem(line: &str) -> Option<&str> {
    let (name, text) = line.split_once(':')?;
    let text = text.trim_start_matches(['*', ' ']);
    (consists_of(name, "problem problem-names") && !text.is_empty()).then_some(text)
}

/// Returns whether a text begins with a sentence in bold: `**Orders are lost.** Commit first.`
fn begins_bold(text: &str) -> bool {
    let inner = text.strip_prefix("**").and_then(|it| it.split_once("**"));
    inner.is_some_and(|(inner, _)| inner.ends_with('.') && !is_praise(inner))
}

/// Returns the lines of a code block, with its fences and without the indentation of its item.
fn code_lines(block: &str) -> Vec<&str> {
    let block = block.trim_end();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let indent = indentation(block.lines().next_back().unwrap_or_default());
    let lines = block.lines();
    lines
        .map(|line| &line[indentation(line).min(indent)..])
        .collect()
}

fn uncounted(block: &Block) -> Cause {
    let line = block.line;
    let text = text::one_line(&block.text, MAX_QUOTE_CHARS);
    let problem = format!("line {line} is not counted: no severity is known for ‘{text}’");
    Cause::not_a_verdict(&problem)
}
