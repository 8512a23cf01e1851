//! The index of loops that are not over, as a person meets it: `list` and `doctor` find what it forgot, and a long past costs no screen.

use crate::support::Project;

#[test]
fn a_loop_that_the_index_forgot_is_found_by_doctor_and_driven_again() {
    let project = Project::new();
    let first = project.start(&[]);
    project.run(&["cancel", &first]).exits(0);
    let active = project.home.join("state/claudex-loop/active");
    let index = std::fs::read_dir(active)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let old = std::fs::read(&index).unwrap();
    let id = project.start(&[]);
    project.plan("# Plan\n\nMove the queue.\n");
    std::fs::write(&index, old).unwrap();
    assert_eq!(project.fire().approved(), "", "a stop trusts it");
    let said = project.run(&["doctor"]).out;
    assert!(
        said.contains(&format!("{id} was not in the index")),
        "{said}"
    );
    assert!(project.fire().blocked().contains(&id));
}

#[test]
fn a_list_shows_people_what_is_not_over_and_the_newest_of_the_others() {
    let project = Project::new();
    for _ in 0..21 {
        let id = project.start(&[]);
        project.run(&["cancel", &id]).exits(0);
    }
    let id = project.start(&[]);
    let said = project.run(&["list"]).exits(0).out;
    assert_eq!(
        said.lines()
            .filter(|line| line.contains("cancelled"))
            .count(),
        20
    );
    assert!(said.contains(&id), "{said}");
    assert!(said.contains("1 older loop is not shown"), "{said}");
    let all = project.run(&["list", "--json"]).exits(0).out;
    let all: serde_json::Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all.as_array().map(Vec::len), Some(22));
}
