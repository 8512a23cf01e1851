//! The environment of a child process, and the file that a program's name means.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use camino::Utf8Path;

/// The user's variables, if this process runs in a client's session. `None` means not set.
static PINNED: OnceLock<Vec<(String, Option<String>)>> = OnceLock::new();

/// Replaces the agent's variables by the user's for all child processes. The first call counts.
pub fn pin(variables: Vec<(String, Option<String>)>) {
    let _ = PINNED.set(variables);
}

/// Returns the variables of this process, with the pinned values in place of the current ones.
pub fn variables() -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in PINNED.get().into_iter().flatten() {
        match value {
            Some(value) => variables.insert(name.into(), value.into()),
            None => variables.remove(OsStr::new(name)),
        };
    }
    variables
}

fn variable(name: &str) -> Option<OsString> {
    variables().remove(OsStr::new(name))
}

/// Mark in the environment of every child process. Our hook that finds it does nothing.
pub const GUARD: &str = "CLAUDEX_REVIEWER_CHILD";

/// Variables that every program needs: folders, language, user. All `LC_*` are added.
const ALWAYS: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];

/// Variables that a child process gets: a short fixed list, the names of this value, and [`GUARD`].
///
/// Keys of other services and the client's variables are left out unless the user names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    names: Vec<String>,
    fixed: Vec<(String, String)>,
    with_projects_programs: bool,
}

impl Environment {
    /// Allows the fixed list and these names.
    pub fn allowing<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets one variable to this value, instead of the one in our environment.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.fixed.push((name.into(), value.into()));
        self
    }

    /// Keeps the folders with the project's programs (`node_modules/.bin`) in PATH, for a command
    /// of the user that works on the project.
    #[must_use]
    pub fn with_projects_programs(mut self) -> Self {
        self.with_projects_programs = true;
        self
    }

    /// Returns the variables for a child that works on this project: PATH without relative folders
    /// and without those of the project, and no home that is a relative path.
    pub fn resolve(
        &self,
        mut variables: BTreeMap<OsString, OsString>,
        project: &Utf8Path,
    ) -> BTreeMap<OsString, OsString> {
        let home = variables.get(OsStr::new("HOME")).cloned();
        variables.retain(|name, value| self.allows(name) && !is_relative_home(name, value));
        if let Some(path) = variables.get_mut(OsStr::new("PATH")) {
            *path = if self.with_projects_programs {
                joined(absolute(path))
            } else {
                joined(trusted(path, home.as_deref(), project))
            };
        }
        let fixed = self.fixed.iter();
        variables.extend(fixed.map(|(name, value)| (name.into(), value.into())));
        variables.insert(GUARD.into(), "1".into());
        variables
    }

    fn allows(&self, name: &OsStr) -> bool {
        name.to_str().is_some_and(|name| {
            ALWAYS.contains(&name)
                || name.starts_with("LC_")
                || self.names.iter().any(|allowed| allowed == name)
        })
    }
}

/// Returns whether a variable names the user's folder by a relative path, which would be a folder
/// of the repository. It counts as not set.
fn is_relative_home(name: &OsStr, value: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        name == "HOME" || name.ends_with("_HOME") || name == "CLAUDE_CONFIG_DIR"
    }) && !value.is_empty()
        && !Path::new(value).is_absolute()
}

/// Finds a program in the PATH that child processes get, outside of the project.
pub fn find_installed(name: &str, project: &Utf8Path) -> Option<PathBuf> {
    find_program(name, variable("PATH").as_deref(), project)
}

/// Finds the executable file of a name: an absolute path as it is, a bare name in the absolute
/// folders of `path` outside of the project. A repository must not choose our programs.
pub fn find_program(name: &str, path: Option<&OsStr>, project: &Utf8Path) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        let file = Path::new(name);
        return (file.is_absolute() && is_executable(file)).then(|| file.to_owned());
    }
    trusted(path?, variable("HOME").as_deref(), project)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn absolute(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute())
}

/// Returns the folders of a PATH that are outside of the project, links followed. If the user's
/// home is in the project, all folders are the user's.
fn trusted(
    path: &OsStr,
    home: Option<&OsStr>,
    project: &Utf8Path,
) -> impl Iterator<Item = PathBuf> {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let project = canonical(project.as_std_path());
    let home = home.map(Path::new).filter(|home| home.is_absolute());
    let is_whole = project.parent().is_none()
        || home.is_some_and(|home| canonical(home).starts_with(&project));
    absolute(path).filter(move |folder| {
        is_whole || !(folder.starts_with(&project) || canonical(folder).starts_with(&project))
    })
}

