//! Who may do what, what the commands for users say and exit with, and what must break nothing.

use claudex_testkit::{has, rewrite_journal};
use serde_json::Value;

use crate::support::{Yard, files};

#[test]
fn agent_decides_nothing_that_is_the_users() {
    let (yard, id) = Yard::approving("1.0");
    let verbs = ["approve", "roll-back", "resume", "adopt", "answer"];
    for verb in verbs {
        let label = (verb == "answer").then_some("Roll out");
        let arguments: Vec<&str> = [verb, &id].into_iter().chain(label).collect();
        let output = yard.agent(&arguments);
        assert_eq!(output.code, Some(1), "{verb}: {output:?}");
        has(&output.err, "ask the user to");
    }
    assert_eq!(yard.phase(), "approving");
    let journal = yard.done(&["journal", &id]);
    for verb in verbs {
        has(&journal, &format!("refused {verb} by the agent"));
    }
    // What both may do, an agent does.
    let output = yard.agent(&["abort", "--why", "the agent saw smoke"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let journal = yard.done(&["journal", &id]);
    has(&journal, "abort by the agent approving -> aborted");
}

#[test]
fn wrong_calls_exit_with_their_codes() {
    let yard = Yard::new();
    for arguments in [
        &["start"] as &[&str],
        &["start", "tram", "1.0"],
        &["use", "1.0"],
        &["start", "train", " \t"],
        &["start", "train", "--soak", "many", "1.0"],
        &["start", "train", "--version", "1.0", "1.1"],
        &["start", "train", "--speed", "9", "1.0"],
        &["abort"],
        &[],
        &["approve", "../../etc/passwd"],
        &["approve", "--from-prompt"],
    ] {
        yard.refuses(arguments, 2, "");
    }
    let id = yard.start("train", "1.0");
    yard.refuses(&["start", "train", "1.1"], 1, &id);
    yard.refuses(&["start", "train", "1.1"], 1, "release-train status");
    yard.refuses(&["approve"], 1, "cannot approve in phase boarding");
    yard.refuses(&["approve"], 1, "possible in phase boarding:");
    let unknown = "20200101-000000-000000";
    yard.refuses(
        &["status", unknown],
        1,
        &format!("loop {unknown} not found in"),
    );
}

#[test]
fn status_list_and_journal_show_the_train() {
    let (yard, id) = Yard::approving("1.0");
    let printed = yard.done(&["status", &id]);
    for line in [
        format!("loop:      {id}"),
        "phase:     approving (A person decides whether everyone gets it)".to_owned(),
        "version:   1.0".to_owned(),
        format!("    release-train approve {id}"),
        format!("    release-train abort {id} --why <why>"),
        "ways on:   approve (user only), roll-back (user only), resume (user only), abort"
            .to_owned(),
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line}\n{printed}"
        );
    }
    let status = yard.status();
    let change = &status["last_change"];
    assert_eq!([&change["what"], &change["by"]], ["soaked", "hook"]);
    let ways: Vec<&Value> = status["ways_on"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| &way["transition"])
        .collect();
    assert_eq!(ways, ["approve", "roll_back", "resume", "abort"]);

    let rows: Value = serde_json::from_str(&yard.done(&["list", "--json"])).unwrap();
    let row = ["id", "phase", "about"].map(|key| &rows[0][key]);
    assert_eq!(row, [&id, "approving", "1.0"]);
    let list = yard.done(&["list"]);
    assert!(
        list.starts_with("LOOP ") && list.contains("VERSION"),
        "{list}"
    );
    for line in yard.done(&["journal", &id, "--json"]).lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry.get("at").is_some(), "{line}");
    }
}

#[test]
fn archived_train_comes_back_and_is_adopted() {
    let (yard, id) = Yard::approving("1.0");
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(48);
    for path in [
        yard.state(&id),
        yard.folder().join(&id).join("journal.jsonl"),
    ] {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(old).unwrap();
    }
    has(&yard.done(&["sweep"]), "was moved");
    let message = yard.approves();
    has(&message, "was archived");
    has(&message, &format!("release-train resume {id}"));
    has(&yard.done(&["list"]), "archived");
    let message = yard.done(&["resume", &id]);
    has(&message, "was brought back");
    has(&message, "goes on in phase approving");

    has(&yard.done(&["adopt", "--yes"]), "belongs to no session now");
    assert_eq!(yard.stop_of("session-2").0, "remind");
    assert_eq!(yard.status()["session"], "session-2");
    assert_eq!(yard.approves(), "", "it is no longer this session's");
}

