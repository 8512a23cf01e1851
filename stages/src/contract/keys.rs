//! The rules of the seven keys, but for the flags: the stage, the status and the artifacts.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::{Number, Value as Json};

use super::finding::{Collector, quoted};
use super::rule::Rule;
use super::stage::Stage;
use super::words::Status;
use super::yaml::kind;

/// Returns the stage that a summary names by its number, else by its name.
pub(super) fn check_stage(keys: &Json, found: &mut Collector) -> Option<Stage> {
    let number: Option<Number> = require(keys, "stage_number", "a number", found);
    let name: Option<&str> = require(keys, "stage", "text", found);
    let checkpoint: Option<&str> = require(keys, "checkpoint", "text", found);

    let by_number = number.as_ref().and_then(Number::as_u64);
    let by_number = by_number.and_then(Stage::from_number);
    if let (Some(number), None) = (number, by_number) {
        let message = format!("there is no stage `{number}`");
        found.error(Rule::StageRange, "/stage_number", message);
    }
    let stage = by_number.or(name.and_then(|name| name.parse().ok()));
    let expected = stage.map_or("the name of a stage".to_owned(), |stage| stage.to_string());
    if let Some(name) = name
        && name != expected
    {
        let message = format!("expected `{expected}`, found {}", quoted(name));
        found.error(Rule::StageName, "/stage", message);
    }
    let mut stages = Stage::all().filter(|one| stage.is_none_or(|stage| stage == *one));
    if let Some(checkpoint) = checkpoint
        && !stages.any(|stage| stage.checkpoint() == checkpoint)
    {
        let expected = stage.map_or("the checkpoint of a stage", Stage::checkpoint);
        let message = format!("expected `{expected}`, found {}", quoted(checkpoint));
        found.error(Rule::CheckpointName, "/checkpoint", message);
    }
    stage
}

/// Returns the status if it is one of the three.
pub(super) fn check_status(keys: &Json, found: &mut Collector) -> Option<Status> {
    let word: &str = require(keys, "status", "text", found)?;
    let status = word.parse().ok();
    if status.is_none() {
        let message = format!("expected a status, found {}", quoted(word));
        found.error(Rule::UnknownStatus, "/status", message);
    }
    status
}

/// Returns the value of one of the seven keys if it has its type.
pub(super) fn require<'k, T: Deserialize<'k>>(
    keys: &'k Json,
    key: &str,
    expected: &str,
    found: &mut Collector,
) -> Option<T> {
    let value = keys.get(key);
    let typed = value.and_then(|value| T::deserialize(value).ok());
    if typed.is_some() {
        return typed;
    }
    let (rule, message) = match value {
        None => (Rule::MissingField, format!("the key `{key}` is missing")),
        Some(value) => {
            let message = format!("`{key}` is {}, expected {expected}", kind(value));
            (Rule::BadType, message)
        }
    };
    let is_status = key == "status";
    let rule = if is_status { Rule::UnknownStatus } else { rule };
    found.error(rule, &format!("/{key}"), message);
    None
}

/// Returns the artifacts that are files of the project. Without a project only the paths are checked.
pub(super) fn check_artifacts(
    keys: &Json,
    project: Option<&Utf8Path>,
    found: &mut Collector,
) -> Vec<Utf8PathBuf> {
    let items: Option<Vec<Json>> = require(keys, "artifacts_written", "a list of paths", found);
    let mut artifacts = Vec::new();
    for (index, item) in items.unwrap_or_default().iter().enumerate() {
        let path = item.as_str().unwrap_or_default();
        let problem = if item.is_string() {
            find_problem(Utf8Path::new(path), project)
        } else {
            Some((Rule::BadType, "is not a path"))
        };
        if let Some((rule, problem)) = problem {
            let place = format!("/artifacts_written/{index}");
            found.error(rule, &place, format!("{} {problem}", quoted(path)));
        } else {
            artifacts.push(path.into());
        }
    }
    artifacts
}

/// Returns what is wrong with an artifact.
fn find_problem(path: &Utf8Path, project: Option<&Utf8Path>) -> Option<(Rule, &'static str)> {
    let is_below = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
    if !path.components().all(is_below) {
        return Some((Rule::ArtifactOutside, "is not below the project"));
    }
    let missing = Some((Rule::ArtifactMissing, "is not a file"));
    let Some(project) = project else {
        return missing.filter(|_| path.as_str().is_empty());
    };
    let file = project.join(path).canonicalize_utf8();
    let root = project.canonicalize_utf8();
    match (file, root) {
        (Ok(file), Ok(root)) if !file.starts_with(&root) => Some((
            Rule::ArtifactOutside,
            "is a link that leads out of the project",
        )),
        (Ok(file), Ok(_)) if file.is_file() => None,
        _ => missing,
    }
}
