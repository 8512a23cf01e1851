//! The output of `report`, here `stages report --format`, which every program has.

use serde_json::Value;

use crate::support::{Project, STATE};

#[test]
fn report_format_prints_page_and_takes_no_summary() {
    let project = Project::at(2);
    project.summary("completed", "");
    let before = project.read(STATE);
    let json = project.person(&["report", "--format", "json"]).done();
    let facts: Value = serde_json::from_str(&json).unwrap();
    let path = facts["path"].as_array().unwrap();
    assert_eq!(path.len(), 2, "start and complete: {facts}");
    let html = project.agent(&["report", "--format", "html"]).done();
    assert!(html.starts_with("<!DOCTYPE html>"), "{html}");
    assert_eq!(project.read(STATE), before);
    project.agent(&["report"]).done();
    assert_ne!(project.read(STATE), before);
}
