//! The build script's work with files: the lines for cargo, the output, and never a panic.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use claudex_build::Config;
use tempfile::TempDir;

const PLAN: &str = include_str!("../../machine.toml");
/// Returns the templates and files that it names.
fn messages() -> Vec<String> {
    claudex_build::generate("machine.toml", PLAN)
        .unwrap()
        .messages
}

/// A crate's folder with the plan loop's machine and its templates.
struct Crate(TempDir);

impl Crate {
    fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("a crate's é ")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("out")).unwrap();
        fs::write(root.join("machine.toml"), PLAN).unwrap();
        for message in messages() {
            let file = root.join(message);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "text").unwrap();
        }
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn compile(&self) -> Vec<String> {
        Config::new()
            .root(self.path())
            .out_dir(self.path().join("out"))
            .commands(true)
            .compile_to_lines("machine.toml")
    }
}

fn errors(lines: &[String]) -> Vec<&str> {
    lines
        .iter()
        .filter(|line| line.starts_with("cargo::error="))
        .map(String::as_str)
        .collect()
}

/// Returns the place of the first of these texts, as `line:column`.
fn place(source: &str, text: &str) -> String {
    let at = source.find(text).unwrap();
    let column = at - source[..at].rfind('\n').unwrap();
    format!("{}:{column}", claudex_build::line_of(source, at))
}

#[test]
fn valid_machine_is_written_and_watched() {
    let folder = Crate::new();
    let lines = folder.compile();
    let watched: Vec<&str> = lines
        .iter()
        .map(|line| line.strip_prefix("cargo::rerun-if-changed=").unwrap())
        .collect();
    let mut expected = vec!["machine.toml".to_owned()];
    expected.extend(messages());
    assert_eq!(watched, expected);
    let written = fs::read_to_string(folder.path().join("out/plan.rs")).unwrap();
    assert_eq!(
        written,
        claudex_build::generate("machine.toml", PLAN).unwrap().types
    );
}

#[test]
fn unchanged_output_is_not_written_again() {
    let folder = Crate::new();
    folder.compile();
    let target = fs::File::options()
        .write(true)
        .open(folder.path().join("out/plan.rs"))
        .unwrap();
    target.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    folder.compile();
    assert_eq!(
        fs::metadata(folder.path().join("out/plan.rs"))
            .unwrap()
            .modified()
            .unwrap(),
        SystemTime::UNIX_EPOCH
    );
}

#[test]
fn missing_template_names_its_line() {
    let folder = Crate::new();
    fs::remove_file(folder.path().join("src/plan/messages/failed.md")).unwrap();
    let lines = folder.compile();
    let place = place(PLAN, "\"failed.md\"");
    let expected = format!(
        "cargo::error=machine.toml:{place}: error[claudex::machine::template]: cannot read the template \
         src/plan/messages/failed.md: No such file or directory (os error 2); write the template, or name another"
    );
    assert_eq!(errors(&lines), [expected]);
    assert!(lines.contains(&"cargo::rerun-if-changed=src/plan/messages/failed.md".to_owned()));
}

#[test]
fn unreadable_machine_is_one_line() {
    let folder = Crate::new();
    fs::write(folder.path().join("machine.toml"), b"name = \"\xff\"").unwrap();
    assert_eq!(
        errors(&folder.compile()),
        ["cargo::error=cannot read machine.toml: stream did not contain valid UTF-8"]
    );
    fs::remove_file(folder.path().join("machine.toml")).unwrap();
    assert_eq!(
        folder.compile(),
        [
            "cargo::rerun-if-changed=machine.toml",
            "cargo::error=cannot read machine.toml: No such file or directory (os error 2)"
        ]
    );
}

#[test]
fn unwritable_output_is_one_line_with_its_path() {
    let place = |folder: &Crate, name: &str| {
        let lines = folder.compile();
        let expected = format!(
            "cargo::error=cannot write {}: ",
            folder.path().join("out").join(name).display()
        );
        assert_eq!(errors(&lines).len(), 1, "{lines:#?}");
        assert!(errors(&lines)[0].starts_with(&expected), "{lines:#?}");
    };
    let folder = Crate::new();
    // A folder in the file's place stops even root, unlike permissions.
    fs::create_dir(folder.path().join("out/plan.rs")).unwrap();
    place(&folder, "plan.rs");
    fs::remove_dir_all(folder.path().join("out")).unwrap();
    place(&folder, "plan.rs");
}

/// Returns the build's findings about a template of the plan loop with this text.
fn problems_of(template: &str, text: &str) -> Vec<String> {
    let folder = Crate::new();
    fs::write(
        folder
            .path()
            .join(format!("src/plan/messages/{template}.md")),
        text,
    )
    .unwrap();
    let lines = folder.compile();
    assert_eq!(
        folder.path().join("out/plan.rs").exists(),
        errors(&lines).is_empty()
    );
    let prefix = format!("cargo::error=src/plan/messages/{template}.md:");
    errors(&lines)
        .into_iter()
        .map(|line| line.strip_prefix(&prefix).unwrap_or(line).to_owned())
        .collect()
}

#[test]
fn unknown_name_in_template_stops_the_build() {
    for (template, text, place) in [
        (
            "round",
            "one\n{{ rund }}\n",
            "2:4: error[claudex::machine::variable]: the template names `rund`, which no loop has; did you mean `round`?",
        ),
        ("round", "rund {% if not rund %}x{% endif %}", "1:16: "),
        (
            "round",
            "{{ persona.label }}{{ verbs.agnt }}",
            "1:23: error[claudex::machine::variable]: the template names `verbs.agnt`",
        ),
        ("round", "{{ round.x }}", "1:4: "),
        ("round", "{{ flags }}", "1:4: "),
        (
            "prompt",
            "{{ who }}{{ missing }}{{ verbs.agent }}",
            "1:26: ",
        ),
        ("summary", "a\n{% if round %}\n", "2:"),
        ("summary", "{{ round", "1:"),
        (
            "round",
            "a\n{{ round|upcase }}",
            "2:10: error[claudex::machine::template]: filter upcase is unknown",
        ),
        ("round", "{% if round is emty %}x{% endif %}", "1:16: "),
        ("prompt", "{% include \"review/anwser.md\" %}", "1:4: "),
    ] {
        let problems = problems_of(template, text);
        assert!(
            problems.len() == 1 && problems[0].starts_with(place),
            "{text}: {problems:?}"
        );
    }
}

#[test]
fn names_of_loop_and_program_are_known() {
    use claudex_build::templates::{ANY, MESSAGE, PROMPT, START};
    let all = |lists: &[&str]| {
        let names = lists.iter().flat_map(|names| names.split(' '));
        names
            .map(|name| format!("{{{{ {name} }}}}\n"))
            .collect::<String>()
    };
    let local =
        "{{ persona }} {% for line in caveats %}{{ line.what }}{% endfor %}{% set x = 1 %}{{ x }}";
    for (template, text) in [
        ("started", all(&[ANY, MESSAGE, START]) + local),
        ("round", all(&[ANY, MESSAGE]) + local),
        (
            "prompt",
            all(&[ANY, PROMPT]) + "{% include \"review/answer.md\" %}{{ topic }}",
        ),
        ("personas/engineer", "{{ anything }} {{".to_owned()),
    ] {
        assert_eq!(problems_of(template, &text), [""; 0], "{template}");
    }
}
