//! The files of a release's archive: a marketplace whose plugins bring their programs along, and the programs by themselves.
//!
//! The folder has no version in its name: it is unpacked over the one before, and the client, which knows the marketplace by its path,
//! goes on with it.

use std::path::Path;

use miette::{IntoDiagnostic as _, miette};
use serde_json::Value;

use super::platform::Platform;
use super::tree::Tree;

/// The marketplace, without what is only an example.
#[derive(Debug)]
pub(super) struct Marketplace {
    listed: Value,
    plugins: Vec<Plugin>,
}

/// A plugin of the marketplace.
#[derive(Debug)]
struct Plugin {
    /// Its folder in the repository, and in the archive.
    folder: String,
    /// The program that its launcher looks for.
    program: String,
}

/// Where the marketplace stands.
const LIST: &str = ".claude-plugin/marketplace.json";

impl Marketplace {
    /// Reads it.
    ///
    /// # Errors
    /// It lists a plugin that is not a folder of the repository with one launcher.
    pub(super) fn read(root: &Path) -> miette::Result<Self> {
        let text = fs_err::read_to_string(root.join(LIST)).into_diagnostic()?;
        let mut listed: Value = serde_json::from_str(&text).into_diagnostic()?;
        let source = |plugin: &Value| {
            Some(
                plugin
                    .get("source")?
                    .as_str()?
                    .strip_prefix("./")?
                    .to_owned(),
            )
        };
        let plugins = listed.get_mut("plugins").and_then(Value::as_array_mut);
        let plugins = plugins.ok_or_else(|| miette!("{LIST} has no list `plugins`"))?;
        plugins
            .retain(|plugin| source(plugin).is_some_and(|source| !source.starts_with("examples/")));
        let plugins = plugins
            .iter()
            .filter_map(source)
            .map(|folder| {
                let program = launcher(&root.join(&folder).join("bin"))?;
                Ok(Plugin { folder, program })
            })
            .collect::<miette::Result<_>>()?;
        Ok(Self { listed, plugins })
    }

    /// Returns the names of the programs, which are those of their packages.
    pub(super) fn programs(&self) -> Vec<String> {
        self.plugins
            .iter()
            .map(|plugin| plugin.program.clone())
            .collect()
    }

    /// Puts its list and its plugins, as they are in the repository, into a tree.
    pub(super) fn put(&self, root: &Path, tree: &mut Tree) -> miette::Result<()> {
        tree.text(LIST, format!("{:#}\n", self.listed));
        for plugin in &self.plugins {
            tree.copy(&root.join(&plugin.folder), &plugin.folder)?;
        }
        for file in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            tree.copy(&root.join(file), file)?;
        }
        Ok(())
    }
}

/// Returns the name of the one file in a plugin's `bin/`.
fn launcher(bin: &Path) -> miette::Result<String> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(bin).into_diagnostic()? {
        let entry = entry.into_diagnostic()?;
        if entry.file_type().into_diagnostic()?.is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    match names.as_slice() {
        [name] => Ok(name.clone()),
        _ => Err(miette!(
            "{} should hold one launcher: {names:?}",
            bin.display()
        )),
    }
}

/// Returns the archive's files: `programs` is the folder that they were built in.
pub(super) fn archive(
    root: &Path,
    marketplace: &Marketplace,
    platform: Platform,
    programs: &Path,
    licences: String,
) -> miette::Result<Tree> {
    let mut tree = Tree::new("claudex-loop");
    marketplace.put(root, &mut tree)?;
    tree.copy(&root.join("docs/install.md"), "README.md")?;
    tree.text("THIRD-PARTY.txt", licences);
    for Plugin { folder, program } in &marketplace.plugins {
        let path = format!("bin/{program}");
        tree.copy(&programs.join(program), &path)?;
        tree.same(&format!("{folder}/bin/{}/{program}", platform.uname), &path);
    }
    Ok(tree)
}
