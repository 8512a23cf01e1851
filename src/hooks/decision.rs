//! What a stop hook answers: exactly one JSON object on one line, whatever the texts in it.
//!
//! The client drops an answer that it cannot parse, and shortens one that is too long; neither may happen to ours.
//! Why a turn may end or not is decided elsewhere.

use serde::Serialize;

use crate::text;

/// A reason is shorter than this. In UTF-16 units, as the client, which shortens above 10,000, counts; the number of
/// characters is never larger.
pub const REASON_LIMIT: usize = 9_000;
/// The longest sentences of a note, in characters.
const NOTE_LIMIT: usize = 1000;
/// The longest text that says where the rest is, in characters.
const REST_LIMIT: usize = 300;

/// The answer to a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The turn may end.
    Approve {
        /// A note for the person: see [`text::note`].
        note: Option<String>,
    },
    /// The agent goes on.
    Block {
        /// What the agent is told.
        reason: String,
        /// A note for the person: see [`text::note`].
        note: Option<String>,
    },
    /// The agent goes on, and the client does not show that as an error.
    Remind {
        /// What the agent is told.
        reason: String,
        /// A note for the user: see [`text::note`].
        note: Option<String>,
    },
}

impl Decision {
    /// Returns the answer as the client reads it: one JSON object and a line end.
    ///
    /// Where the reason is too long, its last line says so and that the rest is in `rest`, such as a file's path.
    pub fn to_json(&self, rest: Option<&str>) -> String {
        // The client would fill a missing reason with a word that helps nobody.
        let words = |reason: &str| match shorten(&text::plain(reason), rest) {
            reason if reason.trim().is_empty() => "The loop is not finished.".to_owned(),
            reason => reason,
        };
        let (decision, reason, context, note) = match self {
            Self::Approve { note } => (Some("approve"), None, None, note),
            Self::Block { reason, note } => (Some("block"), Some(words(reason)), None, note),
            Self::Remind { reason, note } => (None, None, Some(words(reason)), note),
        };
        let note = note
            .as_deref()
            .map(|note| text::pasteable(&text::note(note, NOTE_LIMIT)));
        let answer = serde_json::to_string(&Answer {
            decision,
            reason,
            hook_specific_output: context.map(|additional_context| Context {
                hook_event_name: "Stop",
                additional_context,
            }),
            system_message: note.filter(|note| !note.is_empty()),
        });
        answer.expect("texts are always JSON") + "\n"
    }
}

/// The answer's fields. Not a map of values: each stop would read the code of one, too.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Context>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
}

/// The text of a reminder.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    hook_event_name: &'static str,
    additional_context: String,
}

/// Returns how long the client takes a text to be.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the text itself, or its beginning with a last line that says that it was cut.
fn shorten(text: &str, rest: Option<&str>) -> String {
    let whole = length(text);
    if whole < REASON_LIMIT {
        return text.to_owned();
    }
    let notice = match rest
        .map(|rest| text::one_line(rest, REST_LIMIT))
        .filter(|rest| !rest.is_empty())
    {
        Some(rest) => {
            format!("(This text was cut: it has {whole} characters. The rest is in {rest})")
        }
        None => format!("(This text was cut: it has {whole} characters.)"),
    };
    let budget = REASON_LIMIT - 1 - length(&notice);

    // The longest run of whole lines that fits, with the line that closes a fence left open there.
    let (mut used, mut end, mut best) = (0, 0, (0, String::new()));
    let mut fence = None;
    for line in text.split_inclusive('\n') {
        used += length(line);
        if used > budget {
            break;
        }
        end += line.len();
        fence = step_fence(fence, line);
        let closing = closing(fence);
        if used + length(&closing) <= budget {
            best = (end, closing);
        }
    }
    let (end, closing) = best;
    let mut kept = text[..end].to_owned();
    // One huge line would leave next to nothing: then it is cut inside, unless a fence hangs on it.
    let next = text[end..].split('\n').next().unwrap_or_default();
    if length(&kept) < budget / 2 && !is_fence(next) {
        let room = budget - length(&kept) - length(&closing) - 1;
        let mut taken = 0;
        kept.extend(next.chars().take_while(|character| {
            taken += character.len_utf16();
            taken <= room
        }));
        kept.push('\n');
    }
    kept + &closing + &notice
}

/// An open code fence: its character and how many of them.
type Fence = Option<(char, usize)>;

/// Returns a line's fence marker and what follows it, where it has one.
fn fence_of(line: &str) -> Option<((char, usize), &str)> {
    let line = line.trim_end_matches('\n');
    let marker = line.trim_start_matches(' ');
    let character = marker
        .chars()
        .next()
        .filter(|character| matches!(character, '`' | '~'))?;
    let after = marker.trim_start_matches(character);
    let count = marker.len() - after.len();
    (line.len() - marker.len() <= 3 && count >= 3).then_some(((character, count), after))
}

fn is_fence(line: &str) -> bool {
    fence_of(line).is_some()
}

/// Returns the fence that is open after a line, by the one open before it.
fn step_fence(open: Fence, line: &str) -> Fence {
    match (open, fence_of(line)) {
        (None, Some((('`', _), after))) if after.contains('`') => None,
        (None, Some((fence, _))) => Some(fence),
        (Some((character, count)), Some(((other, others), after)))
            if other == character && others >= count && after.trim().is_empty() =>
        {
            None
        }
        (open, _) => open,
    }
}

