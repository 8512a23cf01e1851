//! The files that a summary says were written: inside of the project, and there.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::findings::{Found, quoted};
use super::rule::Rule;
use super::yaml::{Node, Value};

/// Reads a list of artifacts: those that are there. Without a project nobody looks whether they are.
pub(crate) fn read(
    items: &[Node],
    project: Option<&Utf8Path>,
    found: &mut Found,
) -> Vec<Utf8PathBuf> {
    let mut artifacts = Vec::new();
    let root = project.and_then(|project| project.canonicalize_utf8().ok());
    for item in items {
        let path = match &item.value {
            Value::Text(path) => Utf8Path::new(path),
            Value::Placeholder => continue,
            _ => {
                let message = format!("an artifact is {}, and not a path", item.kind());
                found.error(
                    Rule::BadType,
                    item.span.clone(),
                    message,
                    "write `- path/of/the/file`",
                );
                continue;
            }
        };
        let mut broken = |rule, what: &str, help: &str| {
            let path = if path.as_str().is_empty() {
                "an empty path".to_owned()
            } else {
                quoted(path.as_str())
            };
            found.error(rule, item.span.clone(), format!("{path} {what}"), help);
        };
        let outside = (
            Rule::ArtifactOutside,
            "write a path relative to the project, below it",
        );
        let is_below = path
            .components()
            .all(|part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir));
        if !is_below {
            broken(outside.0, "is not inside of the project", outside.1);
            continue;
        }
        if let Some(project) = project {
            let file = project.join(path).canonicalize_utf8().ok();
            if file
                .as_ref()
                .zip(root.as_ref())
                .is_some_and(|(file, root)| !file.starts_with(root))
            {
                broken(
                    outside.0,
                    "is a link that leads out of the project",
                    outside.1,
                );
                continue;
            }
            if !file.is_some_and(|file| file.is_file()) {
                let help = "write the file, or take the line out";
                broken(Rule::ArtifactMissing, "is no file", help);
                continue;
            }
        } else if path.as_str().is_empty() {
            broken(
                Rule::ArtifactMissing,
                "is no file",
                "write the file, or take the line out",
            );
            continue;
        }
        artifacts.push(path.to_owned());
    }
    artifacts
}
