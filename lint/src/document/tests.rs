//! The reviewer against whole plans: thin and thorough ones, thorough ones with a part taken out, hostile ones.

use super::*;
use crate::Severity;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const VIEWS: [PointOfView; 3] = [
    PointOfView::Engineering,
    PointOfView::Security,
    PointOfView::Operations,
];

/// The top of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in a repository")
}

fn count(found: &[Finding], severity: Severity) -> usize {
    found
        .iter()
        .filter(|finding| finding.severity == severity)
        .count()
}

fn material(found: &[Finding]) -> usize {
    found.len() - count(found, Severity::Low)
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn plans(folder: &str) -> Vec<(String, String)> {
    let folder: PathBuf = root().join(folder);
    let mut all: Vec<(String, String)> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let path = entry
                .expect("a folder that was just opened can be read")
                .path();
            let text = std::fs::read_to_string(&path).expect("plans are text");
            (path.display().to_string(), text)
        })
        .collect();
    all.sort();
    all
}

fn ids(plan: &str, view: PointOfView) -> Vec<&'static str> {
    review(plan, view)
        .into_iter()
        .map(|finding| finding.check)
        .collect()
}

fn all_ids(plan: &str) -> Vec<&'static str> {
    VIEWS
        .into_iter()
        .flat_map(|focus| ids(plan, focus))
        .collect()
}

#[test]
fn every_focus_finds_something_grave_in_the_thin_example() {
    let plan = read("examples/plans/thin.md");
    for focus in VIEWS {
        assert!(
            count(&review(&plan, focus), Severity::High) > 0,
            "{focus:?}"
        );
    }
}

#[test]
fn the_thorough_example_is_clean_in_every_focus() {
    let plan = read("examples/plans/thorough.md");
    for focus in VIEWS {
        assert_eq!(review(&plan, focus), [], "{focus:?}");
    }
}

#[test]
fn thin_plans_get_a_high_finding_in_one_of_the_rounds() {
    let plans = plans("lint/tests/plans/thin");
    assert!(plans.len() >= 6, "{}", plans.len());
    for (name, plan) in plans {
        let found = VIEWS.map(|view| review(&plan, view));
        assert!(count(&found.concat(), Severity::High) > 0, "{name}");
    }
}

#[test]
fn thorough_plans_pass_or_nearly_pass() {
    let plans = plans("lint/tests/plans/thorough");
    assert!(plans.len() >= 6, "{}", plans.len());
    for (name, plan) in plans {
        let found: Vec<Finding> = VIEWS
            .into_iter()
            .flat_map(|focus| review(&plan, focus))
            .collect();
        assert_eq!(material(&found), 0, "{name}: {found:#?}");
    }
}

/// The thorough example without the paragraphs, items and sections that hold one of these words.
fn without(words: &[&str]) -> String {
    let plan = read("examples/plans/thorough.md");
    let mut kept: Vec<&str> = Vec::new();
    for block in plan.split("\n\n") {
        let lower = block.to_lowercase();
        if !words.iter().any(|word| lower.contains(word)) {
            kept.push(block);
        }
    }
    kept.join("\n\n")
}

#[test]
fn a_thorough_plan_with_a_part_taken_out_is_told_so() {
    for (taken, expected) in [
        (&["signature", "rejected", "unique"][..], "SEC-AUTHN"),
        (
            &["validated", "schema", "broken json", "256 kb", "rejected"][..],
            "SEC-INPUT",
        ),
        (&["vault"][..], "SEC-SECRETS"),
        (
            &[
                "on conflict",
                "skip locked",
                "unique",
                "twice",
                "no double",
                "once",
                "transaction",
            ][..],
            "SEC-CONCURRENCY",
        ),
        (
            &["going back", "switching", "both", "restore"][..],
            "OPS-ROLLBACK",
        ),
        (
            &[
                "we watch",
                "audit log",
                "metric",
                "alerts",
                "counted",
                "logs",
            ][..],
            "OPS-OBSERVABILITY",
        ),
        (&["jitter", "72 hours", "attempts"][..], "OPS-RETRY"),
        (
            &["done when", "accepted when", "99 %"][..],
            "ENG-ACCEPTANCE",
        ),
    ] {
        // Steps and paragraphs fall out with their words, so put back what keeps the question relevant.
        let mut plan = without(taken);
        plan.push_str("\n\n## More steps\n\n1. Add `POST /webhooks/payrail`; events are retried when booking fails, by several workers that update the invoice.\n");
        plan.push_str("2. Copy the signing secret to the new service.\n3. Deploy to production.\n");
        assert!(
            all_ids(&plan).contains(&expected),
            "{expected} not in {:?} of\n{plan}",
            all_ids(&plan)
        );
    }
}

