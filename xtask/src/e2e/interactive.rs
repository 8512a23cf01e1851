//! What the interactive Claude Code needs before a person can use it: the questions of its first start answered beforehand, and
//! how one sees that it takes input.

use std::path::{Path, PathBuf};
use std::time::Duration;

use derive_more::{Display, Error};
use miette::Diagnostic;
use serde_json::{Map, Value, json};

use super::terminal::{Screen, Terminal, TerminalError};

/// The client's own file in its configuration folder.
const FILE: &str = ".claude.json";

/// How many of an API key's last characters the client remembers.
const KEY: usize = 20;

/// The sign before the line that a person types.
const PROMPT: char = '❯';

/// A configuration folder that cannot be prepared.
#[derive(Debug, Display, Error, Diagnostic)]
pub(super) enum PrepareError {
    /// What is there cannot be read, or what is to be there not be written.
    #[display("cannot prepare {}", path.display())]
    #[diagnostic(code(xtask::interactive::file))]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The client left something that is no JSON object.
    #[display("{} is no JSON object", path.display())]
    #[diagnostic(code(xtask::interactive::no_object))]
    Object { path: PathBuf },
}

/// Answers what the client would ask at its first start: theme and sign-in, whether the API key is to be used, whether the
/// project's folder is trusted. What else is in the file stays. It is without effect on `claude -p`.
///
/// Its permission mode is not settled here: the newest client begins in one of its own unless `--permission-mode` says otherwise.
///
/// # Errors
/// The file cannot be read or written, or is not the client's.
pub(super) fn prepare(config: &Path, project: &Path, api_key: &str) -> Result<(), PrepareError> {
    let path = config.join(FILE);
    let file = |source| PrepareError::File {
        path: path.clone(),
        source,
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "{}".to_owned(),
        Err(error) => return Err(file(error)),
    };
    let known: Option<Map<String, Value>> = serde_json::from_str(&text).ok();
    let answered = known
        .clone()
        .and_then(|known| answered(known, project, api_key));
    let (Some(known), Some(answered)) = (known, answered) else {
        return Err(PrepareError::Object { path });
    };
    if Value::Object(known) == answered {
        return Ok(());
    }
    // In one go: another client of the same home may read it just now.
    let new = config.join(".claude.json.new");
    std::fs::write(&new, format!("{answered:#}")).map_err(file)?;
    std::fs::rename(&new, &path).map_err(file)
}

/// Returns the file's text with the answers in it, if it has the shape that the client gives it.
fn answered(mut known: Map<String, Value>, project: &Path, api_key: &str) -> Option<Value> {
    known.insert("hasCompletedOnboarding".to_owned(), json!(true));
    let begin = api_key
        .char_indices()
        .rev()
        .nth(KEY - 1)
        .map_or(0, |(index, _)| index);
    known.insert(
        "customApiKeyResponses".to_owned(),
        json!({ "approved": [api_key[begin..]], "rejected": [] }),
    );
    known
        .entry("projects")
        .or_insert_with(|| json!({}))
        .as_object_mut()?
        .entry(project.to_string_lossy())
        .or_insert_with(|| json!({}))
        .as_object_mut()?
        .insert("hasTrustDialogAccepted".to_owned(), json!(true));
    Some(Value::Object(known))
}

/// Waits until a person can type: the cursor is in an empty input line. What is typed before is lost, or taken for a paste.
///
/// # Errors
/// It does not come to that, as where a dialog is open.
pub(super) fn ready(terminal: &Terminal, within: Duration) -> Result<Screen, TerminalError> {
    terminal.wait_until(within, |screen| {
        if screen.before().ends_with(PROMPT) {
            Ok(())
        } else {
            Err("has no empty input line with the cursor in it".to_owned())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(before: Option<&str>) -> Result<Value, PrepareError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        if let Some(before) = before {
            std::fs::write(&path, before).unwrap();
        }
        prepare(
            folder.path(),
            Path::new("/a b/\"ü\""),
            "sk-0123456789-0123456789-0123456789",
        )?;
        Ok(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    #[test]
    fn every_question_is_answered() {
        assert_eq!(
            prepared(None).unwrap(),
            json!({
                "hasCompletedOnboarding": true,
                "customApiKeyResponses": { "approved": ["123456789-0123456789"], "rejected": [] },
                "projects": { "/a b/\"ü\"": { "hasTrustDialogAccepted": true } },
            })
        );
    }

    #[test]
    fn what_the_client_wrote_stays() {
        let before = r#"{"userID":"u","projects":{"/other":{"x":1},"/a b/\"ü\"":{"y":2}}}"#;
        let after = prepared(Some(before)).unwrap();
        assert_eq!(after["userID"], "u");
        assert_eq!(after["projects"]["/other"], json!({"x": 1}));
        assert_eq!(
            after["projects"]["/a b/\"ü\""],
            json!({"y": 2, "hasTrustDialogAccepted": true})
        );
    }

    #[test]
    fn another_shape_is_an_error_and_not_overwritten() {
        for before in [
            "",
            "[]",
            "{",
            r#"{"projects":[]}"#,
            r#"{"projects":{"/a b/\"ü\"":1}}"#,
        ] {
            let error = prepared(Some(before)).unwrap_err();
            assert!(
                matches!(error, PrepareError::Object { .. }),
                "{before}: {error}"
            );
        }
    }

    #[test]
    fn a_short_key_is_remembered_whole() {
        let answered = answered(Map::new(), Path::new("/p"), "é").unwrap();
        assert_eq!(answered["customApiKeyResponses"]["approved"], json!(["é"]));
    }
}
