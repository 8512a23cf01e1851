//! An idle stop, as the client waits for it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::pair::{Measure, Row, ratio};

/// The number of stops that are measured as one.
const STOP_COUNT: usize = 20;

pub(crate) fn rows() -> Vec<Measure> {
    vec![("an idle stop, through the plugin", Box::new(idle))]
}

/// Returns the program that was built with this one.
pub(crate) fn program() -> PathBuf {
    let bench = std::env::current_exe().expect("a path");
    bench.with_file_name("claudex-loop")
}

/// Unpacks the release, whose plugin contains the program. An unpacked file is read differently
/// from one that a linker has just written.
fn release() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = program();
    let target = program
        .ancestors()
        .nth(3)
        .expect("target/TRIPLE/release/claudex-loop");
    let mut archives = std::fs::read_dir(target.join("dist"))
        .expect("it was made: cargo xtask dist")
        .flatten();
    let archive = archives
        .find(|one| one.file_name().to_string_lossy().ends_with(".tar.gz"))
        .expect("an archive");
    let mut tar = Command::new("tar");
    tar.arg("-xzf")
        .arg(archive.path())
        .arg("-C")
        .arg(folder.path());
    assert!(tar.status().expect("tar is installed").success());
    folder
}

fn event(root: &Path) -> String {
    format!(r#"{{"session_id":"bench","cwd":{root:?},"hook_event_name":"Stop"}}"#)
}

/// Runs a hook as the client does.
pub(crate) fn hook(root: &Path, command: &mut Command) {
    let mut child = command
        .env_clear()
        .current_dir(root)
        .env("HOME", root)
        .env(
            "PATH",
            program().parent().expect("a program is in a folder"),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it was built: cargo build --release");
    // A program that answers without reading has ended by now.
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let _ = stdin.write_all(event(root).as_bytes());
    drop(stdin);
    assert!(child.wait().expect("the child is ours").success());
}

pub(crate) fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let git = Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder.path())
        .status();
    assert!(git.expect("git is installed").success());
    folder
}

fn idle() -> Row {
    let project = project();
    let minimal = r#"answer=$(/bin/echo '{"decision":"approve"}'); printf '%s\n' "$answer""#;
    let release = release();
    let script = release
        .path()
        .join("claudex-loop/plugin/hooks/stop-hook.sh");
    let times = |command: &dyn Fn() -> Command| {
        (0..STOP_COUNT).for_each(|_| hook(project.path(), &mut command()))
    };
    let ours = || times(&|| Command::new(&script));
    let theirs = || {
        times(&|| {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", minimal]);
            shell
        });
    };
    Row {
        beside: "a shell that prints a program's answer".to_owned(),
        ratio: ratio(ours, theirs),
        most: 1.5,
    }
}
