//! What a reviewer's process may see of our environment, and which file its program's name means.
//!
//! Pure but for looking at files: nothing is started here, and the caller's environment is passed in.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use camino::Utf8Path;

/// Marks every reviewer's process: a hook of ours that finds it does nothing. It holds the mark of the run, by which a
/// process that got away is found again, or `1`.
pub const GUARD: &str = "CLAUDEX_REVIEWER_CHILD";

/// Names what any program needs to start, speak the person's language and find its own files. `LC_*` comes on top.
const ALWAYS: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];

/// Describes the variables that a reviewer's process gets: a short fixed list, the names given here, and [`GUARD`].
///
/// Keys of other services and the client's own variables stay out unless a person's configuration names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    names: Vec<String>,
    mark: Option<String>,
    fixed: Vec<(String, String)>,
    pinned: Vec<(String, Option<String>)>,
    with_projects_programs: bool,
}

impl Environment {
    /// Allows the fixed list and these names, each exact.
    pub fn allowing<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Allows these names, too.
    #[must_use]
    pub fn and<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Marks it as that of a run, whose mark [`GUARD`] then holds. A mark is not empty and no other run has it.
    #[must_use]
    pub fn of_run(mut self, mark: &str) -> Self {
        self.mark = Some(mark.to_owned()).filter(|mark| !mark.is_empty());
        self
    }

    /// Returns the mark of the run that this is for.
    pub fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// Gives one variable this value, whatever ours is. [`GUARD`] stays as it is.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.fixed.retain(|(fixed, _)| *fixed != name);
        self.fixed.push((name, value.into()));
        self
    }

    /// Takes these variables as they are here, and not as ours are: `None` is one that is not set. Which of them the child gets is
    /// decided as for ours.
    #[must_use]
    pub fn pinning(
        mut self,
        variables: impl IntoIterator<Item = (String, Option<String>)>,
    ) -> Self {
        self.pinned.extend(variables);
        self
    }

    /// Leaves the folders of the project's own programs (`node_modules/.bin`) in PATH: for a command of the
    /// person's, which works on the project.
    #[must_use]
    pub fn with_projects_programs(mut self) -> Self {
        self.with_projects_programs = true;
        self
    }

    /// Returns the variables for a child that works on this project, out of ours: PATH without relative folders and those of the
    /// project, and no home that is a relative path.
    pub fn resolve(
        &self,
        ours: impl IntoIterator<Item = (OsString, OsString)>,
        project: &Utf8Path,
    ) -> Vec<(OsString, OsString)> {
        let allowed = |name: &OsStr| {
            name.to_str().is_some_and(|name| {
                name != GUARD
                    && self.fixed.iter().all(|(fixed, _)| fixed != name)
                    && (ALWAYS.contains(&name)
                        || name.starts_with("LC_")
                        || self.names.iter().any(|allowed| allowed == name))
            })
        };
        let is_pinned = |name: &OsStr| {
            self.pinned
                .iter()
                .any(|(pinned, _)| name == pinned.as_str())
        };
        let pinned = self.pinned.iter().filter_map(|(name, value)| {
            let value: OsString = value.as_ref()?.into();
            Some((name.into(), value))
        });
        let all: Vec<_> = (ours.into_iter())
            .filter(|(name, _)| !is_pinned(name))
            .chain(pinned)
            .collect();
        let home = all
            .iter()
            .find(|(name, _)| name == "HOME")
            .map(|(_, home)| home.clone());
        let mut variables: Vec<_> = (all.into_iter())
            .filter(|(name, value)| allowed(name) && !is_relative_home(name, value))
            .map(|(name, value)| match name == "PATH" {
                true if self.with_projects_programs => (name, joined(absolute(&value))),
                true => (name, joined(trusted(&value, home.as_deref(), project))),
                false => (name, value),
            })
            .collect();
        let fixed = self.fixed.iter().filter(|(name, _)| name != GUARD);
        variables.extend(fixed.map(|(name, value)| (name.into(), value.into())));
        let mark = self.mark.as_deref().unwrap_or("1");
        variables.push((GUARD.into(), mark.into()));
        variables
    }
}

