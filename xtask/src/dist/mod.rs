//! `cargo xtask dist` makes a release for the platform of this machine.

mod build;
mod layout;
mod licences;
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

/// Makes the archive and its checksum in `target/dist`.
pub(crate) fn run() -> miette::Result<ExitCode> {
    let root = crate::root()?;
    let platform = Platform::current()?;
    let marketplace = Marketplace::read(&root)?;
    let programs = build::build(&root, platform, &marketplace.programs())?;
    let licences = licences::list(&root, platform, &marketplace.programs())?;

    let folder = crate::target()?.join("dist");
    if folder.exists() {
        fs_err::remove_dir_all(&folder).into_diagnostic()?;
    }
    fs_err::create_dir_all(&folder).into_diagnostic()?;
    // No version in the name, so that the latest archive has one address.
    let name = format!("claudex-loop-{}.tar.gz", platform.target);
    let archive = layout::archive(&root, &marketplace, platform, &programs, licences)?;
    let packed = archive.pack(Compression::best()).into_diagnostic()?;
    let digest: String = Sha256::digest(&packed)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let sums = format!("{digest}  {name}\n");
    fs_err::write(folder.join(name), packed).into_diagnostic()?;
    fs_err::write(folder.join("SHA256SUMS"), &sums).into_diagnostic()?;
    let _ = write!(std::io::stdout(), "{}:\n{sums}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Packs the archive from programs that are already built, and returns its path.
pub(crate) fn quick_archive(
    root: &Path,
    programs: &Path,
    folder: &Path,
) -> miette::Result<PathBuf> {
    let marketplace = Marketplace::read(root)?;
    let platform = Platform::current()?;
    let tree = layout::archive(root, &marketplace, platform, programs, String::new())?;
    let packed = tree.pack(Compression::none()).into_diagnostic()?;
    let file = folder.join("release.tar.gz");
    fs_err::write(&file, packed).into_diagnostic()?;
    Ok(file)
}
