//! The ways of a version: to everyone, and back.

use claudex_testkit::has;

use crate::support::Yard;

const QUESTION: &str = "Roll 1.4.0 out to everyone?";

#[test]
fn a_version_is_built_tried_approved_and_rolled_out() {
    let yard = Yard::new();
    let id = yard.start("train", "1.4.0");
    assert_eq!(yard.phase(), "boarding");

    // The agent is told once, and nothing was built for that.
    let said = yard.blocks();
    assert!(
        said.contains("version 1.4.0") && said.contains(&id),
        "{said}"
    );
    let said = yard.blocks();
    has(&said, "failed (time 1 of 3)");
    yard.write("built");
    let said = yard.blocks();
    has(&said, "Deploy 1.4.0 to the canary");
    has(&said, "3 clean probes");
    assert_eq!(yard.status()["fields"]["failures"], 0);

    for probe in 1..3 {
        let said = yard.blocks();
        has(&said, &format!("Probe {probe} of 3"));
        assert_eq!(yard.phase(), "canary");
    }
    let said = yard.blocks();
    has(&said, QUESTION);
    has(&said, "AskUserQuestion");

    let told = yard.answered(&yard.dialog(QUESTION, "Roll out")).unwrap();
    assert!(
        told.starts_with("release-train: the answer “Roll out”"),
        "{told}"
    );
    assert!(
        told.contains("`deployed/1.4.0`"),
        "what is to be done is said at once: {told}"
    );
    assert_eq!(yard.phase(), "rollout");

    // One reminder while nothing is there, then the turn may end.
    assert!(yard.blocks().contains("deployed/1.4.0"));
    let said = yard.approves();
    has(&said, "waits for deployed/1.4.0");
    yard.write("deployed/1.4.0");
    let said = yard.approves();
    has(&said, &format!("loop {id} is done"));
    assert_eq!(
        yard.approves(),
        "",
        "a train that has arrived says nothing more"
    );

    let journal = yard.done(&["journal", &id]);
    let ways: Vec<&str> = journal
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|what| !what.starts_with("command-"))
        .collect();
    assert_eq!(
        ways,
        [
            "start",
            "bind",
            "depart",
            "mend",
            "deploy_canary",
            "soaking",
            "soaking",
            "soaked",
            "approve",
            "remind",
            "arrive"
        ]
    );
    has(&journal, "approve by the user approving -> rollout");
}

#[test]
fn a_canary_that_burns_goes_back_and_the_agent_writes_why() {
    let yard = Yard::new();
    yard.start("hotfix", "1.4.1");
    yard.write("built");
    let said = yard.blocks();
    has(&said, "one clean probe is");
    yard.write("burning");
    let said = yard.blocks();
    has(&said, "1.4.1 goes back: a probe of the canary failed");
    has(&said, "`ROLLBACK.md`");
    assert!(yard.blocks().contains("ROLLBACK.md"));
    assert!(
        yard.approves()
            .contains("waits for ROLLBACK.md to be written")
    );
    yard.write("ROLLBACK.md");
    assert!(
        yard.blocks().contains("release-train review"),
        "the report is reviewed"
    );
    assert_eq!(
        yard.status()["fields"]["why"],
        "a probe of the canary failed"
    );
}

#[test]
fn a_person_who_says_back_is_heard_in_the_dialog_and_in_the_terminal() {
    let (yard, _) = Yard::approving("1.4.0");
    let told = yard.answered(&yard.dialog(QUESTION, "Roll back")).unwrap();
    has(&told, "1.4.0 goes back: a person rolled it back");
    assert_eq!(yard.phase(), "rollback");

    let (yard, id) = Yard::approving("1.4.0");
    let said = yard.done(&["approve"]);
    has(&said, "now in phase rollout");
    has(&said, "Roll it out");
    let said = yard.done(&["roll-back", &id]);
    has(&said, "now in phase rollback");
}

#[test]
fn a_build_that_fails_three_times_ends_the_train() {
    let yard = Yard::new();
    yard.start("hotfix", "2.0");
    assert!(yard.blocks().contains("time 1 of 3"));
    assert!(yard.blocks().contains("time 2 of 3"));
    assert!(yard.approves().contains("is aborted"));
    assert_eq!(
        yard.status()["fields"]["why"],
        "the build failed three times"
    );
}

#[test]
fn soak_is_a_flag_of_the_start_and_the_mode_has_its_own() {
    let yard = Yard::new();
    yard.done(&["start", "train", "--soak", "2", "--version", "3.0 beta"]);
    assert_eq!(yard.status()["fields"]["soak"], 2);
    assert_eq!(yard.status()["fields"]["version"], "3.0 beta");
    yard.done(&["abort", "--why", "only a try"]);
    yard.start("hotfix", "3.1");
    assert_eq!(yard.status()["fields"]["soak"], 1);
}
