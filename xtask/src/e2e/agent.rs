//! The scripted model: rules of what it says and does, given what it has heard. It knows neither of the two protocols nor
//! how a request reaches it; `server` translates.

use std::collections::{BTreeMap, HashMap};

use miette::{Context as _, IntoDiagnostic as _, miette};
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
    /// The texts that `newest` is made of, and where each is from; for people.
    pub(super) parts: Vec<(Source, String)>,
}

/// Where a text that a model was sent is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The user's side: prompts, hooks' feedback, and what the client puts between.
    User,
    /// A tool's result.
    Tool,
    /// The client, as its own instructions.
    Client,
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
    Event(Value),
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
    /// Makes a model with these rules, and these words for its templates.
    pub(super) fn new(rules: Vec<Rule>, words: Words) -> Self {
        Self {
            rules,
            used: HashMap::new(),
            words,
        }
    }

    /// Returns the answer of the first rule that fits; without one, a sentence that ends the turn.
    ///
    /// # Errors
    /// The rule cannot be used: a template that cannot be rendered, an event that is no JSON, a status that is none.
    pub(super) fn answer(&mut self, heard: &Heard) -> miette::Result<Reply> {
        let reply = self.first(heard, |_| true)?;
        Ok(reply.unwrap_or_else(|| Reply {
            about: "(no rule fits)".to_owned(),
            say: Some("Nothing is left for me to do.".to_owned()),
            ..Reply::default()
        }))
    }

    /// Returns the answer to what is no turn of the conversation: of the first rule that fits and names, by its `newest`, what
    /// it answers. A rule that would answer anything does not answer this.
    ///
    /// # Errors
    /// As for `answer`.
    pub(super) fn answer_apart(&mut self, heard: &Heard) -> miette::Result<Option<Reply>> {
        self.first(heard, |rule| rule.newest.is_some())
    }

    fn first(
        &mut self,
        heard: &Heard,
        eligible: impl Fn(&Rule) -> bool,
    ) -> miette::Result<Option<Reply>> {
        for (index, rule) in self.rules.iter().enumerate() {
            let used = self.used.get(&index).copied().unwrap_or(0);
            if !eligible(rule) || rule.times.is_some_and(|times| used >= times) {
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
                .map(Some)
                .with_context(|| format!("the rule \"{}\"", rule.about));
        }
        Ok(None)
    }
}

impl Rule {
    /// Returns the named groups of its expressions, where all of them fit.
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
            if !(200..=599).contains(&status) {
                return Err(miette!("{status} is no status that a service answers with"));
            }
            Some(Fault::Status(status, words.render(&self.body)?))
        } else if self.hang {
            Some(Fault::Hang)
        } else if self.cut {
            Some(Fault::Cut)
        } else if let Some(event) = &self.event {
            Some(Fault::Event(
                json(&words.render(event)?).wrap_err("its event")?,
            ))
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

/// Returns the value with every text in it rendered.
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
    Regex::new(&source)
        .map(Some)
        .map_err(serde::de::Error::custom)
}

