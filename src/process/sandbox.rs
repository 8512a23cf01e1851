//! The work tree made read-only by the system: bubblewrap around a reviewer's program, where it is installed and works.
//!
//! The program sees everything that the person sees, but cannot write below the root of the project (nor into the git folder that a
//! work tree shares), and it has process ids of its own, so that nothing it starts outlives it. This file knows no reviewer.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::Display;

use super::environment::Environment;
use super::limits::Limits;
use super::{Call, ProcessEnd, supervise};
use crate::text;

/// The program.
pub const PROGRAM: &str = "bwrap";
/// How long its trial may take: it does nothing.
const TRIAL: Duration = Duration::from_secs(10);

/// What this system can do.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
pub enum Sandbox {
    /// It works.
    #[display("{program} works")]
    Works {
        /// bubblewrap's program.
        program: Utf8PathBuf,
    },
    /// There is none.
    #[display("bubblewrap (`bwrap`) is not installed")]
    NotInstalled,
    /// It is installed and fails.
    #[display("bubblewrap does not work here: {why}")]
    Fails {
        /// What it said, on one line.
        why: String,
    },
}

/// Tries the program, where it was found, once per process, and remembers.
pub fn probe(found: Option<PathBuf>) -> &'static Sandbox {
    static FOUND: OnceLock<Sandbox> = OnceLock::new();
    FOUND.get_or_init(
        || match found.and_then(|program| Utf8PathBuf::from_path_buf(program).ok()) {
            None => Sandbox::NotInstalled,
            Some(program) => try_out(program),
        },
    )
}

fn try_out(program: Utf8PathBuf) -> Sandbox {
    let root = Utf8Path::new("/");
    let trial = Call {
        program: program.as_str(),
        arguments: &arguments(root, None, "/bin/sh", &["-c".to_owned(), ":".to_owned()]),
        directory: root,
        stdin: b"",
        environment: &Environment::default(),
        limits: Limits {
            timeout: TRIAL,
            idle: TRIAL,
        },
    };
    let ended = supervise(&trial, &mut |_| std::ops::ControlFlow::Continue(()));
    match ended.how {
        ProcessEnd::Exited(0) => Sandbox::Works { program },
        how => {
            let said = text::one_line(&ended.stderr_tail, 200);
            let why = if said.is_empty() {
                format!("{how:?}")
            } else {
                said
            };
            Sandbox::Fails { why }
        }
    }
}

/// bubblewrap's arguments for a program that may not write below `root`. `temporary` is the folder for temporary files, which
/// stays writable wherever it is.
pub(crate) fn arguments(
    root: &Utf8Path,
    temporary: Option<&Utf8Path>,
    program: &str,
    arguments: &[String],
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| all.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["--bind", "/", "/"]);
    add(&["--ro-bind", root.as_str(), root.as_str()]);
    for folder in git_folders(root) {
        add(&["--ro-bind", folder.as_str(), folder.as_str()]);
    }
    // After the root, which may hold them.
    add(&["--dev-bind", "/dev", "/dev", "--proc", "/proc"]);
    if let Some(folder) = temporary.filter(|folder| *folder != root && folder.starts_with(root)) {
        add(&["--bind", folder.as_str(), folder.as_str()]);
    }
    add(&["--unshare-pid", "--die-with-parent", "--new-session"]);
    add(&["--chdir", root.as_str(), "--", program]);
    all.extend_from_slice(arguments);
    all
}

/// Returns the git folders of a linked work tree, which lie outside of it: its own, and the one that it shares.
fn git_folders(root: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(link) = crate::files::read_to_string(&root.join(".git")) else {
        return Vec::new();
    };
    let Some(own) = link
        .strip_prefix("gitdir:")
        .map(|path| root.join(path.trim_end_matches(['\n', '\r']).trim_start()))
    else {
        return Vec::new();
    };
    let shared = crate::files::read_to_string(&own.join("commondir"))
        .map(|path| own.join(path.trim_end_matches(['\n', '\r'])))
        .ok();
    [Some(own), shared]
        .into_iter()
        .flatten()
        .filter_map(|folder| folder.canonicalize_utf8().ok())
        .filter(|folder| folder.is_dir())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::process::environment::find_program;

    #[test]
    fn nothing_is_writable_below_the_root_but_the_temporary_folder() {
        let words = |temporary: &str| {
            arguments(
                Utf8Path::new("/p q"),
                Some(temporary.into()),
                "/x",
                &["-a b".into()],
            )
            .join(" ")
        };
        let plain = "--bind / / --ro-bind /p q /p q --dev-bind /dev /dev --proc /proc --unshare-pid --die-with-parent \
                     --new-session --chdir /p q -- /x -a b";
        assert_eq!(words("/tmp"), plain);
        assert_eq!(words("/p q"), plain, "the root itself stays read-only");
        assert!(words("/p q/tmp").contains("--proc /proc --bind /p q/tmp /p q/tmp --unshare-pid"));
    }

    #[test]
    fn the_git_folder_that_a_work_tree_shares_is_read_only_too() {
        let folder = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(folder.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        let own = top.join("main/.git/worktrees/w");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("commondir"), "../..\n").unwrap();
        std::fs::create_dir(top.join("w")).unwrap();
        std::fs::write(top.join("w/.git"), format!("gitdir: {own}\n")).unwrap();
        assert_eq!(git_folders(&top.join("w")), [own, top.join("main/.git")]);
        assert!(
            git_folders(&top.join("main")).is_empty(),
            "a usual one lies below the root"
        );
        std::fs::write(top.join("w/.git"), "gitdir: /nowhere\n").unwrap();
        assert!(git_folders(&top.join("w")).is_empty());
    }

    #[test]
    fn what_the_trial_says_holds() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        let path = std::env::var_os("PATH");
        let found = probe(find_program(PROGRAM, path.as_deref(), &root));
        let Sandbox::Works { program } = found else {
            assert!(
                found.to_string().contains("bubblewrap"),
                "it says what is missing: {found}"
            );
            return;
        };
        let script = ["-c", "echo x > inside; echo x > \"$0\"; exit 7"].map(str::to_owned);
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("outside");
        let all = [&script[..], &[file.to_str().unwrap().to_owned()]].concat();
        let call = Call {
            program: program.as_str(),
            arguments: &arguments(&root, None, "/bin/sh", &all),
            directory: &root,
            stdin: b"",
            environment: &Environment::default(),
            limits: Limits::default(),
        };
        let ended = supervise(&call, &mut |_| ControlFlow::Continue(()));
        assert!(matches!(ended.how, ProcessEnd::Exited(7)), "{ended:?}");
        assert!(!root.join("inside").exists() && file.exists(), "{ended:?}");
    }
}
