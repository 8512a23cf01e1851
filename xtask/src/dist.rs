//! The release: a marketplace whose plugins contain their programs, and the programs alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use fs_err as fs;
use miette::IntoDiagnostic as _;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{cargo, output};

/// The plugins of a release, each with the program that its launcher looks for.
const PLUGINS: [(&str, &str); 3] = [
    ("plugin", "claudex-loop"),
    ("taskie/plugin", "taskie"),
    ("stages/plugin", "stages"),
];

const LIST: &str = ".claude-plugin/marketplace.json";

/// The other files of the repository, with their names in the archive.
const FILES: [(&str, &str); 4] = [
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("docs/install.md", "README.md"),
];

const TAR: &str = if cfg!(target_os = "macos") {
    "gtar"
} else {
    "tar"
};

const LICENCES_HEAD: &str = "\
The programs of this release contain the crates below, each under the licence that is named with
it. On Linux they also contain the GNU C Library (LGPL-2.1-or-later,
https://www.gnu.org/software/libc/); `cargo xtask dist` in the sources of this version links them
with another one.
";

const LICENCE_FILES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// Makes the archive and its checksum in `target/dist`, for the platform of this machine.
pub(crate) fn run() -> miette::Result<ExitCode> {
    let root = crate::root()?;
    let target = output(Command::new("rustc").args(["--print", "host-tuple"]))?
        .trim()
        .to_owned();
    let programs = build(&root, &target)?;
    let licences = licences(&root, &target)?;

    let folder = crate::target()?.join("dist");
    if folder.exists() {
        fs::remove_dir_all(&folder).into_diagnostic()?;
    }
    fs::create_dir_all(&folder).into_diagnostic()?;
    // No version in the name, so that the latest archive has one address.
    let name = format!("claudex-loop-{target}.tar.gz");
    let archive = folder.join(&name);
    pack(&root, &programs, &licences, "gzip -9n", &archive)?;
    let digest = Sha256::digest(fs::read(archive).into_diagnostic()?);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let sums = format!("{digits}  {name}\n");
    fs::write(folder.join("SHA256SUMS"), &sums).into_diagnostic()?;
    let _ = write!(std::io::stdout(), "{}:\n{sums}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the programs, static on Linux and without local paths, and returns their folder.
fn build(root: &Path, target: &str) -> miette::Result<PathBuf> {
    let folder = crate::target()?;
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let root_prefix = root.display();
    let mut flags = vec![format!("--remap-path-prefix={root_prefix}=claudex-loop")];
    flags.extend(home.map(|home| format!("--remap-path-prefix={home}=cargo")));
    if cfg!(target_os = "linux") {
        // A program at a fixed address: any other one relocates 240 KiB of its pages at each
        // start, which is a fifth of a hook's time.
        flags.push("-Ctarget-feature=+crt-static".to_owned());
        flags.push("-Crelocation-model=static".to_owned());
    }
    // With `--target`, cargo keeps these flags away from build scripts and macros.
    let mut build = cargo();
    build
        .args(["build", "--locked", "--release", "--bins"])
        .args(["--target", target])
        .args(packages())
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env("CARGO_TARGET_DIR", &folder)
        .env("CLAUDEX_RELEASE", "1")
        .current_dir(root)
        .stderr(Stdio::inherit());
    output(&mut build)?;
    Ok(folder.join(target).join("release"))
}

fn packages() -> impl Iterator<Item = &'static str> {
    PLUGINS
        .iter()
        .flat_map(|(_, program)| ["--package", *program])
}

/// Packs programs that are already built.
pub(crate) fn pack(
    root: &Path,
    programs: &Path,
    licences: &str,
    compressor: &str,
    archive: &Path,
) -> miette::Result<()> {
    let stage = tempfile::tempdir().into_diagnostic()?;
    // No version in the name: the client knows a marketplace by its path.
    let top = stage.path().join("claudex-loop");
    for folder in ["bin", ".claude-plugin", "taskie", "stages"] {
        fs::create_dir_all(top.join(folder)).into_diagnostic()?;
    }
    for (file, name) in FILES {
        fs::copy(root.join(file), top.join(name)).into_diagnostic()?;
    }
    fs::write(top.join("THIRD-PARTY.txt"), licences).into_diagnostic()?;
    let list = fs::read(root.join(LIST)).into_diagnostic()?;
    let mut list: Value = serde_json::from_slice(&list).into_diagnostic()?;
    let is_released = |plugin: &Value| {
        let source = plugin["source"].as_str().unwrap_or_default();
        !source.starts_with("./examples/")
    };
    if let Some(plugins) = list["plugins"].as_array_mut() {
        plugins.retain(is_released);
    }
    fs::write(top.join(LIST), format!("{list:#}\n")).into_diagnostic()?;

    // The launcher of a plugin looks for the program in a folder with this name.
    let machine = output(Command::new("uname").arg("-sm"))?
        .trim()
        .replace(' ', "-");
    for (plugin, program) in PLUGINS {
        let mut copy = Command::new("cp");
        copy.arg("-R").arg(root.join(plugin)).arg(top.join(plugin));
        output(&mut copy)?;
        let folder = top.join(plugin).join("bin").join(&machine);
        let copied = top.join("bin").join(program);
        fs::create_dir(&folder).into_diagnostic()?;
        fs::copy(programs.join(program), &copied).into_diagnostic()?;
        fs::hard_link(copied, folder.join(program)).into_diagnostic()?;
    }
    // The same files make the same archive.
    let mut tar = Command::new(TAR);
    tar.args(["--sort=name", "--mtime=@946684800", "--mode=u=rwX,go=rX"])
        .args(["--owner=0", "--group=0", "--numeric-owner"])
        .args(["--use-compress-program", compressor, "--create", "--file"])
        .arg(archive)
        .arg("--directory")
        .args([stage.path(), Path::new("claudex-loop")]);
    output(&mut tar).map(drop)
}

/// A package, as `cargo metadata` prints it.
#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    manifest_path: PathBuf,
}

/// Returns the licences of the crates that are linked into the programs, with the texts in their
/// packages. `.ci/run` lists the accepted licences.
fn licences(root: &Path, target: &str) -> miette::Result<String> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let mut metadata = cargo();
    metadata.args(["metadata", "--locked", "--format-version=1"]);
    let metadata = output(metadata.current_dir(root))?;
    let metadata: Metadata = serde_json::from_str(&metadata).into_diagnostic()?;
    let mut tree = cargo();
    tree.args(["tree", "--locked", "--edges=normal,no-proc-macro"])
        .args(["--prefix=none", "--format={p}", "--target", target])
        .args(packages());
    let tree = output(tree.current_dir(root))?;
    let linked: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();

    let mut text = LICENCES_HEAD.to_owned();
    let mut users_by_licence: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in metadata.packages {
        let Package { name, version, .. } = &package;
        if package.source.is_none() || !linked.contains(&*format!("{name} v{version}")) {
            continue;
        }
        let licence = package.license.as_deref().unwrap_or("see its text below");
        let repository = package.repository.as_deref().unwrap_or_default();
        text += &format!("\n{name} {version}: {licence} {repository}");
        for entry in fs::read_dir(package.manifest_path.with_file_name("")).into_diagnostic()? {
            let entry = entry.into_diagnostic()?;
            let file = entry.file_name().to_string_lossy().to_uppercase();
            if LICENCE_FILES.iter().any(|begin| file.starts_with(begin)) && entry.path().is_file() {
                let bytes = fs::read(entry.path()).into_diagnostic()?;
                let licence = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
                let users = users_by_licence.entry(licence.trim().to_owned());
                users.or_default().push(format!("{name} {version}"));
            }
        }
    }
    let line = "-".repeat(80);
    for (licence, users) in users_by_licence {
        text += &format!("\n\n{line}\n{}\n\n{licence}", users.join(", "));
    }
    Ok(text + "\n")
}
