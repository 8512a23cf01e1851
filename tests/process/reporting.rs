//! `report`: one loop on one page, in two formats, whatever stands in its texts. A look changes nothing.

use serde_json::{Value, json};

use crate::support::{Project, id_of, tree, write};

/// Text that would be markup, code or something else than it seems, where it is not escaped.
const HOSTILE: &str = "<script>alert(1)</script></style><img src=x onerror=alert(1)> \" onload='alert(1)' [click](javascript:alert(1)) \
                       ![track](https://example.org/x.png) `code` | **bold** &lt;b> \u{202e}txt.exe \u{1b}[31mred {{ loop }} {% raw %}";

/// Returns a loop that was reviewed twice, its plan revised in between, and its id.
fn reviewed() -> (Project, String) {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan\n\nMove the queue in two steps.\n");
    project.fire().blocked();
    project.review(&id, "fake-findings.low").exits(0);
    (project, id)
}

fn facts(project: &Project) -> Value {
    serde_json::from_str(&project.run(&["report", "--format", "json"]).exits(0).out).unwrap()
}

#[test]
fn both_formats_tell_the_same_of_one_loop() {
    let (project, id) = reviewed();
    let before = tree(&project.folder());
    let facts = facts(&project);
    let html = project.run(&["report", &id]).exits(0).out;
    assert_eq!(tree(&project.folder()), before, "a look changes nothing");

    assert_eq!(facts["loop"]["id"], id);
    assert_eq!(facts["about"], "Move the queue");
    assert!(facts.get("subject").is_none(), "{facts}");
    let path: Vec<_> = facts["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["what"])
        .collect();
    assert_eq!(path, ["start", "begin", "revise"]);
    let counts = |run: usize| facts["runs"][run]["counts"].clone();
    assert_eq!(counts(0), json!({"high": 1, "medium": 1, "low": 1}));
    assert_eq!(counts(1), json!({"high": 0, "medium": 0, "low": 1}));
    assert_eq!(facts["runs"][1]["phase"], "reviewing");
    let findings = facts["findings"].as_array().unwrap();
    let low = findings
        .iter()
        .find(|one| one["severity"] == "low")
        .unwrap();
    assert_eq!(
        (&low["rounds"], &low["standing"]),
        (&json!([1, 2]), &json!("carried"))
    );
    let high = findings
        .iter()
        .find(|one| one["severity"] == "high")
        .unwrap();
    assert_eq!(
        (&high["rounds"], &high["standing"]),
        (&json!([1]), &json!("unseen"))
    );
    let change = &facts["changes"][0];
    assert_eq!(
        (&change["from"], &change["to"]),
        (&json!("round 1"), &json!("round 2"))
    );
    assert_eq!(
        (&change["added"], &change["removed"]),
        (&json!(1), &json!(1))
    );
    let journal = facts["journal"].as_array().unwrap();
    assert_eq!(journal.len(), project.journal(&id).len());

    for fact in [
        "Move the queue",
        "Senior-engineer review",
        "Security and data-integrity review",
        "The plan has no way back when the migration fails half way",
        "describe the rollback and rehearse it",
        "not looked at again",
        "round 1 → round 2",
        "+Move the queue in two steps.",
        "-Move the queue.",
        "bind by the hook in drafting: session s1",
    ] {
        assert!(html.contains(fact), "{fact}: {html}");
    }
    project.run(&["report", "nope"]).exits(2).says("nope");
    project
        .run(&["report", "--format", "pdf"])
        .exits(2)
        .says("html");
}

#[test]
fn a_text_that_was_changed_since_or_not_kept_is_not_passed_off_as_reviewed() {
    let (project, id) = reviewed();
    project.plan("# Plan\n\nMove it some day.\n");
    let changes = |project: &Project| facts(project)["changes"].as_array().unwrap().clone();
    let last = changes(&project).pop().unwrap();
    assert_eq!(
        (&last["from"], &last["to"]),
        (&json!("round 2"), &json!("now"))
    );
    let run = facts(&project)["runs"][0]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let kept = project
        .folder()
        .join(&id)
        .join(format!("reviewed-{run}.txt"));
    let text = std::fs::read_to_string(&kept).unwrap();
    assert_eq!(text, "PLAN.md\n# Plan\n\nMove the queue.\n");
    std::fs::write(&kept, text.replace("queue", "house")).unwrap();
    assert_eq!(changes(&project).len(), 1, "the digest is another");
    std::fs::remove_file(&kept).unwrap();
    assert_eq!(changes(&project).len(), 1);
}

/// Returns a loop whose topic, plan and findings are hostile.
fn hostile() -> Project {
    let project = Project::new();
    let ran = project.run(&["start", "plan", HOSTILE]).exits(0);
    let id = id_of(&ran);
    project.plan(format!("{HOSTILE}\n```\n~~~\n"));
    project.fire().blocked();
    let script = project.home.join("hostile-reviewer");
    write(
        &project.home.join("said"),
        format!("# Findings\n\n## High\n- {HOSTILE} ({HOSTILE})\n  - # {HOSTILE}\n"),
    );
    write(
        &script,
        format!(
            "cat >/dev/null; cat '{}'\n",
            project.home.join("said").display()
        ),
    );
    project.add_reviewer("hostile", "sh", &[script.to_str().unwrap()]);
    project.review(&id, "hostile").exits(0);
    project.plan(format!("```\n{HOSTILE}\n<!-- --> <![CDATA[\n"));
    project.fire().blocked();
    project.review(&id, "hostile").exits(0);
    project
}

#[test]
fn hostile_text_is_inert_in_the_page_for_browsers() {
    let html = hostile().run(&["report", "--format", "html"]).exits(0).out;
    for hidden in ['\u{202e}', '\u{1b}'] {
        assert!(!html.contains(hidden));
    }
    assert!(
        html.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"),
        "{html}"
    );
    assert!(
        html.contains("content=\"default-src 'none'; style-src"),
        "{html}"
    );
    let (before, rest) = html.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    for tag in [before, after]
        .iter()
        .flat_map(|part| part.split('<').skip(1))
    {
        let (tag, _) = tag
            .split_once('>')
            .unwrap_or_else(|| panic!("an open tag: {tag}"));
        let name = tag
            .trim_start_matches('/')
            .split([' ', '>'])
            .next()
            .unwrap();
        let ours = "!DOCTYPE html head meta title body header div p h1 h2 span b main section dl dt dd meter ul li \
                    table thead tbody tr th td time article details summary pre footer";
        assert!(ours.split_whitespace().any(|one| one == name), "{tag}");
        // What stands outside of quotes is ours.
        for (at, part) in tag.split('"').enumerate() {
            match at % 2 {
                0 => assert!(!part.contains(" on") && !part.contains(" style"), "{tag}"),
                _ => assert!(!part.contains("javascript:") || name == "title", "{tag}"),
            }
        }
        assert!(!tag.contains("href=") || tag.contains("href=\"#"), "{tag}");
    }
}

#[test]
fn a_loop_that_has_only_begun_has_a_report() {
    let project = Project::new();
    let id = project.start(&[]);
    for format in ["html", "json"] {
        project
            .run(&["report", "--format", format])
            .exits(0)
            .says(&id);
    }
}

#[test]
fn how_a_loop_came_out_stands_at_the_top_of_its_report_and_in_its_status() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    let outcome = "The plan was not settled. Round 1 found high=1 medium=1 low=1.";
    assert_eq!(facts(&project)["loop"]["notes"][0], outcome);
    project
        .run(&["status"])
        .exits(0)
        .says(&format!("note:      {outcome}\n"));
    let page = project.run(&["report"]).exits(0).out;
    let (top, _) = page.split_once("</header>").unwrap();
    assert!(top.replace("&#x2f;", "/").contains(outcome), "{top}");

    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    let outcome = "Ended after 1 of 2 rounds. Not reviewed by: Security and data-integrity.";
    project
        .run(&["status"])
        .exits(0)
        .says(&format!("note:      {outcome}\n"));
}
