//! The rules of the seven keys, but for the flags: the stage, the status and the artifacts.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

use super::finding::{Collector, quoted};
use super::rule::Rule;
use super::stage::Stage;
use super::words::Status;
use super::yaml::kind;

/// Returns the stage that a summary names by its number, else by its name.
pub(super) fn check_stage(keys: &Json, found: &mut Collector<'_>) -> Option<Stage> {
    let number = require(keys, "stage_number", "a number", Json::is_number, found);
    let name = require_text(keys, "stage", found);
    let checkpoint = require_text(keys, "checkpoint", found);

    let by_number = number.and_then(Json::as_u64).and_then(Stage::from_number);
    if let Some(number) = number
        && by_number.is_none()
    {
        let message = format!("there is no stage `{number}`");
        found.error(Rule::StageRange, "/stage_number", message);
    }
    let stage = by_number.or(name.and_then(|name| name.parse().ok()));
    let expected_name = stage.map_or("the name of a stage".to_owned(), |stage| stage.to_string());
    if let Some(name) = name
        && name != expected_name
    {
        let message = format!("expected `{expected_name}`, found {}", quoted(name));
        found.error(Rule::StageName, "/stage", message);
    }
    let expected = stage.map_or("the checkpoint of a stage", Stage::checkpoint);
    if let Some(checkpoint) = checkpoint
        && checkpoint != expected
        && (stage.is_some() || Stage::all().all(|stage| stage.checkpoint() != checkpoint))
    {
        let message = format!("expected `{expected}`, found {}", quoted(checkpoint));
        found.error(Rule::CheckpointName, "/checkpoint", message);
    }
    stage
}

/// Returns the status if it is one of the three.
pub(super) fn check_status(keys: &Json, found: &mut Collector<'_>) -> Option<Status> {
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
    found: &mut Collector<'_>,
) -> Option<&'k str> {
    require(keys, key, "text", Json::is_string, found)?.as_str()
}

/// Returns the value of one of the seven keys if it has its type.
pub(super) fn require<'k>(
    keys: &'k Json,
    key: &str,
    expected: &str,
    is_type: impl Fn(&Json) -> bool,
    found: &mut Collector<'_>,
) -> Option<&'k Json> {
    let value = keys.get(key);
    if value.is_some_and(is_type) {
        return value;
    }
    let (rule, message) = match value {
        None => (Rule::MissingField, format!("the key `{key}` is missing")),
        Some(value) => {
            let message = format!("`{key}` is {}, expected {expected}", kind(value));
            (Rule::BadType, message)
        }
    };
    let rule = if key == "status" {
        Rule::UnknownStatus
    } else {
        rule
    };
    found.error(rule, &format!("/{key}"), message);
    None
}

/// Returns the artifacts that are files of the project. Without a project only the paths are checked.
pub(super) fn check_artifacts(
    keys: &Json,
    project: Option<&Utf8Path>,
    found: &mut Collector<'_>,
) -> Vec<Utf8PathBuf> {
    let items = require(
        keys,
        "artifacts_written",
        "a list of paths",
        Json::is_array,
        found,
    );
    let mut artifacts = Vec::new();
    for (index, item) in items
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = format!("/artifacts_written/{index}");
        let Some(artifact) = item.as_str() else {
            let message = format!("an artifact is {}, expected a path", kind(item));
            found.error(Rule::BadType, &path, message);
            continue;
        };
        match check_artifact(Utf8Path::new(artifact), project) {
            Ok(()) => artifacts.push(artifact.into()),
            Err((rule, problem)) => {
                found.error(rule, &path, format!("{} {problem}", quoted(artifact)));
            }
        }
    }
    artifacts
}

fn check_artifact(path: &Utf8Path, project: Option<&Utf8Path>) -> Result<(), (Rule, &'static str)> {
    let is_below = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
    if !path.components().all(is_below) {
        return Err((Rule::ArtifactOutside, "is not below the project"));
    }
    let missing = Err((Rule::ArtifactMissing, "is not a file"));
    let Some(project) = project else {
        return if path.as_str().is_empty() {
            missing
        } else {
            Ok(())
        };
    };
    let (Ok(file), Ok(root)) = (
        project.join(path).canonicalize_utf8(),
        project.canonicalize_utf8(),
    ) else {
        return missing;
    };
    if !file.starts_with(root) {
        return Err((
            Rule::ArtifactOutside,
            "is a link that leads out of the project",
        ));
    }
    if file.is_file() { Ok(()) } else { missing }
}
