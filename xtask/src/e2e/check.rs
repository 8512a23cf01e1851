//! The checks: of loops, of what the model was sent, of what the client printed, and of files. Our
//! own program is asked about loops, as a user would ask it.

use std::time::{Duration, Instant};

use miette::{IntoDiagnostic as _, miette};
use serde_json::Value;

use super::conversation::Conversation;
use super::home::{Home, PROGRAMS};
use super::pattern::Pattern;
use super::scenario::{Check, FileCheck};
use super::words::Words;

/// The subject of a check.
pub(super) struct Place<'a> {
    pub(super) home: &'a Home,
    /// The folder with the loops and files, relative to the project.
    pub(super) folder: &'a str,
    pub(super) conversation: &'a Conversation,
    /// The clients' output so far.
    pub(super) printed: String,
    pub(super) words: Words,
}

impl Place<'_> {
    /// Checks everything once.
    pub(super) fn holds(&self, check: &Check) -> miette::Result<()> {
        let program = check.program.as_deref().unwrap_or(PROGRAMS[0]);
        let loops = self.home.loops(program, self.folder)?;
        if let Some(count) = check.loops {
            equal("the number of loops", &loops.len(), &count)?;
        }
        self.check_loop(check, program, &loops)?;
        self.check_model(check)?;
        self.check_client(check)?;
        check
            .files
            .iter()
            .try_for_each(|file| self.check_file(file))
    }

    fn check_loop(
        &self,
        check: &Check,
        program: &str,
        loops: &[[String; 2]],
    ) -> miette::Result<()> {
        let ask = |arguments: &[&str]| self.home.ask(program, self.folder, arguments);
        let mut expected: Vec<_> = check.fields.iter().collect();
        let phase = "phase".to_owned();
        expected.extend(check.phase.as_ref().map(|value| (&phase, value)));
        let has_journal = !(check.journal.is_empty() && check.journal_lacks.is_empty());
        if expected.is_empty() && check.transitions.is_none() && !has_journal {
            return Ok(());
        }

        let [id, state] = loops.last().ok_or_else(|| miette!("no loop was started"))?;
        for (name, value) in expected {
            let mut field = ask(&["state", "get", state, name])?;
            if field.ends_with('\n') {
                field.pop();
            }
            equal(
                &format!("`{name}` of the loop"),
                &field,
                &self.words.render(value)?,
            )?;
        }
        if let Some(transitions) = &check.transitions {
            let transitions: Vec<_> = transitions
                .iter()
                .flat_map(|it| it.split_whitespace())
                .map(str::to_owned)
                .collect();
            let journal = ask(&["journal", id, "--json"])?;
            equal("the transitions", &transitions_in(&journal), &transitions)?;
        }
        if has_journal {
            let journal = ask(&["journal", id])?;
            let lacks = &check.journal_lacks;
            contains("the journal", &journal, &check.journal, lacks, &self.words)?;
        }
        Ok(())
    }

    fn check_model(&self, check: &Check) -> miette::Result<()> {
        let exchanges = self.conversation.exchanges(check.session.as_deref());
        if let Some(count) = check.requests {
            let turns = exchanges.iter().filter(|exchange| exchange.turn).count();
            equal("the number of requests to the model", &turns, &count)?;
        }
        let heard = exchanges
            .iter()
            .map(|it| it.heard.newest.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let subject = "what the model was sent";
        contains(subject, &heard, &[], &check.not_sent, &self.words)?;
        self.contains_in_order(subject, &heard, &check.sent)
    }

    fn check_client(&self, check: &Check) -> miette::Result<()> {
        let printed = &self.printed;
        let subject = "the client's output";
        contains(
            subject,
            printed,
            &check.printed,
            &check.not_printed,
            &self.words,
        )?;
        let events: Vec<Value> = printed
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if let Some(wanted) = &check.stops {
            let decisions: Vec<_> = events.iter().filter_map(stop_decision).collect();
            equal("the decisions of our Stop hooks", &decisions, wanted)?;
        }
        let results = events.iter().filter(|event| event["type"] == "result");
        let texts: Vec<_> = results
            .filter_map(|event| event["result"].as_str())
            .collect();
        self.contains_in_order("the ends of the turns", &texts.join("\n"), &check.said)
    }

    fn check_file(&self, check: &FileCheck) -> miette::Result<()> {
        let folder = self.home.project.join(self.folder);
        let path = folder.join(self.words.render(&check.path)?);
        let subject = path.display().to_string();
        if check.absent {
            let exists = fs_err::symlink_metadata(&path).is_ok();
            return equal(&format!("{subject} exists"), &exists, &false);
        }
        let bytes = fs_err::read(&path).into_diagnostic()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        contains(&subject, &text, &check.has, &check.lacks, &self.words)?;
        match &check.is {
            Some(whole) => equal(&subject, &text, &self.words.render(whole)?),
            None => Ok(()),
        }
    }

    fn contains_in_order(
        &self,
        subject: &str,
        text: &str,
        patterns: &[Pattern],
    ) -> miette::Result<()> {
        let mut rest = text;
        for pattern in rendered(patterns, &self.words)? {
            let end = pattern.end_in(rest).ok_or_else(|| {
                miette!("{subject} lacks, here or in this order, {:?}", pattern.0)
            })?;
            rest = &rest[end..];
        }
        Ok(())
    }
}

/// Renders patterns.
pub(super) fn rendered(patterns: &[Pattern], words: &Words) -> miette::Result<Vec<Pattern>> {
    let patterns = patterns.iter();
    patterns
        .map(|it| words.render(&it.0).map(Pattern))
        .collect()
}

/// Checks that a text has all of `has` and nothing of `lacks`.
pub(super) fn contains(
    subject: &str,
    text: &str,
    has: &[Pattern],
    lacks: &[Pattern],
    words: &Words,
) -> miette::Result<()> {
    for (patterns, wanted, verb) in [(has, true, "lacks"), (lacks, false, "has")] {
        for pattern in rendered(patterns, words)? {
            if pattern.is_in(text) != wanted {
                return Err(miette!("{subject} {verb} {:?}:\n{text}", pattern.0));
            }
        }
    }
    Ok(())
}

/// Calls `look` until it succeeds, or until the time is over.
pub(super) fn until(
    within: Duration,
    mut look: impl FnMut() -> miette::Result<()>,
) -> miette::Result<()> {
    let deadline = Instant::now() + within;
    loop {
        match look() {
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(50)),
            result => return result,
        }
    }
}

/// Returns the decision of one of our Stop hooks, if the event is about one.
fn stop_decision(event: &Value) -> Option<String> {
    if event["subtype"] != "hook_response" || event["hook_event"] != "Stop" {
        return None;
    }
    let output: Value = serde_json::from_str(event["stdout"].as_str()?).ok()?;
    let is_reminder = output["hookSpecificOutput"]["additionalContext"].is_string();
    let decision = if is_reminder {
        Some("remind")
    } else {
        output["decision"].as_str()
    };
    decision.map(str::to_owned)
}

/// Returns the transitions in a journal, without the loop's start.
fn transitions_in(journal: &str) -> Vec<String> {
    let lines = journal
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter(|line| line["from"].is_string())
        .filter_map(|line| Some(line["what"].as_str()?.to_owned()))
        .collect()
}

fn equal<T: PartialEq + std::fmt::Debug>(
    subject: &str,
    found: &T,
    expected: &T,
) -> miette::Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(miette!("{subject}: expected {expected:?}, found {found:?}"))
}
