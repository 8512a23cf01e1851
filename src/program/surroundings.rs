//! The surroundings of a hook's call: the folders that it is about.

use camino::{Utf8Path, Utf8PathBuf};

use super::info::ProgramInfo;
use super::locate::StateFolders;
use super::loops;
use crate::hooks::Input;
use crate::process::environment::GUARD;

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
            here: loops::here().ok(),
            reviewer_child: std::env::var_os(GUARD).is_some(),
        }
    }

    /// Finds the state folders that a call is about: those of the project first.
    pub fn folders(&self, info: &ProgramInfo, input: &Input) -> StateFolders {
        let cwd = input.cwd.as_deref().map(Utf8Path::new);
        let starts = [self.project.as_deref(), cwd.or(self.here.as_deref())];
        let mut starts = Vec::from_iter(starts.into_iter().flatten());
        starts.retain(|path| path.is_absolute());
        StateFolders::above(info.state, &starts)
    }
}
