//! The checks of a plan. Those that ask for an answer are in `plan_checks.txt`.

use crate::finding::value;
use crate::markdown::{self, Document, Sentence};
use crate::pattern::{matches_any, words};
use crate::{Finding, PointOfView, Severity};

/// The checks that ask for an answer.
const CHECKS: &str = include_str!("plan_checks.txt");

/// Reviews a plan in Markdown from one point of view.
///
/// Returns at most one finding per check, the heaviest first, then by line. An empty plan and one
/// that is not in English get one finding about that.
pub fn review_document(plan: &str, view: PointOfView) -> Vec<Finding> {
    let document = markdown::read(plan);
    if let Some(finding) = find_empty(&document).or_else(|| find_foreign(&document)) {
        return vec![finding];
    }
    let persona = match view {
        PointOfView::Engineering => "ENG-",
        PointOfView::Security => "SEC-",
        PointOfView::Operations => "OPS-",
    };
    let checks = CHECKS
        .split("\n\n")
        .filter(|check| check.starts_with(persona));
    let mut findings: Vec<Finding> = checks.filter_map(|check| ask(check, &document)).collect();
    if view == PointOfView::Engineering {
        findings.extend(find_open_questions(&document));
    }
    findings.sort_by_key(|finding| (finding.severity, finding.line));
    findings
}

/// Returns the finding of a check if the plan has work that it asks about, and nothing answers.
fn ask(check: &'static str, document: &Document) -> Option<Finding> {
    let values = |key: &'static str| check.lines().filter_map(move |line| line.strip_prefix(key));
    let matches = |key, words: &[String]| values(key).any(|pattern| matches_any(pattern, words));
    // Lists and sections are steps in any words.
    let has_parts = document.entries > 0 || document.titles.len() >= 3;
    let is_answered = check.starts_with("ENG-STEPS") && has_parts;
    if is_answered || matches("answer: ", &document.all_words) {
        return None;
    }
    let is_relevant = |sentence: &&Sentence| sentence.is_work && matches("work: ", &sentence.words);
    let relevant: Vec<&Sentence> = document.sentences.iter().filter(is_relevant).collect();
    let asks_every_plan = values("work: ").next().is_none();
    let first = relevant.first().map(|sentence| sentence.line);
    let line = first.or(asks_every_plan.then_some(document.last_line))?;

    let (id, severity) = check.lines().next()?.split_once(' ')?;
    let severity = Severity::parse(severity)?;
    let problem = value(check, "finds: ");
    let found = finding(id, severity, line, problem, value(check, "advice: "));
    Some(with_quotes(found, &relevant))
}

fn finding(
    check: &'static str,
    severity: Severity,
    line: u32,
    what: impl Into<String>,
    recommendation: &'static str,
) -> Finding {
    Finding {
        check,
        severity,
        what: what.into(),
        recommendation,
        file: None,
        line: Some(line),
        evidence: Vec::new(),
    }
}

/// Quotes the first of these sentences in a finding.
fn with_quotes(finding: Finding, sentences: &[&Sentence]) -> Finding {
    const MAX_QUOTES: usize = 3;
    let quotes = sentences
        .iter()
        .take(MAX_QUOTES)
        .map(|sentence| format!("line {}: {}", sentence.line, quote(sentence)));
    Finding {
        evidence: quotes.collect(),
        ..finding
    }
}

/// Quotes the beginning of a sentence, on one line and without control characters.
fn quote(sentence: &Sentence) -> String {
    const MAX_CHARS: usize = 120;
    let text = sentence
        .text
        .replace(char::is_control, " ")
        .replace('"', "'")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("\"{}...\"", text[..end].trim_end()),
        None => format!("\"{text}\""),
    }
}

fn find_empty(document: &Document) -> Option<Finding> {
    const MIN_WORDS: usize = 12;
    let titles = document.titles.iter().map(|title| words(title).len());
    let sentences = document
        .sentences
        .iter()
        .map(|sentence| sentence.words.len());
    let count: usize = titles.chain(sentences).sum();
    (count < MIN_WORDS).then(|| {
        finding(
            "PLAN-EMPTY",
            Severity::High,
            1,
            format!(
                "the plan is too short to review: {count} words outside of code and quotations"
            ),
            "write the goal, the steps, how each step is checked, and when the work is accepted",
        )
    })
}

fn find_foreign(document: &Document) -> Option<Finding> {
    /// A shorter text may have no common words at all.
    const MIN_WORDS: usize = 25;
    /// English text has 20 to 40 % of these.
    const MIN_COMMON_PERCENT: usize = 5;
    const COMMON: &[&str] = &[
        "the", "and", "of", "to", "is", "are", "for", "with", "that", "this", "it", "be", "by",
        "from", "if", "not", "we", "when", "add", "use", "each", "new", "after", "then",
    ];
    let sentences = document.sentences.iter();
    let words: Vec<&String> = sentences.flat_map(|sentence| &sentence.words).collect();
    let count = |is_match: fn(&str) -> bool| words.iter().filter(|word| is_match(word)).count();
    let common = count(|word| COMMON.contains(&word));
    let is_foreign = 3 * count(|word| !word.is_ascii()) > words.len()
        || words.len() >= MIN_WORDS && common * 100 < words.len() * MIN_COMMON_PERCENT;
    is_foreign.then(|| {
        finding(
            "PLAN-LANGUAGE",
            Severity::Medium,
            1,
            "the plan was not reviewed: the built-in reviewer reads English only",
            "choose another reviewer, or write the plan in English",
        )
    })
}

fn find_open_questions(document: &Document) -> Option<Finding> {
    const UNDECIDED: &str = "
        to be decided|determined|defined|discussed|specified
        not yet decided|defined|determined
        decide|figure .. later
    ";
    let is_undecided = |sentence: &&Sentence| {
        sentence.is_work && matches_any(UNDECIDED, &sentence.words)
            || sentence.read.ends_with('?') && sentence.is_below_questions
    };
    let all = document.sentences.iter();
    let marked: Vec<&Sentence> = all.clone().filter(|found| is_marked(&found.read)).collect();
    let (severity, open) = if marked.is_empty() {
        (Severity::Medium, all.filter(is_undecided).collect())
    } else {
        (Severity::High, marked)
    };
    let problem = match open.len() {
        1 => "1 open question".to_owned(),
        count => format!("{count} open questions"),
    };
    let recommendation = "decide, or add a step that decides, with an owner and a date";
    let line = open.first()?.line;
    Some(with_quotes(
        finding("ENG-OPEN-QUESTION", severity, line, problem, recommendation),
        &open,
    ))
}

/// Returns whether a mark such as "TBD" is written in place of an answer: "TBD: which zone?",
/// "Owner: TBD", "the port is TBD". In a text about such marks it does not.
fn is_marked(text: &str) -> bool {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    tokens.iter().enumerate().any(|(at, token)| {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric());
        let is_note = ["TODO", "FIXME"].contains(&word) && token.ends_with(':');
        let is_answer = ["TBD", "TBC"].contains(&word);
        let begins = token.starts_with(['(', '['])
            || at == 0
            || tokens[at - 1].ends_with([':', '=', '-', '\u{2013}', '\u{2014}', '?'])
            || ["is", "are", "be", "remains"].contains(&tokens[at - 1]);
        let next = tokens
            .get(at + 1)
            .filter(|next| next.starts_with(char::is_alphanumeric));
        let ends = !token.ends_with(char::is_alphanumeric) || next.is_none();
        token.contains("???") || begins && (is_note || is_answer && ends)
    })
}
