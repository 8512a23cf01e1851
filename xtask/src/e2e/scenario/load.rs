//! Reads scenarios and agents from their files. A file that is none is an error with the place in it, before anything is
//! played.

use std::path::{Path, PathBuf};

use derive_more::{Display, Error};
use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Scenario;
use crate::e2e::agent::Rule;

/// A file of the suite that cannot be used.
#[derive(Debug, Display, Error, Diagnostic)]
pub(in crate::e2e) enum LoadError {
    /// It cannot be read.
    #[display("cannot read {}", path.display())]
    #[diagnostic(help("the scenarios lie in tests/e2e/scenarios, the agents in tests/e2e/agents"))]
    Read {
        /// The file.
        path: PathBuf,
        source: std::io::Error,
    },
    /// It is no TOML, or has a key or a value that the language does not know.
    #[display("{what}")]
    #[diagnostic(help("tests/e2e/README.md has every key"))]
    Parse {
        what: String,
        #[source_code]
        text: NamedSource<String>,
        #[label("here")]
        place: Option<SourceSpan>,
    },
    /// Nothing is called so.
    #[display("no scenario is called `{name}`")]
    #[diagnostic(help("there are: {there}"))]
    Unknown { name: String, there: String },
}

/// An agent: the rules by which a scripted model answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Agent {
    /// What it is like, in a sentence.
    #[expect(
        dead_code,
        reason = "for the reader of the file; required, so that each agent says it"
    )]
    doc: String,
    rule: Vec<Rule>,
}

/// Returns every scenario in `folder`, or those that are named (`file` or `file.case`), in the order of their names.
///
/// # Errors
/// The first file that cannot be used, or a name without a file.
pub(in crate::e2e) fn all(folder: &Path, only: &[String]) -> Result<Vec<Scenario>, LoadError> {
    let read = |source| LoadError::Read {
        path: folder.to_owned(),
        source,
    };
    let mut scenarios = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let mut scenario: Scenario = parse(&path)?;
        scenario.name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        scenarios.extend(scenario.cases());
    }
    scenarios.sort_by(|one, other| one.name.cmp(&other.name));
    let named =
        |it: &Scenario, name: &String| it.name == *name || it.name.split('.').next() == Some(name);
    if let Some(name) = only
        .iter()
        .find(|name| !scenarios.iter().any(|it| named(it, name)))
    {
        let there: Vec<_> = scenarios
            .iter()
            .map(|scenario| scenario.name.as_str())
            .collect();
        return Err(LoadError::Unknown {
            name: name.clone(),
            there: there.join(", "),
        });
    }
    scenarios.retain(|scenario| only.is_empty() || only.iter().any(|name| named(scenario, name)));
    Ok(scenarios)
}

/// Returns the rules of one agent.
///
/// # Errors
/// A file that cannot be used.
pub(in crate::e2e) fn agent(folder: &Path, name: &str) -> Result<Vec<Rule>, LoadError> {
    parse::<Agent>(&folder.join(format!("{name}.toml"))).map(|agent| agent.rule)
}

fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, LoadError> {
    let text = fs_err::read_to_string(path).map_err(|source| LoadError::Read {
        path: path.to_owned(),
        source,
    })?;
    toml::from_str(&text).map_err(|error: toml::de::Error| LoadError::Parse {
        what: error.message().to_owned(),
        place: error.span().map(SourceSpan::from),
        text: NamedSource::new(path.display().to_string(), text),
    })
}
