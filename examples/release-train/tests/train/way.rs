//! A version's route to all users, and the rollback.

use claudex_testkit::has;

use crate::support::Yard;

#[test]
fn version_is_built_tried_approved_and_rolled_out() {
    let yard = Yard::new();
    let id = yard.start("train", "1.4.0");
    assert_eq!(yard.phase(), "boarding");

    // The first stop only tells the agent: no build runs.
    let message = yard.blocks();
    has(&message, "version 1.4.0");
    has(&message, &id);
    has(&yard.blocks(), "failed (time 1 of 3)");
    yard.write("built", "");
    let message = yard.blocks();
    has(&message, "Deploy 1.4.0 to the canary");
    has(&message, "3 clean probes");
    assert_eq!(yard.status()["fields"]["failures"], 0);

    for probe in 1..3 {
        has(&yard.blocks(), &format!("Probe {probe} of 3"));
        assert_eq!(yard.phase(), "canary");
    }
    let message = yard.blocks();
    has(&message, "Roll 1.4.0 out to everyone?");
    has(&message, "AskUserQuestion");

    // Only the options are answers. The answer names the next step at once.
    assert_eq!(yard.answer("1.4.0", "yes, roll out"), "");
    let output = yard.answer("1.4.0", "Roll out");
    has(&output, "release-train: the answer “Roll out”");
    has(&output, "`deployed/1.4.0`");
    assert_eq!(yard.phase(), "rollout");

    // One reminder while the file is missing, then the turn may end.
    has(&yard.blocks(), "deployed/1.4.0");
    has(&yard.approves(), "waits for deployed/1.4.0");
    yard.write("deployed/1.4.0", "");
    has(&yard.approves(), &format!("loop {id} is done"));
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
    let expected =
        "start bind depart mend deploy_canary soaking soaking soaked approve remind arrive";
    assert_eq!(ways.join(" "), expected);
    has(&journal, "approve by the user approving -> rollout");
}

#[test]
fn burning_canary_goes_back_with_a_report() {
    let yard = Yard::new();
    yard.start("hotfix", "1.4.1");
    yard.write("built", "");
    has(&yard.blocks(), "one clean probe is");
    yard.write("burning", "");
    let message = yard.blocks();
    has(&message, "1.4.1 goes back: a probe of the canary failed");
    has(&message, "`ROLLBACK.md`");
    has(&yard.blocks(), "ROLLBACK.md");
    has(
        &yard.approves(),
        "waits for the agent, to write ROLLBACK.md",
    );
    yard.write("ROLLBACK.md", "x\n");
    has(&yard.blocks(), "release-train review");
    assert_eq!(
        yard.status()["fields"]["why"],
        "a probe of the canary failed"
    );
}

#[test]
fn soak_has_a_default_for_each_mode() {
    let yard = Yard::new();
    yard.done(&["start", "train", "--soak", "2", "--version", "3.0 beta"]);
    let fields = yard.status()["fields"].take();
    assert_eq!(
        (&fields["soak"], &fields["version"]),
        (&2.into(), &"3.0 beta".into())
    );
    yard.done(&["abort", "--why", "only a try"]);
    yard.start("hotfix", "3.1");
    assert_eq!(yard.status()["fields"]["soak"], 1);
}
