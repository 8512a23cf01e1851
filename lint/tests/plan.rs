//! Findings about whole plans, for each point of view.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use claudex_lint::{Finding, PointOfView, Severity, review_document};

const VIEWS: [PointOfView; 3] = [
    PointOfView::Engineering,
    PointOfView::Security,
    PointOfView::Operations,
];

/// A plan without findings.
const GOOD: &str = "# Move the export\n\nThe export takes 40 minutes by day. It moves into the night.\n\n\
    1. Write the script; done when it exits with 0 on 3 fixtures.\n\
    2. Add the cron line at 02:30; the log of the next day shows one run.\n\n\
    If a step fails, Kim takes the cron line out.\n";

fn example(name: &str) -> String {
    let path = format!("{}/../examples/plans/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the example is there")
}

fn review_all(plan: &str) -> Vec<Finding> {
    VIEWS
        .into_iter()
        .flat_map(|view| review_document(plan, view))
        .collect()
}

fn checks(plan: &str) -> Vec<&'static str> {
    review_all(plan)
        .iter()
        .map(|finding| finding.check)
        .collect()
}

#[test]
fn thin_example_has_findings_in_each_round() {
    let plan = example("thin.md");
    let mut list = String::new();
    for view in VIEWS {
        writeln!(list, "{view:?}").expect("a string grows");
        for finding in review_document(&plan, view) {
            let line = finding.line.expect("a plan has lines");
            writeln!(
                list,
                "  {:?} {line} {}: {}",
                finding.severity, finding.check, finding.what
            )
            .expect("a string grows");
        }
    }
    assert_eq!(
        list,
        "\
Engineering
  High 16 ENG-OPEN-QUESTION: 1 open question
  High 17 ENG-ACCEPTANCE: no acceptance criteria
  Medium 7 ENG-TESTS: no tests for the change
Security
  High 17 SEC-SECRETS: a secret is stored where others can read it
  Medium 3 SEC-INPUT: input from outside without validation
  Medium 7 SEC-ACCESS: a new entry point without access control
Operations
  High 11 OPS-ROLLBACK: a production release without a rollback
  Medium 10 OPS-RETRY: retries without a limit
  Medium 11 OPS-MONITORING: a production service without monitoring
"
    );
}

#[test]
fn thorough_plans_have_no_findings() {
    assert_eq!(review_all(&example("thorough.md")), []);
    assert_eq!(review_all(GOOD), []);
}

#[test]
fn missing_part_is_found_until_it_is_named() {
    // The part, the check, and the answer.
    for case in [
        "Deploy it to production. | OPS-ROLLBACK | A flag turns it off.",
        "Deploy it to production. | OPS-MONITORING | Errors raise an alert.",
        "Retry failed calls. | OPS-RETRY | There are at most 5 attempts.",
        "Add a webhook. | SEC-ACCESS | The sender signs it with HMAC.",
        "Accept uploads. | SEC-INPUT | Files above 1 MB are rejected.",
        "Store the API key in `app.toml`. | SEC-SECRETS | The file is encrypted.",
        "Drop the orders table. | SEC-DATA | A dump is kept for 90 days.",
    ] {
        let parts: Vec<&str> = case.split(" | ").collect();
        // Without the log and the way back of `GOOD`, which would answer.
        let base = "# Plan\n\nThe export takes 40 minutes by day. Then it moves into the night.\n\n\
            1. Write the script; done when the tests pass on the three fixtures.\n";
        let plan = format!("{base}2. {}\n", parts[0]);
        assert!(checks(&plan).contains(&parts[1]), "{plan}");
        let answered = format!("{plan}\n{}\n", parts[2]);
        assert!(!checks(&answered).contains(&parts[1]), "{answered}");
    }
}

#[test]
fn engineering_checks_find_their_subject() {
    for (text, expected) in [
        (
            "We move the export into the night, because it takes 40 minutes and blocks orders.",
            &["ENG-STEPS", "ENG-ACCEPTANCE"][..],
        ),
        (
            "First we replace the nightly job, and after that we rename everything that used it.",
            &["ENG-ACCEPTANCE", "ENG-TESTS"],
        ),
    ] {
        assert_eq!(checks(text), expected, "{text}");
    }
}

