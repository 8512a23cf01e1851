//! The scenario language: the types that a file of `tests/e2e/scenarios` is read into.
//! `tests/e2e/README.md` explains each key to authors.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use miette::{IntoDiagnostic as _, miette};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::agent::Rule;
use super::pattern::Pattern;

/// One scripted session, or several in one project.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Scenario {
    /// The file's name without its extension; not a key of the file.
    #[serde(skip)]
    pub(super) name: String,
    /// The promise that the scenario checks, in one sentence.
    pub(super) doc: String,
    /// The clients that it is played with. By default the newest alone.
    pub(super) clients: Option<Vec<Age>>,
    /// The agent of `tests/e2e/agents` that plays the model. Default: [`OBEDIENT`].
    pub(super) agent: Option<String>,
    /// Whether the word `archive` names a release archive.
    #[serde(default)]
    pub(super) released: bool,
    #[serde(default)]
    pub(super) project: Project,
    /// The plugins that are installed before the first step, in this order. Default: `claudex`.
    pub(super) plugins: Option<Vec<String>>,
    /// The name of the folder that the marketplace is copied to. Default: `market place`.
    pub(super) marketplace: Option<String>,
    /// The text of `config.toml` of claudex-loop. Default: lint reviews.
    pub(super) config: Option<String>,
    /// The text of Claude Code's user `settings.json`.
    pub(super) settings: Option<String>,
    /// Variables of every process of the scenario.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Rules that come before those of the agent.
    #[serde(default, skip_serializing)]
    pub(super) rule: Vec<Rule>,
    /// The rules of the model behind the real Codex. Codex is installed if there are any.
    #[serde(default, skip_serializing)]
    pub(super) codex: Vec<Rule>,
    #[serde(default, skip_serializing)]
    pub(super) step: Vec<Step>,
}

/// One of the two pinned versions of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Age {
    /// The oldest version that the plugin supports.
    Oldest,
    /// The newest version that the suite was written for.
    Newest,
}

/// The project that the client is started in: a git repository with its files committed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Project {
    /// The name of its folder.
    pub(super) folder: String,
    /// The files: relative path to text.
    pub(super) files: BTreeMap<String, String>,
}

impl Default for Project {
    fn default() -> Self {
        Self {
            folder: "project".to_owned(),
            files: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(super) enum Step {
    Say(Say),
    Wait {
        #[serde(default = "main_session")]
        session: String,
    },
    Kill {
        #[serde(default = "main_session")]
        session: String,
    },
    Person(Person),
    Write {
        path: String,
        text: String,
    },
    Open,
    Type(Type),
    See(See),
    Check(Box<Check>),
}

/// A prompt to Claude Code without a screen (`claude -p`).
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Say {
    pub(super) text: String,
    #[serde(default = "main_session")]
    pub(super) session: String,
    /// Whether a conversation is resumed by `--continue` instead of `--resume ID`.
    #[serde(default)]
    pub(super) r#continue: bool,
    /// The agent that plays this session's model from now on.
    pub(super) agent: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) folder: Option<String>,
    /// Whether the next step begins before the turn ends.
    #[serde(default)]
    pub(super) background: bool,
    #[serde(default)]
    pub(super) exit: i32,
    /// The expected number of tool calls that are refused for want of a permission.
    #[serde(default)]
    pub(super) denials: usize,
}

/// A user's line for `/bin/sh`, which must succeed, and expectations of its output.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Person {
    pub(super) run: String,
    pub(super) has: Vec<Pattern>,
    pub(super) lacks: Vec<Pattern>,
}

/// Text that is typed as it is, and then keys by tmux's names (`Enter`, `Escape`, `Down`).
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Type {
    pub(super) text: String,
    pub(super) keys: Vec<String>,
}

/// Expectations of the screen, all at the same time.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct See {
    pub(super) has: Vec<Pattern>,
    pub(super) lacks: Vec<Pattern>,
    /// The name of a file in `tests/e2e/screens` that the screen must match.
    pub(super) screen: Option<String>,
}

/// Expectations. A key that is missing is not checked.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Check {
    pub(super) program: Option<String>,
    pub(super) loops: Option<usize>,
    pub(super) phase: Option<String>,
    /// All transitions that the newest loop has taken, in order.
    pub(super) transitions: Option<Vec<String>>,
    /// Fields of the state document, byte for byte.
    pub(super) fields: BTreeMap<String, String>,
    /// The session that the following keys are about; all sessions if it is missing.
    pub(super) session: Option<String>,
    pub(super) sent: Vec<Pattern>,
    pub(super) not_sent: Vec<Pattern>,
    /// The number of requests that are turns of the conversation.
    pub(super) requests: Option<usize>,
    pub(super) printed: Vec<Pattern>,
    pub(super) not_printed: Vec<Pattern>,
    /// All decisions of our Stop hooks (`block`, `remind`, `approve`), in order.
    pub(super) stops: Option<Vec<String>>,
    pub(super) files: Vec<FileCheck>,
    /// Seconds until all of it must be true.
    pub(super) within: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FileCheck {
    pub(super) path: String,
    pub(super) absent: bool,
    pub(super) has: Vec<Pattern>,
    pub(super) lacks: Vec<Pattern>,
    /// The whole text.
    pub(super) is: Option<String>,
}

/// The agent that does what it reads.
pub(super) const OBEDIENT: &str = "obedient";
/// The session that steps mean if they name none.
pub(super) const MAIN: &str = "main";

fn main_session() -> String {
    MAIN.to_owned()
}

/// Reads the scenarios in `folder`, or only those that are named, sorted by name.
pub(super) fn all(folder: &Path, only: &[String]) -> miette::Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    for entry in fs_err::read_dir(folder).into_diagnostic()? {
        let path = entry.into_diagnostic()?.path();
        let mut scenario: Scenario = parse(&path)?;
        let name = path.file_stem().unwrap_or_default();
        scenario.name = name.to_string_lossy().into_owned();
        scenarios.push(scenario);
    }
    scenarios.sort_by(|one, other| one.name.cmp(&other.name));
    let is_unknown = |name: &&String| !scenarios.iter().any(|it| it.name == **name);
    if let Some(name) = only.iter().find(is_unknown) {
        return Err(miette!("no scenario is called `{name}`"));
    }
    scenarios.retain(|scenario| only.is_empty() || only.contains(&scenario.name));
    Ok(scenarios)
}

pub(super) fn agent(folder: &Path, name: &str) -> miette::Result<Vec<Rule>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Agent {
        #[expect(dead_code, reason = "required, for the reader of the file")]
        doc: String,
        rule: Vec<Rule>,
    }
    parse::<Agent>(&folder.join(format!("{name}.toml"))).map(|agent| agent.rule)
}

pub(super) fn parse<T: DeserializeOwned>(path: &Path) -> miette::Result<T> {
    let text = fs_err::read_to_string(path).into_diagnostic()?;
    let help = "tests/e2e/README.md lists every key";
    toml::from_str(&text).map_err(|error| miette!("{}: {error} ({help})", path.display()))
}
