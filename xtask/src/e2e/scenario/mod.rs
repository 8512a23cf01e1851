//! The scenario language: the types that one file of `tests/e2e/scenarios` is read into.
//! `tests/e2e/README.md` explains each key to authors.

mod load;
mod pattern;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::agent::Rule;
pub(super) use load::{agent, all};
pub(super) use pattern::Pattern;
pub(super) use steps::{Check, FileCheck, Person, Say, See, Step, Type};

/// One scripted session, or several in one project.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Scenario {
    /// The file's name without its extension; not a key of the file.
    #[serde(skip)]
    pub(super) name: String,
    /// The promise that the scenario checks, in one sentence.
    pub(super) doc: String,
    /// The pinned Claude Code versions that play the scenario.
    #[serde(default = "newest")]
    pub(super) clients: Vec<Age>,
    /// The agent of `tests/e2e/agents` that plays the model.
    #[serde(default = "obedient")]
    pub(super) agent: String,
    /// Whether the word `archive` names a release archive.
    #[serde(default)]
    pub(super) released: bool,
    #[serde(default)]
    pub(super) project: Project,
    /// The plugins that are installed before the first step, in this order.
    #[serde(default = "claudex")]
    pub(super) plugins: Vec<String>,
    /// A folder of the scenario that the marketplace is copied to. The repository itself is the
    /// marketplace if this is missing.
    pub(super) marketplace: Option<String>,
    /// The text of the user's `config.toml` of claudex-loop.
    pub(super) config: Option<String>,
    /// The text of Claude Code's user `settings.json`.
    pub(super) settings: Option<String>,
    /// Variables of every process of the scenario.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Rules that come before those of the agent.
    #[serde(default)]
    pub(super) rule: Vec<Rule>,
    /// The rules of the model behind the real Codex. Codex is installed if there are any.
    #[serde(default)]
    pub(super) codex: Vec<Rule>,
    pub(super) step: Vec<Step>,
}

/// One of the two pinned versions of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum, derive_more::Display)]
#[serde(rename_all = "lowercase")]
pub(super) enum Age {
    /// The oldest version that the plugin supports.
    #[display("oldest")]
    Oldest,
    /// The newest version that the suite was written for.
    #[display("newest")]
    Newest,
}

/// The project that the client is started in: a git repository with its files committed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Project {
    /// The name of its folder, if it is not `project`.
    pub(super) folder: Option<String>,
    /// Its files: relative path to text.
    pub(super) files: BTreeMap<String, String>,
}

fn newest() -> Vec<Age> {
    vec![Age::Newest]
}

fn obedient() -> String {
    "obedient".to_owned()
}

fn claudex() -> Vec<String> {
    vec!["claudex".to_owned()]
}
