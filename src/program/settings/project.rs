//! A project's file: a choice among what its user has, and nothing else.
//!
//! Whoever clones a repository must not run a program that the repository names. So no key of this file holds anything
//! but a name that the user's own configuration knows.

use camino::Utf8Path;

use super::findings::Finding;
use super::origin::Source;
use super::tables::{ProgramTable, ProjectFile, UserFile};
use super::{Settings, SettingsError, files, read, refused, user};
use crate::program::info::ProgramInfo;
use crate::program::suggest;
use crate::review::personas::Personas;
use crate::text;

/// What such a file may say, for its errors.
fn rule(user: &Utf8Path) -> String {
    format!(
        "a project may only choose, with `reviewer` and `personas`, among what you have; everything else belongs into your \
         own file: {user}"
    )
}

/// Reads the file without looking at what the names in it mean. `user` is where the user's file would be.
pub(super) fn parse(
    info: &ProgramInfo,
    root: &Utf8Path,
    text: &str,
    user: &Utf8Path,
) -> Result<ProjectFile, SettingsError> {
    let unknown = |above: &[String], key: &str, known: &[&str]| {
        let path = [above, &[key.to_owned()]].concat().join(".");
        let message = format!("`{path}` may not stand in a project’s file");
        let near = crate::program::suggest::word(key, known.iter().copied());
        // A key of the user's file is no slip of the pen, however near another one is.
        let help = match near
            .filter(|_| !(read::knows::<UserFile>(key) || read::knows::<ProgramTable>(key)))
        {
            Some(name) => format!("did you mean `{name}`? {}", rule(user)),
            None => rule(user),
        };
        (message, help)
    };
    match read::read(text, &unknown) {
        Ok(file) => Ok(file),
        Err(found) => {
            let found = found.into_iter().map(|finding| finding.or_help(rule(user)));
            refused(&files::project_path(info, root), text, found.collect())?;
            Ok(ProjectFile::default())
        }
    }
}

/// Puts what the project's file chooses over the settings. `user` is where the user's file would be.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn apply(
    root: &Utf8Path,
    text: &str,
    user: &Utf8Path,
    settings: &mut Settings,
) -> Result<(), SettingsError> {
    let info = settings.info;
    let file = parse(info, root, text, user)?;
    let path = files::project_path(info, root);
    let source = Source { path: &path, text };
    let mut found = Vec::new();
    if let Some(name) = file.reviewer {
        match user::chosen(&name, settings, &rule(user)) {
            Some(finding) => found.push(finding),
            None => {
                settings
                    .origins
                    .note("reviewer", source.project(name.span.start));
                settings.reviewer = name.value;
            }
        }
    }
    if let Some(chosen) = file.personas {
        let known: Vec<&str> = settings
            .personas
            .all()
            .iter()
            .map(|persona| persona.name.as_str())
            .collect();
        let mut personas = Vec::new();
        for (at, name) in chosen.value.iter().enumerate() {
            let shown = text::one_line(&name.value, 60);
            let wrong = |message: String| {
                Finding::new("claudex::config::persona", name.span.clone(), message)
                    .label("this name")
            };
            let persona = settings
                .personas
                .all()
                .iter()
                .find(|persona| persona.name == name.value);
            match persona {
                None => {
                    found.push(
                        wrong(format!("`{shown}` is no persona of yours"))
                            .help(suggest::among_and(&name.value, &known, &rule(user))),
                    )
                }
                Some(_) if chosen.value[..at].contains(name) => {
                    found.push(
                        wrong(format!("`{shown}` stands there twice"))
                            .help("the last persona stays anyway"),
                    );
                }
                Some(persona) => personas.push(persona.clone()),
            }
        }
        match Personas::new(personas) {
            Some(personas) => settings.personas = personas,
            None if chosen.value.is_empty() => {
                let finding = Finding::new(
                    "claudex::config::persona",
                    chosen.span.clone(),
                    "no persona is left to review",
                );
                found.push(
                    finding
                        .label("empty")
                        .help("name one at least, or leave `personas` out"),
                );
            }
            None => {}
        }
        settings
            .origins
            .note("personas", source.project(chosen.span.start));
    }
    refused(&path, text, found)
}
