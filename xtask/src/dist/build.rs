//! Builds the programs of a release: static if the system allows it, and without a path of this
//! machine in them.

use std::path::{Path, PathBuf};

use miette::{Context as _, IntoDiagnostic as _, miette};

use super::platform::Platform;
use crate::cargo;

/// Builds the programs and returns their folder.
pub(super) fn build(
    root: &Path,
    platform: Platform,
    programs: &[String],
) -> miette::Result<PathBuf> {
    let target = crate::target()?;
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let mut flags = vec![format!(
        "--remap-path-prefix={}=claudex-loop",
        root.display()
    )];
    flags.extend(home.map(|home| format!("--remap-path-prefix={home}=cargo")));
    if platform.is_static() {
        // A program at a fixed address: any other one relocates 240 KiB of its own pages at each
        // start, which is a fifth of a hook's time.
        for flag in ["target-feature=+crt-static", "relocation-model=static"] {
            flags.extend(["-C".to_owned(), flag.to_owned()]);
        }
    }
    // With `--target`, cargo keeps these flags away from build scripts and macros.
    let status = cargo()
        .args(["build", "--locked", "--release", "--bins"])
        .args(["--target", platform.target])
        .args(programs.iter().flat_map(|name| ["--package", name]))
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env("CARGO_TARGET_DIR", &target)
        .env("CLAUDEX_RELEASE", "1")
        .current_dir(root)
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !status.success() {
        return Err(miette!("{} do not build", programs.join(", ")));
    }
    Ok(target.join(platform.target).join("release"))
}
