//! Loops that an entry of `[[migrations]]` takes to this version.

use super::{Case, ENTRY, OLD, RENAMED, edited, entry, renamed, spec};
use crate::store::fault::{Point, crash_at};
use crate::store::testing::{change, word};
use crate::store::{Repair, StoreError, Value};

#[test]
fn an_entry_migrates_a_loop_in_one_journaled_change() {
    let case = Case::new();
    let id = case.record.id().clone();
    let on = change(
        "on",
        "drafting",
        "drafting",
        &[
            ("round", Value::Count(2)),
            ("decision_signal", word("max-reached")),
        ],
    );
    case.old.commit(&case.record, on).unwrap();
    let new = case.as_of(renamed());
    let listed = new.list().remove(0);
    assert_eq!(
        (listed.ours, listed.phase.as_deref(), listed.terminal),
        (true, Some("in-writing"), false)
    );
    assert_eq!(case.changes().len(), 2, "listing writes nothing");

    let opened = new.open(&id).unwrap();
    let record = &opened.record;
    assert_eq!((record.revision(), record.phase()), (3, "in-writing"));
    assert_eq!(record.count("turn"), Some(2));
    assert_eq!(record.text("decision_signal").as_deref(), Some("spent"));
    assert_eq!(record.flag("fast"), Some(true));
    assert_eq!(case.changes()[2], "migrate by engine");
    let text = case.text();
    assert!(!text.contains("\nround:"), "{text}");
    assert!(
        text.contains("topic: \"fix: a"),
        "what it does not name stays: {text}"
    );

    assert_eq!(new.open(&id).unwrap().repairs, []);
    assert_eq!(case.changes().len(), 3, "once");
    assert!(matches!(
        case.old.open(&id),
        Err(StoreError::OtherGraph { .. })
    ));
}

#[test]
fn what_a_person_edited_by_hand_before_a_migration_is_not_brought_in_by_it() {
    let case = Case::new();
    let id = case.record.id().clone();
    let text = case
        .text()
        .replace("round: 1", "round: 9")
        .replace("topic:", "# mine\ntopic:");
    std::fs::write(case.old.path_of(&id), text).unwrap();
    let opened = case.as_of(renamed()).open(&id).unwrap();
    assert!(
        matches!(&opened.repairs[..], [Repair::EditUndone { fields, .. }] if fields == &["round"])
    );
    assert_eq!(opened.record.count("turn"), Some(1));
    assert!(case.text().contains("# mine"), "a comment stays");
}

#[test]
fn a_crash_at_any_point_of_a_migration_leaves_it_whole_or_not_begun() {
    let whole = {
        let case = Case::new();
        case.as_of(renamed()).open(case.record.id()).unwrap();
        lines_without_times(&case.text())
    };
    for point in [
        Point::Prepared,
        Point::HalfLine,
        Point::Journaled,
        Point::Renamed,
    ] {
        let case = Case::new();
        let id = case.record.id().clone();
        let new = case.as_of(renamed());
        crash_at(point, || new.open(&id));
        let opened = new.open(&id).unwrap();
        assert_eq!(opened.record.phase(), "in-writing", "{point:?}");
        assert_eq!(
            case.changes(),
            ["start by test", "migrate by engine"],
            "{point:?}"
        );
        assert_eq!(lines_without_times(&case.text()), whole, "{point:?}");
        assert!(!case.old.folder().join("quarantine").exists(), "{point:?}");
        assert_eq!(new.open(&id).unwrap().repairs, [], "{point:?}");
    }
}

fn lines_without_times(text: &str) -> Vec<String> {
    let varies = ["review_id", "repo_root", "started_at", "last_updated_at"];
    let stays = |line: &&str| !varies.iter().any(|name| line.starts_with(name));
    text.lines().filter(stays).map(str::to_owned).collect()
}

#[test]
fn sixteen_that_open_the_same_loop_migrate_it_once() {
    let case = Case::new();
    let new = case
        .as_of(renamed())
        .with_deadline(std::time::Duration::from_secs(60));
    let id = case.record.id();
    let gate = std::sync::Barrier::new(16);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                gate.wait();
                assert_eq!(new.open(id).unwrap().record.phase(), "in-writing");
            });
        }
    });
    assert_eq!(case.changes(), ["start by test", "migrate by engine"]);
}

