//! Stops that drive nothing, and what a reminder says.

use serde_json::json;

use super::assert_has_mark_done_lines;
use crate::support::{Project, tree};

#[test]
fn a_subagents_stop_drives_nothing() {
    let project = Project::new();
    let id = project.start(&[]);
    project.plan("# Plan\n");
    let before = tree(&project.root);
    let input = json!({"session_id": "s1", "hook_event_name": "SubagentStop"});
    assert_eq!(project.fire_with(input).approved(), "");
    assert_eq!(tree(&project.root), before);
    assert_eq!(project.field(&id, "phase"), "drafting");
}

#[test]
fn a_reason_stays_short_and_whole_whatever_the_topic_is() {
    let project = Project::new();
    let topic = "ä`\"\\\u{1b}[31m\u{202e}${X} ".repeat(1500);
    let ran = project.run(&["start", "plan", &topic]).exits(0);
    let id = crate::support::id_of(&ran);
    let reason = project.fire().blocked();
    assert!(
        !reason.contains('\u{1b}') && !reason.contains('\u{202e}'),
        "control and bidi characters are taken out"
    );
    project.plan("# Plan\n");
    assert_has_mark_done_lines(&project.fire().blocked(), &id);
}

#[test]
fn one_failure_can_be_made_the_last() {
    let project = Project::new().with("CLAUDEX_MAX_FAILURES", "1");
    let id = project.start(&[]);
    project.plan("# Plan\n");
    project.fire().blocked();
    project.review(&id, "fake-crash").exits(5);
    assert!(project.fire().approved().contains("errored"));
    assert_eq!(project.field(&id, "phase"), "errored");
    assert_eq!(project.field(&id, "failures"), "1");
}
