//! The suite's own files, and a file with an unknown key.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{OBEDIENT, agent, all};

fn suite() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/e2e")
}

#[test]
fn suite_files_parse_and_name_existing_agents() {
    let scenarios = all(&suite().join("scenarios"), &[]).unwrap();
    for scenario in scenarios {
        let name = scenario.agent.as_deref().unwrap_or(OBEDIENT);
        agent(&suite().join("agents"), name).unwrap();
    }
}

#[test]
fn readme_lists_every_scenario_and_its_example_parses() {
    let text = fs_err::read_to_string(suite().join("README.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: BTreeSet<_> = rows.filter_map(|row| row.split('`').next()).collect();
    let scenarios = all(&suite().join("scenarios"), &[]).unwrap();
    let names: BTreeSet<_> = scenarios.iter().map(|it| it.name.as_str()).collect();
    let missing: Vec<_> = names.difference(&listed).collect();
    assert!(missing.is_empty(), "README.md does not list {missing:?}");

    let example = text.split("```toml\n").nth(1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("example.toml");
    fs_err::write(file, example.split("```").next().unwrap()).unwrap();
    assert_eq!(all(folder.path(), &[]).unwrap().len(), 1);
}

#[test]
fn unknown_key_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let text = "doc = \"A promise.\"\n\n[[step]]\ndo = \"say\"\ntext = \"hello\"\nvolume = 3\n";
    fs_err::write(folder.path().join("loud.toml"), text).unwrap();
    let error = all(folder.path(), &[]).unwrap_err().to_string();
    assert!(
        error.contains("`volume`") && error.contains("line 3"),
        "{error}"
    );
}
