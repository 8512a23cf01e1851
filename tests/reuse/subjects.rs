//! A subject and a prompt from a machine's Rust code. The evidence is bound to that subject.

use std::fs;

use crate::project::Project;

const CONFIGURATION: &str = r#"reviewer = "fine"

[reviewers.fine]
kind      = "command"
program   = "/bin/sh"
arguments = ["-c", "cat > TOLD; printf '# Findings\n\nNo substantive findings.\n'"]
"#;

/// Rows of the table, with an open one.
const TABLE: &str = "done rent.md: the rent\nopen tea.md: the tea\nopen ink.md: the ink\n";

fn project() -> Project {
    let project = Project::new("ledger", CONFIGURATION);
    project.write("TABLE", TABLE);
    project.write("tea.md", "Tea: 3.50\n");
    project.run("start");
    project
}

#[test]
fn subject_of_the_program_is_what_counts() {
    let project = project();
    project.run("review");
    let prompt = "Read its row, tea.md. Round 1: sums have two digits.\n\
                === its row ===\nthe tea\n=== tea.md ===\nTea: 3.50\n";
    assert_eq!(project.read("TOLD"), prompt);
    // The row and the file were reviewed.
    for (file, before, after) in [
        ("TABLE", TABLE, TABLE.replace("the tea", "the good tea")),
        ("TABLE", TABLE, TABLE.replace("open tea", "done tea")),
        ("tea.md", "Tea: 3.50\n", "Tea: 3.05\n".to_owned()),
    ] {
        project.write(file, &after);
        assert_eq!(project.stop(), "checking", "{after}");
        project.write(file, before);
        project.run("review");
    }
    // The rest of the table was not.
    project.write("TABLE", &TABLE.replace("the ink", "black ink"));
    assert_eq!(project.stop(), "done");
}

#[test]
fn subject_that_cannot_be_had_is_said() {
    let project = project();
    fs::remove_file(project.root.join("TABLE")).unwrap();
    for (table, why) in [
        ("", "TABLE: "),
        (
            "open ../tea.md: the tea\n",
            "../tea.md is not below the loop’s root",
        ),
        (
            "open /tea.md: the tea\n",
            "/tea.md is not below the loop’s root",
        ),
        (
            "done tea.md: the tea\n",
            "nothing that the program gives is there",
        ),
    ] {
        if !table.is_empty() {
            project.write("TABLE", table);
        }
        project.fails("review", why);
        assert_eq!(project.stop_saying()["decision"], "approve");
        assert_eq!(project.status("phase"), "checking");
    }
    assert!(!project.root.join("TOLD").exists());
}
