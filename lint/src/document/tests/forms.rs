//! Forms in which plans say things: what the measured plans showed that had been misread.

use super::{FILLER, ids, plans};
use crate::PointOfView;
use crate::document::review;

fn has(plan: &str, focus: PointOfView, id: &str) -> bool {
    ids(plan, focus).contains(&id)
}

#[test]
fn numbered_headings_that_deliver_are_steps() {
    let phases = "## 0. pin it down\n\n- run it\n- result: golden tests pass\n\n## 1. skeleton\n\n- move two\n- result: still green\n\n\
        ## 2. the rest\n\n- move all\n- result: main.go is gone\n";
    let found = ids(&format!("{FILLER}{phases}"), PointOfView::Engineering);
    assert!(
        !found
            .iter()
            .any(|id| matches!(*id, "ENG-STEPS" | "ENG-STEP-OUTCOME" | "ENG-ACCEPTANCE")),
        "{found:?}"
    );
    let bare = phases.replace("result: ", "");
    assert!(has(
        &format!("{FILLER}{bare}"),
        PointOfView::Engineering,
        "ENG-ACCEPTANCE"
    ));
}

#[test]
fn items_below_a_heading_about_being_done_are_steps_if_they_say_when_they_are() {
    let plan = format!(
        "{FILLER}## What we do, and how we know that it is done\n\n1. Ana builds it. *Done when* it runs.\n2. Ben tests it. *Done when* it passes.\n"
    );
    assert!(!has(&plan, PointOfView::Engineering, "ENG-STEPS"));
    let bare = plan.replace("*Done when*", "And so");
    assert!(has(&bare, PointOfView::Engineering, "ENG-STEPS"));
}

#[test]
fn an_arrow_is_an_outcome_where_it_is_a_habit() {
    let steps = "## Steps\n\n1. Analysis only, no transformation. \u{2192} remarks on the suite.\n2. Put it behind the option for now. \u{2192} the 40 files stand.\n3. Turn it on for the three teams. \u{2192} four weeks.\n";
    let plan = format!("{FILLER}{steps}");
    assert!(!has(&plan, PointOfView::Engineering, "ENG-STEP-OUTCOME"));
    let bare = plan.replace('\u{2192}', ",");
    assert!(has(&bare, PointOfView::Engineering, "ENG-STEP-OUTCOME"));
}

#[test]
fn underlined_headings_are_headings_however_long_and_numbered() {
    let question = format!(
        "{FILLER}Q: How is it done?\n{}\n\nBy Ana, in May.\n",
        "-".repeat(40)
    );
    assert!(!has(
        &question,
        PointOfView::Engineering,
        "ENG-OPEN-QUESTION"
    ));
    let numbered = format!(
        "{FILLER}1. Summary\n----------\n\nAll of it.\n\n2. Non-goals\n------------\n\nNone of it.\n"
    );
    assert!(has(&numbered, PointOfView::Engineering, "ENG-STEPS"));
    let listed = format!("{FILLER}## Steps\n\n1. Build it\n\n---\n\n2. Ship it\n");
    assert!(!has(&listed, PointOfView::Engineering, "ENG-STEPS"));
}

#[test]
fn a_target_with_a_bound_is_when_the_work_is_accepted() {
    for (target, expected) in [
        ("After this, every shard should be \u{2264}45% full.", false),
        ("Want: \u{2265} 4 % faster in the numeric suite.", false),
        ("It should be nice for everybody who uses it.", true),
        ("An alert tells us when it is > 80 % full.", true),
    ] {
        let plan = format!("{FILLER}{target}\n\n## Steps\n\n1. Build it\n2. Ship it\n");
        assert_eq!(
            has(&plan, PointOfView::Engineering, "ENG-ACCEPTANCE"),
            expected,
            "{target}"
        );
    }
}

#[test]
fn a_question_with_somebody_and_a_day_behind_it_is_a_task() {
    for (items, expected) in [
        (
            "- Contract of the laboratory \u{2014} Y\u{131}ld\u{131}z until 15.05.\n",
            false,
        ),
        ("- Which currency is shown (Ana, by 12 June)\n", false),
        ("- Which currency is shown \u{2014} still unknown\n", true),
        (
            "- Which currency is shown (Ana, by 12 June)\n\nNeither blocks the first step.\n",
            false,
        ),
        ("Which currency is shown is unknown.\n", true),
    ] {
        let plan = format!("{FILLER}## Open points\n\n{items}");
        assert_eq!(
            has(&plan, PointOfView::Engineering, "ENG-OPEN-QUESTION"),
            expected,
            "{items}"
        );
    }
}

