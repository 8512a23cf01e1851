//! The scripted model: rules of what it says and does, given what it has heard. It knows neither of the two protocols nor
//! how a request reaches it; `server` translates.

use std::collections::{BTreeMap, HashMap};

use miette::{Context as _, IntoDiagnostic as _};
use regex::{Captures, Regex};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::words::Words;

/// What to answer, and when. All that is named under `newest` to `offered` must hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rule {
    /// Why the agent does so, for the reader and for the conversation that a failure prints.
    pub(super) about: String,
    /// In what came since the model's last words: prompts, tool results, a hook's feedback. Its named groups are words for the
    /// answer's templates.
    #[serde(default, deserialize_with = "regex")]
    newest: Option<Regex>,
    /// In all of the conversation; of several matches the last. Its named groups, too.
    #[serde(default, deserialize_with = "regex")]
    ever: Option<Regex>,
    /// In none of it.
    #[serde(default, deserialize_with = "regex")]
    never: Option<Regex>,
    /// The model's last words were calls of tools, and one of them, as `Name {json}`, has this.
    #[serde(default, deserialize_with = "regex")]
    called: Option<Regex>,
    /// The client offers this tool.
    offered: Option<String>,
    /// How often the rule may be used in one session.
    times: Option<usize>,
    // What the model's service sends then.
    /// Text.
    say: Option<String>,
    /// Calls of tools, after the text.
    #[serde(default)]
    calls: Vec<Call>,
    /// Milliseconds before the answer begins.
    #[serde(default)]
    wait_ms: u64,
    /// An answer that is no 200: its status, with `body`.
    status: Option<u16>,
    /// The body that goes with `status`; JSON.
    #[serde(default)]
    body: String,
    /// The connection stays open and nothing is ever sent.
    #[serde(default)]
    hang: bool,
    /// The stream ends after its first event.
    #[serde(default)]
    cut: bool,
    /// After the stream's first event comes this one, as JSON, and nothing else.
    event: Option<String>,
    /// Tokens that the request is said to have had (a client compacts when they near the model's limit).
    tokens: Option<u64>,
}

/// A call of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Call {
    tool: String,
    /// Its input; every text in it is a template.
    #[serde(default)]
    input: Map<String, Value>,
}

/// What a request said.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    /// Which session it is of, by the scenario's name for it.
    pub(super) session: String,
    /// All that came since the model's last words.
    pub(super) newest: String,
    /// The whole conversation, the model's own words, too.
    pub(super) whole: String,
    /// The calls of the model's last words, one a line: `Name {json}`.
    pub(super) called: String,
    /// The tools that the client offers.
    pub(super) offered: Vec<String>,
}

/// What the service is to send.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    /// The rule that gave it.
    pub(super) about: String,
    pub(super) say: Option<String>,
    /// Tool and input.
    pub(super) calls: Vec<(String, Value)>,
    pub(super) wait_ms: u64,
    pub(super) fault: Option<Fault>,
    pub(super) tokens: Option<u64>,
}

/// A service that does not answer as it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Another status than 200, with a JSON body.
    Status(u16, String),
    /// Accepted, and never answered.
    Hang,
    /// The stream ends after its first event.
    Cut,
    /// The stream's last event, after its first one.
    Event(String),
}

/// One session's model.
#[derive(Debug)]
pub(super) struct Agent {
    rules: Vec<Rule>,
    /// How often each rule was used.
    used: HashMap<usize, usize>,
    words: Words,
}

impl Agent {
    /// A model with these rules, and these words for its templates.
    pub(super) fn new(rules: Vec<Rule>, words: Words) -> Self {
        Self {
            rules,
            used: HashMap::new(),
            words,
        }
    }

    /// The answer of the first rule that fits; without one, a sentence that ends the turn.
    ///
    /// # Errors
    /// A template of the rule cannot be rendered.
    pub(super) fn answer(&mut self, heard: &Heard) -> miette::Result<Reply> {
        for (index, rule) in self.rules.iter().enumerate() {
            let used = self.used.get(&index).copied().unwrap_or(0);
            if rule.times.is_some_and(|times| used >= times) {
                continue;
            }
            let Some(mut found) = rule.fits(heard) else {
                continue;
            };
            found.insert("fired".to_owned(), used.to_string());
            let words = self.words.with(found);
            self.used.insert(index, used + 1);
            return rule
                .reply(&words)
                .with_context(|| format!("the rule \"{}\"", rule.about));
        }
        Ok(Reply {
            about: "(no rule fits)".to_owned(),
            say: Some("Nothing is left for me to do.".to_owned()),
            ..Reply::default()
        })
    }
}

impl Rule {
    /// The named groups of its expressions, where all of them fit.
    fn fits(&self, heard: &Heard) -> Option<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        if self
            .never
            .as_ref()
            .is_some_and(|never| never.is_match(&heard.whole))
        {
            return None;
        }
        if let Some(tool) = &self.offered
            && !heard.offered.contains(tool)
        {
            return None;
        }
        for (expression, text) in [
            (&self.ever, &heard.whole),
            (&self.called, &heard.called),
            (&self.newest, &heard.newest),
        ] {
            if let Some(expression) = expression {
                let last = expression.captures_iter(text).last()?;
                found.extend(named(expression, &last));
            }
        }
        Some(found)
    }
}

fn named<'a>(
    expression: &'a Regex,
    captures: &'a Captures<'_>,
) -> impl Iterator<Item = (String, String)> + 'a {
    expression
        .capture_names()
        .flatten()
        .filter_map(|name| Some((name.to_owned(), captures.name(name)?.as_str().to_owned())))
}

impl Rule {
    fn reply(&self, words: &Words) -> miette::Result<Reply> {
        let calls = self.calls.iter().map(|call| {
            let input = rendered(&Value::Object(call.input.clone()), words)?;
            Ok((words.render(&call.tool)?, input))
        });
        let fault = if let Some(status) = self.status {
            Some(Fault::Status(status, words.render(&self.body)?))
        } else if self.hang {
            Some(Fault::Hang)
        } else if self.cut {
            Some(Fault::Cut)
        } else if let Some(event) = &self.event {
            Some(Fault::Event(words.render(event)?))
        } else {
            None
        };
        Ok(Reply {
            about: self.about.clone(),
            say: self.say.as_ref().map(|say| words.render(say)).transpose()?,
            calls: calls.collect::<miette::Result<_>>()?,
            wait_ms: self.wait_ms,
            fault,
            tokens: self.tokens,
        })
    }
}

/// The value with every text in it rendered.
fn rendered(value: &Value, words: &Words) -> miette::Result<Value> {
    Ok(match value {
        Value::String(text) => Value::String(words.render(text)?),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|it| rendered(it, words))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), rendered(value, words)?)))
                .collect::<miette::Result<_>>()?,
        ),
        other => other.clone(),
    })
}

fn regex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    let source = String::deserialize(deserializer)?;
    Regex::new(&source).map(Some).map_err(serde::de::Error::custom)
}

/// Reads a JSON text that a rule brings.
///
/// # Errors
/// It is none.
pub(super) fn json(text: &str) -> miette::Result<Value> {
    serde_json::from_str(text).into_diagnostic()
}
