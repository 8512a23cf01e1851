//! `machine check`, `machine diagram` and `machine schema`, with hostile files at the path.

use serde_json::Value;

use crate::support::{Project, begins, has, lacks};

const OURS: &str = include_str!("../../machine.toml");

fn typo() -> String {
    OURS.replacen("round < max_rounds", "round < max_round", 1)
}

#[test]
fn check_prints_one_line_for_each_finding() {
    let wrong = typo().replace("to   = \"done\"", "to   = \"doen\"");
    let project = Project::new();
    std::fs::write(project.root.join("m.toml"), &wrong).unwrap();
    std::fs::write(project.root.join("ours.toml"), OURS).unwrap();
    let ran = project.run("machine check ours.toml").exits(0);
    assert_eq!(ran.out.lines().count(), 1);
    begins(
        &ran.out,
        "ours.toml: machine `plan` is well-formed: 6 phases, ",
    );
    assert_eq!(ran.err, "");
    let ran = project.run("machine check m.toml ours.toml").exits(1);
    begins(&ran.out, "ours.toml: machine `plan` is well-formed");
    let mut expected = String::new();
    for (at, line) in wrong.lines().enumerate() {
        let found = match line {
            _ if line.ends_with("\"round < max_round\"") => {
                "21: error[claudex::machine::unknown_field]: no field is named `max_round`; did you mean `max_rounds`?"
            }
            "to   = \"doen\"" => {
                "8: error[claudex::machine::unknown_phase]: no phase is named `doen`; did you mean `done`?"
            }
            _ => continue,
        };
        expected += &format!("m.toml:{}:{found}\n", at + 1);
    }
    assert_eq!(ran.err, expected);
}

#[test]
fn path_without_regular_file_is_refused() {
    let project = Project::new();
    std::fs::create_dir(project.root.join("folder")).unwrap();
    let mut mkfifo = std::process::Command::new("mkfifo");
    let made = mkfifo.arg(project.root.join("pipe")).status();
    assert!(made.unwrap().success());
    for (path, says) in [
        ("none.toml", "No such file"),
        ("folder", "is a directory"),
        ("pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
    ] {
        for command in ["check", "diagram"] {
            let ran = project.run(&["machine", command, path]).exits(2);
            has(&ran.says(says).err, path);
        }
    }
    project.run("machine check").exits(2);
    std::fs::write(project.root.join("m.toml"), OURS).unwrap();
    let ran = project.run("machine check none.toml m.toml").exits(2);
    has(&ran.out, "m.toml: machine `plan` is well-formed");
}

#[test]
fn hostile_file_name_is_printed_plain() {
    let project = Project::new();
    let name = "a\u{1b}[31m\u{202e}b.toml";
    std::fs::write(project.root.join(name), typo()).unwrap();
    let ran = project.run(&["machine", "check", name]).exits(1);
    for part in ["\u{202e}", "a\u{1b}"] {
        lacks(&(ran.out.clone() + &ran.err), part);
    }
}

#[test]
fn diagram_prints_mermaid() {
    let project = Project::new();
    std::fs::write(project.root.join("m.toml"), OURS).unwrap();
    let ours = project.run("machine diagram").exits(0).out;
    assert_eq!(ours, claudex_loop::plan::typestate::DIAGRAM);
    assert_eq!(ours, project.run("machine diagram m.toml").exits(0).out);
    begins(&ours, "flowchart TD\n");
}

/// Returns the first value that a schema does not allow. Supports the keywords of our schema.
fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let list = |key: &str| schema[key].as_array();
    if let Some(forms) = list("anyOf") {
        let mut misfits = forms.iter().map(|form| misfit(form, value));
        return misfits
            .all(|misfit| misfit.is_some())
            .then(|| format!("no form fits {value}"));
    }
    let has_type = match schema["type"].as_str() {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some(other) => panic!("unknown type {other}"),
    };
    if !has_type || list("enum").is_some_and(|words| !words.contains(value)) {
        return Some(format!("{value} is not allowed"));
    }
    let mut items = value.as_array().into_iter().flatten();
    let mut entries = value.as_object().into_iter().flatten();
    let entry = |(key, value): (&String, &Value)| match &schema["properties"][key] {
        Value::Null if schema["additionalProperties"].is_object() => {
            misfit(&schema["additionalProperties"], value)
        }
        Value::Null => Some(format!("{key} is unknown")),
        property => misfit(property, value),
    };
    let item = items.find_map(|item| misfit(&schema["items"], item));
    item.or_else(|| entries.find_map(entry))
}

#[test]
fn schema_fits_shipped_machines() {
    let schema = Project::new().json("machine schema");
    let parsed = |source: &str| toml::from_str::<Value>(source).unwrap();
    for source in [
        OURS,
        include_str!("../../taskie/machine.toml"),
        include_str!("../../stages/machine.toml"),
        include_str!("../../examples/release-train/machine.toml"),
        include_str!("../reuse/crate/kinds/machine.toml"),
    ] {
        assert_eq!(misfit(&schema, &parsed(source)), None);
    }

    for (right, wrong, expected) in [
        (
            "requires = \"reviewed\"",
            "requires = \"read\"",
            "\"read\" is not allowed",
        ),
        ("on_stop", "on_stopp", "on_stopp is unknown"),
    ] {
        let source = OURS.replacen(right, wrong, 1);
        assert_eq!(misfit(&schema, &parsed(&source)).as_deref(), Some(expected));
    }
}
