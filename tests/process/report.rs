//! `report`: one loop on one page, in two formats, with hostile texts. It changes nothing.

use serde_json::{Value, json};

use crate::support::{Project, has, lacks, tree};

/// Text that is markup, code or invisible unless it is escaped.
const HOSTILE: &str = "<script>alert(1)</script></style><img src=x onerror=alert(1)> \" onload='alert(1)' [click](javascript:alert(1)) \
                       ![track](https://example.org/x.png) `code` | **bold** &lt;b> \u{202e}txt.exe \u{1b}[31mred {{ loop }} {% raw %}";

/// Returns a loop with two reviews and a revision of the plan in between, and its id.
fn reviewed() -> (Project, String) {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan\n\nMove the queue in two steps.\n");
    project.fire().blocked();
    project.review(&id, "fake-findings.low").exits(0);
    (project, id)
}

fn facts(project: &Project) -> Value {
    project.json("report --format json")
}

/// Returns the texts of these keys of a value.
fn texts<const N: usize>(value: &Value, keys: [&str; N]) -> [String; N] {
    keys.map(|key| value[key].as_str().unwrap_or_default().to_owned())
}

#[test]
fn json_has_the_facts_of_the_loop() {
    let (project, id) = reviewed();
    let before = tree(&project.folder());
    let facts = facts(&project);
    assert_eq!(tree(&project.folder()), before, "a look changes nothing");

    assert_eq!(facts["loop"]["id"], id);
    assert_eq!(facts["about"], "Move the queue");
    assert!(facts.get("subject").is_none(), "{facts}");
    let path: Vec<&Value> = facts["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["what"])
        .collect();
    assert_eq!(path, ["start", "begin", "revise"]);
    let counts = |run: usize| facts["runs"][run]["counts"].clone();
    assert_eq!(counts(0), json!({"high": 1, "medium": 1, "low": 1}));
    assert_eq!(counts(1), json!({"high": 0, "medium": 0, "low": 1}));
    let standing = |severity: &str| {
        let mut findings = facts["findings"].as_array().unwrap().iter();
        let found = findings.find(|one| one["severity"] == severity).unwrap();
        (found["rounds"].clone(), found["standing"].clone())
    };
    assert_eq!(standing("low"), (json!([1, 2]), json!("carried")));
    assert_eq!(standing("high"), (json!([1]), json!("unseen")));
    let change = &facts["changes"][0];
    assert_eq!(texts(change, ["from", "to"]), ["round 1", "round 2"]);
    assert_eq!([&change["added"], &change["removed"]], [1, 1]);
    let journal = facts["journal"].as_array().unwrap();
    assert_eq!(journal.len(), project.journal(&id).len());

    project.answers("report nope", 2, "nope");
    project.answers("report --format pdf", 2, "html");

    let project = Project::new();
    let id = project.start(&[]);
    for format in ["html", "json"] {
        project.answers(&format!("report --format {format}"), 0, &id);
    }
}

#[test]
fn text_changed_since_is_not_shown_as_reviewed() {
    let (project, id) = reviewed();
    project.plan("# Plan\n\nMove it some day.\n");
    let changes = || facts(&project)["changes"].as_array().unwrap().clone();
    let last = changes().pop().unwrap();
    assert_eq!(texts(&last, ["from", "to"]), ["round 2", "now"]);
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
    assert_eq!(changes().len(), 1, "the digest is another");
    std::fs::remove_file(&kept).unwrap();
    assert_eq!(changes().len(), 1);
}

/// Returns the page of a loop with a hostile topic, plan and findings.
fn hostile_page() -> String {
    let project = Project::new();
    let ran = project.run(&["start", "plan", HOSTILE]).exits(0);
    let id = crate::support::id_of(&ran);
    let message = project.home.join("said");
    let finding = format!("# Findings\n\n## High\n- {HOSTILE} ({HOSTILE})\n  - # {HOSTILE}\n");
    std::fs::write(&message, finding).unwrap();
    project.add_reviewer("hostile", "/bin/cat", &["--", message.to_str().unwrap()]);
    for plan in [
        format!("{HOSTILE}\n```\n~~~\n"),
        format!("```\n{HOSTILE}\n<!-- --> <![CDATA[\n"),
    ] {
        project.plan(plan);
        project.fire().blocked();
        project.review(&id, "hostile").exits(0);
    }
    project.run("report --format html").exits(0).out
}

#[test]
fn hostile_text_is_inert_in_the_page() {
    let html = hostile_page();
    lacks(&html, "\u{202e}");
    lacks(&html, "\u{1b}");
    has(&html, "&lt;script&gt;alert(1)&lt;&#x2f;script&gt;");
    has(&html, "content=\"default-src 'none'; style-src");
    let (before, rest) = html.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    let ours = "!DOCTYPE html head meta title body header div p h1 h2 span b main section dl dt dd meter ul li \
                table thead tbody tr th td time article details summary pre footer";
    let tags = [before, after]
        .into_iter()
        .flat_map(|part| part.split('<').skip(1));
    for tag in tags {
        let (tag, _) = tag
            .split_once('>')
            .unwrap_or_else(|| panic!("an open tag: {tag}"));
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        assert!(ours.split_whitespace().any(|one| one == name), "{tag}");
        // The text outside of quotes is ours.
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
fn outcome_stands_in_report_and_status() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    project.fire().approved();
    let outcome = "The plan was not settled.";
    assert_eq!(facts(&project)["loop"]["notes"][0], outcome);
    project.answers("status", 0, &format!("note:      {outcome}\n"));
    let page = project.run("report").exits(0).out;
    let (top, _) = page.split_once("</header>").unwrap();
    has(&top.replace("&#x2f;", "/"), outcome);

    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    let outcome = "Ended after 1 of 2 rounds. Not reviewed by: Security and data-integrity.";
    project.answers("status", 0, &format!("note:      {outcome}\n"));
}