/// A plan of its own kind for each check: what it must find, and the same with the answer.
#[test]
fn each_answer_silences_its_check() {
    let base = "# Plan\n\nWe want refunds to reach customers within a day, because support asks for it.\n\n## Steps\n\n";
    for (step, id, answer) in [
        (
            "Add a `POST /refunds` endpoint for customers",
            "SEC-AUTHN",
            "Callers of it send a session token, checked by the gateway.",
        ),
        (
            "Add a `POST /refunds` endpoint for customers",
            "SEC-AUTHZ",
            "A customer can refund only their own orders.",
        ),
        (
            "Add a `POST /refunds` endpoint for customers",
            "SEC-INPUT",
            "The body is validated and refused with 422 when malformed.",
        ),
        (
            "Put the API key for Stripe into `config/prod.yml`",
            "SEC-SECRET-IN-CONFIG",
            "The file is encrypted with sops before it is committed.",
        ),
        (
            "Store each user with email and password",
            "SEC-PASSWORDS",
            "Passwords are hashed with argon2id, 19 MiB and 2 passes.",
        ),
        (
            "Delete the rows of the legacy refunds table",
            "SEC-DATA-LOSS",
            "A snapshot is taken before that and kept for 90 days.",
        ),
        (
            "Add a column `reason` to the refunds table in PostgreSQL",
            "SEC-MIGRATION",
            "It is nullable, so existing rows keep NULL and no backfill is needed.",
        ),
        (
            "Let workers take refunds off the queue",
            "SEC-CONCURRENCY",
            "The refund id is unique, so a message that comes again changes nothing.",
        ),
        (
            "Deploy it to production",
            "OPS-ROLLBACK",
            "If refunds fail we roll back to the previous release within 10 minutes.",
        ),
        (
            "Retry failed calls to Stripe",
            "OPS-RETRY",
            "There are at most 5 attempts with exponential backoff, then a person looks.",
        ),
        (
            "Retry failed calls to Stripe",
            "OPS-RETRY",
            "On second thought nothing is retried: no retries are needed because Stripe calls us back once.",
        ),
        (
            "Call the Stripe API for each refund",
            "OPS-TIMEOUT",
            "Each call has a timeout of 3 seconds.",
        ),
        (
            "Deploy the refund service to production",
            "OPS-OBSERVABILITY",
            "Its logs and its error rate are collected in Grafana.",
        ),
        (
            "Implement the refund form",
            "ENG-TESTS",
            "An integration test refunds an order and reads it back.",
        ),
        ("Build it. TBD: which currency?", "ENG-OPEN-QUESTION", ""),
    ] {
        let asked = format!("{base}1. {step}\n2. Write the page for support\n");
        assert!(
            all_ids(&asked).contains(&id),
            "{id} not in {:?} of {asked}",
            all_ids(&asked)
        );
        if !answer.is_empty() {
            let told = format!("{asked}\n{answer}\n");
            assert!(!all_ids(&told).contains(&id), "{id} still asked of {told}");
        }
    }
}

#[test]
fn a_plan_is_asked_only_what_its_content_makes_relevant() {
    let plan = "# Rename the crate's error type\n\nWe want `Error` to be called `ParseError`, because two crates export an `Error`.\n\n\
        1. Rename the type and keep a deprecated alias; the test suite passes unchanged.\n\
        2. Replace the 40 uses in our own crates; done when `rg 'sheaf::Error'` finds nothing.\n\n\
        If a test fails for another reason, the pull request waits. Accepted when CI is green on main.\n";
    assert_eq!(all_ids(plan), Vec::<String>::new());
    let denied = "# Cleanup\n\nNo endpoint is added here, no queue is used by workers, the database is not touched, and nothing is deployed to production.\n";
    for focus in [PointOfView::Security, PointOfView::Operations] {
        assert_eq!(ids(denied, focus), ["PLAN-SHORT"]);
    }
}

/// Enough words to be read as a plan.
const FILLER: &str = "# Plan\n\nWe want refunds to reach customers within a day, because support asks for it every week.\n\n";

