//! The surroundings of a hook's call: the folders that it is about.

use camino::{Utf8Path, Utf8PathBuf};

use super::info::ProgramInfo;
use super::locate;
use crate::hooks::Input;
use crate::process::environment::GUARD;
use crate::store::Store;

/// The environment of a hook.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The project's folder: CLAUDE_PROJECT_DIR.
    pub project: Option<Utf8PathBuf>,
    /// The working directory.
    pub here: Option<Utf8PathBuf>,
    /// Whether our reviewer runs this hook.
    pub reviewer_child: bool,
}

impl Surroundings {
    /// Reads the environment.
    pub fn from_env() -> Self {
        let project = std::env::var("CLAUDE_PROJECT_DIR").ok();
        Self {
            project: project.filter(|path| !path.is_empty()).map(Into::into),
            here: locate::here().ok(),
            reviewer_child: std::env::var_os(GUARD).is_some(),
        }
    }

    /// Returns the folders that a call comes from, the project first.
    pub(super) fn folders<'a>(&'a self, input: &'a Input) -> Vec<&'a Utf8Path> {
        let cwd = input.cwd.as_deref().map(Utf8Path::new);
        let folders = [self.project.as_deref(), cwd.or(self.here.as_deref())];
        let absolute = folders
            .into_iter()
            .flatten()
            .filter(|path| path.is_absolute());
        absolute.collect()
    }

    /// Returns the state folders that a call is about, the nearest first.
    pub fn stores(&self, info: &ProgramInfo, input: &Input) -> Vec<Store> {
        locate::stores(info.state, &self.folders(input))
    }
}
