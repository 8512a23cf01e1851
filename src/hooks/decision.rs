//! The answers of hooks, each one JSON object on one line. Claude Code drops unparsable ones.

use serde_json::{Value, json};

use crate::text;

/// The most UTF-16 units of an uncut reason. The client shortens texts above 10,000.
const MAX_REASON_UNITS: usize = 9_000;

const MAX_NOTE_CHARS: usize = 1_000;
/// The longest instruction below a note, in characters: the client shortens texts above 10,000.
const MAX_INSTRUCTION_CHARS: usize = 7_500;

/// The answer to a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether the turn ends.
    pub action: Action,
    /// A note for the user: see [`text::note`].
    pub note: Option<String>,
}

/// The end of a turn, or the text with which the agent continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The turn may end.
    Approve,
    /// The agent continues.
    Block(String),
    /// The agent continues, and the client does not show that as an error.
    Remind(String),
}

impl Decision {
    /// Lets the turn end.
    pub fn approve(note: Option<String>) -> Self {
        Self {
            action: Action::Approve,
            note,
        }
    }

    /// Returns the answer for the client. A long text ends with a line about `rest`, a command.
    pub fn to_json(&self, rest: &str) -> String {
        let answer = match &self.action {
            Action::Approve => json!({ "decision": "approve" }),
            Action::Block(text) => {
                json!({ "decision": "block", "reason": plain_reason(text, rest) })
            }
            Action::Remind(text) => context("Stop", &plain_reason(text, rest)),
        };
        with_note(answer, self.note.as_deref())
    }
}

/// The answer to a tool call of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// The call runs without a dialog.
    Allow,
    /// The call does not run. The agent reads why.
    Deny(String),
}

