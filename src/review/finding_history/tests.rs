use super::*;

fn rounds(all: &[(&str, &[&str])]) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for (persona, found) in all {
        let finding = |what: &&str| Finding::new(Severity::High, *what);
        let mut findings = Findings(found.iter().map(finding).collect());
        assign_ids(&rounds, &mut findings, persona, "");
        let number = rounds.len() as u64 + 1;
        let persona = (*persona).to_owned();
        rounds.push(Round {
            number,
            persona,
            findings,
        });
    }
    rounds
}

fn ids(rounds: &[Round]) -> Vec<Vec<&str>> {
    let of = |round| -> Vec<&str> {
        let round: &Round = round;
        round
            .findings
            .0
            .iter()
            .filter_map(|one| one.id.as_deref())
            .collect()
    };
    rounds.iter().map(of).collect()
}

fn standing(rounds: &[Round], id: &str) -> Standing {
    standings(rounds)
        .into_iter()
        .find(|one| one.id == id)
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
    assert_eq!(all[1].findings.0[0].since, Some(1));
    assert_eq!(all[1].findings.0[1].since, None);
}

#[test]
fn document_check_is_one_finding_file_check_is_not() {
    let check = |what: &str, file: Option<&str>| Finding {
        check: Some("ENG-OPEN".to_owned()),
        file: file.map(str::to_owned),
        ..Finding::new(Severity::High, what)
    };
    let mut all: Vec<Round> = Vec::new();
    for found in [
        vec![
            check("one question", None),
            check("a todo here", Some("a.rs")),
        ],
        vec![
            check("two questions", None),
            check("a todo there", Some("a.rs")),
        ],
    ] {
        let mut findings = Findings(found);
        assign_ids(&all, &mut findings, "a", "");
        let number = all.len() as u64 + 1;
        let persona = "a".to_owned();
        all.push(Round {
            number,
            persona,
            findings,
        });
    }
    assert_eq!(ids(&all), [["F1", "F2"], ["F1", "F3"]]);
}

#[test]
fn unknown_ids_of_reviewers_are_dropped() {
    let earlier = rounds(&[("a", &["no rollback"])]);
    let named = |id: &str| Finding {
        id: Some(id.to_owned()),
        ..Finding::new(Severity::Low, "still no way back")
    };
    let mut new = Findings(vec![named("F1"), named("F77"), named("F1")]);
    assign_ids(&earlier, &mut new, "a", "");
    let ids: Vec<_> = new.0.iter().filter_map(|one| one.id.as_deref()).collect();
    assert_eq!(
        ids,
        ["F1", "F2", "F3"],
        "each id once in a round, and no other than ours"
    );
}

#[test]
fn id_before_the_text_is_taken_off() {
    let earlier = rounds(&[("a", &["no rollback"])]);
    let finding = |what: &str| Finding::new(Severity::Low, what);
    let mut new = Findings(vec![
        finding("F1: still no way back"),
        finding("F9: is a name of theirs"),
    ]);
    assign_ids(&earlier, &mut new, "a", "");
    assert_eq!(new.0[0].what, "still no way back");
    assert_eq!(
        (new.0[0].id.as_deref(), new.0[0].since),
        (Some("F1"), Some(1))
    );
    assert_eq!(new.0[1].what, "F9: is a name of theirs");
    assert_eq!(new.0[1].id.as_deref(), Some("F2"));
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

/// Reviews documents one after the other; each review finds something else at one line, or at several.
fn reworded(reviews: &[(&str, &str, &[u32])]) -> Vec<Round> {
    let mut all: Vec<Round> = Vec::new();
    for (persona, document, lines) in reviews {
        let number = all.len() as u64 + 1;
        let finding = |line: &u32| Finding {
            line: Some(*line),
            ..Finding::new(
                Severity::High,
                format!("{} says {}", line, "x".repeat(all.len() + 1)),
            )
        };
        let mut findings = Findings(lines.iter().map(finding).collect());
        assign_ids(&all, &mut findings, persona, document);
        all.push(Round {
            number,
            persona: (*persona).to_owned(),
            findings,
        });
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
    let mut first = Findings(vec![finding("no way back", 2)]);
    assign_ids(&[], &mut first, "a", "");
    let round = Round {
        number: 1,
        persona: "a".to_owned(),
        findings: first,
    };
    let mut new = Findings(vec![finding("no owner", 2), finding("no way back", 7)]);
    assign_ids(&[round], &mut new, "a", "");
    let ids: Vec<_> = new.0.iter().filter_map(|one| one.id.as_deref()).collect();
    assert_eq!(ids, ["F2", "F1"]);
}
