//! The diagrams in the documents are those of the machine files.

use claudex_build::{check_source, diagram};

#[test]
fn diagrams_in_documents_are_fresh() {
    for (machine, document) in [
        ("machine.toml", "docs/loop.md"),
        ("stages/machine.toml", "docs/stages.md"),
        ("taskie/machine.toml", "docs/taskie.md"),
    ] {
        let source = read(machine);
        let checked = check_source(machine, &source).unwrap_or_else(|found| panic!("{found}"));
        let block = format!("```mermaid\n{}```\n", diagram(&checked));
        assert!(
            read(document).contains(&block),
            "the diagram in {document} is stale; replace it with the output of\n    \
             cargo run --quiet -- machine diagram {machine}\n"
        );
    }
}

fn read(file: &str) -> String {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
