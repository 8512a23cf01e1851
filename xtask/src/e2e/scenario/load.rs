//! Reads scenarios and agents from their files.

use std::path::Path;

use miette::{IntoDiagnostic as _, miette};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Scenario;
use crate::e2e::agent::Rule;

/// A file of `tests/e2e/agents`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    #[expect(dead_code, reason = "required, for the reader of the file")]
    doc: String,
    rule: Vec<Rule>,
}

/// Reads the scenarios in `folder`, or only those that are named, sorted by name.
pub(in crate::e2e) fn all(folder: &Path, only: &[String]) -> miette::Result<Vec<Scenario>> {
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

/// Reads the rules of an agent.
pub(in crate::e2e) fn agent(folder: &Path, name: &str) -> miette::Result<Vec<Rule>> {
    parse::<Agent>(&folder.join(format!("{name}.toml"))).map(|agent| agent.rule)
}

fn parse<T: DeserializeOwned>(path: &Path) -> miette::Result<T> {
    let text = fs_err::read_to_string(path).into_diagnostic()?;
    toml::from_str(&text).map_err(|error| {
        miette!(
            help = "tests/e2e/README.md lists every key",
            "{}: {error}",
            path.display()
        )
    })
}
