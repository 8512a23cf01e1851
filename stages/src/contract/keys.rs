//! The rules of the seven keys, but for the flags: the stage, the status and the artifacts.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use claudex_loop::text;
use serde::Deserialize;
use serde_json::Value as Json;

use super::rule::{Collector, Rule, quote};
use super::words::Stage;

/// Returns the value of one of the seven keys if it has its type.
pub(super) fn require<'k, T: Deserialize<'k>>(
    keys: &'k Json,
    key: &str,
    findings: &mut Collector,
) -> Option<T> {
    let value = keys.get(key);
    let (rule, detail) = match value.map(T::deserialize) {
        Some(Ok(typed)) => return Some(typed),
        Some(Err(error)) => (Rule::BadType, format!("`{key}` has an {error}")),
        None => (Rule::MissingField, format!("`{key}` is missing")),
    };
    let is_status = key == "status";
    let rule = if is_status { Rule::UnknownStatus } else { rule };
    findings.add(rule, &format!("/{key}"), text::shown(detail));
    None
}

/// Returns the stage that a summary names by its number, else by its name.
pub(super) fn check_stage(keys: &Json, findings: &mut Collector) -> Option<Stage> {
    let number: Option<f64> = require(keys, "stage_number", findings);
    let name: Option<String> = require(keys, "stage", findings);
    let checkpoint: Option<String> = require(keys, "checkpoint", findings);

    let is_number = |stage: &Stage| number == Some(f64::from(stage.number()));
    let by_number = Stage::all().find(is_number);
    if let (Some(number), None) = (number, by_number) {
        findings.add(Rule::StageRange, "/stage_number", format!("it is {number}"));
    }
    let by_name = Stage::deserialize(&keys["stage"]).ok();
    let stage = by_number.or(by_name);

    let expected = stage.map_or("a stage".to_owned(), |stage| stage.to_string());
    if let Some(name) = name.filter(|name| *name != expected) {
        let detail = format!("expected {expected}, found {}", quote(&name));
        findings.add(Rule::StageName, "/stage", detail);
    }
    let expected = stage.map_or("", Stage::checkpoint);
    if let Some(checkpoint) = checkpoint.filter(|name| stage.is_some() && name.as_str() != expected)
    {
        let detail = format!("expected {expected}, found {}", quote(&checkpoint));
        findings.add(Rule::CheckpointName, "/checkpoint", detail);
    }
    stage
}

/// Returns the artifacts that are files of the project. Without a project only the paths are checked.
pub(super) fn check_artifacts(
    keys: &Json,
    project: Option<&Utf8Path>,
    findings: &mut Collector,
) -> Vec<Utf8PathBuf> {
    let items: Option<Vec<Json>> = require(keys, "artifacts_written", findings);
    let mut artifacts = Vec::new();
    for (index, item) in items.unwrap_or_default().iter().enumerate() {
        let place = format!("/artifacts_written/{index}");
        let Some(path) = item.as_str().map(Utf8Path::new) else {
            findings.add(Rule::BadType, &place, "expected a path");
            continue;
        };
        if let Some(rule) = find_broken_rule(path, project) {
            findings.add(rule, &place, quote(path.as_str()));
        } else {
            artifacts.push(path.to_owned());
        }
    }
    artifacts
}

/// Returns the rule that an artifact breaks.
fn find_broken_rule(path: &Utf8Path, project: Option<&Utf8Path>) -> Option<Rule> {
    let is_below = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
    if !path.components().all(is_below) {
        return Some(Rule::ArtifactOutside);
    }
    let Some(project) = project else {
        return path.as_str().is_empty().then_some(Rule::ArtifactMissing);
    };
    let file = project.join(path).canonicalize_utf8();
    let root = project.canonicalize_utf8();
    match (file, root) {
        (Ok(file), Ok(root)) if !file.starts_with(&root) => Some(Rule::ArtifactOutside),
        (Ok(file), Ok(_)) if file.is_file() => None,
        _ => Some(Rule::ArtifactMissing),
    }
}
