//! What cargo says and does of a stranger's machine: all findings at once and nothing else, and a build again when, and only
//! when, something that the machine is made from has changed.

use crate::stranger::{MACHINE, MAIN, door, fails};
use crate::support::Crate;
use crate::support::stranger::ours;

/// A machine that can be read, and where each check finds something.
const WRONG: &str = r#"name = "door"

[modes.door]
start = "open"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
tries    = { type = "count" }
word     = { type = "text" }

[phases.open]
on_stop = { require-file = { path = "KEY", written = "remnd", missing = "remind" } }

[phases.attic]
[phases.cellar]

[phases.closed]
terminal = true

[[transitions.shut]]
from = "open"
to   = "closed"
when = "tries > 2"

[[transitions.shut]]
from = "open"
to   = "open"
when = "tries > 1"

[[transitions.remind]]
from = "open"
to   = "same"

[[transitions.reopen]]
from = "closed"
to   = "open"
by   = ["person"]

[[transitions.sink]]
from = "open"
to   = "cellar"
by   = ["person"]
set  = { tries = "word" }

[[transitions.stay]]
from = "open"
to   = "closed"
by   = ["person"]
when = "tries < 2 and tries > 5"
"#;

/// The errors of a build, each without cargo's own beginning.
fn errors(said: &str) -> Vec<&str> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("error: "));
    lines
        .map(|line| line.strip_prefix("door@0.1.0: ").unwrap_or(line))
        .collect()
}

#[test]
fn everything_that_is_wrong_is_said_at_once_each_on_a_line_with_its_place_and_nothing_else() {
    let said = fails(&door(WRONG, MAIN));
    let errors = errors(&said);
    let expected = [
        (
            "17:54",
            "no transition is named `remnd`; did you mean `remind`?",
        ),
        ("19:9", "no loop reaches `attic`"),
        ("20:9", "nothing leads from `cellar` to a terminal phase"),
        ("25:1", "no entry of `shut` holds in `open`: tries is 0"),
        ("30:1", "nothing bounds the cycle open -> open (by shut)"),
        (
            "33:8",
            "two entries of `shut` hold at once in `open`: tries is 3",
        ),
        ("35:1", "nothing bounds the cycle open -> open (by remind)"),
        ("40:8", "`reopen` leaves `closed`, which is terminal"),
        ("48:18", "`word` is text, not a count"),
        ("54:8", "no values make this guard of `stay` hold"),
    ];
    for (place, what) in expected {
        let start = format!("machine.toml:{place}: ");
        assert!(
            errors
                .iter()
                .any(|error| error.starts_with(&start) && error.contains(what)),
            "{start}{what}\n{said}"
        );
    }
    // And cargo's own line at the end.
    assert_eq!(errors.len(), expected.len() + 1, "{said}");
    assert_eq!(
        errors[expected.len()],
        "build script logged errors",
        "{said}"
    );
    for noise in ["panicked", "RUST_BACKTRACE", "stack backtrace", "unwrap"] {
        assert!(!said.contains(noise), "{noise}: {said}");
    }
}

#[test]
fn a_machine_file_that_is_not_there_is_one_line() {
    let stranger = Crate::new("door");
    stranger.write("src/main.rs", MAIN);
    let said = fails(&stranger);
    assert_eq!(
        errors(&said),
        [
            "machine.toml: there is no such file",
            "build script logged errors"
        ],
        "{said}"
    );
}

#[test]
fn a_change_of_the_machine_or_of_a_template_builds_again_and_another_files_does_not() {
    let machine = MACHINE.replace(
        "tries + 1\" }\n",
        "tries + 1\" }\nmessage = \"remind.md\"\n",
    );
    let stranger = door(
        &machine.replace(
            "name = \"door\"\n",
            "name = \"door\"\nmessages = \"words\"\n",
        ),
        MAIN,
    );
    stranger.write("words/remind.md", "Bring the key.\n");
    // What has been built again.
    let built = || {
        let output = stranger.cargo(&["check"]);
        let said = String::from_utf8(output.stderr).unwrap();
        (
            output.status.success(),
            said.contains("Compiling door"),
            said,
        )
    };
    let (fine, again, said) = built();
    assert!(fine && again, "{said}");
    let (fine, again, said) = built();
    assert!(fine && !again, "{said}");

    stranger.write("README.md", "A door.\n");
    stranger.write("words/other.md", "No edge says this.\n");
    let (fine, again, said) = built();
    assert!(fine && !again, "{said}");

    stranger.write("words/remind.md", "Bring the key, please.\n");
    let (fine, again, said) = built();
    assert!(fine && again, "{said}");

    stranger.write(
        "machine.toml",
        &machine.replace("[phases.closed]", "[phases.shut]"),
    );
    let (fine, _, said) = built();
    assert!(!fine, "{said}");
    assert!(said.contains("no phase is named `closed`"), "{said}");
}

#[test]
fn the_documentation_of_a_strangers_crate_builds_without_a_warning() {
    let output = door(MACHINE, &format!("//! A door.\n{MAIN}")).cargo(&[
        "doc",
        "--no-deps",
        "--document-private-items",
    ]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && !said.contains("warning"),
        "{said}"
    );
}

/// A build script that takes the method of a transition out of the types.
const WITHOUT_CANCEL: &str = r#"fn main() {
    claudex_build::Config::new().compile("machine.toml");
    let types = format!("{}/door.rs", std::env::var("OUT_DIR").unwrap());
    let text = std::fs::read_to_string(&types).unwrap();
    let without = text.replace("pub fn cancel<N>", "pub fn other<N>");
    assert_ne!(text, without);
    std::fs::write(types, without).unwrap();
}
"#;

#[test]
fn program_without_a_typestate_method_does_not_build() {
    let cancel = "\n[[transitions.cancel]]\nfrom = \"*\"\nto   = \"closed\"\nby   = [\"person\"]\n";
    let machine = format!("{MACHINE}{cancel}");
    let stranger = door(&machine, "claudex_loop::main!(door);\n");
    let cargo = format!(
        "[package]\nname = \"door\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         claudex-loop = {{ path = {:?}, default-features = false, features = [\"program\"] }}\n\n\
         [build-dependencies]\nclaudex-build = {{ path = {:?} }}\n",
        ours(),
        ours().join("codegen"),
    );
    stranger.write("Cargo.toml", &cargo);
    let built = stranger.cargo(&["check"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );

    stranger.write("build.rs", WITHOUT_CANCEL);
    let said = fails(&stranger);

    assert!(said.contains("no method named `cancel` found"), "{said}");
}
