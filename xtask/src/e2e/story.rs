//! One exchange of a conversation as text for a person in a terminal: nothing in it can steer the terminal, and what is long or
//! comes again and again is shortened.

use std::borrow::Cow;
use std::collections::HashMap;

use regex::{Captures, Regex};

use super::agent::{Fault, Heard, Reply, Source};
use super::conversation::{Conversation, Exchange};

/// A text of more characters is cut in its middle to about as many.
const LONG: usize = 1500;

/// What is left of a reminder that the client puts in on its own, in characters.
const REMINDER: usize = 100;

/// Tells the story so far, for a person who reads it in a terminal.
pub(super) fn of(conversation: &Conversation) -> String {
    let exchanges = conversation.of(None);
    let mut newest = HashMap::new();
    let mut told = Vec::new();
    for (index, exchange) in exchanges.iter().enumerate() {
        let heard = &exchange.heard;
        // A client that is not answered as it should asks again, with the same words.
        let before = newest.insert(heard.session.as_str(), heard.newest.as_str());
        let repeated = !heard.newest.is_empty() && before == Some(heard.newest.as_str());
        told.push(self::exchange(index + 1, exchange, repeated));
    }
    told.join("\n")
}

/// When, who, what came, and what was answered; `number` counts from 1, `repeated` says that the session sent the same before.
fn exchange(number: usize, exchange: &Exchange, repeated: bool) -> String {
    let Exchange {
        at,
        heard,
        turn,
        reply,
        failure,
    } = exchange;
    let beside = if *turn {
        ""
    } else {
        ", no turn of the conversation"
    };
    let mut story = format!(
        "#{number} at {:.1} s, {}{beside}\n",
        at.as_secs_f64(),
        visible(&heard.session)
    );
    heard_parts(&mut story, heard, repeated);
    if let Some(failure) = failure {
        put(&mut story, "FAILURE", failure);
        return story;
    }
    put(&mut story, "rule", &reply.about);
    answer(&mut story, reply);
    story
}

fn heard_parts(story: &mut String, heard: &Heard, repeated: bool) {
    if repeated {
        return put(story, "heard", "(the same again)");
    }
    for (source, text) in &heard.parts {
        match source {
            Source::User => put(story, "heard", &reminders_shortened(text)),
            Source::Tool => put(story, "result", text),
            Source::Client => put(story, "client", &shortened(text)),
        }
    }
}

fn answer(story: &mut String, reply: &Reply) {
    if reply.wait_ms > 0 {
        put(story, "waits", &format!("{} ms", reply.wait_ms));
    }
    if let Some(tokens) = reply.tokens {
        put(
            story,
            "tokens",
            &format!("{tokens} in the request, it says"),
        );
    }
    match &reply.fault {
        Some(Fault::Status(status, body)) => return put(story, &format!("status {status}"), body),
        Some(Fault::Hang) => return put(story, "fault", "never answers"),
        Some(Fault::Cut) => return put(story, "fault", "the stream is cut after its first event"),
        Some(Fault::Event(event)) => return put(story, "last event", &event.to_string()),
        None => {}
    }
    if let Some(say) = &reply.say {
        put(story, "says", say);
    }
    for (tool, input) in &reply.calls {
        put_all(story, &format!("calls {}", visible(tool)), &called(input));
    }
}

/// Returns a call's input: the texts in it as they are, lines as lines.
fn called(input: &serde_json::Value) -> String {
    let Some(entries) = input.as_object() else {
        return cut(&input.to_string()).into_owned();
    };
    let entries = entries.iter().map(|(key, value)| match value.as_str() {
        Some(text) if text.contains('\n') => {
            format!(
                "{key}:\n    {}",
                cut(text.trim_end()).replace('\n', "\n    ")
            )
        }
        Some(text) => format!("{key}: {}", cut(text)),
        None => format!("{key}: {}", cut(&value.to_string())),
    });
    entries.collect::<Vec<_>>().join("\n")
}

/// Some lines, the first with its label; not all of them where the text is long.
fn put(story: &mut String, label: &str, text: &str) {
    put_all(story, label, &cut(text));
}

fn put_all(story: &mut String, mut label: &str, text: &str) {
    let text = visible(text);
    for line in text.trim_end().split('\n') {
        let line = format!("{label:>10} | {line}");
        story.push_str(line.trim_end());
        story.push('\n');
        label = "";
    }
}

/// Returns the text, without its middle where it is long.
fn cut(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    // A cut that would save next to nothing is none.
    if length <= LONG + LONG / 10 {
        return Cow::Borrowed(text);
    }
    let place = |count: usize| {
        text.char_indices()
            .nth(count)
            .map_or(text.len(), |(place, _)| place)
    };
    let (head, tail) = (&text[..place(LONG / 2)], &text[place(length - LONG / 2)..]);
    Cow::Owned(format!(
        "{head}\n[… {} characters left out …]\n{tail}",
        length - LONG / 2 * 2
    ))
}

/// Returns the text with the client's own reminders shortened to their beginning.
fn reminders_shortened(text: &str) -> Cow<'_, str> {
    let reminder = Regex::new(r"(?s)<system-reminder>\s*(.*?)\s*</system-reminder>")
        .expect("it is a regular expression");
    reminder.replace_all(text, |found: &Captures<'_>| {
        format!(
            "<system-reminder>{}</system-reminder>",
            shortened(&found[1])
        )
    })
}

