//! The plan loop as any stranger's machine: `src/main.rs`, `src/plan/`, `machine.toml` and `build.rs`, copied into a crate outside
//! of the workspace, build against the packed library, and the process suite's smoke part passes on that program.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::packages::{packages, sources};
use crate::support::stranger::ours;
use crate::support::{Crate, target};

/// The crates that the plan loop names besides ours, as our own manifest has them.
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
    let (known, shared) = (&ours["dependencies"], &ours["workspace"]["dependencies"]);
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
         [build-dependencies]\nclaudex-build = {{ path = {:?}, optional = true }}\n\n\
         [patch.crates-io]\nclaudex-build = {{ path = {:?} }}\nclaudex-lint = {{ path = {:?} }}\nclaudex-loop-engine = {{ path = {:?} }}\n",
        packages.runtime,
        packages.build,
        dependencies.concat(),
        packages.build,
        packages.build,
        packages.lint,
        packages.engine,
    )
}

/// Copies what the plan loop is made of.
fn copy(to: &Crate) {
    let wanted = |name: &&String| {
        ["src/main.rs", "machine.toml", "build.rs"].contains(&name.as_str())
            || name.starts_with("src/plan/")
    };
    let all = sources(&ours());
    for name in all.iter().filter(wanted) {
        let text = fs::read_to_string(ours().join(name)).unwrap();
        // Here it is a module of the library, there one of the program.
        let text = match name.as_str() {
            "src/main.rs" => text.replace("use claudex_loop::plan;", "mod plan;"),
            _ => text,
        };
        to.write(name, &text);
    }
}

#[test]
fn the_plan_loop_builds_outside_and_passes_the_smoke_part_of_the_process_suite() {
    let manifest = manifest();
    let outside = Crate::new("plan-outside");
    outside.write("Cargo.toml", &manifest);
    copy(&outside);
    let built = outside.cargo(&["build"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let kept = tempfile::tempdir().unwrap();
    let program = kept.path().join("claudex-loop");
    fs::copy(target().join("debug/claudex-loop"), &program).unwrap();
    drop(outside);
    let ran = Command::new(env!("CARGO"))
        .args([
            "test",
            "--offline",
            "--package",
            "claudex-loop",
            "--test",
            "process",
            "--",
            "smoke::",
        ])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .env("CLAUDEX_LOOP_UNDER_TEST", &program)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(said.contains("3 passed"), "{said}");
}