fn joined(folders: impl Iterator<Item = PathBuf>) -> OsString {
    // Folders that came out of a PATH have no separator in their names.
    std::env::join_paths(folders).unwrap_or_default()
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "/no/such/project";

    fn resolved(environment: &Environment, ours: &[(&str, &str)], project: &str) -> String {
        let ours = ours.iter().map(|(name, value)| (name.into(), value.into()));
        let variables = environment.resolve(ours.collect(), project.into());
        let lines = variables
            .iter()
            .map(|(name, value)| format!("{}={}", name.to_str().unwrap(), value.to_str().unwrap()));
        lines.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn environment_passes_allowed_names_only() {
        let ours = [
            ("PATH", "/bin"),
            ("LC_TIME", "de_DE.UTF-8"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("CLAUDECODE", "1"),
            ("OPENAI_API_KEY", "k"),
            ("OPENAI_API_KEY_OLD", "k"),
            (GUARD, "0"),
        ];
        let environment = Environment::allowing(["OPENAI_API_KEY", GUARD]);
        assert_eq!(
            resolved(&environment, &ours, PROJECT),
            "CLAUDEX_REVIEWER_CHILD=1 LC_TIME=de_DE.UTF-8 OPENAI_API_KEY=k PATH=/bin"
        );
    }

    #[test]
    fn set_variables_replace_ours() {
        let environment = Environment::allowing(["A"])
            .setting("LC_ALL", "C")
            .setting(GUARD, "0");
        let ours = [("LC_ALL", "de_DE.UTF-8"), ("A", "1")];
        assert_eq!(
            resolved(&environment, &ours, PROJECT),
            "A=1 CLAUDEX_REVIEWER_CHILD=1 LC_ALL=C"
        );
    }

    #[test]
    fn relative_home_counts_as_not_set() {
        let ours = [
            ("HOME", "."),
            ("XDG_CONFIG_HOME", "config"),
            ("CODEX_HOME", "~/x"),
            ("CLAUDE_CONFIG_DIR", "c"),
            ("CARGO_HOME", "/home/x/.cargo"),
        ];
        let all = Environment::allowing(ours.map(|(name, _)| name));
        assert_eq!(
            resolved(&all, &ours, PROJECT),
            "CARGO_HOME=/home/x/.cargo CLAUDEX_REVIEWER_CHILD=1"
        );
    }

    fn program(folder: &Utf8Path, mode: u32) {
        std::fs::create_dir_all(folder).unwrap();
        let file = folder.join("git");
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn program_is_found_in_absolute_folders_outside_project() {
        let made = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(made.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        let project = top.join("project");
        let outside = top.join("it's outside");
        let bin = project.join("node_modules/.bin");
        program(&bin, 0o755);
        program(&outside, 0o755);
        program(&top.join("plain"), 0o644);
        let link = top.join("link");
        std::os::unix::fs::symlink(&bin, &link).unwrap();
        let path = format!("{top}/plain:{bin}:{link}::node_modules/.bin:.:{outside}");
        let found = |name: &str, root: &Utf8Path| {
            let file = find_program(name, Some(OsStr::new(&path)), root)?;
            Some(file.to_str().unwrap().to_owned())
        };
        let file = |folder: &Utf8Path| Some(folder.join("git").to_string());
        assert_eq!(found("git", &project), file(&outside));
        assert_eq!(found("git", &top.join("other")), file(&bin));
        assert_eq!(found("git", "/".into()), file(&bin), "all is the user's");
        assert_eq!(
            found(outside.join("git").as_str(), &project),
            file(&outside)
        );
        for name in ["", "./git", "node_modules/.bin/git", outside.as_str()] {
            assert_eq!(found(name, &project), None, "{name}");
        }

        let ours = [("PATH", path.as_str())];
        let environment = Environment::default();
        assert_eq!(
            resolved(&environment, &ours, project.as_str()),
            format!("{GUARD}=1 PATH={top}/plain:{outside}")
        );
        assert_eq!(
            resolved(
                &environment.with_projects_programs(),
                &ours,
                project.as_str()
            ),
            format!("{GUARD}=1 PATH={top}/plain:{bin}:{link}:{outside}")
        );
    }
}
