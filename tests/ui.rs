//! Programs that must not compile: each file of `ui-tests/` fails with the message beside it.
//!
//! The messages are rustc's, so they are those of the pinned toolchain. `UI=overwrite cargo test --test ui` writes them
//! again; read the difference before committing it.

#[path = "support/stranger.rs"]
mod stranger;

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use stranger::{Crate, ours};

#[test]
fn illegal_programs_do_not_compile() {
    let made = Crate::new("ui");
    let mut manifest = format!(
        "[package]\nname = \"ui\"\nversion = \"0.1.0\"\nedition = \"2024\"\nbuild = false\n\n[workspace]\n\n\
         [dependencies]\nclaudex-loop = {{ path = {:?} }}\n",
        ours()
    );
    let mut messages = BTreeMap::new();
    for entry in fs::read_dir(ours().join("ui-tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(program) = name.strip_suffix(".rs") {
            let path = format!("ui-tests/{name}");
            made.write(&path, &fs::read_to_string(ours().join(&path)).unwrap());
            manifest += &format!("\n[[bin]]\nname = {program:?}\npath = {path:?}\n");
            messages.insert(program.to_owned(), String::new());
        }
    }
    made.write("Cargo.toml", &manifest);
    let output = made.cargo(&["check", "--keep-going", "--message-format=json"]);
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let message = &event["message"];
        if message["level"] == "error" && message["code"].is_object() {
            let program = event["target"]["name"].as_str().unwrap();
            let rendered = message["rendered"].as_str().unwrap();
            *messages.get_mut(program).expect(rendered) += &normalize(rendered);
        }
    }
    for (program, message) in messages {
        let file = ours().join(format!("ui-tests/{program}.stderr"));
        if std::env::var_os("UI").is_some() {
            fs::write(file, message).unwrap();
        } else {
            assert_eq!(message, fs::read_to_string(file).unwrap(), "{program}");
        }
    }
}

/// Returns a message without the paths and the line numbers of other files, and without the width that they take.
fn normalize(message: &str) -> String {
    let indent = message.lines().find_map(|line| line.find("--> ")).unwrap();
    let shift = " ".repeat(indent - 1);
    let mut text = String::new();
    let mut is_elsewhere = false;
    for line in message.trim_end().lines() {
        let mut line = line.to_owned();
        let mut marks = ["--> ", "::: "].into_iter();
        if let Some(mark) = marks.find(|mark| line.trim_start().starts_with(mark)) {
            let (before, place) = line.split_once(mark).unwrap();
            is_elsewhere = !place.starts_with("ui-tests/");
            if is_elsewhere {
                let name = place.rsplit('/').next().unwrap();
                let file = name.split(':').next().unwrap();
                line = format!("{before}{mark}$DIR/{file}");
            }
        } else if is_elsewhere {
            let number = |c: char| c == ' ' || c.is_ascii_digit();
            let width = line.len() - line.trim_start_matches(number).len();
            line.replace_range(..width, &" ".repeat(width));
        }
        text += line.strip_prefix(&shift).unwrap_or(&line);
        text.push('\n');
    }
    text
}
