//! `announce` blocks once, `approve` lets the turn end, and a custom phase runs its Rust.

use super::support::Project;

#[test]
fn announce_blocks_once_and_approve_ends_turn() {
    let project = Project::start("turns", "");
    let id = project.id();
    assert_eq!(
        project.stop(),
        format!(
            "moved go building\nends false\nGo on: loop {id} of turns is in building. Rests: 0.\n"
        )
    );
    assert_eq!(project.stop(), "moved rest building\nends true\n");
    assert_eq!(project.stop(), "moved finish done\nends true\n");
    assert_eq!(project.stop(), "over\n");
}

#[test]
fn own_phase_is_one_method() {
    let project = Project::start("own", "");
    assert_eq!(project.stop(), "moved remind counting\nends false\n");
    project.write("LINES", "1\n2\n");
    assert_eq!(project.stop(), "moved remind counting\nends false\n");
    assert_eq!(project.stop(), "waits\nphase counting to continue\n");
    project.write("LINES", "1\n2\n3\n");
    assert!(project.stop().starts_with("moved finish done\nends true\n"));

    let unreadable = Project::start("own", "");
    std::fs::create_dir(unreadable.file("LINES")).unwrap();
    let refused = unreadable.stop();
    assert!(refused.starts_with("refused could not read "), "{refused}");
    assert!(
        unreadable.journal().lines().count() == 1,
        "nothing was changed"
    );
}