impl Permission {
    fn to_json(&self, event: &str) -> Value {
        let (decision, reason) = match self {
            Self::Allow => ("allow", "the loop asks for it"),
            Self::Deny(reason) => ("deny", reason.as_str()),
        };
        json!({ "hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
    }
}

/// The answer to another event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookOutput {
    /// The decision about a tool call, or `None` if the client is to decide as usual.
    pub permission: Option<Permission>,
    /// A note for the agent: see [`text::note`].
    pub agent_note: Option<String>,
    /// An instruction for the agent, of several lines. It appears only below a note.
    pub instruction: Option<String>,
    /// A note for the user.
    pub user_note: Option<String>,
}

impl HookOutput {
    /// Returns the answer to an event such as `PostToolUse`, as the client reads it, or nothing.
    pub fn to_json(&self, event: &'static str) -> String {
        let mut answer = match &self.permission {
            Some(permission) => permission.to_json(event),
            None if self.agent_note.is_none() && self.user_note.is_none() => return String::new(),
            None => json!({}),
        };
        if let Some(note) = &self.agent_note {
            let mut text = plain_note(note);
            if let Some(instruction) = &self.instruction {
                let plain = text::strip_hidden(instruction);
                text.push_str("\n\n");
                text.extend(plain.trim_end().chars().take(MAX_INSTRUCTION_CHARS));
            }
            answer = context(event, &text);
        }
        with_note(answer, self.user_note.as_deref())
    }
}

/// Returns an answer with a text that the client adds to the conversation.
fn context(event: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
}

/// Returns an answer with a note for the user, on one line.
fn with_note(mut answer: Value, note: Option<&str>) -> String {
    let note = note.map(plain_note).unwrap_or_default();
    if !note.is_empty() {
        answer["systemMessage"] = note.into();
    }
    format!("{answer}\n")
}

fn plain_note(note: &str) -> String {
    text::pasteable(&text::note(note, MAX_NOTE_CHARS))
}

/// Returns a reason that the client does not shorten: a long one ends with a line about `rest`. The
/// client fills an empty one with a useless word.
fn plain_reason(reason: &str, rest: &str) -> String {
    let text = text::strip_hidden(reason);
    let whole = text.encode_utf16().count();
    if text.trim().is_empty() {
        return "The loop is not finished.".to_owned();
    }
    if whole < MAX_REASON_UNITS {
        return text;
    }
    let notice = format!("(This text was cut: it has {whole} characters. The rest is in {rest})");
    let budget = MAX_REASON_UNITS - notice.encode_utf16().count() - 2;
    let mut used = 0;
    let fits = |character: &char| {
        used += character.len_utf16();
        used <= budget
    };
    let kept: String = text.chars().take_while(fits).collect();
    // Only whole lines, unless there is but one.
    let kept = kept.rsplit_once('\n').map_or(&*kept, |(lines, _)| lines);
    format!("{kept}\n{notice}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(reason: &str) -> Decision {
        Decision {
            action: Action::Block(reason.into()),
            note: None,
        }
    }

    #[test]
    fn decision_is_written_as_the_client_reads_it() {
        let approve = Decision::approve(Some("log\nin \u{1b}x".into()));
        let remind = Decision {
            action: Action::Remind("a".into()),
            note: Some("b".into()),
        };
        for (decision, expected) in [
            (Decision::approve(None), "{\"decision\":\"approve\"}\n"),
            (
                approve,
                "{\"decision\":\"approve\",\"systemMessage\":\"log in x\"}\n",
            ),
            (
                block("a \"b\"\r\n\tc\u{202e}\0"),
                "{\"decision\":\"block\",\"reason\":\"a \\\"b\\\"\\n\\tc\"}\n",
            ),
            (
                block("\u{202e}\0 \n"),
                "{\"decision\":\"block\",\"reason\":\"The loop is not finished.\"}\n",
            ),
            (
                remind,
                "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"a\"},\"systemMessage\":\"b\"}\n",
            ),
        ] {
            assert_eq!(decision.to_json("x status"), expected);
        }
    }

    #[test]
    fn output_is_one_line_or_nothing() {
        assert_eq!(HookOutput::default().to_json("PostToolUse"), "");
        let output = HookOutput {
            agent_note: Some("a\nb".into()),
            user_note: Some("c".into()),
            ..HookOutput::default()
        };
        assert_eq!(
            output.to_json("PostToolUse"),
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"a b\"},\"systemMessage\":\"c\"}\n"
        );
    }

    #[test]
    fn instruction_is_plain_and_bounded() {
        let output = HookOutput {
            agent_note: Some("a\nb".into()),
            instruction: Some(format!("c\r\n\u{1b}[2Jd\u{202e}\n{}", "x".repeat(20_000))),
            ..HookOutput::default()
        };
        let written: Value = serde_json::from_str(&output.to_json("PostToolUse")).unwrap();
        let context = written["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .unwrap();
        assert!(context.starts_with("a b\n\nc\n[2Jd\nxxx"), "{context:.40}");
        assert!(context.chars().count() <= MAX_NOTE_CHARS + 2 + MAX_INSTRUCTION_CHARS);
    }

    #[test]
    fn long_reason_keeps_whole_lines_and_names_the_rest() {
        let whole = "x".repeat(MAX_REASON_UNITS - 1);
        assert_eq!(plain_reason(&whole, "x status"), whole);
        // An astral character counts as two.
        for (line, count) in [("a line of findings", 1_000), ("😀😀", 2_000)] {
            let text = format!("{line}\n").repeat(count);
            let cut = plain_reason(&text, "x status");
            let (lines, last) = cut.rsplit_once('\n').unwrap();
            assert!(lines.lines().all(|one| one == line));
            let units = text.encode_utf16().count();
            assert_eq!(
                last,
                format!("(This text was cut: it has {units} characters. The rest is in x status)")
            );
            let length = cut.encode_utf16().count();
            assert!((MAX_REASON_UNITS - 200..MAX_REASON_UNITS).contains(&length));
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_one_object_on_one_line(
            text in any::<String>(), repeat in 1usize..400, note in any::<Option<String>>(),
            block in any::<bool>(),
        ) {
            let reason = text.repeat(repeat);
            let action = if block { Action::Block(reason) } else { Action::Approve };
            let decision = Decision { action, note };
            let answer = decision.to_json("x status");
            prop_assert_eq!(answer.matches('\n').count(), 1);
            prop_assert!(answer.ends_with('\n'));
            let answer: Value = serde_json::from_str(&answer).unwrap();
            prop_assert_eq!(answer["decision"].as_str(), Some(if block { "block" } else { "approve" }));
            prop_assert_eq!(answer["reason"].is_string(), block);
            let reason = answer["reason"].as_str().unwrap_or_default();
            prop_assert!(reason.encode_utf16().count() < MAX_REASON_UNITS);
            prop_assert!(!reason.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