#[test]
fn what_a_migration_took_from_a_version_does_not_go_back_to_it() {
    let case = Case::new();
    // Nothing unsafe lies between the two, so the old program would take the loop as it is.
    let with_a_note = [(
        "{\"name\":\"topic\"",
        "{\"name\":\"note\",\"kind\":\"text\",\"initial\":\"\"},\n{\"name\":\"topic\"",
    )];
    let later = spec(
        &edited(&with_a_note),
        &entry(r#"[{"from":["OLD"],"set":{"round":1}}]"#),
    );
    let (new, id) = (case.as_of(later), case.record.id());
    let mut held = new.open(id).unwrap().record;
    for round in 0..4 {
        let before = (case.text(), case.changes());
        let error = case.old.open(id).unwrap_err();
        assert!(
            matches!(&error, StoreError::OtherGraph { why, .. } if why.contains("nothing leads back")),
            "{error}"
        );
        let listed = case.old.list().remove(0);
        assert_eq!(
            listed.problem,
            Some(error.to_string()),
            "after {round} changes"
        );
        assert_eq!((case.text(), case.changes()), before, "nothing was changed");
        held = new
            .commit(&held, change("revise", "drafting", "drafting", &[]))
            .unwrap();
    }
    let migrations = case
        .changes()
        .iter()
        .filter(|what| what.starts_with("migrate"))
        .count();
    assert_eq!(migrations, 1);
    // Who owns the old machine may still say how: an entry for the later one leads back.
    let back = spec(
        OLD,
        &format!(r#"[{{"from":["{}"],"set":{{}}}}]"#, later.graph_hash),
    );
    assert_eq!(
        case.as_of(back).open(id).unwrap().record.phase(),
        held.phase()
    );
}

#[test]
fn a_loop_goes_through_its_entry_and_all_that_follow() {
    let case = Case::new();
    let chain = entry(
        r#"[{"from":["0000000000000000"],"phases":{"drafting":"wrong"},"set":{"topic":"wrong"}},
        {"from":["OLD"],"phases":{"drafting":"between"},"fields":{"round":"step"},"set":{"topic":"a"}},
        {"from":["1111111111111111"],"phases":{"between":"writing"},"fields":{"step":"turn"},"set":{"fast":true},
         "words":{"decision_signal":{"max-reached":"spent"}}}]"#,
    );
    let opened = case
        .as_of(spec(&edited(&RENAMED), &chain))
        .open(case.record.id())
        .unwrap();
    let record = opened.record;
    assert_eq!(
        (record.phase(), record.count("turn"), record.flag("fast")),
        ("in-writing", Some(1), Some(true))
    );
    assert_eq!(record.text("topic").as_deref(), Some("a"));
    assert_eq!(case.changes().len(), 2);
}

#[test]
fn two_fields_may_change_their_names_for_each_others() {
    let case = Case::new();
    let swap = entry(r#"[{"from":["OLD"],"fields":{"round":"topic","topic":"round"}}]"#);
    let json = edited(&[
        (
            "{\"name\":\"topic\",\"kind\":\"text\",\"initial\":\"\"}",
            "@",
        ),
        (
            "{\"name\":\"round\",\"kind\":\"count\",\"initial\":1,\"owned\":true}",
            "{\"name\":\"round\",\"kind\":\"text\",\"initial\":\"\"}",
        ),
    ]);
    let json = json.replace(
        '@',
        "{\"name\":\"topic\",\"kind\":\"count\",\"initial\":1,\"owned\":true}",
    );
    let record = case
        .as_of(spec(&json, &swap))
        .open(case.record.id())
        .unwrap()
        .record;
    assert_eq!(record.count("topic"), Some(1));
    assert!(record.text("round").unwrap().starts_with("fix: a"));
}

#[test]
fn a_migration_whose_result_would_not_open_is_refused() {
    // Nobody owns this field, so that a person may write anything there.
    let loose = spec(
        &OLD.replace(
            "\"kind\":\"count\",\"initial\":1,\"owned\":true",
            "\"kind\":\"count\",\"initial\":1",
        ),
        "",
    );
    let case = Case::of(loose);
    let path = case.old.path_of(case.record.id());
    std::fs::write(&path, case.text().replace("round: 1", "round: many")).unwrap();
    let entry = ENTRY.replace("OLD", loose.graph_hash);
    let new = spec(
        &edited(&RENAMED).replace(
            "\"kind\":\"count\",\"initial\":1,\"owned\":true",
            "\"kind\":\"count\",\"initial\":1",
        ),
        &entry,
    );
    assert_eq!(
        case.refused(new),
        "the migration would leave what does not open: `turn` would be `many`"
    );
}