#[test]
fn steps_have_many_forms() {
    for (form, expected) in [
        (
            "**Weeks 1-4.** Core.\n\n**Week 5.** Beta with 15 people.",
            false,
        ),
        (
            "6.1. Week 1: core.\n6.2. Week 2: beta with 15 people.",
            false,
        ),
        ("6.1. Week 1: core.", true),
        (
            "| Time | Who | Finished if |\n|-|-|-|\n| June | Ana | 15 people use it |",
            false,
        ),
        (
            "| When | What | Owner |\n|-|-|-|\n| June | Beta | Ana |",
            false,
        ),
        ("| Signal | Who hears |\n|-|-|\n| Errors | Ana |", true),
        (
            "### Roadmap\n\n#### M1 core\n\nAna.\n\n#### M2 beta\n\nBen.",
            false,
        ),
        ("6.1. The core is small.\n6.2. People like it.", true),
    ] {
        let plan = format!("{FILLER}## Getting it to people\n\n{form}\n");
        let found = ids(&plan, PointOfView::Engineering).contains(&"ENG-STEPS");
        assert_eq!(found, expected, "{form}");
    }
}

#[test]
fn a_question_with_a_day_for_its_answer_is_a_task() {
    for (item, expected) in [
        ("Which currency is shown", true),
        ("Whether we can ship by 12 June", true),
        (
            "Which currency is shown (finance, answer by 12 June; until then euros)",
            false,
        ),
        ("Which currency is shown; Ana decides in week 2", false),
        ("Which currency is shown: still unknown", true),
    ] {
        let plan = format!("{FILLER}## Open questions\n\n- {item}\n");
        let found = ids(&plan, PointOfView::Engineering).contains(&"ENG-OPEN-QUESTION");
        assert_eq!(found, expected, "{item}");
    }
}

#[test]
fn words_that_only_look_like_security_make_nothing_relevant() {
    for (step, id, expected) in [
        ("Delete v2 and get v1 back", "SEC-AUTHN", false),
        ("Serve `GET /v2/refunds`", "SEC-AUTHN", true),
        (
            "Give the token a type `Secret` in code",
            "SEC-SECRET-IN-CONFIG",
            false,
        ),
        (
            "Mask the secret in code that prints it",
            "SEC-SECRET-IN-CONFIG",
            false,
        ),
        ("Keep the secret in code", "SEC-SECRET-IN-CONFIG", true),
        (
            "Create topic, quotas, schema subject beside the database",
            "SEC-MIGRATION",
            false,
        ),
        ("Change the schema of the database", "SEC-MIGRATION", true),
    ] {
        let plan = format!("{FILLER}## Steps\n\n1. {step}\n");
        assert_eq!(
            ids(&plan, PointOfView::Security).contains(&id),
            expected,
            "{step}"
        );
    }
}

#[test]
fn empty_plans_get_one_high_finding_on_line_one() {
    for plan in [
        "",
        " \n\t\n",
        "#",
        "# Plan",
        "---\n---\n",
        "\u{feff}",
        "```\ncode only, and a lot of it, but nothing that says what will be done at all\n```\n",
    ] {
        for focus in VIEWS {
            let found = review(plan, focus);
            assert_eq!(
                (found.len(), count(&found, Severity::High), found[0].line),
                (1, 1, Some(1)),
                "{plan:?}"
            );
        }
    }
    let short = "One two three four five six seven eight nine ten eleven twelve thirteen.";
    assert!(count(&review(short, PointOfView::Security), Severity::High) > 0);
}

#[test]
fn what_is_named_somewhere_is_not_certainly_missing() {
    let plan =
        format!("{FILLER}## Steps\n\n1. Deploy it to production\n2. Write the page for support\n");
    let severity = |plan: &str| {
        let found = review(plan, PointOfView::Operations);
        let rollback = found
            .into_iter()
            .find(|finding| finding.check == "OPS-ROLLBACK");
        rollback.map(|finding| finding.severity)
    };
    assert_eq!(severity(&plan), Some(Severity::High));
    assert_eq!(
        severity(&format!("{plan}\n## Rollback\n")),
        Some(Severity::Low)
    );
    assert_eq!(
        severity(&format!(
            "{plan}\n```sh\nkubectl rollout undo deploy/refunds\n```\n"
        )),
        Some(Severity::Low)
    );
}

