//! The record of one scenario: the requests to the model and its answers. Checks read it, and it is
//! printed if the scenario fails.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::agent::{Heard, Rule};

/// One request and its answer.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) heard: Heard,
    /// Whether the request is a turn of the conversation, not one for a title or a summary.
    pub(super) turn: bool,
    /// The answer, or the reason why the script has none.
    pub(super) reply: Result<Rule, String>,
}

/// All exchanges, in order.
#[derive(Debug, Default)]
pub(super) struct Conversation(Mutex<Vec<Exchange>>);

impl Conversation {
    pub(super) fn add(&self, exchange: Exchange) {
        self.lock().push(exchange);
    }

    /// Returns the exchanges so far, of one session or of all.
    pub(super) fn exchanges(&self, session: Option<&str>) -> Vec<Exchange> {
        let mut exchanges = self.lock().clone();
        exchanges.retain(|it| session.is_none_or(|session| it.heard.session == session));
        exchanges
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.lock().iter().find_map(|it| it.reply.clone().err())
    }

    pub(super) fn render(&self) -> String {
        let mut story = String::new();
        for (index, Exchange { heard, reply, .. }) in self.lock().iter().enumerate() {
            story.push_str(&format!("#{} {}\n", index + 1, heard.session));
            put(&mut story, "heard", &heard.newest);
            let reply = match reply {
                Ok(reply) => reply,
                Err(failure) => {
                    put(&mut story, "FAILURE", failure);
                    continue;
                }
            };
            put(&mut story, "rule", &reply.about);
            if let Some(status) = reply.status {
                put(&mut story, &status.to_string(), &reply.body);
            } else if reply.hang {
                put(&mut story, "fault", "never answers");
            }
            if let Some(say) = &reply.say {
                put(&mut story, "says", say);
            }
            for call in &reply.calls {
                let input = format!("{:#}", call.input).replace("\\n", "\n");
                put(&mut story, &call.tool, &input);
            }
        }
        story
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a text with a label before its first line, and a sign in place of every control character.
fn put(story: &mut String, mut label: &str, text: &str) {
    let is_control = |it: char| it.is_control() && it != '\n';
    for line in text.trim_end().replace(is_control, "�").lines() {
        story.push_str(&format!("{label:>10} | {line}\n"));
        label = "";
    }
}