#[test]
fn a_secret_on_a_shared_page_is_a_secret_in_the_open() {
    for (step, expected) in [
        (
            "Create one admin login and put it in the pinned message of the channel",
            true,
        ),
        (
            "Note where the password is: passwords are in the wiki",
            true,
        ),
        ("Alerts about failed logins go to the Slack channel", false),
        ("The password reset page links to the wiki", false),
    ] {
        let plan = format!("{FILLER}## Steps\n\n1. {step}\n");
        assert_eq!(
            has(&plan, PointOfView::Security, "SEC-SECRET-IN-CONFIG"),
            expected,
            "{step}"
        );
    }
}

/// What thin plans that were written blind must be told at least, by round.
const LACKS: &[(&str, [&[&str]; 3])] = &[
    (
        "admin-dashboard",
        [
            &["ENG-TESTS", "ENG-ACCESSIBILITY"],
            &["SEC-INPUT", "SEC-PRIVACY"],
            &["OPS-ROLLBACK"],
        ],
    ),
    (
        "iot-ingest",
        [
            &["ENG-STEP-OUTCOME", "ENG-TESTS"],
            &["SEC-CONCURRENCY"],
            &["PLAN-SHORT"],
        ],
    ),
    (
        "leaderboard",
        [
            &["ENG-TESTS", "ENG-ACCESSIBILITY"],
            &["SEC-AUTHN", "SEC-INPUT"],
            &["OPS-ROLLBACK", "OPS-OBSERVABILITY"],
        ],
    ),
    (
        "mail-provider-switch",
        [
            &["ENG-STEP-OUTCOME", "ENG-TESTS"],
            &["SEC-SECRET-IN-CONFIG", "SEC-PRIVACY"],
            &["OPS-ROLLBACK", "OPS-OBSERVABILITY"],
        ],
    ),
    (
        "on-call-handover-revamp",
        [
            &["PLAN-HOLLOW", "ENG-ACCEPTANCE"],
            &["PLAN-HOLLOW", "SEC-SECRET-IN-CONFIG"],
            &["PLAN-HOLLOW"],
        ],
    ),
    (
        "orders-fact-backfill",
        [
            &["ENG-STEP-OUTCOME", "ENG-ACCEPTANCE"],
            &[],
            &["OPS-ROLLBACK"],
        ],
    ),
    (
        "paylane-integration",
        [
            &["ENG-OPEN-QUESTION", "ENG-ACCESSIBILITY"],
            &[
                "SEC-INPUT",
                "SEC-SECRET-IN-CONFIG",
                "SEC-CONCURRENCY",
                "SEC-PRIVACY",
            ],
            &["OPS-ROLLBACK"],
        ],
    ),
    (
        "recsys-retraining",
        [
            &["PLAN-HOLLOW", "ENG-OPEN-QUESTION"],
            &["PLAN-HOLLOW", "SEC-PRIVACY"],
            &["PLAN-HOLLOW"],
        ],
    ),
    (
        "reindex-catalogue",
        [
            &["ENG-GOAL", "ENG-TESTS", "ENG-STEP-OUTCOME"],
            &["SEC-DATA-LOSS"],
            &["PLAN-SHORT"],
        ],
    ),
    (
        "site-refresh",
        [
            &["ENG-TESTS", "ENG-ACCESSIBILITY"],
            &["SEC-INPUT", "SEC-DATA-LOSS", "SEC-PRIVACY"],
            &["OPS-ROLLBACK"],
        ],
    ),
    (
        "timetable-importer",
        [
            &["ENG-STEP-OUTCOME", "ENG-ACCESSIBILITY"],
            &["SEC-AUTHN", "SEC-AUTHZ", "SEC-INPUT", "SEC-PRIVACY"],
            &["OPS-ROLLBACK"],
        ],
    ),
];

#[test]
fn thin_plans_are_told_what_they_lack() {
    let thin = plans("lint/tests/plans/thin");
    for (name, lacks) in LACKS {
        let (_, plan) = thin
            .iter()
            .find(|(path, _)| path.ends_with(&format!("{name}.md")))
            .unwrap_or_else(|| panic!("no plan {name}"));
        for (focus, lacks) in super::VIEWS.into_iter().zip(lacks) {
            let found = ids(plan, focus);
            for id in *lacks {
                assert!(
                    found.contains(id),
                    "{name}, {focus:?}: {id} not in {found:?}"
                );
            }
        }
    }
}

#[test]
fn thorough_plans_of_every_form_get_nothing_material() {
    let thorough = plans("lint/tests/plans/thorough");
    assert!(thorough.len() >= 30, "{}", thorough.len());
    for (name, plan) in thorough {
        for focus in super::VIEWS {
            let found = review(&plan, focus);
            assert_eq!(super::material(&found), 0, "{name}: {found:#?}");
        }
    }
}
