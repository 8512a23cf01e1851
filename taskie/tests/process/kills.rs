//! Commands that are killed before each of their file changes, and then repeated.

use std::os::unix::process::ExitStatusExt as _;

use crate::support::{ID, Project, coding, standalone, start_plan};

#[test]
fn killed_commands_are_taken_whole_or_not() {
    for (make, command) in [
        (start_plan as fn() -> Project, "cancel"),
        (start_plan, "pause"),
        (standalone, "complete-task"),
        (standalone, "create-tasks"),
        (standalone, "add-task"),
        (coding, "pause"),
        (coding, "use"),
    ] {
        let project = make();
        project.folder.keep(0).unwrap();
        project.person(&[command, ID]).done();
        let expected = project.state(ID);
        for kill_at in 1.. {
            project.folder.restore(0).unwrap();
            let mut killed = project.folder.command(&[command, ID]);
            killed.env("CLAUDEX_KILL_AT", kill_at.to_string());
            if killed.output().unwrap().status.signal().is_none() {
                assert!(kill_at > 1, "{command} changes no file");
                break;
            }
            let case = format!("{command} killed at {kill_at}");
            // It is refused if it was taken.
            let again = project.person(&[command, ID]);
            assert_eq!(project.state(ID), expected, "{case}: {again:?}");
            let loops = project.person(&["list"]).done();
            assert!(!loops.contains('!'), "{case}: {loops}");
        }
    }
}
