//! Each file and the environment checked on their own, so that one that is wrong does not hide the others.

use camino::{Utf8Path, Utf8PathBuf};

use super::{Settings, SettingsError, environment, files, project, user};
use crate::program::info::ProgramInfo;

/// The result of checking one source of settings.
#[derive(Debug)]
pub struct Checked {
    /// "user", "project" or "environment".
    pub whose: &'static str,
    /// The file; `None` for the environment.
    pub path: Option<Utf8PathBuf>,
    /// Whether it is there, or what is wrong with it.
    pub found: Result<bool, SettingsError>,
    /// What it has that is ignored.
    pub ignored: Vec<String>,
}

/// Checks the user's file, the file of the project of this root, and the variables of the environment.
pub fn check(info: &'static ProgramInfo, root: &Utf8Path) -> Vec<Checked> {
    let mut settings = Settings::usual(info);
    let (path, user) = match files::user_path() {
        Ok(path) => {
            let found = check_user(&path, &mut settings);
            (Some(path), found)
        }
        Err(error) => (None, Err(error)),
    };
    let project = check_project(root, &mut settings);
    let environment = environment::apply(&mut settings, &environment::own).map(|()| true);
    vec![
        Checked {
            whose: "user",
            path,
            found: user,
            ignored: Vec::new(),
        },
        Checked {
            whose: "project",
            path: Some(files::project_path(info, root)),
            found: project,
            ignored: settings.ignored,
        },
        Checked {
            whose: "environment",
            path: None,
            found: environment,
            ignored: Vec::new(),
        },
    ]
}

fn check_user(path: &Utf8Path, settings: &mut Settings) -> Result<bool, SettingsError> {
    match files::read_user(path)? {
        Some(text) => user::apply(path, &text, settings).map(|()| true),
        None => Ok(false),
    }
}

fn check_project(root: &Utf8Path, settings: &mut Settings) -> Result<bool, SettingsError> {
    match files::read_project(settings.info, root)? {
        Some(text) => project::apply(root, &text, settings).map(|()| true),
        None => Ok(false),
    }
}