#[test]
fn passwords_that_are_kept_by_a_name_are_no_finding() {
    let plan = format!(
        "{FILLER}## Steps\n\n1. Store each user with email and password in the users table\n2. Register the users by email and password\n"
    );
    assert!(ids(&plan, PointOfView::Security).contains(&"SEC-PASSWORDS"));
    for name in [
        "SCRAM-SHA-256",
        "argon2id",
        "bcrypt",
        "scrypt",
        "PBKDF2",
        "OAuth 2.0",
        "OAuth2",
        "SSO",
        "OIDC",
        "OpenID Connect",
        "SAML",
        "single sign-on",
        "Keycloak",
        "LDAP",
        "passkeys",
        "hashed",
    ] {
        for form in [
            format!("It is {name}."),
            format!("## {name}"),
            format!("- {name}"),
            format!("| Auth |\n|-|\n| {name} |"),
            format!("```\npassword_encryption = {name}\n```"),
        ] {
            let named = format!("{plan}\n{form}\n");
            assert!(
                !ids(&named, PointOfView::Security).contains(&"SEC-PASSWORDS"),
                "{form}"
            );
        }
    }
    for step in [
        "Log in with the password of the staging database",
        "Users who register the webhook copy its password",
    ] {
        let plan = format!("{FILLER}## Steps\n\n1. {step}\n");
        assert!(
            !ids(&plan, PointOfView::Security).contains(&"SEC-PASSWORDS"),
            "{step}"
        );
    }
}

#[test]
fn a_new_table_has_no_existing_rows() {
    for (steps, expected) in [
        ("Create the table `refunds` in PostgreSQL", false),
        (
            "Add a new table for refunds with columns id, amount and currency to the database",
            false,
        ),
        (
            "Create table refunds in the database. Add columns for the amount and the currency",
            false,
        ),
        (
            "Introduce a new schema `refunds` in the database, with one table per shop",
            false,
        ),
        (
            "Add a column `reason` to the orders table of the database",
            true,
        ),
        (
            "Create the table `refunds` in PostgreSQL. Add a column `refund` to the orders table",
            true,
        ),
        ("Rename the column `sum` of the table in PostgreSQL", true),
    ] {
        let plan = format!(
            "{FILLER}Support has asked for it since January, and 40 refunds a week are late by more than three days because of it.\n\n## Steps\n\n1. {steps}\n"
        );
        let found = review(&plan, PointOfView::Security);
        let rows = found
            .iter()
            .find(|finding| finding.what.contains("existing rows"));
        assert_eq!(rows.is_some(), expected, "{steps}: {found:#?}");
    }
}

#[test]
fn nothing_is_said_twice_or_denied_about_one_line() {
    let subject = |id: &str| {
        let check = catalogue::all().find(|check| check.id == id);
        check.map(|check| check.subject)
    };
    for (name, plan) in plans("lint/tests/plans/thin")
        .into_iter()
        .chain(plans("lint/tests/plans/thorough"))
    {
        for view in VIEWS {
            let found = review(&plan, view);
            for (at, one) in found.iter().enumerate() {
                let same = |other: &&Finding| {
                    (other.line, subject(other.check)) == (one.line, subject(one.check))
                };
                assert!(
                    !found[at + 1..].iter().any(|other| same(&other)),
                    "{name}: {found:#?}"
                );
            }
        }
    }
    // A secret in the repository is kept somewhere, and a password that is given away is no question of hashes.
    let plan = format!(
        "{FILLER}## Steps\n\n1. Put the database password of the service account into the git repository\n2. Copy the signing secret\n"
    );
    let found = ids(&plan, PointOfView::Security);
    assert!(
        found.contains(&"SEC-SECRET-IN-CONFIG") && !found.contains(&"SEC-SECRETS"),
        "{found:?}"
    );
}

#[test]
fn evidence_quotes_what_a_finding_is_about() {
    let long = "The service that was written for this in May, and that three people of the platform team look after, runs";
    let plan = format!(
        "{FILLER}## Steps\n\n1. {long}\n   and on the second of\n   June we deploy it to production.\n"
    );
    let found = review(&plan, PointOfView::Operations);
    let rollback = found
        .iter()
        .find(|finding| finding.check == "OPS-ROLLBACK")
        .expect("something is deployed");
    assert_eq!(rollback.line, Some(9), "{rollback:#?}");
    assert_eq!(
        rollback.evidence,
        ["line 9: \"...runs and on the second of June we deploy it to production.\""]
    );
    // Each quote of each question holds a word that made it relevant.
    for (name, plan) in plans("lint/tests/plans/thin")
        .into_iter()
        .chain(plans("lint/tests/plans/thorough"))
    {
        for view in VIEWS {
            for finding in review(&plan, view) {
                let check = catalogue::all().find(|check| check.id == finding.check);
                let Some(Rule::Question(question)) = check.map(|check| &check.run) else {
                    continue;
                };
                assert!(!finding.evidence.is_empty(), "{name}: {finding:#?}");
                for quote in &finding.evidence {
                    let words = pattern::words(quote);
                    let about = question.relevant.iter().chain(question.also);
                    let begins = about.filter_map(|source| source.split(' ').next());
                    assert!(
                        begins
                            .into_iter()
                            .any(|begin| pattern::Pattern::new(begin).find(&words).is_some()),
                        "{name}: {finding:#?}"
                    );
                }
            }
        }
    }
}

