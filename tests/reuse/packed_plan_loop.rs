//! The plan loop in a crate outside of the workspace: its sources build with the packed library,
//! and the smoke tests pass on that program.

use std::fs;

use crate::packages::{packages, sources};
use crate::project::output_text;
use crate::support::{Crate, ours, target};

/// The plan loop's other dependencies, as in our own manifest.
const DEPENDENCIES: [&str; 7] = [
    "camino",
    "clap",
    "jiff",
    "miette",
    "serde",
    "serde_json",
    "toml",
];

/// Returns the manifest of the copy.
fn manifest() -> String {
    let text = fs::read_to_string(ours().join("Cargo.toml")).unwrap();
    let ours: toml::Table = text.parse().unwrap();
    let known = &ours["dependencies"];
    let shared = &ours["workspace"]["dependencies"];
    let dependencies = DEPENDENCIES.map(|name| {
        let mut table = known[name].as_table().cloned().unwrap();
        if table.remove("workspace").is_some() {
            let of_all = shared[name].as_table().unwrap().clone();
            table = of_all.into_iter().chain(table).collect();
        }
        table.remove("optional");
        format!("{name} = {}\n", toml::Value::Table(table))
    });
    let packages = packages();
    format!(
        "[package]\nname = \"plan-outside\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [[bin]]\nname = \"claudex-loop\"\npath = \"src/main.rs\"\n\n\
         [features]\ndefault = [\"plan\"]\nplan = [\"dep:claudex-build\"]\n\n\
         [dependencies]\nclaudex-loop = {{ path = {:?}, default-features = false, features = [\"program\"] }}\nclaudex-build = {{ path = {:?}, optional = true }}\n{}\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?}, optional = true }}\n\n{}",
        packages.runtime,
        packages.build,
        dependencies.concat(),
        packages.build,
        packages.patch(),
    )
}

/// Copies the sources of the plan loop.
fn copy(to: &Crate) {
    let all = sources(&ours());
    let files = ["src/main.rs", "machine.toml", "build.rs"];
    for name in all
        .iter()
        .filter(|name| files.contains(&name.as_str()) || name.starts_with("src/plan/"))
    {
        let text = fs::read_to_string(ours().join(name)).unwrap();
        // This module of the library is one of the program in the copy.
        let text = match name.as_str() {
            "src/main.rs" => text.replace("use claudex_loop::plan;", "mod plan;"),
            _ => text,
        };
        to.write(name, &text);
    }
}

#[test]
fn plan_loop_built_outside_passes_smoke_tests() {
    let manifest = manifest();
    let outside = Crate::new("plan-outside");
    outside.write("Cargo.toml", &manifest);
    copy(&outside);
    let built = outside.cargo(&["build"]);
    assert!(built.status.success(), "{}", output_text(&built));
    let kept = tempfile::tempdir().unwrap();
    let program = kept.path().join("claudex-loop");
    fs::copy(target().join("debug/claudex-loop"), &program).unwrap();
    drop(outside);
    let mut smoke = std::process::Command::new(env!("CARGO"));
    let line = "test --offline --package claudex-loop --test process -- smoke::";
    smoke
        .args(line.split(' '))
        .current_dir(ours())
        .env("CLAUDEX_LOOP_UNDER_TEST", &program);
    let ran = smoke.output().unwrap();
    assert!(ran.status.success(), "{}", output_text(&ran));
    assert!(
        output_text(&ran).contains("3 passed"),
        "{}",
        output_text(&ran)
    );
}
