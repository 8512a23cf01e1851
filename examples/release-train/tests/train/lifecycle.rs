//! A version's route to all users, and the rollback.

use claudex_testkit::has;

use crate::support::Project;

#[test]
fn version_is_built_tried_approved_and_rolled_out() {
    let project = Project::new();
    let id = project.start("train", "1.4.0");
    assert_eq!(project.phase(), "boarding");

    // The first stop only tells the agent: no build runs.
    let message = project.blocks();
    has(&message, "version 1.4.0");
    has(&message, &id);
    has(&project.blocks(), "failed (time 1 of 3)");
    project.write("built", "");
    let message = project.blocks();
    has(&message, "Deploy 1.4.0 to the canary");
    has(&message, "3 clean probes");
    assert_eq!(project.status()["fields"]["failures"], 0);

    for probe in 1..3 {
        has(&project.blocks(), &format!("Probe {probe} of 3"));
        assert_eq!(project.phase(), "canary");
    }
    let message = project.blocks();
    has(&message, "Roll 1.4.0 out to everyone?");
    has(&message, "AskUserQuestion");

    // Only the options are answers. The answer names the next step at once.
    has(
        &project.answer("1.4.0", "yes, roll out"),
        "not one of the options",
    );
    let output = project.answer("1.4.0", "Roll out");
    has(&output, "release-train: the answer “Roll out”");
    has(&output, "`deployed/1.4.0`");
    assert_eq!(project.phase(), "rollout");

    // One reminder while the file is missing, then the turn may end.
    has(&project.blocks(), "deployed/1.4.0");
    has(&project.approves(), "waits for deployed/1.4.0");
    project.write("deployed/1.4.0", "");
    has(&project.approves(), &format!("loop {id} is done"));
    assert_eq!(
        project.approves(),
        "",
        "a train that has arrived says nothing more"
    );

    let journal = project.done(&["journal", &id]);
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
fn command_ends_with_an_interrupted_stop() {
    let project = Project::new();
    let build = "[commands.build]\nprogram = 'sh'\narguments = ['-c', 'kill $PPID; sleep 60']\n";
    project.configure(build);
    project.start("train", "1.4.0");
    project.blocks();
    has(&project.approves(), "it was ended with the stop");
    assert_eq!(project.phase(), "building");
}

#[test]
fn soak_has_a_default_for_each_mode() {
    let project = Project::new();
    project.done(&["start", "train", "--soak", "2", "--version", "3.0 beta"]);
    let fields = project.status()["fields"].take();
    assert_eq!(fields["soak"], 2);
    assert_eq!(fields["version"], "3.0 beta");
    let mut typed = project.event("UserPromptSubmit");
    typed["prompt"] = "/release-train:abort --why only a try".into();
    typed["prompt_id"] = "1".into();
    project.hook("prompt", &typed);
    project.agent(&["abort", "--from-prompt"]);
    project.start("hotfix", "3.1");
    assert_eq!(project.status()["fields"]["soak"], 1);
}
