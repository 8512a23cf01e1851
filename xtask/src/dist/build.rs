//! The programs of a release: built for size and speed, static where the system allows it, and without a path of this machine in them.

use std::path::{Path, PathBuf};
use std::process::Command;

use miette::{Context as _, IntoDiagnostic as _, miette};

use super::platform::Platform;

/// Builds them, and returns the folder that they are in.
pub(super) fn programs(
    root: &Path,
    platform: Platform,
    names: &[String],
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
        // At a fixed address, as Go's programs are: one that may lie anywhere writes 240 KiB of its own pages anew at each start, which
        // is a fifth of what a hook takes.
        let of_code = ["target-feature=+crt-static", "relocation-model=static"];
        flags.extend(
            of_code
                .iter()
                .flat_map(|one| ["-C".to_owned(), (*one).to_owned()]),
        );
    }
    let status = cargo()
        // With a target of its own, cargo keeps these flags away from build scripts and macros, which cannot be static.
        .args([
            "build",
            "--locked",
            "--release",
            "--bins",
            "--target",
            platform.target,
        ])
        .args(names.iter().flat_map(|name| ["--package", name]))
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env("CARGO_TARGET_DIR", &target)
        .env("CLAUDEX_RELEASE", "1")
        .current_dir(root)
        .status()
        .into_diagnostic()
        .wrap_err("cannot run cargo")?;
    if !status.success() {
        return Err(miette!("{} do not build", names.join(", ")));
    }
    Ok(target.join(platform.target).join("release"))
}

/// Returns the cargo that runs this.
pub(super) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
