//! Two crates of ours that do not belong together: the compiler says so, and says nothing else.

use std::fs;

use claudex_testkit::has;

use crate::packages::{files, packages};
use crate::project::{manifest, output_text};
use crate::stranger::{MACHINE, MAIN};
use crate::support::{Crate, ours};

#[test]
fn generator_of_other_format_is_one_error() {
    let version = env!("CARGO_PKG_VERSION");
    let build = &packages().build;
    let stranger = Crate::new("door");
    // A claudex-build of a later version, whose code has another format and names that this runtime does not have.
    for name in files(build) {
        let text = fs::read_to_string(build.join(&name)).unwrap();
        let changed = match name.as_str() {
            "Cargo.toml" => text.replacen(version, "0.99.0", 1),
            "src/emit/mod.rs" => text.replace("const FORMAT: u32 = 2;", "const FORMAT: u32 = 3;"),
            "src/emit/typestate.rs.jinja" => text.replace("rt::", "rt::later::"),
            "Cargo.lock" => continue,
            _ => text.clone(),
        };
        let is_changed = ["Cargo.toml", "src/emit/mod.rs"].contains(&name.as_str());
        assert!(
            !is_changed || changed != text,
            "{name} has another form now"
        );
        stranger.write(&format!("other/{name}"), &changed);
    }
    let codegen = format!("{:?}", ours().join("codegen"));
    let cargo = manifest("door").replace(&codegen, "\"other\"");
    stranger.write("Cargo.toml", &cargo);
    stranger.write("machine.toml", MACHINE);
    stranger.write("words/remind.md", "Bring the key.\n");
    stranger.write("src/main.rs", MAIN);
    let output = stranger.cargo(&["check"]);
    assert!(!output.status.success());
    let text = output_text(&output);
    let error = "error: claudex-build 0.99.0 generates code that this claudex-loop does not know: the two crates belong \
         together\n       in Cargo.toml, write `claudex-loop = \"0.99.0\"` under [dependencies]; a path or git source has to \
         name one checkout for both\n";
    has(&text, error);
    // The code itself is not looked at, nor what would use it.
    let errors = text.lines().filter(|line| line.starts_with("error"));
    assert_eq!(errors.count(), 2, "{text}");
    has(
        &text,
        "error: could not compile `door` (bin \"door\") due to 1 previous error",
    );
}
