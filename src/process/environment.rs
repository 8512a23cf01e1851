//! What a reviewer's process may see of our environment, and which file its program's name means.
//!
//! Pure but for looking at files: nothing is started here, and the caller's environment is passed in.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Set in every reviewer's process: a hook of ours that finds it does nothing. It holds the mark of the run, by which a
/// process that got away is found again, or `1`.
pub const GUARD: &str = "CLAUDEX_REVIEWER_CHILD";

/// What any program needs to start, speak the person's language and find its own files. `LC_*` comes on top.
const ALWAYS: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];

/// The variables that a reviewer's process gets: a short fixed list, the names given here, and [`GUARD`].
///
/// Keys of other services and the client's own variables stay out unless a person's configuration names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    names: Vec<String>,
    mark: Option<String>,
    fixed: Vec<(String, String)>,
    pinned: Vec<(String, Option<String>)>,
}

impl Environment {
    /// The fixed list and these names, each exact.
    pub fn allowing<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
            mark: None,
            fixed: Vec::new(),
            pinned: Vec::new(),
        }
    }

    /// The same and these names.
    #[must_use]
    pub fn and<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// The same for a run, whose mark [`GUARD`] then holds. A mark is not empty and no other run has it.
    #[must_use]
    pub fn of_run(mut self, mark: &str) -> Self {
        self.mark = Some(mark.to_owned()).filter(|mark| !mark.is_empty());
        self
    }

    /// The mark of the run that this is for.
    pub fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// The same with one variable that has this value, whatever ours is. [`GUARD`] stays as it is.
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
    pub fn pinning(mut self, variables: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        self.pinned.extend(variables);
        self
    }

    /// The variables for the child, out of ours.
    pub fn resolve(&self, ours: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let allowed = |name: &OsStr| {
            name.to_str().is_some_and(|name| {
                name != GUARD
                    && self.fixed.iter().all(|(fixed, _)| fixed != name)
                    && (ALWAYS.contains(&name)
                        || name.starts_with("LC_")
                        || self.names.iter().any(|allowed| allowed == name))
            })
        };
        let is_pinned = |name: &OsStr| self.pinned.iter().any(|(pinned, _)| name == pinned.as_str());
        let pinned = self.pinned.iter().filter_map(|(name, value)| {
            let value: OsString = value.as_ref()?.into();
            Some((name.into(), value))
        });
        let ours = ours
            .into_iter()
            .filter(|(name, _)| !is_pinned(name))
            .chain(pinned);
        let mut variables: Vec<_> = ours.filter(|(name, _)| allowed(name)).collect();
        let fixed = self.fixed.iter().filter(|(name, _)| name != GUARD);
        variables.extend(fixed.map(|(name, value)| (name.into(), value.into())));
        let mark = self.mark.as_deref().unwrap_or("1");
        variables.push((GUARD.into(), mark.into()));
        variables
    }
}

/// The executable file that a program's name means: an absolute path as it is, a bare name by the absolute folders of
/// `path`.
///
/// Relative folders in `path` and relative names are not followed: they would mean a file of the repository that is
/// being reviewed, and a repository must not choose what we run.
pub fn find_program(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        let file = Path::new(name);
        return (file.is_absolute() && is_executable(file)).then(|| file.to_owned());
    }
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

/// Whether it is a file (links followed) that someone may execute.
fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Environment::allowing(["OPENAI_API_KEY", GUARD]).resolve(ours),
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
        let run = Environment::default().and(["KEY"]).of_run("20261122-1/r1-ab");
        assert_eq!(
            run.resolve(ours()),
            [pair("KEY", "k"), pair(GUARD, "20261122-1/r1-ab")]
        );
        assert_eq!(run.mark(), Some("20261122-1/r1-ab"));
        let none = Environment::default().of_run("");
        assert_eq!(
            none.resolve(ours()),
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
            environment.resolve(ours),
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
            environment.resolve(ours),
            [pair("LANG", "C"), pair("PATH", "/usr/bin"), pair(GUARD, "1")]
        );
    }

    #[test]
    fn a_name_is_looked_up_in_absolute_folders_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("reviewer with 'quotes'");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let name = "reviewer with 'quotes'";
        assert_eq!(
            find_program(name, Some(folder.path().as_os_str())),
            None,
            "not executable"
        );

        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(
            find_program(name, Some(folder.path().as_os_str())),
            Some(file.clone())
        );
        assert_eq!(find_program(file.to_str().unwrap(), None), Some(file));
        assert_eq!(find_program("./src", Some(OsStr::new("/bin"))), None);
        assert_eq!(find_program("sh", Some(OsStr::new(".:bin:"))), None);
        assert!(find_program("sh", Some(OsStr::new(".:/usr/bin:/bin"))).is_some());
        assert_eq!(find_program("", Some(OsStr::new("/bin"))), None);
        assert_eq!(find_program("/bin", None), None, "a folder is no program");
        assert_eq!(find_program("sh", None), None);
    }
}
