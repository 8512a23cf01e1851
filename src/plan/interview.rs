//! The interview of `/claudex:plan`: its answers extend the topic, once, while the plan is drafted.
//!
//! They come from the hook of the question tool, so the agent cannot invent them.

use super::{AnyLoop, INFO, Phase};
use claudex_loop::hooks::answers::{self, DialogAnswer};
use claudex_loop::hooks::{HookOutput, Input};
use claudex_loop::machine::Actor;
use claudex_loop::program::locate::StateFolders;
use claudex_loop::store::{Change, Fields};
use claudex_loop::text;
use serde_json::Value;

/// The headers of the interview's questions, in the order of the topic.
const HEADERS: [&str; 3] = ["Scope", "Constraints", "Worries"];

/// Adds the answers of an interview to the topic of the session's own loop, if it takes them.
pub(super) fn take(input: &Input) -> Option<HookOutput> {
    let parts = parts(&answers::from_input(input));
    let session = input.session_id.as_deref().filter(|_| !parts.is_empty())?;
    let owned = StateFolders::find_for_hook(INFO.state, input).owned(session);
    let own = owned.first()?;
    let id = &own.id;
    let held = AnyLoop::open(&own.store, id, Actor::Person).ok()?;
    let fields = held.fields();
    if held.phase() != Phase::Drafting || fields.interview_used || fields.from_draft {
        return None;
    }
    let mut output = HookOutput::default();
    if let Err(problem) = record(&held, &parts) {
        let problem = text::one_line(&problem, 300);
        own.log(&format!("interview: {problem}"));
        let person = format!("the answers are not in the topic of loop {id}: {problem}");
        output.user_note = Some(INFO.line(&person));
        let agent = "the answers could not be added to the topic. Write them into the plan.";
        output.agent_note = Some(INFO.line(agent));
    } else {
        output.agent_note = Some(INFO.line(&format!("the answers are in the topic of loop {id}.")));
    }
    Some(output)
}

/// Returns the answers to the interview's questions, as `Scope: …`. The first of each counts.
fn parts(answers: &[DialogAnswer]) -> Vec<String> {
    let part = |header: &str| {
        let is_of_header = |one: &&DialogAnswer| one.header.trim().eq_ignore_ascii_case(header);
        let answer = answers.iter().find(is_of_header)?;
        Some(format!("{header}: {}", answer.text))
    };
    HEADERS.into_iter().filter_map(part).collect()
}

/// Sets the topic and `interview_used` in one change.
fn record(held: &AnyLoop, parts: &[String]) -> Result<(), String> {
    let topic = format!("{}; {}", held.fields().topic, parts.join("; "));
    let edits = Fields::from_iter([
        ("topic".to_owned(), Value::from(topic)),
        ("interview_used".to_owned(), Value::from(true)),
    ]);
    let change = Change::edit("interview", &Actor::Person.to_string(), edits);
    let raw = held.raw();
    let committed = raw.store().commit(raw.record(), change);
    committed.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(header: &str, text: &str) -> DialogAnswer {
        DialogAnswer {
            header: header.to_owned(),
            question: "q".to_owned(),
            text: text.to_owned(),
            is_typed: false,
            options: Vec::new(),
        }
    }

    #[test]
    fn interview_answers_are_found_by_header_in_order() {
        let dialog = [
            answer("worries", "a; Scope: fake"),
            answer("Other", "x"),
            answer(" SCOPE ", "b"),
            answer("Scope", "second"),
        ];
        assert_eq!(parts(&dialog), ["Scope: b", "Worries: a; Scope: fake"]);
        assert!(parts(&[answer("Scopes", "x"), answer("", "y")]).is_empty());
    }
}
