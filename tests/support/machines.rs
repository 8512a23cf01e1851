//! Every machine of the workspace and of the tests, and a crate with the code of all of them.
//!
//! A new member's machine.toml is found by itself.

use std::path::{Path, PathBuf};

use claudex_build::model::{FieldKind, Machine};

use super::support::Crate;

/// A machine file.
pub(crate) struct MachineFile {
    /// The module of its code in the crate: `m0`, `m1`, ….
    pub(crate) module: String,
    /// The path of the file, from the workspace's root.
    pub(crate) place: String,
    pub(crate) source: String,
    pub(crate) machine: Machine,
}

impl MachineFile {
    /// Returns the machine file's name in the crate, and so in the compiler's messages.
    pub(crate) fn file(&self) -> String {
        format!("{}/machine.toml", self.module)
    }
}

/// Returns every machine: of the root, of the workspace's other members, and of tests.
pub(crate) fn all() -> Vec<MachineFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![PathBuf::new()];
    folders.extend(members(root));
    folders.push("codegen/tests/snapshot".into());
    folders.extend(subfolders(root, Path::new("tests/machines")));
    let files = folders
        .into_iter()
        .map(|folder| folder.join("machine.toml"));
    let there = files
        .filter(|file| root.join(file).is_file())
        .collect::<Vec<_>>();
    assert!(
        there.len() > 2 && there[0] == Path::new("machine.toml"),
        "the search is broken: {there:?}"
    );
    let files = there.into_iter().enumerate();
    files
        .map(|(at, file)| {
            let source = std::fs::read_to_string(root.join(&file)).unwrap();
            found_machine(file.to_str().unwrap(), at, source)
        })
        .collect()
}

/// Returns a machine by its text, as the module of this number.
fn found_machine(place: &str, at: usize, source: String) -> MachineFile {
    let machine =
        claudex_build::check_source(place, &source).unwrap_or_else(|found| panic!("{found}"));
    MachineFile {
        module: format!("m{at}"),
        place: place.to_owned(),
        source,
        machine,
    }
}

/// Returns the folders of the workspace's members, `folder/*` resolved.
fn members(root: &Path) -> Vec<PathBuf> {
    let manifest: toml::Table = std::fs::read_to_string(root.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap().iter();
    members
        .map(|member| member.as_str().unwrap())
        .flat_map(|member| match member.strip_suffix("/*") {
            Some(folder) => subfolders(root, Path::new(folder)),
            None => vec![member.into()],
        })
        .collect()
}

fn subfolders(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root.join(folder)).unwrap();
    let mut folders: Vec<_> = entries
        .map(|entry| folder.join(entry.unwrap().file_name()))
        .collect();
    folders.sort();
    folders
}

/// Returns a crate that compiles every machine into a module of its `src/machines.rs`.
pub(crate) fn crate_of(name: &str, machines: &[MachineFile]) -> Crate {
    let stranger = Crate::new(name);
    let mut modules = String::from("//! The code generated from every machine.\n");
    for found in machines {
        stranger.write(&found.file(), &found.source);
        let generated = claudex_build::generate("machine.toml", &found.source).unwrap();
        for template in generated.messages {
            stranger.write(&template, "A message.\n");
        }
        modules.push_str(&format!(
            "\n#[doc = {:?}]\npub mod {module} {{\n    use claudex_loop::__private as rt;\n\n    \
             include!(concat!(env!(\"OUT_DIR\"), \"/{module}/{name}.rs\"));\n    \
             include!(concat!(env!(\"OUT_DIR\"), \"/{module}/{name}.program.rs\"));\n}}\n",
            found.place,
            name = found.machine.name,
            module = found.module,
        ));
    }
    // The types of their data are in their places, as beside `machine!`.
    let fields = machines.iter().flat_map(|found| &found.machine.fields);
    let data = fields.filter_map(|field| match &field.kind {
        FieldKind::Data(kind) => Some(kind.as_str()),
        _ => None,
    });
    let data: std::collections::BTreeSet<&str> = data.collect();
    for kind in data {
        modules.push_str(&format!("\n/// Data.\npub type {kind} = String;\n"));
    }
    stranger.write("src/machines.rs", &modules);
    let names: Vec<_> = machines.iter().map(|found| &found.module).collect();
    stranger.write(
        "build.rs",
        &format!(
            "fn main() {{\n    let out = std::path::PathBuf::from(std::env::var(\"OUT_DIR\").unwrap());\n    \
             for name in {names:?} {{\n        std::fs::create_dir_all(out.join(name)).unwrap();\n        \
             claudex_build::Config::new().out_dir(out.join(name)).compile(format!(\"{{name}}/machine.toml\"));\n    \
             }}\n}}\n"
        ),
    );
    stranger
}
