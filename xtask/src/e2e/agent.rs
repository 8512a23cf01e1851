//! The scripted model: rules that choose its answer to a request. It knows neither of the two
//! protocols; `server` translates.

use std::collections::BTreeMap;

use miette::Context as _;
use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::words::Words;

/// One rule: conditions, all of which must hold, and the answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rule {
    /// The reason for the answer, for readers.
    pub(super) about: String,
    /// Matches what came since the model's last words. The named groups of all expressions are
    /// words for the answer's templates.
    #[serde(default, skip_serializing, deserialize_with = "regex")]
    newest: Option<Regex>,
    /// Matches somewhere in the whole conversation; the last match counts.
    #[serde(default, skip_serializing, deserialize_with = "regex")]
    ever: Option<Regex>,
    /// Matches nowhere in the conversation.
    #[serde(default, skip_serializing, deserialize_with = "regex")]
    never: Option<Regex>,
    /// Matches one of the tool calls in the model's last words, as `Name {json}`.
    #[serde(default, skip_serializing, deserialize_with = "regex")]
    called: Option<Regex>,
    /// A tool that the client offers.
    offered: Option<String>,
    /// The number of uses in one session.
    times: Option<usize>,

    pub(super) say: Option<String>,
    /// Tool calls, after the text.
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    /// Milliseconds before the answer begins.
    #[serde(default)]
    pub(super) wait_ms: u64,
    /// An HTTP status other than 200, sent with `body`.
    pub(super) status: Option<u16>,
    #[serde(default)]
    pub(super) body: String,
    /// Whether the request is never answered.
    #[serde(default)]
    pub(super) hang: bool,
    /// The number of input tokens that the answer reports.
    pub(super) tokens: Option<u64>,
}

/// A tool call. Every text of its input is a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    #[serde(default = "no_input")]
    pub(super) input: Value,
}

fn no_input() -> Value {
    Value::Object(Map::new())
}

/// The content of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    /// The scenario's name of the session.
    pub(super) session: String,
    /// The texts since the model's last words.
    pub(super) newest: String,
    pub(super) whole: String,
    /// The tool calls in the model's last words, one per line: `Name {json}`.
    pub(super) called: String,
    pub(super) offered: Vec<String>,
}

/// The model of one session.
#[derive(Debug)]
pub(super) struct Agent {
    /// The rules, and how often each was used.
    rules: Vec<(Rule, usize)>,
    words: Words,
}

impl Agent {
    pub(super) fn new(rules: Vec<Rule>, words: Words) -> Self {
        Self {
            rules: rules.into_iter().map(|rule| (rule, 0)).collect(),
            words,
        }
    }

    /// Returns the first rule that fits with its rendered answer, or a sentence that ends the turn.
    pub(super) fn answer(&mut self, heard: &Heard) -> miette::Result<Rule> {
        for (rule, used) in &mut self.rules {
            if rule.times.is_some_and(|times| *used >= times) {
                continue;
            }
            let Some(mut found) = rule.captures(heard) else {
                continue;
            };
            found.insert("fired".to_owned(), used.to_string());
            *used += 1;
            let reply = self.words.with(found).render(rule);
            return reply.with_context(|| format!("the rule \"{}\"", rule.about));
        }
        Ok(Rule::saying(
            "(no rule fits)",
            "Nothing is left for me to do.",
        ))
    }
}

impl Rule {
    /// Returns the named groups of the rule's expressions, or `None` if a condition fails.
    fn captures(&self, heard: &Heard) -> Option<BTreeMap<String, String>> {
        let is_said = |expression: &Regex| expression.is_match(&heard.whole);
        let is_offered = |tool: &String| heard.offered.contains(tool);
        if self.never.as_ref().is_some_and(is_said) || !self.offered.iter().all(is_offered) {
            return None;
        }
        let mut found = BTreeMap::new();
        for (expression, text) in [
            (&self.ever, &heard.whole),
            (&self.called, &heard.called),
            (&self.newest, &heard.newest),
        ] {
            let Some(expression) = expression else {
                continue;
            };
            let last = expression.captures_iter(text).last()?;
            for name in expression.capture_names().flatten() {
                if let Some(group) = last.name(name) {
                    found.insert(name.to_owned(), group.as_str().to_owned());
                }
            }
        }
        Some(found)
    }

    pub(super) fn saying(about: &str, text: &str) -> Self {
        Self {
            about: about.to_owned(),
            say: Some(text.to_owned()),
            ..Self::default()
        }
    }
}

fn regex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    Regex::new(&String::deserialize(deserializer)?)
        .map(Some)
        .map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn agent(rules: &str) -> Agent {
        #[derive(Deserialize)]
        struct File {
            rule: Vec<Rule>,
        }
        let file: File = toml::from_str(rules).unwrap();
        Agent::new(file.rule, Words::default())
    }

    fn heard() -> Heard {
        Heard {
            newest: "id 7 {{ x }}".to_owned(),
            whole: "the plan\nid 7 {{ x }}".to_owned(),
            called: "Bash {\"command\":\"ls\"}".to_owned(),
            offered: vec!["Write".to_owned()],
            ..Heard::default()
        }
    }

    #[test]
    fn rule_answers_only_if_all_conditions_hold() {
        for (condition, fits) in [
            ("newest = 'id'", true),
            ("newest = 'plan'", false),
            ("ever = 'plan'", true),
            ("ever = 'report'", false),
            ("never = 'report'", true),
            ("never = 'plan'", false),
            ("called = '^Bash .*ls'", true),
            ("called = '^Read'", false),
            ("offered = 'Write'", true),
            ("offered = 'Read'", false),
            ("times = 0", false),
        ] {
            let reply = agent(&format!("[[rule]]\nabout = 'a'\n{condition}"))
                .answer(&heard())
                .unwrap();
            assert_eq!(reply.about == "a", fits, "{condition}");
        }
    }

    #[test]
    fn templates_use_captures_and_the_number_of_uses() {
        let rule = "[[rule]]\nabout = 'a'\nnewest = 'id (?<id>.*)'\nsay = '{{ fired }}'\n\
                    calls = [{ tool = 'T', input = { a = ['{{ id }}', 1] } }]";
        let mut agent = agent(rule);
        agent.answer(&heard()).unwrap();
        let reply = agent.answer(&heard()).unwrap();
        assert_eq!(reply.say.as_deref(), Some("1"));
        assert_eq!(reply.calls[0].tool, "T");
        assert_eq!(reply.calls[0].input, json!({ "a": ["7 {{ x }}", 1] }));
    }
}