#[test]
fn open_question_needs_a_mark_in_the_place_of_an_answer() {
    for (text, expected) in [
        ("Owner: TBD", Some(Severity::High)),
        (
            "| Owner | Zone |\n|---|---|\n| Kim | TBD |",
            Some(Severity::High),
        ),
        ("TBD: which zone?", Some(Severity::High)),
        ("The port is TBD.", Some(Severity::High)),
        ("Which zone???", Some(Severity::High)),
        ("- TODO: choose the zone", Some(Severity::High)),
        ("## Open questions\n\n- Which zone?", Some(Severity::Medium)),
        ("The zone is to be decided.", Some(Severity::Medium)),
        ("## Open questions\n\nNone.", None),
        ("The review looks for TBD, TODO and \"TBD: x\".", None),
        ("Remove the TODO comments.", None),
        ("`TBD: x`", None),
        ("> TBD: x", None),
        ("<!-- TBD: x -->", None),
        ("```\nTBD: x\n```", None),
        ("~~TBD: x~~", None),
    ] {
        let found = review_document(&format!("{GOOD}\n{text}\n"), PointOfView::Engineering);
        let severity = found.first().map(|finding| finding.severity);
        assert_eq!(severity, expected, "{text}: {found:?}");
    }
}

#[test]
fn text_about_other_things_makes_nothing_relevant() {
    for text in [
        "- manual test: `tool --plan \"add a health endpoint\"` opens the picker",
        "The prompt is \"deploy it to production\".",
        "The defect was there, as the report says; we ship it to customers all the same.",
        "Nothing is deployed to production.",
        "Do not store the password in `app.toml`.",
        "Run `analyze-token-usage.py` in the repository.",
        "> Deploy to production.",
        "## Alternatives\n\nDeploy to production, and add a webhook.",
        "## Out of scope\n\n- Drop the orders table",
    ] {
        // Without the way back, which would answer.
        let plan = GOOD.replace("takes the cron line out", "asks Ana");
        assert_eq!(checks(&format!("{plan}\n{text}\n")), [""; 0], "{text}");
    }
}

#[test]
fn plan_that_cannot_be_read_says_so_in_each_round() {
    let german = "# Export verlegen\n\nDer Export dauert 40 Minuten und blockiert Bestellungen. \
        Er wird in die Nacht verlegt.\n\n1. Skript schreiben, das eine Datei erzeugt\n\
        2. Zeile in die Crontab eintragen\n3. Alten Export nach 14 Tagen entfernen\n";
    let chinese =
        "# 导出\n\n将导出移至夜间 执行 脚本 并 检查 日志 文件 是否 正确 每天 一次 完成 验收\n";
    for (plan, expected) in [
        ("", "PLAN-EMPTY"),
        ("# Plan\n\nWe will move it soon.\n", "PLAN-EMPTY"),
        (
            "```\na plan that stands in code, all twelve words and more of it\n```\n",
            "PLAN-EMPTY",
        ),
        (german, "PLAN-LANGUAGE"),
        (chinese, "PLAN-LANGUAGE"),
    ] {
        assert_eq!(checks(plan), [expected; 3], "{plan:.60}");
    }
}

#[test]
fn quotations_are_one_short_line() {
    let plan = format!("{GOOD}\n- TBD: {}\u{1b}[8m\"x\"\n", "long ".repeat(60));
    let found = review_document(&plan, PointOfView::Engineering);
    let evidence = &found[0].evidence[0];
    assert!(evidence.starts_with("line 10: \"TBD: long"), "{evidence}");
    assert!(
        evidence.ends_with("...\"") && evidence.len() < 150,
        "{evidence}"
    );
    assert!(!evidence.contains(char::is_control), "{evidence}");
}

#[test]
fn hostile_plans_are_read_in_seconds() {
    let size = 64 * 1024;
    for piece in [
        "> ", "[", "*a_", "`", "<!--", "a. ", "| ", "\"", "1. a\n", "deploy ", "# a\n", "~~",
        "![](", "&#", "TBD: ",
    ] {
        let plan = piece.repeat(size / piece.len());
        let begun = Instant::now();
        review_all(&plan);
        assert!(begun.elapsed() < Duration::from_secs(30), "{piece:?}");
    }
}
