//! Each file and the environment checked on their own, so that one that is wrong does not hide the others.

use camino::{Utf8Path, Utf8PathBuf};

use super::{Settings, SettingsError, environment, files};
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
            let found = settings.load_user(&path);
            (Some(path), found)
        }
        Err(error) => (None, Err(error)),
    };
    let project = settings.load_project(root);
    let environment = environment::apply(&mut settings, &environment::own).map(|()| true);
    let checked = |whose, path, found| Checked {
        whose,
        path,
        found,
        ignored: Vec::new(),
    };
    let file = files::project_path(info, root);
    vec![
        checked("user", path, user),
        Checked {
            ignored: settings.ignored,
            ..checked("project", Some(file), project)
        },
        checked("environment", None, environment),
    ]
}
