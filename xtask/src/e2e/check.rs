//! The checks: of loops, of requests to the model, of output of the client, and of files. Our own
//! program is asked about loops, as a user would ask it.

use std::fmt::Debug;
use std::path::Path;
use std::time::{Duration, Instant};

use miette::{IntoDiagnostic as _, miette};
use serde_json::Value;

use super::conversation::Conversation;
use super::home::{Home, PROGRAMS};
use super::pattern::Pattern;
use super::scenario::{Check, FileCheck};

/// Checks everything once. `printed` is the clients' output so far.
pub(super) fn check_all(
    check: &Check,
    home: &Home,
    conversation: &Conversation,
    printed: &str,
) -> miette::Result<()> {
    check_loop(check, home)?;
    check_model(check, conversation)?;
    check_client(check, printed)?;
    let mut files = check.files.iter();
    files.try_for_each(|file| check_file(file, &home.project))
}

fn check_loop(check: &Check, home: &Home) -> miette::Result<()> {
    let program = check.program.as_deref().unwrap_or(PROGRAMS[0]);
    let loops = home.loops(program)?;
    if let Some(count) = check.loops {
        equal("the number of loops", &loops.len(), &count)?;
    }
    let newest = || loops.last().ok_or_else(|| miette!("no loop was started"));
    let phase = check.phase.iter().map(|phase| ("phase", phase));
    let fields = check.fields.iter().map(|(name, value)| (&**name, value));
    for (name, value) in phase.chain(fields) {
        let [_, state] = newest()?;
        let mut field = home.ask(program, &["state", "get", state, name])?;
        if field.ends_with('\n') {
            field.pop();
        }
        equal(&format!("`{name}` of the loop"), &field, value)?;
    }
    if let Some(transitions) = &check.transitions {
        let [id, _] = newest()?;
        let found = transitions_in(&home.ask(program, &["journal", id, "--json"])?).join(" ");
        equal("the transitions", &found, &transitions.join(" "))?;
    }
    Ok(())
}

fn check_model(check: &Check, conversation: &Conversation) -> miette::Result<()> {
    let exchanges = conversation.exchanges(check.session.as_deref());
    if let Some(count) = check.requests {
        let turns = exchanges.iter().filter(|exchange| exchange.turn).count();
        equal("the number of requests to the model", &turns, &count)?;
    }
    let heard: Vec<_> = exchanges
        .iter()
        .map(|it| it.heard.newest.as_str())
        .collect();
    let heard = heard.join("\n");
    let subject = "what the model was sent";
    contains(subject, &heard, &[], &check.not_sent)?;
    let mut rest = heard.as_str();
    for pattern in &check.sent {
        let end = pattern
            .end_in(rest)
            .ok_or_else(|| miette!("{subject} lacks, here or in this order, {:?}", pattern.0))?;
        rest = &rest[end..];
    }
    Ok(())
}

fn check_client(check: &Check, printed: &str) -> miette::Result<()> {
    let subject = "the client's output";
    contains(subject, printed, &check.printed, &check.not_printed)?;
    if let Some(expected) = &check.stops {
        let events = printed
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let decisions: Vec<_> = events.filter_map(stop_decision).collect();
        equal("the decisions of our Stop hooks", &decisions, expected)?;
    }
    Ok(())
}

fn check_file(check: &FileCheck, project: &Path) -> miette::Result<()> {
    let path = project.join(&check.path);
    let subject = path.display().to_string();
    if check.absent {
        let exists = fs_err::symlink_metadata(&path).is_ok();
        return equal(&format!("{subject} exists"), &exists, &false);
    }
    let text = String::from_utf8_lossy(&fs_err::read(&path).into_diagnostic()?).into_owned();
    contains(&subject, &text, &check.has, &check.lacks)?;
    let whole = check.is.as_ref();
    whole.map_or(Ok(()), |whole| equal(&subject, &text, whole))
}

/// Checks that a text has all of `has` and nothing of `lacks`.
pub(super) fn contains(
    subject: &str,
    text: &str,
    has: &[Pattern],
    lacks: &[Pattern],
) -> miette::Result<()> {
    for (patterns, expected, verb) in [(has, true, "lacks"), (lacks, false, "has")] {
        let mut patterns = patterns.iter();
        if let Some(wrong) = patterns.find(|pattern| pattern.end_in(text).is_some() != expected) {
            return Err(miette!("{subject} {verb} {:?}:\n{text}", wrong.0));
        }
    }
    Ok(())
}

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
fn stop_decision(event: Value) -> Option<String> {
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

fn equal<T: PartialEq + Debug>(subject: &str, found: &T, expected: &T) -> miette::Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(miette!("{subject}: expected {expected:?}, found {found:?}"))
}