/// Returns the beginning of what the client says on its own, in one line. What speaks of this plugin stays whole, but for a
/// hook's feedback, which the user's side has, too.
fn shortened(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    let ours =
        text.to_lowercase().contains("claudex") && !text.starts_with("Stop hook blocking error");
    if ours || length <= REMINDER {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(REMINDER).collect();
    Cow::Owned(format!(
        "{} [… {} characters left out …]",
        head.replace('\n', " "),
        length - REMINDER
    ))
}

/// Returns the text with every character that a terminal would act on, or not show at all, as its escape; line ends and tabs
/// stay.
fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::new(), |mut shown, c| {
        if hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
        shown
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn said(parts: Vec<(Source, String)>, reply: Reply) -> String {
        let heard = Heard {
            session: "main".to_owned(),
            parts,
            ..Heard::default()
        };
        exchange(
            3,
            &Exchange {
                at: Duration::from_millis(12_440),
                heard,
                turn: true,
                reply,
                failure: None,
            },
            false,
        )
    }

    fn user(text: &str) -> String {
        said(vec![(Source::User, text.to_owned())], Reply::default())
    }

    #[test]
    fn an_exchange_is_told_line_by_line() {
        let reply = Reply {
            about: "a round is open".to_owned(),
            say: Some("I run\nit.".to_owned()),
            calls: vec![
                (
                    "Bash".to_owned(),
                    json!({ "command": "ls", "timeout": 600 }),
                ),
                ("Write".to_owned(), json!({ "content": "a\nb\n" })),
            ],
            ..Reply::default()
        };
        let told = said(
            vec![
                (Source::User, "go\n\non".to_owned()),
                (Source::Tool, "ok".to_owned()),
            ],
            reply,
        );
        let expected = "\
#3 at 12.4 s, main
     heard | go
           |
           | on
    result | ok
      rule | a round is open
      says | I run
           | it.
calls Bash | command: ls
           | timeout: 600
calls Write | content:
           |     a
           |     b
";
        assert_eq!(told, expected);
    }

    #[test]
    fn nothing_in_it_steers_the_terminal() {
        let told = user("\u{1b}]0;x\u{7}\r\u{9b}2J a\u{202e}b\tc");
        assert!(!told.contains(['\u{1b}', '\u{7}', '\r', '\u{9b}', '\u{202e}']));
        assert!(
            told.contains("\\u{1b}]0;x\\u{7}\\r\\u{9b}2J a\\u{202e}b\tc"),
            "{told}"
        );
    }

    #[test]
    fn a_long_text_loses_its_middle_and_says_how_much() {
        let told = user(&format!(
            "{}{}{}",
            "ä".repeat(750),
            "x".repeat(400),
            "ü".repeat(750)
        ));
        assert!(told.contains("[… 400 characters left out …]"), "{told}");
        assert!(
            told.contains(&"ä".repeat(750))
                && told.contains(&"ü".repeat(750))
                && !told.contains('x')
        );
        let told = user(&"y".repeat(1600));
        assert!(
            told.contains(&"y".repeat(1600)),
            "next to nothing is not cut"
        );
    }

    #[test]
    fn the_clients_own_words_are_shortened_and_ours_are_not() {
        let reminder =
            |text: &str| format!("before <system-reminder>\n{text}\n</system-reminder> after");
        let told = user(&reminder(&"z".repeat(300)));
        assert!(
            told.contains(&"z".repeat(100)) && !told.contains(&"z".repeat(101)),
            "{told}"
        );
        assert!(told.contains("[… 200 characters left out …]") && told.contains(" after"));
        let ours = format!("Claudex waits {}", "z".repeat(300));
        assert!(user(&reminder(&ours)).contains(&ours));
        let told = said(vec![(Source::Client, "w".repeat(300))], Reply::default());
        assert!(!told.contains(&"w".repeat(101)), "{told}");
        let again = format!(
            "Stop hook blocking error from command: \"x\": claudex {}",
            "v".repeat(300)
        );
        let told = said(vec![(Source::Client, again)], Reply::default());
        assert!(!told.contains(&"v".repeat(101)), "{told}");
    }

    #[test]
    fn a_fault_stands_in_place_of_the_words() {
        for (fault, told) in [
            (Fault::Status(429, "{}".to_owned()), "status 429 | {}"),
            (Fault::Hang, "never answers"),
            (Fault::Cut, "cut after its first event"),
            (
                Fault::Event(json!({ "type": "error" })),
                "{\"type\":\"error\"}",
            ),
        ] {
            let reply = Reply {
                say: Some("unsaid".to_owned()),
                fault: Some(fault),
                wait_ms: 30,
                tokens: Some(9),
                ..Reply::default()
            };
            let story = said(Vec::new(), reply);
            assert!(story.contains(told) && !story.contains("unsaid"), "{story}");
            assert!(
                story.contains("waits | 30 ms") && story.contains("tokens | 9 "),
                "{story}"
            );
        }
    }
}
