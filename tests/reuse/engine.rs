//! The engine alone: the crate of docs/library.md.

use crate::support::{Crate, ours};

const PAGE: &str = include_str!("../../docs/library.md");
const BUILD: &str = "fn main() { claudex_build::Config::new().compile(\"machine.toml\"); }";

/// Returns a block of code of the page by the words that it contains.
fn block(words: &str) -> &'static str {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    let found = blocks.filter_map(|block| block.split_once('\n'));
    let mut texts = found.map(|(_, text)| text);
    texts.find(|text| text.contains(words)).expect(words)
}

#[test]
fn crate_of_the_page_prints_what_it_says() {
    assert!(PAGE.contains(BUILD));
    let made = Crate::new("door");
    let manifest = format!(
        "[package]\nname = \"door\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nclaudex-loop-engine = {{ path = {:?} }}\n\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
        ours().join("engine"),
        ours().join("codegen"),
    );
    made.write("Cargo.toml", &manifest);
    made.write("build.rs", BUILD);
    made.write("machine.toml", block("name = \"door\""));
    made.write("src/main.rs", block("claudex_loop_engine::machine!"));
    let ran = made.cargo(&["run", "--quiet"]);
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let printed = "open\nclosed 1\n‘knock’ is not possible in phase closed: needs tries < 2, and tries is 2\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), printed);

    let tree = "tree --edges normal --prefix none --no-dedupe".split(' ');
    let tree = made.cargo(&tree.collect::<Vec<_>>());
    let tree = String::from_utf8(tree.stdout).unwrap();
    let crates: std::collections::BTreeSet<&str> = tree.lines().collect();
    assert!(crates.len() <= 50, "{} crates:\n{crates:#?}", crates.len());
}