#[test]
fn findings_are_capped_sorted_and_have_a_line_of_the_plan() {
    for (name, plan) in plans("lint/tests/plans/thin")
        .into_iter()
        .chain(plans("lint/tests/plans/thorough"))
    {
        let last = plan.lines().count();
        for focus in VIEWS {
            let found = review(&plan, focus);
            assert_eq!(review(&plan, focus), found, "same text, same findings");
            assert!(found.len() <= MAX_FINDINGS);
            assert!(
                found.is_sorted_by_key(|finding| (finding.severity, finding.line)),
                "{name}"
            );
            for finding in &found {
                let line = usize::try_from(finding.line.expect("every finding has a line"))
                    .expect("small");
                assert!(
                    (1..=last).contains(&line) && !finding.recommendation.is_empty(),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn hostile_plans_neither_panic_nor_take_long() {
    const SIZE: usize = 1024 * 1024;
    let fill = |piece: &str| piece.repeat(SIZE / piece.len());
    let nested: String = (0..2000)
        .map(|depth| format!("{}- x\n", " ".repeat(2 * depth.min(400))))
        .collect();
    for (name, plan) in [
        ("one line", fill("word ")),
        ("no space", fill("x")),
        ("quotes", fill(">")),
        ("quote lines", fill("> > > > a\n")),
        ("bullets", fill("- ")),
        ("bullet lines", fill("- a\n")),
        ("headings", fill("# Phase 1\n")),
        ("steep headings", fill("###### 1. a\n")),
        ("brackets", fill("[")),
        ("links", fill("[a](")),
        ("backticks", fill("`` ` ")),
        ("emphasis", fill("*a_b")),
        ("entities", fill("&amp;<a")),
        ("table", format!("|a|b|\n|-|-|\n{}", fill("|step|x|\n"))),
        (
            "wide table",
            format!("{}\n{}\n", "|a".repeat(50_000), "|-".repeat(50_000)),
        ),
        ("questions", fill("TBD? ")),
        ("numbers", fill("all 5 devices. all 5 ")),
        (
            "non-goals",
            format!("## Non-goals\n\n{}", fill("- password reset mail\n")),
        ),
        ("newlines", fill("\n")),
        ("carriage returns", fill("a\r")),
        ("nul", fill("\0a ")),
        ("bidi", fill("\u{202e}x ")),
        ("wide characters", fill("\u{1f600}\u{0301} ")),
        ("nested lists", nested),
        ("negated gaps", fill("not all the secrets in retries ")),
    ] {
        let start = Instant::now();
        for focus in VIEWS {
            let found = review(&plan, focus);
            assert!(found.len() <= MAX_FINDINGS, "{name}");
            assert!(
                found.iter().all(|finding| finding.what.len() < 1000),
                "{name}"
            );
        }
        // Generous: this is a debug build on a machine that does other things. Quadratic time would be minutes.
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{name}: {:?}",
            start.elapsed()
        );
    }
}

#[test]
fn crlf_and_lf_plans_get_the_same_findings() {
    for (name, plan) in plans("lint/tests/plans/thin") {
        let crlf = plan.replace('\n', "\r\n");
        for focus in VIEWS {
            assert_eq!(review(&crlf, focus), review(&plan, focus), "{name}");
        }
    }
}

/// `| ID | focus | severity | ... |` rows of the documentation.
fn documented() -> BTreeMap<String, (String, String)> {
    read("docs/lint.md")
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let id = cells.get(1)?.trim_matches('`');
            let known = ["PLAN-", "ENG-", "SEC-", "OPS-"]
                .iter()
                .any(|prefix| id.starts_with(prefix));
            (known && cells.len() > 5)
                .then(|| (id.to_owned(), (cells[2].to_owned(), cells[3].to_owned())))
        })
        .collect()
}

#[test]
fn code_and_documentation_list_the_same_checks() {
    let label = |check: &Check| {
        let all = check.views.len() == VIEWS.len();
        if all {
            "every".to_owned()
        } else {
            check
                .views
                .iter()
                .map(|view| format!("{view:?}").to_lowercase())
                .collect()
        }
    };
    let coded: BTreeMap<String, (String, String)> = catalogue::all()
        .map(|check| {
            (
                check.id.to_owned(),
                (label(check), format!("{:?}", check.severity).to_lowercase()),
            )
        })
        .collect();
    assert_eq!(coded.len(), catalogue::all().count(), "ids are unique");
    assert_eq!(documented(), coded);
}

mod concerns;
mod forms;