/// Returns whether a variable names a person's folder by a relative path, which would be a folder of the repository. It
/// counts as not set.
pub fn is_relative_home(name: &OsStr, value: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        name == "HOME" || name.ends_with("_HOME") || name == "CLAUDE_CONFIG_DIR"
    }) && !value.is_empty()
        && !Path::new(value).is_absolute()
}

/// Finds the executable file that a program's name means: an absolute path as it is, a bare name by the absolute folders of
/// `path` outside of the project.
///
/// A relative folder in `path`, a relative name and a folder below `project`, such as the `node_modules/.bin` that npm puts
/// first, would mean a file of the repository that is being reviewed, and a repository must not choose what we run.
pub fn find_program(name: &str, path: Option<&OsStr>, project: &Utf8Path) -> Option<PathBuf> {
    find_by(name, path, std::env::var_os("HOME").as_deref(), project)
}

/// The same where the person's home may be another one than this process is told of.
pub fn find_by(
    name: &str,
    path: Option<&OsStr>,
    home: Option<&OsStr>,
    project: &Utf8Path,
) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        let file = Path::new(name);
        return (file.is_absolute() && is_executable(file)).then(|| file.to_owned());
    }
    trusted(path?, home, project)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

/// Returns a PATH with its absolute folders outside of the project alone.
pub fn clean_path(path: &OsStr, project: &Utf8Path) -> OsString {
    joined(trusted(path, std::env::var_os("HOME").as_deref(), project))
}

/// Returns the absolute folders of a PATH. An empty one means the working directory, and is relative.
fn absolute(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute())
}

/// Returns those outside of the project, links followed. A project that is the person's home, or holds it, is the person's whole: what
/// they installed lies in it.
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
    // What came out of a PATH has no separator in it.
    std::env::join_paths(folders).unwrap_or_default()
}

