//! `claudex-loop state …`, called by the plugin's `state-helpers.sh`. A shell test calls every
//! helper (plugin/tests/platform-validation.sh); `tamper` has the refusals.

use crate::support::{Project, begins, tree, yaml};

const HOSTILE: [&str; 7] = [
    "a|b&c/d\\e \\n \\1 \\& && \"double\" and 'single'",
    "three\n\nlines\n",
    "$(touch pwned) `touch pwned` ${HOME}",
    " Ärger 東京 😀 ",
    "--flag",
    "# no comment: {x}",
    "\u{1b}[31m\u{202e}\u{7}\u{2028}\r\n",
];

#[test]
fn written_file_is_read_back_byte_for_byte() {
    let project = Project::new();
    let path = project.root.join("a b ü.state");
    let write = ["state", "write", path.to_str().unwrap()];
    for bytes in [
        &b"phase: drafting\n"[..],
        b"",
        b"no line end",
        b"\xff\0\r\n",
    ] {
        project.run_with_stdin(&write, bytes).exits(0);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    for (path, _) in tree(&project.root) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(!name.contains("tmp"), "a temporary file is left: {name}");
    }
    project
        .run_with_stdin("state write 'no such folder/x.state'", b"x")
        .exits(1);
}

#[test]
fn any_text_is_set_by_argument_and_stdin() {
    let project = Project::new();
    let file = project.root.join("my 'state' | & $(x).state");
    let path = file.to_str().unwrap();
    let old = "phase: drafting\nunknown: kept\n";
    for value in HOSTILE {
        std::fs::write(&file, old).unwrap();
        project
            .run(&["state", "set", path, "topic", value])
            .exits(0);
        let text = std::fs::read_to_string(&file).unwrap();
        begins(&text, old);
        assert_eq!(
            yaml(&text)["topic"].as_str(),
            Some(value),
            "valid YAML: {text}"
        );
        let set = ["state", "set", path, "other", "-"];
        project.run_with_stdin(&set, value.as_bytes()).exits(0);
        for field in ["topic", "other"] {
            let got = project.run(&["state", "get", path, field]).exits(0).out;
            assert_eq!(got.strip_suffix('\n'), Some(value));
        }
    }
    assert!(!project.root.join("pwned").exists());
}
