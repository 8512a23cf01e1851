//! The index of loops that are not over, as a person meets it: `list` and `doctor` find what it forgot, and a long past costs no screen.

use crate::support::Project;

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