/// Returns the line that closes an open fence.
fn closing(open: Fence) -> String {
    open.map_or_else(String::new, |(character, count)| {
        let mut line: String = std::iter::repeat_n(character, count).collect();
        line.push('\n');
        line
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn reason(text: &str, rest: Option<&str>) -> String {
        let answer = Decision::Block {
            reason: text.to_owned(),
            note: None,
        }
        .to_json(rest);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["reason"].as_str().unwrap().to_owned()
    }

    /// Returns the fence that is open at the end of a text.
    fn open_at_end(text: &str) -> Fence {
        text.split_inclusive('\n').fold(None, step_fence)
    }

    #[test]
    fn the_bytes_are_those_the_client_knows() {
        assert_eq!(
            Decision::Approve { note: None }.to_json(None),
            "{\"decision\":\"approve\"}\n"
        );
        assert_eq!(
            Decision::Approve {
                note: Some("log\nin \u{1b}x".into())
            }
            .to_json(None),
            "{\"decision\":\"approve\",\"systemMessage\":\"log in x\"}\n"
        );
        assert_eq!(
            Decision::Block {
                reason: "a \"b\"\r\n\tc\u{202e}\0".into(),
                note: Some(" ".into())
            }
            .to_json(None),
            "{\"decision\":\"block\",\"reason\":\"a \\\"b\\\"\\n\\tc\"}\n"
        );
        assert_eq!(
            Decision::Remind {
                reason: "a".into(),
                note: Some("b".into())
            }
            .to_json(None),
            "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"a\"},\"systemMessage\":\"b\"}\n"
        );
    }

    #[test]
    fn a_block_always_has_a_reason() {
        assert_eq!(reason("\u{202e}\0 \n", None), "The loop is not finished.");
    }

    #[test]
    fn a_text_just_below_the_limit_is_whole_and_one_at_it_is_cut() {
        let text = "x".repeat(REASON_LIMIT - 1);
        assert_eq!(reason(&text, None), text);
        let cut = reason(&"x".repeat(REASON_LIMIT), None);
        assert!(
            length(&cut) < REASON_LIMIT
                && cut.ends_with("xx\n(This text was cut: it has 9000 characters.)")
        );
    }

    #[test]
    fn it_is_cut_at_a_line_end_and_says_where_the_rest_is() {
        let text = "a line of findings\n".repeat(1000);
        let cut = reason(&text, Some(".claude/claudex/\nit's \u{202e}here.md"));
        let (lines, last) = cut.rsplit_once('\n').unwrap();
        assert!(lines.lines().all(|line| line == "a line of findings"));
        assert_eq!(
            last,
            "(This text was cut: it has 19000 characters. The rest is in .claude/claudex/ it's here.md)"
        );
        assert!(
            length(&cut) > REASON_LIMIT - 200,
            "no more than a line's worth is given away"
        );
    }

    #[test]
    fn an_open_fence_is_closed() {
        for fence in ["```", "~~~~", "  `````"] {
            let cut = reason(
                &format!("title\n{fence}diff\n{}", "+ ``\n".repeat(5000)),
                None,
            );
            let lines: Vec<_> = cut.lines().collect();
            assert_eq!(lines[lines.len() - 2], fence.trim(), "{fence}");
            assert_eq!(open_at_end(&cut), None);
        }
        let closed = reason(&format!("```\ncode\n```\n{}", "text\n".repeat(5000)), None);
        assert_eq!(closed.matches("```").count(), 2);
    }

    #[test]
    fn astral_characters_count_as_the_client_counts_them() {
        let cut = reason(&"😀".repeat(5000), None);
        assert!(length(&cut) < REASON_LIMIT);
        assert!(cut.starts_with("😀😀"));
    }

    #[test]
    fn one_huge_line_after_a_short_one_is_cut_inside() {
        let cut = reason(&format!("title\n{}", "word ".repeat(4000)), None);
        assert!(length(&cut) > REASON_LIMIT / 2);
        let hostile = reason(&"`".repeat(20_000), None);
        assert_eq!(hostile, "(This text was cut: it has 20000 characters.)");
        let hostile = reason(
            &format!("{}\n{}", "`".repeat(5000), "x".repeat(20_000)),
            None,
        );
        assert_eq!(open_at_end(&hostile), None);
    }

    proptest! {
        #[test]
        fn any_text_gives_one_object_on_one_line(
            text in any::<String>(), repeat in 1usize..400, note in any::<Option<String>>(),
            rest in any::<Option<String>>(), block in any::<bool>(),
        ) {
            let reason = text.repeat(repeat);
            let decision = if block { Decision::Block { reason, note } } else { Decision::Approve { note } };
            let answer = decision.to_json(rest.as_deref());
            prop_assert_eq!(answer.matches('\n').count(), 1);
            prop_assert!(answer.ends_with('\n'));
            let answer: Value = serde_json::from_str(&answer).unwrap();
            prop_assert_eq!(answer["decision"].as_str(), Some(if block { "block" } else { "approve" }));
            prop_assert_eq!(answer["reason"].is_string(), block);
            let reason = answer["reason"].as_str().unwrap_or_default();
            prop_assert!(length(reason) < REASON_LIMIT);
            prop_assert!(!reason.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }

        #[test]
        fn no_mix_of_fences_is_cut_open(
            lines in proptest::collection::vec(
                prop_oneof![
                    6 => "(```|~~~|````rust|   ```|    ```|`{3}a`)",
                    1 => (0..=400usize).prop_map(|length| "x".repeat(length)),
                    1 => Just(String::new()),
                ],
                60..900,
            ),
        ) {
            let text = lines.join("\n");
            prop_assume!(length(&text) >= REASON_LIMIT);
            let cut = reason(&text, None);
            prop_assert!(length(&cut) < REASON_LIMIT);
            prop_assert_eq!(open_at_end(&cut), None);
        }
    }
}
