//! Each concern that came later than the first catalogue: asked where it is relevant, silenced by its answer, and not
//! asked where the words only look like it.

use super::{FILLER, all_ids, ids};
use crate::PointOfView;

/// A plan that does this, and goes to production.
fn plan(step: &str) -> String {
    format!("{FILLER}## Steps\n\n1. {step}\n2. Write the runbook page for it\n")
}

/// What is done, the check that asks about it, and two ways to answer.
const ASKED: &[(&str, &str, [&str; 2])] = &[
    (
        "Add a refund form to the web page",
        "ENG-ACCESSIBILITY",
        [
            "It meets WCAG 2.2 AA, which axe checks in CI.",
            "It was tried with the keyboard alone and with a screen reader.",
        ],
    ),
    (
        "Store the phone number and postal address of each customer",
        "SEC-PRIVACY",
        [
            "They are deleted after 90 days by the nightly job.",
            "The data protection officer signed the assessment.",
        ],
    ),
    (
        "Predict which customers will cancel",
        "SEC-PRIVACY",
        [
            "Only pseudonyms leave the shop's database.",
            "People give their consent on the account page first.",
        ],
    ),
];

#[test]
fn a_concern_is_asked_until_it_is_answered() {
    for (step, id, answers) in ASKED {
        let asked = plan(step);
        let found = all_ids(&asked);
        assert!(found.contains(id), "{id} not in {found:?} of {asked}");
        for answer in answers {
            let told = format!("{asked}\n{answer}\n");
            let found = all_ids(&told);
            assert!(!found.contains(id), "{id} still asked of {told}");
        }
    }
}

#[test]
fn a_concern_that_is_only_named_is_still_asked() {
    for (step, id, word) in [
        (
            "Predict which customers will cancel",
            "SEC-PRIVACY",
            "Privacy is important to us.",
        ),
        (
            "Add a refund form to the web page",
            "ENG-ACCESSIBILITY",
            "Accessibility",
        ),
    ] {
        let told = format!("{}\n{word}\n", plan(step));
        let found = all_ids(&told);
        assert!(found.contains(&id), "{id} not in {found:?} of {told}");
    }
}

#[test]
fn words_that_only_look_like_a_concern_make_nothing_relevant() {
    for (step, id) in [
        // When people do a step is no schedule, a ratio is no time, and a person is late for other reasons.
        // Pages of a runbook, a verb, and the charts of those who run it.
        (
            "Add a page to the runbook for each alert",
            "ENG-ACCESSIBILITY",
        ),
        ("React to new events in the watcher", "ENG-ACCESSIBILITY"),
        ("Show the lag on the Grafana dashboard", "ENG-ACCESSIBILITY"),
        // Our own team, and one that promised a day.
        // Not people: hosts, transfers, releases.
        ("Show the IP address of each node", "SEC-PRIVACY"),
        (
            "A transfer resumes, and a job that stopped resumes, too",
            "SEC-PRIVACY",
        ),
        ("Publish release candidates for two weeks", "SEC-PRIVACY"),
        ("Raf gets an e-mail when the build fails", "SEC-PRIVACY"),
        // Nothing is put before users, or nothing is paid.
    ] {
        let plan = plan(step);
        let found = all_ids(&plan);
        assert!(!found.contains(&id), "{id} asked of {plan}");
    }
}

#[test]
fn a_release_by_any_name_needs_a_way_back() {
    for step in [
        "Flip the config on Thursday",
        "Roll it out to the shops",
        "We want to be live in a month, so put it live in May",
        "Ship with 3.4",
        "Run the script against the prod warehouse",
        "Point the DNS to the new host",
        "Switch it on for everybody",
    ] {
        let plan = plan(step);
        let found = ids(&plan, PointOfView::Operations);
        assert!(found.contains(&"OPS-ROLLBACK"), "{found:?} of {plan}");
        let told = format!(
            "{plan}\nThe old one is kept running for 30 days, and Ana switches back to it.\n"
        );
        assert!(
            !ids(&told, PointOfView::Operations).contains(&"OPS-ROLLBACK"),
            "{told}"
        );
    }
}

#[test]
fn text_without_content_is_told_so_in_every_round() {
    let bored = "# Improving how we work\n\nWe are going to improve how things are handled here, because everybody agrees that this matters.\n\n\
        The situation is not ideal, and people have been asking for a change for a long time. We believe that the time is right. \
        The change will bring a better experience and more value to all of us.\n\n\
        We will look at what is there, think about what could be better, and then make it better. Afterwards we look at the result. \
        Communication is important, and feedback is welcome. We are confident that this is the right way.\n";
    let of = |plan: &str| super::VIEWS.map(|focus| ids(plan, focus).contains(&"PLAN-HOLLOW"));
    assert_eq!(of(bored), [true; 3]);
    let named = format!(
        "{bored}\nBy 12 May the queue is empty. Ana moves `jobs/refund.rs`. The API answers within 2 s.\n"
    );
    assert_eq!(of(&named), [false; 3]);
    let coded = format!("{bored}\n```sh\nmake\n```\n\n`a` and `b` follow.\n");
    assert_eq!(of(&coded), [false; 3]);
}
