//! What every program's `report` prints, here by `stages report --format`.

use serde_json::Value;

use crate::support::{Project, STATE};

#[test]
fn report_format_prints_page_and_takes_no_summary() {
    let project = Project::at(2);
    project.summary("completed", "");
    let before = project.read(STATE);
    let json = |arguments: &[&str]| -> Value {
        let arguments = [&["report", "--format", "json"], arguments].concat();
        let mut facts: Value = serde_json::from_str(&project.person(&arguments).done()).unwrap();
        // The stage that it is at goes on by the second.
        facts["path"][1]["seconds"].take();
        facts
    };
    let facts = json(&[]);
    let id = facts["loop"]["id"].as_str().unwrap();
    assert_eq!(
        facts["path"].as_array().unwrap().len(),
        2,
        "start and complete: {facts}"
    );
    for named in [&[id][..], &["--id", id]] {
        assert_eq!(json(named)["path"], facts["path"]);
    }
    let html = project.agent(&["report", "--format", "html"]).done();
    assert!(html.starts_with("<!DOCTYPE html>"), "{html}");
    assert_eq!(project.read(STATE), before);
    project
        .person(&["report", "--format", "html", "nope"])
        .usage();
    let help = project.person(&["report", "--help"]).done();
    assert!(help.contains("--format") && help.contains("html"), "{help}");
    project.agent(&["report"]).done();
    assert_ne!(project.read(STATE), before);
}
