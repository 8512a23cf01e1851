//! Two crates of ours that do not belong together: the compiler says so, and says nothing else.

use std::fs;

use crate::packages::packages;
use crate::stranger::{MACHINE, MAIN};
use crate::support::Crate;
use crate::support::stranger::ours;

/// What a build says with a claudex-build of another version, whose code has this format.
fn said(format: &str) -> String {
    let build = &packages().build;
    let stranger = Crate::new("door");
    let write = |name: &str, text: &str| stranger.write(name, text);
    let packed = |name: &str| fs::read_to_string(build.join(name)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    write(
        "other/Cargo.toml",
        &packed("Cargo.toml").replacen(
            &format!("version = \"{version}\""),
            "version = \"0.99.0\"",
            1,
        ),
    );
    write("other/README.md", "");
    for name in crate::packages::files(&build.join("src")) {
        let name = format!("src/{name}");
        let text = packed(&name);
        let text = match name.as_str() {
            "src/emit/mod.rs" => {
                let old = "const FORMAT: u32 = 2;";
                assert!(text.contains(old), "the constant has another form now");
                text.replace(old, format)
            }
            // What a later generator would write: names that this runtime does not have.
            "src/emit/typestate.rs.jinja" => text.replace("rt::", "rt::later::"),
            _ => text,
        };
        write(&format!("other/{name}"), &text);
    }
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"door\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             claudex-loop = {{ path = {:?}, default-features = false }}\n\n[build-dependencies]\n\
             claudex-build = {{ path = \"other\" }}\n",
            ours(),
        ),
    );
    write("machine.toml", MACHINE);
    write("src/main.rs", MAIN);
    let output = stranger.cargo(&["check"]);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_generator_of_another_format_is_one_error_that_names_both_crates_and_the_remedy() {
    let said = said("const FORMAT: u32 = 3;");
    let version = env!("CARGO_PKG_VERSION");
    let error = format!(
        "error: claudex-build 0.99.0 generates code that claudex-loop {version} does not know: the two crates belong \
         together\n       in Cargo.toml, write either `claudex-build = \"{version}\"` under [build-dependencies], or \
         `claudex-loop = \"0.99.0\"` under [dependencies]; a path or git source has to name one checkout for both\n"
    );
    assert!(said.contains(&error), "{said}");
    // The code itself is not looked at, nor what would use it.
    let errors = said
        .lines()
        .filter(|line| line.starts_with("error"))
        .count();
    assert_eq!(errors, 2, "{said}");
    assert!(
        said.contains("error: could not compile `door` (bin \"door\") due to 1 previous error"),
        "{said}"
    );
}
