//! The rules of the seven keys, but for the flags: the stage, the status and the artifacts.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

use super::finding::{Collector, quoted};
use super::rule::Rule;
use super::stage::Stage;
use super::words::Status;
use super::yaml::kind;

/// Returns the stage that a summary names by its number, else by its name.
pub(super) fn check_stage(keys: &Json, found: &mut Collector) -> Option<Stage> {
    let number = require(keys, "stage_number", "a number", Json::is_number, found);
    let name = require_text(keys, "stage", found);
    let checkpoint = require_text(keys, "checkpoint", found);

    let by_number = number.and_then(Json::as_u64).and_then(Stage::from_number);
    if let (Some(number), None) = (number, by_number) {
        let message = format!("there is no stage `{number}`");
        found.error(Rule::StageRange, "/stage_number", message);
    }
    let stage = by_number.or(name.and_then(|name| name.parse().ok()));
    let expected = stage.map(|stage| stage.to_string());
    if let Some(name) = name
        && Some(name) != expected.as_deref()
    {
        let expected = expected.unwrap_or("the name of a stage".to_owned());
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
    let word = require_text(keys, "status", found)?;
    let status = word.parse().ok();
    if status.is_none() {
        let message = format!("expected a status, found {}", quoted(word));
        found.error(Rule::UnknownStatus, "/status", message);
    }
    status
}

/// Returns the text of one of the seven keys.
pub(super) fn require_text<'k>(
    keys: &'k Json,
    key: &str,
    found: &mut Collector,
) -> Option<&'k str> {
    require(keys, key, "text", Json::is_string, found)?.as_str()
}

/// Returns the value of one of the seven keys if it has its type.
pub(super) fn require<'k>(
    keys: &'k Json,
    key: &str,
    expected: &str,
    is_type: fn(&Json) -> bool,
    found: &mut Collector,
) -> Option<&'k Json> {
    let value = keys.get(key);
    if value.is_some_and(is_type) {
        return value;
    }
    let (rule, message) = match value {
        None => (Rule::MissingField, format!("the key `{key}` is missing")),
        Some(value) => (
            Rule::BadType,
            format!("`{key}` is {}, expected {expected}", kind(value)),
        ),
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
    let list = "a list of paths";
    let items = require(keys, "artifacts_written", list, Json::is_array, found);
    let items = items.and_then(Json::as_array).into_iter().flatten();
    let mut artifacts = Vec::new();
    for (index, item) in items.enumerate() {
        let problem = match item.as_str() {
            None => Some((Rule::BadType, "is not a path")),
            Some(path) => find_problem(Utf8Path::new(path), project),
        };
        let name = item
            .as_str()
            .map_or_else(|| item.to_string(), str::to_owned);
        if let Some((rule, problem)) = problem {
            let path = format!("/artifacts_written/{index}");
            found.error(rule, &path, format!("{} {problem}", quoted(&name)));
        } else {
            artifacts.push(name.into());
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
