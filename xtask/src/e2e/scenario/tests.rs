//! The suite's own files can be read, and files that cannot be are told of with the place.

use std::path::PathBuf;

use miette::Diagnostic as _;

use super::load::LoadError;
use super::{agent, all};

fn suite() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/e2e")
}

#[test]
fn every_scenario_is_one_and_its_agents_are_there() {
    let scenarios = all(&suite().join("scenarios"), &[]).unwrap();
    assert!(!scenarios.is_empty());
    for scenario in scenarios {
        assert!(
            !scenario.doc.is_empty() && !scenario.step.is_empty(),
            "{}",
            scenario.name
        );
        agent(&suite().join("agents"), &scenario.agent).unwrap();
    }
}

#[test]
fn the_example_in_the_documentation_is_a_scenario() {
    let text = fs_err::read_to_string(suite().join("README.md")).unwrap();
    let example = text
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("example.toml"), example.unwrap()).unwrap();
    assert_eq!(all(folder.path(), &[]).unwrap().len(), 1);
}

#[test]
fn an_unknown_key_is_an_error_that_shows_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let text = "doc = \"A promise.\"\n\n[[step]]\ndo = \"say\"\ntext = \"hello\"\nvolume = 3\n";
    fs_err::write(folder.path().join("loud.toml"), text).unwrap();
    let error = all(folder.path(), &[]).unwrap_err();
    assert!(error.to_string().contains("volume"), "{error}");
    assert!(matches!(&error, LoadError::Parse { .. }));
    assert_eq!(error.labels().unwrap().count(), 1);
}

#[test]
fn a_name_without_a_file_is_an_error_that_lists_what_is_there() {
    let error = all(&suite().join("scenarios"), &["no-such".to_owned()]).unwrap_err();
    assert!(error.help().unwrap().to_string().contains("plan-lint"));
}

#[test]
fn a_case_is_a_scenario_with_words_and_rules_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let text = "doc = \"A promise.\"\n\n[[case]]\nname = \"one\"\nwords = { topic = \"first\" }\n\n[[case]]\nname = \"two\"\n\n\
                [[step]]\ndo = \"say\"\ntext = \"{{ topic }}\"\n";
    fs_err::write(folder.path().join("many.toml"), text).unwrap();
    let names = |only: &[&str]| -> Vec<String> {
        let only: Vec<_> = only.iter().map(|&name| name.to_owned()).collect();
        all(folder.path(), &only)
            .unwrap()
            .into_iter()
            .map(|it| it.name)
            .collect()
    };
    assert_eq!(names(&[]), ["many.one", "many.two"]);
    assert_eq!(names(&["many"]), ["many.one", "many.two"]);
    assert_eq!(names(&["many.two"]), ["many.two"]);
    let one = all(folder.path(), &["many.one".to_owned()])
        .unwrap()
        .remove(0);
    assert_eq!(
        one.words().collect::<Vec<_>>(),
        [("topic".to_owned(), "first".to_owned())]
    );
}
