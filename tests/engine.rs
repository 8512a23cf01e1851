//! The engine alone: the crate of docs/library.md, and two machines in one binary.

#[path = "support/stranger.rs"]
mod stranger;

use stranger::{Crate, ours};

const PAGE: &str = include_str!("../docs/library.md");
const BUILD: &str = "fn main() { claudex_build::Config::new().compile(\"machine.toml\"); }";

/// Returns a block of code of the page by the words that it contains.
fn block(words: &str) -> &'static str {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    let found = blocks.filter_map(|block| block.split_once('\n'));
    let mut texts = found.map(|(_, text)| text);
    texts.find(|text| text.contains(words)).expect(words)
}

/// Makes a crate on the engine alone.
fn on_the_engine(build: &str) -> Crate {
    let made = Crate::new("door");
    made.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"door\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nclaudex-loop-engine = {{ path = {:?} }}\n\n\
             [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
            ours().join("engine"),
            ours().join("codegen"),
        ),
    );
    made.write("build.rs", build);
    made.write("machine.toml", block("name = \"door\""));
    made
}

fn printed(made: &Crate) -> String {
    let ran = made.cargo(&["run", "--quiet"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn crate_of_the_page_prints_what_the_page_says() {
    assert!(PAGE.contains(BUILD));
    let made = on_the_engine(BUILD);
    made.write("src/main.rs", block("claudex_loop_engine::machine!"));

    assert_eq!(
        printed(&made),
        "open\nclosed 1\n‘knock’ is not open in phase closed: needs tries < 2, and tries is 2\n"
    );
    let tree = made.cargo(&[
        "tree",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--no-dedupe",
    ]);
    let tree = String::from_utf8(tree.stdout).unwrap();
    let crates: std::collections::BTreeSet<&str> = tree.lines().collect();
    assert!(crates.len() <= 50, "{} crates:\n{crates:#?}", crates.len());
}

#[test]
fn two_machines_work_in_one_binary() {
    let made = on_the_engine(
        "fn main() {\n    for file in [\"machine.toml\", \"gate.toml\"] {\n        \
         claudex_build::Config::new().compile(file);\n    }\n}\n",
    );
    let door = block("name = \"door\"");
    made.write(
        "gate.toml",
        &door
            .replace("\"door\"", "\"gate\"")
            .replace("modes.door", "modes.gate"),
    );
    made.write(
        "src/main.rs",
        r#"
claudex_loop_engine::machine!(door);
claudex_loop_engine::machine!(gate);

use claudex_loop_engine::{Actor, Beginning, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let doors = Store::in_memory(&door::STATE);
    let gates = Store::in_memory(&gate::STATE);
    let door = door::Start::new(door::Mode::Door).begin(&doors, Beginning::now("me"), Actor::Hook)?;
    let gate = gate::Start::new(gate::Mode::Gate).begin(&gates, Beginning::now("me"), Actor::Hook)?;
    let door::AnyLoop::Open(door) = door else { unreachable!() };
    println!("{} {}", door.shut()?.phase(), gate.phase());
    let other = gate::AnyLoop::open(&doors, gate.id(), Actor::Hook);
    println!("{}", other.is_err());
    Ok(())
}
"#,
    );
    assert_eq!(printed(&made), "closed open\ntrue\n");
}
