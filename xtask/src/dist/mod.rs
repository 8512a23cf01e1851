//! `cargo xtask dist`: what a release consists of, for the machine that this runs on, all with the workspace's version.
//!
//! One subject per file, in the order in which a release is made: `platform` (what a machine is called), `build` (the programs), `licences`
//! (of the crates in them), `layout` (the files of the archive, which is a marketplace of plugins), `npm` (the packages), `tree`
//! (files on their way into an archive).

mod build;
mod layout;
mod licences;
mod npm;
mod platform;
mod tree;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flate2::Compression;
use miette::IntoDiagnostic as _;
use sha2::{Digest as _, Sha256};

use layout::Marketplace;
use platform::Platform;

/// The version of all of it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes the release in `target/dist`: the archive, the npm packages, and their checksums.
///
/// # Errors
/// No release is made for this machine, the programs do not build, or a file cannot be written.
pub(crate) fn run() -> miette::Result<ExitCode> {
    let root = crate::root()?;
    let platform = Platform::here()?;
    let marketplace = Marketplace::read(&root)?;
    let programs = build::programs(&root, platform, &marketplace.programs())?;
    let licences = licences::of_linked_crates(&root, platform, &marketplace.programs())?;

    let folder = crate::target()?.join("dist");
    if folder.exists() {
        fs_err::remove_dir_all(&folder).into_diagnostic()?;
    }
    fs_err::create_dir_all(&folder).into_diagnostic()?;
    let archive = layout::archive(&root, &marketplace, platform, &programs, licences.clone())?;
    let packages = npm::packages(&root, &marketplace, platform, &programs, licences)?;
    // No version in it, so that there is an address of the latest one.
    let name = format!("claudex-loop-{}.tar.gz", platform.target);
    let mut sums = String::new();
    for (name, tree) in std::iter::once((name, archive)).chain(packages) {
        let packed = tree.packed(Compression::best())?;
        let digest: String = Sha256::digest(&packed)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        sums.push_str(&format!("{digest}  {name}\n"));
        fs_err::write(folder.join(name), packed).into_diagnostic()?;
    }
    fs_err::write(folder.join("SHA256SUMS"), &sums).into_diagnostic()?;
    // A closed stdout is no reason to fail: the files are there.
    let _ = write!(std::io::stdout(), "{}:\n{sums}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Packs the release's archive from programs that were built already, as quickly as can be. Returns its path.
///
/// # Errors
/// As for a release.
pub(crate) fn quick_archive(
    root: &Path,
    programs: &Path,
    folder: &Path,
) -> miette::Result<PathBuf> {
    let marketplace = Marketplace::read(root)?;
    let tree = layout::archive(
        root,
        &marketplace,
        Platform::here()?,
        programs,
        String::new(),
    )?;
    let file = folder.join("release.tar.gz");
    fs_err::write(&file, tree.packed(Compression::fast())?).into_diagnostic()?;
    Ok(file)
}