/// Returns whether it is a file (links followed) that someone may execute.
fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "/no/such/project";

    /// Returns what a child of a project that is elsewhere gets.
    fn resolved(
        environment: &Environment,
        ours: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        environment.resolve(ours, PROJECT.into())
    }

    fn find(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
        find_program(name, path, PROJECT.into())
    }

    fn pair(name: &str, value: &str) -> (OsString, OsString) {
        (name.into(), value.into())
    }

    #[test]
    fn only_what_is_allowed_gets_through() {
        let ours = [
            pair("PATH", "/bin"),
            pair("LC_TIME", "de_DE.UTF-8"),
            pair("AWS_SECRET_ACCESS_KEY", "x"),
            pair("CLAUDECODE", "1"),
            pair("OPENAI_API_KEY", "k"),
            pair("OPENAI_API_KEY_OLD", "k"),
            pair(GUARD, "0"),
        ];
        assert_eq!(
            resolved(&Environment::allowing(["OPENAI_API_KEY", GUARD]), ours),
            [
                pair("PATH", "/bin"),
                pair("LC_TIME", "de_DE.UTF-8"),
                pair("OPENAI_API_KEY", "k"),
                pair(GUARD, "1")
            ]
        );
    }

    #[test]
    fn the_guard_is_set_by_us_alone_and_holds_the_run() {
        let ours = || [pair(GUARD, "someone else's"), pair("KEY", "k")];
        let run = Environment::default()
            .and(["KEY"])
            .of_run("20261122-1/r1-ab");
        assert_eq!(
            resolved(&run, ours()),
            [pair("KEY", "k"), pair(GUARD, "20261122-1/r1-ab")]
        );
        assert_eq!(run.mark(), Some("20261122-1/r1-ab"));
        let none = Environment::default().of_run("");
        assert_eq!(
            resolved(&none, ours()),
            [pair(GUARD, "1")],
            "an empty guard would be none"
        );
    }

    #[test]
    fn a_variable_that_is_set_replaces_ours_and_the_guard_stays() {
        let environment = Environment::allowing(["A"])
            .setting("LC_ALL", "C")
            .setting("A", "1")
            .setting("A", "2")
            .setting(GUARD, "0");
        let ours = [
            pair("LC_ALL", "de_DE.UTF-8"),
            pair("A", "0"),
            pair("PATH", "/bin"),
        ];
        assert_eq!(
            resolved(&environment, ours),
            [
                pair("PATH", "/bin"),
                pair("LC_ALL", "C"),
                pair("A", "2"),
                pair(GUARD, "1")
            ]
        );
    }

    #[test]
    fn a_pinned_variable_replaces_ours_where_it_is_allowed_at_all() {
        let pinned = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let environment = Environment::default().pinning([
            pinned("PATH", Some("/usr/bin")),
            pinned("HOME", None),
            pinned("CODEX_HOME", Some("/x")),
        ]);
        let ours = [
            pair("PATH", "/tmp/fake"),
            pair("HOME", "/tmp/fake"),
            pair("LANG", "C"),
        ];
        assert_eq!(
            resolved(&environment, ours),
            [
                pair("LANG", "C"),
                pair("PATH", "/usr/bin"),
                pair(GUARD, "1")
            ]
        );
    }

    #[test]
    fn a_name_is_looked_up_in_absolute_folders_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("reviewer with 'quotes'");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let name = "reviewer with 'quotes'";
        assert_eq!(
            find(name, Some(folder.path().as_os_str())),
            None,
            "not executable"
        );

        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(
            find(name, Some(folder.path().as_os_str())),
            Some(file.clone())
        );
        assert_eq!(find(file.to_str().unwrap(), None), Some(file));
        assert_eq!(find("./src", Some(OsStr::new("/bin"))), None);
        assert_eq!(find("sh", Some(OsStr::new(".:bin:"))), None);
        assert!(find("sh", Some(OsStr::new(".:/usr/bin:/bin"))).is_some());
        assert_eq!(find("", Some(OsStr::new("/bin"))), None);
        assert_eq!(find("/bin", None), None, "a folder is no program");
        assert_eq!(find("sh", None), None);
    }

    #[test]
    fn nothing_of_the_project_is_found_and_a_childs_path_leads_nowhere_there() {
        let made = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(made.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        let (project, outside) = (top.join("project"), top.join("outside"));
        let bin = project.join("node_modules/.bin");
        for folder in [&bin, &outside] {
            std::fs::create_dir_all(folder).unwrap();
            let file = folder.join("git");
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let link = top.join("link");
        std::os::unix::fs::symlink(&bin, &link).unwrap();
        let later = project.join("later/bin");
        let path = format!("{bin}:{link}::node_modules/.bin:.:{later}:{outside}:/usr/bin");
        let path = OsStr::new(&path);
        let found = |root: &Utf8Path| find_program("git", Some(path), root);
        assert_eq!(found(&project), Some(outside.join("git").into()));
        assert_eq!(found(&top.join("other")), Some(bin.join("git").into()));
        assert_eq!(
            found("/".into()),
            Some(bin.join("git").into()),
            "all is the person's"
        );

        let ours = || [("PATH".into(), path.to_owned())];
        let environment = Environment::default();
        assert_eq!(
            environment.resolve(ours(), &project)[0],
            pair("PATH", &format!("{outside}:/usr/bin"))
        );
        assert_eq!(
            environment
                .with_projects_programs()
                .resolve(ours(), &project)[0],
            pair("PATH", &format!("{bin}:{link}:{later}:{outside}:/usr/bin"))
        );
    }

    #[test]
    fn a_home_that_is_a_relative_path_counts_as_not_set() {
        let ours = [
            pair("HOME", "."),
            pair("XDG_CONFIG_HOME", "config"),
            pair("CODEX_HOME", "~/x"),
            pair("CLAUDE_CONFIG_DIR", "c"),
            pair("CARGO_HOME", "/home/x/.cargo"),
        ];
        let all = Environment::allowing(ours.clone().map(|(name, _)| name.into_string().unwrap()));
        assert_eq!(
            resolved(&all, ours),
            [pair("CARGO_HOME", "/home/x/.cargo"), pair(GUARD, "1")]
        );
    }
}
