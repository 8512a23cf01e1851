//! The answer of the Stop hook, with the checks for every answer.

use serde_json::Value;

use super::{Ran, has, is_id};

/// The answer of the Stop hook.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The reason of a block, or the text of a reminder. `None` if the turn may end.
    pub(crate) reason: Option<String>,
    /// Whether it is a reminder.
    pub(crate) reminds: bool,
    /// The line for the user.
    pub(crate) note: Option<String>,
}

impl Stop {
    /// Reads an answer. Checks exit 0, one line with one JSON object, keys that the client knows, a
    /// reason under 9,000 characters with the loop and its cancel command, the word limits, and a
    /// blank line before the table.
    #[track_caller]
    pub(crate) fn read(ran: &Ran) -> Self {
        assert_eq!(ran.code, 0, "a hook always exits 0: {ran:?}");
        let is_one_line = ran.out.ends_with('\n') && ran.out.matches('\n').count() == 1;
        assert!(is_one_line, "{ran:?}");
        let answer: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let known = ["decision", "reason", "hookSpecificOutput", "systemMessage"];
        let mut keys = answer.as_object().expect("an object").keys();
        assert!(keys.all(|key| known.contains(&key.as_str())), "{ran:?}");
        let text = |key: &str| {
            answer
                .get(key)
                .map(|text| text.as_str().expect("text").to_owned())
        };
        let context = &answer["hookSpecificOutput"];
        let reminds = !context.is_null();
        let reason = match (reminds, text("decision").as_deref(), text("reason")) {
            (true, None, None) => {
                assert_eq!(context["hookEventName"], "Stop");
                Some(
                    context["additionalContext"]
                        .as_str()
                        .expect("text")
                        .to_owned(),
                )
            }
            (false, Some("block"), Some(reason)) => Some(reason),
            (false, Some("approve"), None) => None,
            _ => panic!("no decision: {ran:?}"),
        };
        reason.iter().for_each(|reason| check_reason(reason));
        Self {
            reason,
            reminds,
            note: text("systemMessage"),
        }
    }

    /// Returns the text. Fails if it is no reminder.
    #[track_caller]
    pub(crate) fn reminded(self) -> String {
        assert!(self.reminds, "expected a reminder: {self:?}");
        self.reason.unwrap_or_default()
    }

    /// Returns the reason of a block, or the text of a reminder. Fails if the turn may end.
    #[track_caller]
    pub(crate) fn blocked(self) -> String {
        match self.reason {
            Some(reason) => reason,
            None => panic!("expected a block, and the turn may end: {:?}", self.note),
        }
    }

    /// Returns the note of an approval, empty if there is none. Fails on a block.
    #[track_caller]
    pub(crate) fn approved(self) -> String {
        if let Some(reason) = self.reason {
            panic!("expected that the turn may end:\n{reason}");
        }
        self.note.unwrap_or_default()
    }
}

#[track_caller]
fn check_reason(reason: &str) {
    let length = reason.chars().count();
    assert!(length < 9_000, "{length} characters");
    let cancel = reason
        .split("claudex-loop cancel ")
        .nth(1)
        .expect("a block says how to cancel the loop");
    let end = cancel.find(|c: char| !c.is_ascii_hexdigit() && c != '-');
    let id = &cancel[..end.unwrap_or(cancel.len())];
    assert!(is_id(id), "names the loop: {reason}");
    has(reason, &format!("oop `{id}`"));
    check_length(reason);
    if let Some((_, table)) = reason.split_once("**Findings by round:**") {
        let (_, after) = table.rsplit_once("\n- Round ").expect("a table");
        let is_apart = table.starts_with("\n\n- Round 1 (") && after.contains("\n\n");
        assert!(is_apart, "blank lines around the table: {reason}");
    }
}

/// Checks the word limit for an agent: 120, but 80 in the blocks of later rounds.
#[track_caller]
pub(crate) fn check_length(text: &str) {
    let title = text.strip_prefix("### Claudex round ");
    let is_later_round = title.is_some_and(|title| !title.starts_with("1 "));
    let most = if is_later_round { 80 } else { 120 };
    let words = words_of_ours(text);
    assert!(
        words.len() <= most,
        "{} words, at most {most}: {words:?}\n{text}",
        words.len()
    );
}

/// Returns our own words in a block: no command, file or finding, and no other quoted text.
fn words_of_ours(reason: &str) -> Vec<String> {
    let quoted = [
        "- High: ",
        "- Medium: ",
        "- Low: ",
        "- Round ",
        "> ",
        "**Note:** ",
        "    ",
    ];
    let is_ours = |line: &&str| !quoted.iter().any(|start| line.starts_with(start));
    // After a split at fences, backquotes or quotes, every second piece is quoted.
    let outside =
        |text: &str, mark: &str| text.split(mark).step_by(2).collect::<Vec<_>>().join(" ");
    let text = outside(reason, "```");
    let prose: Vec<&str> = text.lines().filter(is_ours).collect();
    let prose = outside(&outside(&prose.join("\n"), "`"), "\"");
    let is_word = |word: &&str| {
        let is_command =
            word.starts_with('/') || *word == "claudex-loop" || is_id(word.trim_end_matches(')'));
        word.contains(char::is_alphabetic) && !is_command
    };
    let words = prose.split_whitespace().filter(is_word);
    words.map(str::to_owned).collect()
}