/// Reads a JSON text that a rule brings.
///
/// # Errors
/// It is none.
pub(super) fn json(text: &str) -> miette::Result<Value> {
    serde_json::from_str(text).into_diagnostic()
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
        let mut words = Words::new(std::path::PathBuf::new());
        words.set("project", "/p q");
        Agent::new(file.rule, words)
    }

    fn newest(text: &str) -> Heard {
        Heard {
            newest: text.to_owned(),
            whole: text.to_owned(),
            ..Heard::default()
        }
    }

    fn says(agent: &mut Agent, heard: &Heard) -> String {
        agent.answer(heard).unwrap().say.unwrap()
    }

    #[test]
    fn the_first_rule_that_fits_answers() {
        let mut agent = agent(
            "[[rule]]\nabout = 'a'\nnewest = 'plan'\nsay = 'one'\n[[rule]]\nabout = 'b'\nnewest = 'pla'\nsay = 'two'",
        );
        let reply = agent.answer(&newest("a plan")).unwrap();
        assert_eq!(
            (reply.about.as_str(), reply.say.as_deref()),
            ("a", Some("one"))
        );
        assert_eq!(says(&mut agent, &newest("a place")), "two");
    }

    #[test]
    fn where_no_rule_fits_the_turn_ends() {
        let reply = agent("[[rule]]\nabout = 'a'\nnewest = 'plan'")
            .answer(&newest("else"))
            .unwrap();
        assert_eq!(reply.about, "(no rule fits)");
        assert!(reply.say.is_some() && reply.calls.is_empty() && reply.fault.is_none());
    }

    #[test]
    fn what_must_never_have_been_said_is_looked_for_in_all() {
        let mut agent =
            agent("[[rule]]\nabout = 'a'\nnewest = 'more'\nnever = 'landed'\nsay = 'one'");
        let mut heard = newest("more");
        assert_eq!(agent.answer(&heard).unwrap().about, "a");
        heard.whole = "it landed\nmore".to_owned();
        assert_eq!(agent.answer(&heard).unwrap().about, "(no rule fits)");
    }

    #[test]
    fn all_of_a_rules_conditions_must_hold() {
        let rules = "[[rule]]\nabout = 'a'\nnewest = 'ok'\never = 'plan'\ncalled = '^Bash .*ls'\noffered = 'Write'\nsay = 'one'";
        let fitting = Heard {
            newest: "ok".to_owned(),
            whole: "the plan\nok".to_owned(),
            called: "Bash {\"command\":\"ls\"}".to_owned(),
            offered: vec!["Read".to_owned(), "Write".to_owned()],
            ..Heard::default()
        };
        assert_eq!(says(&mut agent(rules), &fitting), "one");
        for missing in [
            Heard {
                newest: "no".to_owned(),
                ..fitting.clone()
            },
            Heard {
                whole: "ok".to_owned(),
                ..fitting.clone()
            },
            Heard {
                called: "Read {}".to_owned(),
                ..fitting.clone()
            },
            Heard {
                offered: vec!["Read".to_owned()],
                ..fitting
            },
        ] {
            assert_eq!(
                agent(rules).answer(&missing).unwrap().about,
                "(no rule fits)",
                "{missing:?}"
            );
        }
    }

    #[test]
    fn a_rule_is_used_as_often_as_it_says() {
        let mut agent = agent(
            "[[rule]]\nabout = 'a'\ntimes = 2\nsay = 'no {{ fired }}'\n[[rule]]\nabout = 'b'\nsay = 'yes'",
        );
        let said: Vec<_> = (0..4).map(|_| says(&mut agent, &newest("x"))).collect();
        assert_eq!(said, ["no 0", "no 1", "yes", "yes"]);
    }

    #[test]
    fn captures_are_words_the_newest_before_all_others() {
        let mut agent = agent(
            r"
            [[rule]]
            about = 'a'
            newest = 'id (?<id>\S+)'
            ever = 'id (?<id>\S+) of (?<of>\S+)'
            called = 'id (?<id>\S+) by (?<by>\S+)'
            say = '{{ id }} {{ of }} {{ by }} {{ project }}'
            ",
        );
        let heard = Heard {
            newest: "id new".to_owned(),
            whole: "id first of all\nid second of some\nid new".to_owned(),
            called: "id third by it".to_owned(),
            ..Heard::default()
        };
        assert_eq!(says(&mut agent, &heard), "new some it /p q");
    }

    #[test]
    fn every_text_of_a_call_is_a_template() {
        let mut agent = agent(
            "[[rule]]\nabout = 'a'\nnewest = '(?<n>\\d+)'\ncalls = [{ tool = 'T{{ n }}', input = { a = ['{{ n }}', 1], b = { c = 'x{{ n }}' } } }]",
        );
        let reply = agent.answer(&newest("7")).unwrap();
        assert_eq!(
            reply.calls,
            [(
                "T7".to_owned(),
                json!({ "a": ["7", 1], "b": { "c": "x7" } })
            )]
        );
        assert_eq!(reply.say, None);
    }

    #[test]
    fn what_was_heard_is_no_template() {
        let mut agent = agent("[[rule]]\nabout = 'a'\nnewest = '(?<all>.*)'\nsay = '{{ all }}'");
        assert_eq!(
            says(&mut agent, &newest("{{ project }} {% x %}")),
            "{{ project }} {% x %}"
        );
    }

    #[test]
    fn an_unknown_word_is_an_error_that_names_rule_and_word() {
        let error = agent("[[rule]]\nabout = 'asks too much'\nsay = '{{ nobody }}'")
            .answer(&newest("x"))
            .unwrap_err();
        let told = super::super::words::told(&error);
        assert!(
            told.contains("asks too much") && told.contains("nobody"),
            "{told}"
        );
    }

    #[test]
    fn a_fault_is_checked_before_it_is_sent() {
        for (rule, fault) in [
            (
                "status = 429\nbody = '{\"a\":1}'",
                Some(Fault::Status(429, "{\"a\":1}".to_owned())),
            ),
            ("hang = true", Some(Fault::Hang)),
            ("cut = true", Some(Fault::Cut)),
            (
                "event = '{\"type\":\"error\"}'",
                Some(Fault::Event(json!({ "type": "error" }))),
            ),
            ("event = '{'", None),
            ("status = 42", None),
        ] {
            let answer = agent(&format!("[[rule]]\nabout = 'a'\n{rule}")).answer(&newest("x"));
            assert_eq!(answer.ok().and_then(|reply| reply.fault), fault, "{rule}");
        }
    }

    #[test]
    fn a_rule_for_anything_does_not_answer_what_is_no_turn() {
        let mut agent = agent(
            "[[rule]]\nabout = 'a'\nsay = 'one'\n[[rule]]\nabout = 'b'\nnewest = 'summary'\nsay = 'two'",
        );
        assert!(agent.answer_apart(&newest("else")).unwrap().is_none());
        assert_eq!(
            agent
                .answer_apart(&newest("a summary"))
                .unwrap()
                .unwrap()
                .about,
            "b"
        );
    }
}