#[test]
fn train_in_an_unknown_phase_is_called_off() {
    let yard = Yard::new();
    let id = yard.start("train", "1.0");
    // As a program with another phase would have left it.
    let age = |text: &str| text.replace("boarding", "coupling");
    let home = yard.configuration.join(".local/state/release-train");
    rewrite_journal(&yard.folder(), &home, &id, age).expect("a start wrote it");
    let state = std::fs::read_to_string(yard.state(&id)).expect("a start wrote it");
    std::fs::write(yard.state(&id), age(&state)).expect("it is ours");
    let refused = yard.run(&["approve", &id]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    has(&refused.err, "release_train has no phase `coupling`");
    // What is to be done is said in the words of this program, wherever the train is met.
    let help = format!("give it up (its files are kept): release-train abort {id} --why <why>");
    let stopped = yard.approves();
    for output in [&refused.err, &stopped, &yard.done(&["status", &id])] {
        let output = output.split_whitespace().collect::<Vec<_>>().join(" ");
        has(&output, &help);
        assert!(!output.contains("claudex-loop"), "{output}");
        let named = output.matches("has no phase `coupling`").count();
        assert_eq!(named, 1, "{output}");
    }
    let given_up = yard.done(&["abort", &id, "--why", "nobody needs it"]);
    has(&given_up, "was given up");
    yard.start("train", "1.1");
}

#[test]
fn version_is_a_text_and_nothing_else() {
    for version in [
        "it's \"1.0\" $(touch pwned) `touch pwned` ; touch pwned",
        "{{ id }} {% for %} {version}",
        "---\r\nphase: done\n\u{202e}0.1\u{202c} \u{1b}[2J é 計画",
        "--soak",
    ] {
        let yard = Yard::new();
        yard.done(&["start", "hotfix", "--version", version]);
        assert_eq!(yard.phase(), "building", "{version}");
        has(&yard.blocks(), "failed (time 1 of 3)");
        yard.write("built", "");
        yard.blocks();
        yard.blocks();
        assert_eq!(yard.phase(), "approving", "{version}");
        let names = files(&yard.path);
        assert!(
            !names.iter().any(|(path, _)| path.ends_with("pwned")),
            "{version}"
        );
        for command in ["status", "list", "journal"] {
            let printed = yard.done(&[command]);
            let is_hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!printed.contains(is_hidden), "{printed:?}");
        }
    }
    // As a path it leads nowhere else, and as a question it is one line.
    let (yard, _) = Yard::approving("../../x\ny");
    assert_ne!(yard.answer("../../x y", "Roll out"), "");
    yard.blocks();
    has(&yard.approves(), "waits for");
}

#[test]
fn edited_file_and_wrong_settings_change_nothing() {
    let (yard, id) = Yard::approving("1.0");
    let text = std::fs::read_to_string(yard.state(&id)).unwrap();
    std::fs::write(yard.state(&id), text.replace("probes: 1", "probes: 9")).unwrap();
    let output = yard.answer("1.0", "Roll out");
    has(&output, &id);
    has(&output, "edited by hand (probes)");
    assert_eq!(yard.status()["fields"]["probes"], 1);

    let yard = Yard::new();
    yard.start("hotfix", "1.0");
    let file = ".claude/release-train.toml";
    let command = "[commands.build]\nprogram = \"touch\"\narguments = [\"ran\"]\n";
    yard.write(file, command);
    has(&yard.blocks(), "The build of 1.0 failed");
    std::fs::remove_file(yard.path.join(file)).unwrap();
    yard.configure("[commands.build]\nprogram = \"./mine\"\n");
    has(
        &yard.approves(),
        "config.toml:2:1: ‘./mine’ is a relative path",
    );
    assert!(!yard.path.join("ran").exists());
}
