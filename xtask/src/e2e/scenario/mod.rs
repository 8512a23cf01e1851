//! The language of the scenarios: what one file of `tests/e2e/scenarios` may say. It is read here into types and nothing is
//! played; what each key means to an author stands in `tests/e2e/README.md`.

mod load;
mod pattern;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::agent::Rule;
pub(super) use load::{agent, all};
pub(super) use pattern::Pattern;
pub(super) use steps::{Check, FileCheck, Open, Person, Say, See, Step, Type, Write};

/// One scripted session, or several in one project: who says what, and what must be true afterwards.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Scenario {
    /// The file's name without its ending; not a key of the file.
    #[serde(skip)]
    pub(super) name: String,
    /// The promise that the scenario holds, in a sentence.
    pub(super) doc: String,
    /// Which of the pinned Claude Code versions play it.
    #[serde(default = "both")]
    pub(super) clients: Vec<Age>,
    /// The agent of `tests/e2e/agents` that the model plays, where a step names no other.
    #[serde(default = "obedient")]
    pub(super) agent: String,
    /// Seconds that the whole scenario may take.
    #[serde(default = "two_minutes")]
    pub(super) limit: u64,
    /// Whether it has the release's archive, as the word `archive`.
    #[serde(default)]
    pub(super) released: bool,
    #[serde(default)]
    pub(super) project: Project,
    #[serde(default)]
    pub(super) plugin: Plugin,
    /// The user's own configuration of claudex-loop: the text of its `config.toml`.
    pub(super) config: Option<String>,
    /// Claude Code's user settings: the text of `settings.json`, beside what the plugin's installation writes there.
    pub(super) settings: Option<String>,
    /// Variables of every process of the scenario, beside the fixed ones.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Rules that come before those of the agent.
    #[serde(default)]
    pub(super) rule: Vec<Rule>,
    /// The real Codex as a reviewer, and what its model says.
    pub(super) codex: Option<Codex>,
    /// Variants of the scenario, each played by itself; none is the scenario as it stands.
    #[serde(default)]
    pub(super) case: Vec<Case>,
    pub(super) step: Vec<Step>,
}

/// One variant of a scenario: what is other in it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Case {
    /// Its name, after the scenario's.
    name: String,
    /// Words for the templates.
    #[serde(default)]
    pub(super) words: BTreeMap<String, String>,
    /// Rules that come before the scenario's.
    #[serde(default)]
    rule: Vec<Rule>,
    /// Rules that come before those of Codex's model.
    #[serde(default)]
    codex: Vec<Rule>,
}

/// One of the two pinned versions of Claude Code.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Deserialize,
    clap::ValueEnum,
    derive_more::Display,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum Age {
    /// The oldest version that the plugin supports.
    #[display("oldest")]
    Oldest,
    /// The newest version that the suite was written against.
    #[display("newest")]
    Newest,
}

/// The project that the client is started in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Project {
    /// Its folder's name, below a folder of the scenario's own.
    #[serde(default = "project")]
    pub(super) folder: String,
    /// Whether it is a git repository with its files committed.
    #[serde(default = "yes")]
    pub(super) git: bool,
    /// Its files: relative path to text.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
}

impl Default for Project {
    fn default() -> Self {
        Self {
            folder: project(),
            git: true,
            files: BTreeMap::new(),
        }
    }
}

/// Where the plugin is installed from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Plugin {
    /// A folder of the scenario's own that marketplace and plugin are copied to; without it, the repository itself.
    pub(super) folder: Option<String>,
    /// Installed before the first step. Where it is false, the scenario's steps install it.
    #[serde(default = "yes")]
    pub(super) install: bool,
    /// Which of the marketplace's plugins, in the order in which they are installed.
    #[serde(default = "claudex")]
    pub(super) names: Vec<String>,
}

impl Default for Plugin {
    fn default() -> Self {
        Self {
            folder: None,
            install: true,
            names: claudex(),
        }
    }
}

/// The model behind the real Codex.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Codex {
    /// What it answers; the first rule that fits.
    #[serde(default)]
    pub(super) rule: Vec<Rule>,
    /// Lines for Codex's own `config.toml`, after those that name the stand-in provider.
    #[serde(default)]
    pub(super) config: String,
}

impl Scenario {
    /// Returns the scenario once for each of its cases; the rules of a case are then the first, and `case` has it alone.
    fn cases(self) -> Vec<Self> {
        if self.case.is_empty() {
            return vec![self];
        }
        let variant = |case: &Case| {
            let mut it = self.clone();
            it.name = format!("{}.{}", self.name, case.name);
            it.rule.splice(0..0, case.rule.iter().cloned());
            if let Some(codex) = &mut it.codex {
                codex.rule.splice(0..0, case.codex.iter().cloned());
            }
            it.case = vec![case.clone()];
            it
        };
        self.case.iter().map(variant).collect()
    }

    /// Returns the words of its case.
    pub(super) fn words(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let cases = self.case.iter().flat_map(|case| &case.words);
        cases.map(|(name, word)| (name.clone(), word.clone()))
    }

    /// Returns how long the whole scenario may take.
    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs(self.limit)
    }
}

fn both() -> Vec<Age> {
    vec![Age::Oldest, Age::Newest]
}

fn obedient() -> String {
    "obedient".to_owned()
}

fn two_minutes() -> u64 {
    120
}

fn project() -> String {
    "project".to_owned()
}

fn claudex() -> Vec<String> {
    vec!["claudex".to_owned()]
}

fn yes() -> bool {
    true
}
