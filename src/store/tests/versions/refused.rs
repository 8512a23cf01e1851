//! Loops and journals of other versions that this one does not go by.

use super::{Case, RENAMED, edited, entry, renamed, safe, spec, without};
use crate::store::testing::{SPEC, fields, plan, word};
use crate::store::{Repair, StartError, StateSpec, StoreError};

#[test]
fn what_no_entry_covers_is_refused_and_the_first_reasons_are_named() {
    let case = Case::new();
    assert_eq!(case.refused(without()), "the phase `drafting` was removed");
    let half = r#"[{"from":["OLD"],"phases":{"drafting":"writing"}}]"#;
    assert_eq!(
        case.refused(spec(&edited(&RENAMED), &entry(half))),
        "the field `round` was removed; `decision_signal` lost the word `max-reached`"
    );
    let many: Vec<(String, String)> = ["topic", "round", "decision_signal"]
        .map(|name| {
            (
                format!("{{\"name\":\"{name}\",\"kind\":"),
                format!("{{\"name\":\"{name}\",\"holds\":\"mode\",\"kind\":"),
            )
        })
        .into();
    let mut edits: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    edits.push(RENAMED[0]);
    let why = case.refused(spec(&edited(&edits), ""));
    assert!(why.ends_with("; and 1 more"), "{why}");
    assert_eq!(case.text().matches("revision: 1").count(), 1);
}

#[test]
fn a_refused_loop_is_shown_may_be_given_up_and_blocks_a_start_until_then() {
    let case = Case::new();
    let id = case.record.id().clone();
    let new = case.as_of(without());
    let listed = new.list().remove(0);
    assert_eq!(
        (listed.ours, listed.terminal, listed.phase.as_deref()),
        (false, false, Some("drafting"))
    );
    assert!(listed.problem.unwrap().contains("`drafting` was removed"));
    match new.start(plan()) {
        Err(StartError::Active { id: active, .. }) => assert_eq!(active, id.as_str()),
        other => panic!("{other:?}"),
    }
    let moved = new.give_up(&id, jiff::Timestamp::now()).unwrap().unwrap();
    assert!(moved.join(format!("{id}.state")).is_file() && moved.join(id.as_str()).is_dir());
    assert!(new.list().is_empty());
    assert!(matches!(
        new.give_up(&id, jiff::Timestamp::now()),
        Err(StoreError::NoLoop { .. })
    ));
    new.start(crate::store::StartPlan {
        now: jiff::Timestamp::now(),
        stale_after: None,
        by: "test".into(),
        id: None,
        fields: |_: &_| {
            let mut fields = fields();
            fields[1].1 = word("waiting");
            fields
        },
    })
    .unwrap();
}

#[test]
fn a_loop_that_names_no_version_is_not_taken_for_ours() {
    static UNKNOWN: StateSpec = StateSpec {
        fields: crate::store::HeldFields {
            graph_hash: None,
            ..SPEC.fields
        },
        ..SPEC
    };
    let case = Case::of(&UNKNOWN);
    let error = case.as_of(safe()).open(case.record.id()).unwrap_err();
    assert!(
        matches!(error, StoreError::OtherGraph { ref found, .. } if found.is_empty()),
        "{error}"
    );
}

/// Adds a line to the journal as if this version of the machine had ended the loop.
fn forge(case: &Case, hash: &str) {
    let journal = case.old.journal_path(case.record.id());
    let text = std::fs::read_to_string(&journal).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line["revision"] = 2.into();
    line["what"] = "migrate".into();
    line["by"] = "engine".into();
    line["from"] = "drafting".into();
    line["to"] = "done".into();
    line["fields"]["revision"] = 2.into();
    line["fields"]["phase"] = "done".into();
    line["fields"]["graph_hash"] = hash.into();
    std::fs::write(&journal, format!("{text}{line}\n")).unwrap();
}

#[test]
fn a_line_of_a_version_that_the_record_does_not_know_counts_for_nothing() {
    for spec in [safe(), renamed()] {
        let case = Case::new();
        let id = case.record.id();
        // Of the version that reads it, which has not changed the loop yet: its own program would have recorded that.
        forge(&case, spec.graph_hash);
        let new = case.as_of(spec);
        assert!(!new.list()[0].terminal);
        let opened = new.open(id).unwrap();
        assert!(!opened.record.is_terminal());
        assert!(
            matches!(opened.repairs[0], Repair::JournalCleaned { .. }),
            "{:?}",
            opened.repairs
        );
        // Once it has, its changes are believed.
        let record = new.commit(&opened.record, crate::store::Change::bare("bind", "hook"));
        let known = new.ownership(id).unwrap().unwrap().graphs;
        assert_eq!(known, [case.old.spec().graph_hash, spec.graph_hash]);
        assert_eq!(
            new.open(id).unwrap().record.revision(),
            record.unwrap().revision()
        );
    }
}

#[test]
fn a_loop_whose_version_is_no_longer_known_is_not_over_in_silence() {
    let case = Case::new();
    forge(&case, case.old.spec().graph_hash);
    std::fs::remove_file(case.shape_path()).unwrap();
    let listed = case.as_of(safe()).list().remove(0);
    assert!(!listed.terminal && listed.problem.is_some(), "{listed:?}");
}
