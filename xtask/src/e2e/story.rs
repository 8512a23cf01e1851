//! One exchange of a conversation as text for a person in a terminal: nothing in it can steer the terminal, and what is long or
//! comes again and again is shortened.

use std::borrow::Cow;

use regex::{Captures, Regex};

use super::agent::{Fault, Reply};
use super::conversation::Exchange;

/// A text of more characters is cut in its middle to about as many.
const LONG: usize = 1500;

/// What is left of a reminder that the client puts in on its own, in characters.
const REMINDER: usize = 100;

/// When, who, what came, and what was answered; `number` counts from 1.
pub(super) fn exchange(number: usize, exchange: &Exchange) -> String {
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
    put(&mut story, "heard", &reminders_shortened(&heard.newest));
    if let Some(failure) = failure {
        put(&mut story, "FAILURE", failure);
        return story;
    }
    put(&mut story, "rule", &reply.about);
    answer(&mut story, reply);
    story
}

fn answer(story: &mut String, reply: &Reply) {
    if reply.wait_ms > 0 {
        put(story, "waits", &format!("{} ms", reply.wait_ms));
    }
    if let Some(tokens) = reply.tokens {
        put(story, "tokens", &format!("{tokens} in the request, it says"));
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
        put(story, &format!("calls {}", visible(tool)), &called(input));
    }
}

/// A call's input: the texts in it as they are, lines as lines.
fn called(input: &serde_json::Value) -> String {
    let Some(entries) = input.as_object() else {
        return input.to_string();
    };
    let entries = entries.iter().map(|(key, value)| match value.as_str() {
        Some(text) if text.contains('\n') => {
            format!("{key}:\n{}", cut(text.trim_end()).replace("\n", "\n    "))
        }
        Some(text) => format!("{key}: {}", cut(text)),
        None => format!("{key}: {value}"),
    });
    entries.collect::<Vec<_>>().join("\n")
}

/// Some lines, the first with its label.
fn put(story: &mut String, label: &str, text: &str) {
    let text = visible(&cut(text)).into_owned();
    let mut label = label;
    for line in text.trim_end().split('\n') {
        let line = format!("{label:>10} | {line}");
        story.push_str(line.trim_end());
        story.push('\n');
        label = "";
    }
}

/// The text, without its middle where it is long.
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

/// The text with the client's own reminders shortened to their beginning; those that speak of this plugin stay whole.
fn reminders_shortened(text: &str) -> Cow<'_, str> {
    let reminder = Regex::new(r"(?s)<system-reminder>\s*(.*?)\s*</system-reminder>")
        .expect("it is a regular expression");
    reminder.replace_all(text, |found: &Captures<'_>| {
        let length = found[1].chars().count();
        if length <= REMINDER || found[1].to_lowercase().contains("claudex") {
            return found[0].to_owned();
        }
        let head: String = found[1].chars().take(REMINDER).collect();
        let head = head.replace('\n', " ");
        format!(
            "<system-reminder>{head} [… {} characters left out …]</system-reminder>",
            length - REMINDER
        )
    })
}

/// The text with every character that a terminal would act on, or not show at all, as its escape; line ends and tabs stay.
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
