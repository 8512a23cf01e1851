//! The licences of the crates that are linked into the programs, with the texts in their packages.
//! `.ci/run` lists the accepted licences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use miette::{IntoDiagnostic as _, miette};
use serde_json::Value;

use super::platform::Platform;
use crate::cargo;

const HEAD: &str = "\
The programs of this release contain the crates below, each under the licence that is named with
it. On Linux they also contain the GNU C Library (LGPL-2.1-or-later,
https://www.gnu.org/software/libc/); `cargo xtask dist` in the sources of this version links them
with another one.
";

/// The beginnings of the names of files with a licence.
const FILES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// Returns the text of THIRD-PARTY.txt.
pub(super) fn list(root: &Path, platform: Platform, programs: &[String]) -> miette::Result<String> {
    let metadata = run(root, &["metadata", "--format-version=1"])?;
    let metadata: Value = serde_json::from_str(&metadata).into_diagnostic()?;
    let mut tree = vec!["tree", "--edges=normal,no-proc-macro", "--prefix=none"];
    tree.extend(["--format={p}", "--target", platform.target]);
    tree.extend(programs.iter().flat_map(|name| ["--package", name]));
    let tree = run(root, &tree)?;
    let linked: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();

    let mut text = HEAD.to_owned();
    let mut users_by_licence: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let key = |key: &str| package[key].as_str();
        let user = [key("name"), key("version")].map(Option::unwrap_or_default);
        if key("source").is_none() || !linked.contains(&*user.join(" v")) {
            continue;
        }
        let user = user.join(" ");
        let licence = key("license").unwrap_or("see its text below");
        let repository = key("repository").unwrap_or_default();
        text.push_str(&format!("\n{user}: {licence} {repository}"));
        for licence in read_licences(Path::new(key("manifest_path").unwrap_or_default()))? {
            let users = users_by_licence.entry(licence).or_default();
            users.push(user.clone());
        }
    }
    let line = "-".repeat(80);
    for (licence, users) in users_by_licence {
        text.push_str(&format!("\n\n{line}\n{}\n\n{licence}", users.join(", ")));
    }
    Ok(text + "\n")
}

/// Reads the licences beside a manifest.
fn read_licences(manifest: &Path) -> miette::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs_err::read_dir(manifest.parent().unwrap_or(manifest)).into_diagnostic()? {
        let entry = entry.into_diagnostic()?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if FILES.iter().any(|begin| name.starts_with(begin)) && entry.path().is_file() {
            let bytes = fs_err::read(entry.path()).into_diagnostic()?;
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            texts.push(text.trim().to_owned());
        }
    }
    Ok(texts)
}

/// Runs cargo and returns its output.
fn run(root: &Path, arguments: &[&str]) -> miette::Result<String> {
    let mut command = cargo();
    command.args(arguments).arg("--locked").current_dir(root);
    let output = command.output().into_diagnostic()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(miette!("cargo {}: {message}", arguments.join(" ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
