//! Our crates as a registry would get them: packed by `cargo package` and unpacked.
//!
//! Everything that is packed is checked here. That it builds is shown by other tests: `approving` builds our program from it, and
//! `own_loop` a stranger's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::stranger::{cargo, one_at_a_time, ours};
use crate::support::target;

/// The folders that our crates were unpacked into.
pub(crate) struct Packages {
    /// claudex-loop.
    pub(crate) runtime: PathBuf,
    /// claudex-build.
    pub(crate) build: PathBuf,
    /// claudex-loop-engine.
    pub(crate) engine: PathBuf,
    /// claudex-lint.
    pub(crate) lint: PathBuf,
    /// claudex-testkit.
    pub(crate) testkit: PathBuf,
}

/// Packs and unpacks them, once in a test program.
pub(crate) fn packages() -> &'static Packages {
    static PACKED: OnceLock<Packages> = OnceLock::new();
    PACKED.get_or_init(|| {
        let _lock = one_at_a_time();
        // One alone fails as long as the other is in no registry.
        let packed = cargo(&ours())
            .args([
                "package",
                "-p",
                "claudex-build",
                "-p",
                "claudex-lint",
                "-p",
                "claudex-loop-engine",
                "-p",
                "claudex-loop",
                "-p",
                "claudex-testkit",
            ])
            .args(["--allow-dirty", "--offline", "--no-verify"])
            .output()
            .unwrap();
        assert!(
            packed.status.success(),
            "{}",
            String::from_utf8_lossy(&packed.stderr)
        );
        Packages {
            runtime: unpacked("claudex-loop"),
            build: unpacked("claudex-build"),
            engine: unpacked("claudex-loop-engine"),
            lint: unpacked("claudex-lint"),
            testkit: unpacked("claudex-testkit"),
        }
    })
}

/// Returns the folder with what was packed of a crate.
///
/// The files get the time at which they are unpacked, since cargo tells by it what to build again. Where nothing else was
/// packed than the last time, they stay.
fn unpacked(name: &str) -> PathBuf {
    let folder = target().join(format!("package/{name}-{}", env!("CARGO_PKG_VERSION")));
    let (archive, last) = (with_end(&folder, "crate"), with_end(&folder, "last"));
    if fs::read(&last).ok() != fs::read(&archive).ok() {
        let _ = fs::remove_dir_all(&folder);
        let unpacked = Command::new("tar")
            .args(["-x", "-m", "-z", "-f"])
            .arg(&archive)
            .current_dir(folder.parent().unwrap())
            .status();
        assert!(unpacked.unwrap().success());
        fs::copy(&archive, &last).unwrap();
    }
    folder
}

/// Returns the path of a file beside a folder that is named after it.
fn with_end(folder: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}.{end}", folder.display()))
}

/// The files below a folder, by their paths from there.
pub(crate) fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let path = entry.path();
                found.insert(
                    path.strip_prefix(folder)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found
}

/// The files of the repository that git knows or would take, from `folder`.
pub(crate) fn sources(folder: &Path) -> BTreeSet<String> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let listed = String::from_utf8(listed.stdout).unwrap();
    let there = listed
        .split('\0')
        .filter(|name| folder.join(name).is_file());
    there.map(str::to_owned).collect()
}

/// What `cargo package` adds by itself.
const ADDED: [&str; 4] = [
    ".cargo-ok",
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml.orig",
];

/// Without what cargo adds; that depends on whether it packs a git work tree.
fn packed(folder: &Path) -> BTreeSet<String> {
    let mut files = files(folder);
    files.retain(|name| !ADDED.contains(&name.as_str()));
    files
}

#[test]
fn the_runtime_holds_what_it_is_built_from_and_what_people_read_and_nothing_else() {
    // A crate below ours is a crate of its own: the example is in the repository, not in the package.
    let nested = |name: &String| {
        let folders = Path::new(name).ancestors().skip(1);
        folders
            .filter(|folder| *folder != Path::new(""))
            .any(|folder| ours().join(folder).join("Cargo.toml").is_file())
    };
    let folders = ["src/", "plugin/", "examples/", "docs/"];
    let alone = [
        "Cargo.toml",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "build.rs",
        "machine.toml",
    ];
    let expected: BTreeSet<String> = sources(&ours())
        .into_iter()
        .filter(|name| {
            alone.contains(&name.as_str()) || folders.iter().any(|folder| name.starts_with(folder))
        })
        .filter(|name| !nested(name))
        .collect();
    assert_eq!(packed(&packages().runtime), expected);
    for name in [
        "machine.toml",
        "src/plan/messages/round.md",
        "plugin/.claude-plugin/plugin.json",
        "plugin/hooks/hooks.json",
    ] {
        assert!(expected.contains(name), "{name}");
    }
}

#[test]
fn the_crates_below_hold_their_sources_and_their_licences() {
    let packages = packages();
    for (folder, unpacked) in [
        ("codegen", &packages.build),
        ("engine", &packages.engine),
        ("lint", &packages.lint),
        ("testkit", &packages.testkit),
    ] {
        let folder = ours().join(folder);
        let alone = ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"];
        let expected: BTreeSet<String> = sources(&folder)
            .into_iter()
            .filter(|name| alone.contains(&name.as_str()) || name.starts_with("src/"))
            .collect();
        assert_eq!(packed(unpacked), expected);
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert_eq!(
                fs::read(folder.join(licence)).unwrap(),
                fs::read(ours().join(licence)).unwrap()
            );
        }
    }
}

#[test]
fn what_is_packed_is_small_and_scripts_stay_programs() {
    let packages = packages();
    let all = [
        &packages.runtime,
        &packages.build,
        &packages.engine,
        &packages.lint,
        &packages.testkit,
    ];
    for folder in all {
        let archive = with_end(folder, "crate");
        let packed = fs::metadata(&archive).unwrap().len();
        assert!(packed < 1 << 20, "{} has {packed} bytes", archive.display());
        for name in files(folder) {
            let size = fs::metadata(folder.join(&name)).unwrap().len();
            assert!(size < 256 << 10, "{name} has {size} bytes");
        }
    }
    for script in ["plugin/hooks/stop-hook.sh", "plugin/bin/claudex-loop"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |folder: &Path| {
            fs::metadata(folder.join(script))
                .unwrap()
                .permissions()
                .mode()
                & 0o111
                != 0
        };
        assert_eq!(mode(&packages.runtime), mode(&ours()), "{script}");
    }
}
