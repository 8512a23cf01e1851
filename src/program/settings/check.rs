//! Both files looked at on their own, so that one that is wrong does not hide the other.

use camino::{Utf8Path, Utf8PathBuf};

use crate::program::info::ProgramInfo;

use super::{Settings, SettingsError, environment, files, project, user};

/// What a look at one of them found.
#[derive(Debug)]
pub struct Checked {
    /// "user", "project" or "environment".
    pub whose: &'static str,
    /// The file; None for the environment.
    pub path: Option<Utf8PathBuf>,
    /// Whether there is one; or what is wrong with it.
    pub found: Result<bool, SettingsError>,
    /// Whether the names that it chooses were looked up; they are not where the file that has them is wrong.
    pub names: bool,
}

/// Checks the user's file, the file of the project of this root, and the variables of the environment.
pub fn check(info: &'static ProgramInfo, root: &Utf8Path) -> Vec<Checked> {
    let mut settings = Settings::usual(info);
    let path = files::user_path();
    let user = match &path {
        Err(_) => Ok(false),
        Ok(path) => files::user(path)
            .map_err(SettingsError::from)
            .and_then(|text| match text {
                Some(text) => user::apply(path, &text, &mut settings).map(|()| true),
                None => Ok(false),
            }),
    };
    let (path, user) = match path {
        Ok(path) => (Some(path), user),
        Err(error) => (None, Err(error.into())),
    };
    let names = user.is_ok();
    let shown = path
        .clone()
        .unwrap_or_else(|| "the configuration folder".into());
    let project = files::project(info, root)
        .map_err(SettingsError::from)
        .and_then(|text| match text {
            Some(text) if names => {
                project::apply(root, &text, &shown, &mut settings).map(|()| true)
            }
            Some(text) => project::parse(info, root, &text, &shown).map(|_| true),
            None => Ok(false),
        });
    let environment = environment::apply(&mut settings, &environment::own).map(|()| true);
    vec![
        Checked {
            whose: "user",
            path,
            found: user,
            names: true,
        },
        Checked {
            whose: "project",
            path: Some(files::project_path(info, root)),
            found: project,
            names,
        },
        Checked {
            whose: "environment",
            path: None,
            found: environment,
            names: true,
        },
    ]
}
