//! Who may do what, and what the commands for people say and exit with.

use std::time::{Duration, SystemTime};

use claudex_testkit::{has, rewrite_journal};
use serde_json::Value;

use crate::support::{Yard, snapshot};

#[test]
fn what_is_a_persons_to_decide_no_agent_decides() {
    let (yard, id) = Yard::approving("1.0");
    let before = snapshot(&yard.path);
    for verb in ["approve", "roll-back", "resume", "adopt", "answer"] {
        let label = (verb == "answer").then_some("Roll out");
        let arguments: Vec<&str> = [verb, &id].into_iter().chain(label).collect();
        let said = yard.agent(&arguments);
        assert_eq!(said.code, Some(1), "{verb}: {}{}", said.out, said.err);
        assert!(said.err.contains("ask the user to"), "{verb}: {}", said.err);
    }
    assert_eq!(yard.phase(), "approving");
    // Only the log and the loop's journal tell of it.
    let silent = |files: Vec<(std::path::PathBuf, Vec<u8>)>| {
        files
            .into_iter()
            .filter(|(path, _)| !path.ends_with("log") && !path.ends_with("journal.jsonl"))
            .collect::<Vec<_>>()
    };
    assert_eq!(silent(before), silent(snapshot(&yard.path)));
    let journal = yard.done(&["journal", &id]);
    for verb in ["approve", "roll-back", "resume", "adopt", "answer"] {
        assert!(
            journal.contains(&format!("refused {verb} by the agent")),
            "{verb}: {journal}"
        );
    }
    // What both may do, an agent does.
    let said = yard.agent(&["abort", "--why", "the agent saw smoke"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let journal = yard.done(&["journal", &id]);
    has(&journal, "abort by the agent approving -> aborted");
}

#[test]
fn one_train_runs_at_a_time_and_a_refusal_says_which() {
    let yard = Yard::new();
    let id = yard.start("train", "1.0");
    let said = yard.run(&["start", "train", "1.1"]);
    assert_eq!(said.code, Some(1));
    has(&said.err, &id);
    has(&said.err, "release-train status");
    let said = yard.run(&["approve"]);
    assert_eq!(said.code, Some(1));
    has(&said.err, "cannot approve in phase boarding");
    has(&said.err, "possible in phase boarding:");
}

#[test]
fn wrong_arguments_exit_with_2_and_start_nothing() {
    let yard = Yard::new();
    for arguments in [
        &["start"] as &[&str],
        &["start", "train"],
        &["start", "tram", "1.0"],
        &["use", "1.0"],
        &["start", "train", ""],
        &["start", "train", " \t"],
        &["start", "train", "--soak", "many", "1.0"],
        &["start", "train", "--soak", "-1", "1.0"],
        &["start", "train", "--version", "1.0", "1.1"],
        &["start", "train", "--speed", "9", "1.0"],
        &["abort"],
        &["brake"],
        &[],
        &["approve", "../../etc/passwd"],
        &["approve", "\u{202e}x"],
        &["approve", "--from-prompt"],
    ] {
        let said = yard.run(arguments);
        assert_eq!(
            said.code,
            Some(2),
            "{arguments:?}: {}{}",
            said.out,
            said.err
        );
    }
}

#[test]
fn status_list_and_journal_are_for_people_and_for_programs() {
    let (yard, id) = Yard::approving("1.0");
    let shown = yard.done(&["status", &id]);
    for line in [
        format!("loop:      {id}"),
        "phase:     approving (A person decides whether everyone gets it)".to_owned(),
        "version:   1.0".to_owned(),
        format!("    release-train approve {id}"),
        format!("    release-train abort {id} --why <why>"),
        "ways on:   approve (user only), roll-back (user only), resume (user only), abort"
            .to_owned(),
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    let shown = yard.status();
    assert_eq!(shown["last_change"]["what"], "soaked");
    assert_eq!(shown["last_change"]["by"], "hook");
    let ways: Vec<&str> = (shown["ways_on"].as_array().unwrap().iter())
        .map(|way| way["transition"].as_str().unwrap())
        .collect();
    assert_eq!(ways, ["approve", "roll_back", "resume", "abort"]);

    let rows: Value = serde_json::from_str(&yard.done(&["list", "--json"])).unwrap();
    assert_eq!(rows[0]["id"], id.as_str());
    assert_eq!(
        (&rows[0]["phase"], &rows[0]["about"]),
        (&"approving".into(), &"1.0".into())
    );
    let list = yard.done(&["list"]);
    assert!(list.starts_with("LOOP "), "{list}");
    has(&list, "VERSION");
    has(&list, "approving");

    for line in yard.done(&["journal", &id, "--json"]).lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry.get("at").is_some(), "{line}");
    }
    let other = yard.run(&["status", "20200101-000000-000000"]);
    assert_eq!(other.code, Some(1), "{}", other.out);
    assert!(
        other
            .err
            .contains("there is no loop 20200101-000000-000000"),
        "{}",
        other.out
    );
}

#[test]
fn archived_train_comes_back_and_can_be_taken_over() {
    let (yard, id) = Yard::approving("1.0");
    let old = SystemTime::now() - Duration::from_secs(48 * 60 * 60);
    for path in [yard.state(&id), yard.journal(&id)] {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(old).unwrap();
    }
    assert!(yard.done(&["sweep"]).contains("was moved"));
    let (decision, said) = yard.stop();
    assert_eq!(decision, "approve");
    has(&said, "was archived");
    has(&said, &format!("release-train resume {id}"));
    has(&yard.done(&["list"]), "archived");
    let said = yard.done(&["resume", &id]);
    has(&said, "was brought back");
    has(&said, "goes on in phase approving");

    assert!(
        yard.done(&["adopt", "--yes"])
            .contains("belongs to no session now")
    );
    let (decision, said) = yard.stop_of("session-2");
    assert_eq!(decision, "remind", "{said}");
    assert_eq!(yard.status()["session"], "session-2");
    assert_eq!(yard.approves(), "", "it is no longer this session's");
}

#[test]
fn train_in_an_unknown_phase_can_be_called_off() {
    let yard = Yard::new();
    let id = yard.start("train", "1.0");
    // As a program with another phase would have left it.
    let age = |text: &str| text.replace("boarding", "coupling");
    rewrite_journal(&yard.folder(), &yard.state_home(), &id, age).expect("a start wrote it");
    let state = std::fs::read_to_string(yard.state(&id)).expect("a start wrote it");
    std::fs::write(yard.state(&id), age(&state)).expect("it is ours");
    let said = yard.run(&["approve", &id]);
    assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
    has(&said.err, "phase `coupling` is none of release_train’s");
    // What is to be done is said in the words of this program, wherever the train is met.
    let way = format!("give it up (its files are kept): release-train abort {id} --why <why>");
    let stopped = yard.approves();
    for told in [&said.err, &stopped, &yard.done(&["status", &id])] {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains(&way) && !told.contains("claudex-loop"),
            "{told}"
        );
        assert_eq!(
            told.matches("phase `coupling` is none of").count(),
            1,
            "{told}"
        );
    }
    assert_eq!(stopped.matches(".state").count(), 1, "{stopped}");
    let said = yard.run(&["abort", &id, "--why", "nobody needs it"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    has(&said.out, "was given up");
    yard.start("train", "1.1");
}
