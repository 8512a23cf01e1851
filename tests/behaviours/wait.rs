//! `wait-for`: a file that exists.

use super::support::Project;

#[test]
fn empty_file_counts() {
    let project = Project::start("wait", "signs/GO näw");
    let waits = "waits\nsigns/GO näw to be there\n";
    assert_eq!(project.stop(), waits);
    std::fs::create_dir_all(project.file("signs/GO näw")).unwrap();
    assert_eq!(project.stop(), waits, "a folder is not a file");
    std::fs::remove_dir(project.file("signs/GO näw")).unwrap();
    std::os::unix::fs::symlink("nowhere", project.file("signs/GO näw")).unwrap();
    assert!(
        project.stop().contains("is not trusted: it is a symlink"),
        "a symlink is not followed, and that is said"
    );
    std::fs::remove_file(project.file("signs/GO näw")).unwrap();
    project.write("signs/GO näw", "");
    assert_eq!(project.stop(), "moved finish done\nends true\n");
}

#[test]
fn path_below_file_is_refused_and_empty_name_waits() {
    let below = Project::start("wait", "FILE/GO");
    below.write("FILE", "x");
    assert!(below.stop().contains("it is not a folder"));
    assert!(Project::start("wait", "").stop().starts_with("waits\n"));
}

#[test]
fn pipe_is_not_opened() {
    let project = Project::start("wait", "GO");
    let made = std::process::Command::new("mkfifo")
        .arg(project.file("GO"))
        .status()
        .unwrap();
    assert!(made.success());
    assert!(project.stop().starts_with("waits\n"));
}
