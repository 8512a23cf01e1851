//! `claudex-loop state …`, what the plugin's `state-helpers.sh` calls. plugin/tests/platform-validation.sh calls every helper;
//! here is what a shell cannot say. What a loop of ours refuses is in `tamper`.

use crate::support::{Project, tree};

/// A file of this name and content in the project, and its path.
fn file(project: &Project, name: &str, text: &str) -> String {
    let path = project.root.join(name);
    std::fs::write(&path, text).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

const HOSTILE: [&str; 14] = [
    "a|b&c/d\\e",
    "two\nlines",
    "three\n\nlines\n",
    "\"double\" and 'single'",
    "$(touch pwned) `touch pwned` ${HOME}",
    "Ärger 東京 😀",
    " leading and trailing ",
    "- dash",
    "--flag",
    "# no comment",
    "key: value",
    "\u{1b}[31m\u{202e}\u{7}\u{2028}",
    "\r\n",
    "\\n \\1 \\& &&",
];

#[test]
fn a_write_is_read_back_byte_for_byte_and_leaves_no_temporary_file() {
    let project = Project::new();
    let path = file(&project, "a b ü.state", "old\n");
    for bytes in [
        &b"phase: drafting\n"[..],
        b"",
        b"no line end",
        b"\xff\0\r\n",
    ] {
        project
            .run_with_stdin(&["state", "write", &path], bytes)
            .exits(0);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    let new = project.root.join("new.state");
    project
        .run_with_stdin(&["state", "write", new.to_str().unwrap()], b"x: 1\n")
        .exits(0);
    assert_eq!(std::fs::read(&new).unwrap(), b"x: 1\n");
    let strays: Vec<_> = tree(&project.root)
        .into_iter()
        .filter(|(path, _)| path.file_name().unwrap().to_str().unwrap().contains("tmp"))
        .collect();
    assert_eq!(strays, []);
    project
        .run_with_stdin(&["state", "write", "no such folder/x.state"], b"x")
        .exits(1);
}

#[test]
fn any_text_is_a_value_on_the_command_line_and_on_stdin() {
    let project = Project::new();
    for value in HOSTILE {
        let path = file(
            &project,
            "my 'state' | & $(x).state",
            "phase: drafting\nunknown: kept\n",
        );
        project
            .run(&["state", "set", &path, "topic", value])
            .exits(0);
        let got = project.run(&["state", "get", &path, "topic"]).exits(0).out;
        assert_eq!(got.strip_suffix('\n'), Some(value));
        let text = read(&path);
        assert!(
            text.starts_with("phase: drafting\nunknown: kept\n"),
            "{text}"
        );
        assert_eq!(
            crate::support::yaml(&text)["topic"].as_str(),
            Some(value),
            "valid YAML: {text}"
        );
        assert_eq!(
            crate::support::yaml(&text)["phase"].as_str(),
            Some("drafting")
        );

        project
            .run_with_stdin(&["state", "set", &path, "other", "-"], value.as_bytes())
            .exits(0);
        let got = project.run(&["state", "get", &path, "other"]).exits(0).out;
        assert_eq!(got.strip_suffix('\n'), Some(value));
    }
    assert!(!project.root.join("pwned").exists());
}
