//! Nothing that the program says names the engine, or its other program: but for the person's one configuration file, which is the
//! engine's.

use crate::support::Yard;

/// Returns what a program said without what may name the engine.
fn said(yard: &Yard, arguments: &[&str]) -> String {
    let said = yard.run(arguments);
    let home = yard.configuration.to_str().unwrap();
    format!("{}{}", said.out, said.err)
        .replace(&format!("{home}/claudex-loop/config.toml"), "")
        .replace(home, "")
        // Where it was built is the person's choice: a clone may have the engine's name.
        .replace(env!("CARGO_BIN_EXE_release-train"), "")
}

#[test]
fn no_command_names_another_program_than_its_own() {
    let yard = Yard::new();
    let check = |arguments: &[&str]| {
        let text = said(&yard, arguments);
        let named: Vec<&str> = text
            .lines()
            .filter(|line| line.to_lowercase().contains("claudex"))
            .collect();
        assert!(named.is_empty(), "{arguments:?}: {named:#?}");
    };
    let help = yard.done(&["--help"]);
    let commands: Vec<String> = help
        .split("\nOptions:\n")
        .next()
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    assert!(commands.len() > 15, "{help}");
    check(&["--help"]);
    check(&["--protocol"]);
    for command in &commands {
        check(&[command, "--help"]);
    }
    let all = |id: &str| {
        for arguments in [
            &["status"][..],
            &["status", "--json"],
            &["list"],
            &["list", "--json"],
            &["journal"],
            &["journal", id],
            &["personas"],
            &["review", id, "--reviewer", "lint"],
            &["review", id, "--follow"],
            &["review", id, "--reviewer", "nobody"],
            &["resume", id],
            &["adopt", id],
            &["resume", "no-such-loop"],
            &["approve", id],
            &["sweep"],
            &["doctor"],
            &["config", "path"],
            &["config", "show"],
            &["config", "check"],
            &["hooks", "--by-name"],
            &["completions", "bash"],
            &["start", "train", "--what"],
            &["start", "train"],
            &["start", "nowhere", "1.0"],
            &["plugin", "write", "plugin"],
            &["no-such-command"],
        ] {
            check(arguments);
        }
    };
    all("20261122-000000-000000");
    let id = yard.start("train", "1.2.3");
    all(&id);
    check(&["start", "train", "1.2.4"]);
    check(&["abort", &id, "--why", "it rains"]);
    all(&id);
    check(&["rollback", "--yes"]);
    let written = crate::trees::files(&yard.path.join("plugin"));
    assert!(
        written.keys().all(|name| !name.contains("claudex")),
        "{written:?}"
    );
}
