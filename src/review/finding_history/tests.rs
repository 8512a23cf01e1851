use super::*;
use crate::review::runs::{RunBegin, RunEnd};

/// Adds a round that found this in a document.
fn add(rounds: &mut Vec<Run>, persona: &str, document: &str, found: Vec<Finding>) {
    let mut findings = found;
    assign_ids(rounds, &mut findings, persona, document);
    let began = RunBegin {
        round: rounds.len() as u64 + 1,
        persona: persona.to_owned(),
        ..RunBegin::default()
    };
    rounds.push(Run {
        began,
        ended: RunEnd {
            verdict: Some(findings),
            ..RunEnd::default()
        },
        counted: false,
    });
}

fn rounds(all: &[(&str, &[&str])]) -> Vec<Run> {
    let mut rounds: Vec<Run> = Vec::new();
    for (persona, found) in all {
        let finding = |what: &&str| {
            answer::read(&format!("## High\n- {what}\n"))
                .unwrap()
                .remove(0)
        };
        add(
            &mut rounds,
            persona,
            "",
            found.iter().map(finding).collect(),
        );
    }
    rounds
}

fn ids(rounds: &[Run]) -> Vec<Vec<&str>> {
    let mut all = Vec::new();
    for round in rounds {
        let ids = round.findings().iter().map(|one| one.id.as_deref());
        all.push(ids.map(Option::unwrap).collect());
    }
    all
}

fn standing(rounds: &[Run], id: &str) -> Standing {
    standings(rounds)
        .into_iter()
        .find(|one| one.finding.id.as_deref() == Some(id))
        .unwrap()
        .standing
}

#[test]
fn finding_with_other_numbers_keeps_its_id() {
    let all = rounds(&[
        ("a", &["No rollback for 3 steps", "no tests"]),
        ("a", &["no rollback for 2 steps.", "no limits"]),
    ]);
    assert_eq!(ids(&all), [["F1", "F2"], ["F1", "F3"]]);
    assert_eq!(all[1].findings()[0].since, Some(1));
    assert_eq!(all[1].findings()[1].since, None);
}

#[test]
fn document_check_is_one_finding_file_check_is_not() {
    let check = |what: &str, file: Option<&str>| Finding {
        check: Some("ENG-OPEN".to_owned()),
        file: file.map(str::to_owned),
        ..Finding::new(Severity::High, what)
    };
    let mut all = Vec::new();
    for (what, here) in [
        ("one question", "a todo here"),
        ("two questions", "a todo there"),
    ] {
        let found = vec![check(what, None), check(here, Some("a.rs"))];
        add(&mut all, "a", "", found);
    }
    assert_eq!(ids(&all), [["F1", "F2"], ["F1", "F3"]]);
}

#[test]
fn unknown_ids_of_reviewers_are_dropped() {
    let mut all = rounds(&[("a", &["no rollback"])]);
    let named = |id: &str| Finding {
        id: Some(id.to_owned()),
        ..Finding::new(Severity::Low, "still no way back")
    };
    add(
        &mut all,
        "a",
        "",
        vec![named("F1"), named("F77"), named("F1")],
    );
    // Each round has each id once, and only ours.
    assert_eq!(ids(&all[1..]), [["F1", "F2", "F3"]]);
}

#[test]
fn id_before_the_text_is_taken_off() {
    let all = rounds(&[
        ("a", &["no rollback"]),
        ("a", &["F1: still no way back", "F9: is a name of theirs"]),
    ]);
    let found = all[1].findings();
    assert_eq!(found[0].what, "still no way back");
    assert_eq!(found[0].since, Some(1));
    assert_eq!(found[1].what, "is a name of theirs");
    assert_eq!(ids(&all[1..]), [["F1", "F2"]]);
}

#[test]
fn standings_follow_findings_across_rounds() {
    let all = rounds(&[
        ("a", &["one", "two", "three"]),
        ("a", &["one", "two"]),
        ("b", &["four"]),
        ("a", &["two", "three", "five"]),
    ]);
    assert_eq!(standing(&all, "F1"), Standing::Gone);
    assert_eq!(
        standing(&all, "F2"),
        Standing::Carried,
        "b did not look for it"
    );
    assert_eq!(standing(&all, "F3"), Standing::BackAgain);
    assert_eq!(standing(&all, "F4"), Standing::Unseen);
    assert_eq!(standing(&all, "F5"), Standing::New);
    assert_eq!(
        summary(&standings(&all)),
        "1 new, 1 carried, 1 back again, 1 gone, 1 not looked at again"
    );
    assert_eq!(summary(&[]), "none");
    assert_eq!(standings(&[]), []);
}

#[test]
fn third_repetition_is_a_stall() {
    let same: (&str, &[&str]) = ("a", &["one", "two"]);
    assert!(!is_stalled(&rounds(&[same, same])));
    assert!(is_stalled(&rounds(&[same, same, same])));
    assert!(
        !is_stalled(&rounds(&[same, same, ("b", same.1)])),
        "another persona"
    );
    assert!(
        !is_stalled(&rounds(&[same, same, ("a", &["one"])])),
        "one was dealt with"
    );
    let flip: (&str, &[&str]) = ("a", &["three"]);
    assert!(is_stalled(&rounds(&[same, flip, same, flip, same])));
    let clean: (&str, &[&str]) = ("a", &[]);
    assert!(
        !is_stalled(&rounds(&[clean, clean, clean])),
        "nothing is no stall"
    );
}

/// Reviews documents one after the other; each review finds something else at one or several lines.
fn reworded(reviews: &[(&str, &str, &[u32])]) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for (persona, document, lines) in reviews {
        let words = "x".repeat(all.len() + 1);
        let finding = |line: &u32| Finding {
            line: Some(*line),
            ..Finding::new(Severity::High, format!("{line} says {words}"))
        };
        let found = lines.iter().map(finding).collect();
        add(&mut all, persona, document, found);
    }
    all
}

#[test]
fn reworded_finding_at_one_place_stalls() {
    let plan = "# Plan\nstep one\nstep two\n";
    let same = ("a", plan, &[2][..]);
    assert!(!is_stalled(&reworded(&[same, same])));
    assert!(is_stalled(&reworded(&[same, same, same])));
    let other = [same, same, ("b", plan, &[2][..])];
    assert_eq!(ids(&reworded(&other)), [["F1"], ["F1"], ["F2"]]);
    let elsewhere = [same, same, ("a", plan, &[3][..])];
    assert_eq!(ids(&reworded(&elsewhere)), [["F1"], ["F1"], ["F2"]]);
}

#[test]
fn reworded_finding_follows_its_line() {
    let plan = "# Plan\nstep one\nstep two\n";
    let moved = "# Plan\nintroduction\nstep one\nstep two\n";
    let edited = "# Plan\nintroduction\nstep one, with a check\nstep two\n";
    let all = reworded(&[
        ("a", plan, &[2]),
        ("a", moved, &[2, 3]),
        ("a", edited, &[3]),
    ]);
    assert_eq!(ids(&all), [&["F1"][..], &["F2", "F1"], &["F1"]]);
}

#[test]
fn same_words_win_over_same_place() {
    let finding = |what: &str, line| Finding {
        line: Some(line),
        ..Finding::new(Severity::High, what)
    };
    let mut all = Vec::new();
    add(&mut all, "a", "", vec![finding("no way back", 2)]);
    add(
        &mut all,
        "a",
        "",
        vec![finding("no owner", 2), finding("no way back", 7)],
    );
    assert_eq!(ids(&all[1..]), [["F2", "F1"]]);
}
