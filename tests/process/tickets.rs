//! Tickets: the prompt hook notes a typed command for the command that follows.

use crate::support::Project;

#[test]
fn ticket_counts_once_and_for_its_command() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire_as("old").blocked();

    project.type_line("s1", &format!("/claudex:adopt {id}"));
    let bare = format!("adopt {id}");
    project.answers_in("s1", &bare, 1, "an agent may not run ‘adopt’");
    project.answers_in("s1", "resume --from-prompt", 2, "");
    project.answers_in("s1", &format!("adopt --from-prompt {id}"), 2, "");
    project.answers_in("s2", "adopt --from-prompt", 2, "");
    project.answers_in("s1", "adopt --from-prompt", 0, "");
    assert_eq!(project.field(&id, "session_id"), "s1");
    project.answers_in("s1", "adopt --from-prompt", 2, "");

    project.slash("s1", "/claudex:resume", "resume").exits(0);
    assert_eq!(project.changes(&id).last().unwrap(), "resume");
}
