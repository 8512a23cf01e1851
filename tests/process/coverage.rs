//! `machine coverage`: what is recorded while tests run, what journals tell, and that neither disturbs a loop.

use crate::support::{Project, Ran};

/// What `machine coverage` says of an edge: how often it was taken.
#[track_caller]
fn hits(ran: &Ran, transition: &str, way: &str) -> u64 {
    let line = ran.out.lines().find(|line| {
        let mut parts = line.split_whitespace().skip(1);
        parts.next() == Some(transition) && line.contains(way)
    });
    let line = line.unwrap_or_else(|| panic!("no edge {transition} {way}:\n{}", ran.out));
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// A project whose commands leave their record beside it.
fn recorded() -> (Project, String) {
    let project = Project::new();
    let record = project.home.join("the record").to_str().unwrap().to_owned();
    (project.with("CLAUDEX_COVERAGE", &record), record)
}

#[test]
fn every_edge_that_is_taken_is_counted_by_the_record_and_by_the_journal_alike() {
    let (project, record) = recorded();
    let id = project.start(&[]);
    project.fire().blocked();
    project.plan("# Plan\n");
    project.fire().blocked();
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan\n\n## Changelog\n- a way back\n");
    project.fire().blocked();
    project.review(&id, "fake-findings.clean").exits(0);
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "summarizing");
    project.run(&["cancel", &id]).exits(0);
    let expected = ["bind", "remind", "begin", "revise", "accept", "cancel"];
    assert_eq!(project.changes(&id)[1..], expected);

    let by_record = project.run(&["machine", "coverage", &record]).exits(0);
    let by_journal = project.run(&["machine", "coverage"]).exits(0);
    assert_eq!(by_record.out, by_journal.out);
    for (transition, way) in [
        ("remind", "drafting -> drafting"),
        ("begin", "drafting -> reviewing"),
        ("revise", "reviewing -> reviewing"),
        ("accept", "reviewing -> summarizing"),
        ("cancel", "summarizing -> cancelled"),
    ] {
        assert_eq!(hits(&by_record, transition, way), 1, "{transition}");
    }
    assert_eq!(hits(&by_record, "revise", "reviewing -> summarizing"), 0);
    let by_record = by_record.says("\n5 of 23 edges of `plan` were taken\n");
    by_record.says(
        "not taken: revise, reviewing -> summarizing, when round >= max_rounds (machine.toml:",
    );
}

#[test]
fn a_drawing_comes_alone_and_what_is_missing_beside_it() {
    let (project, record) = recorded();
    project.start(&[]);
    project.run(&["cancel"]).exits(0);
    let plain = project.run(&["machine", "diagram"]).exits(0);
    let drawn = project
        .run(&["machine", "coverage", "--format", "mermaid", &record])
        .exits(0);
    assert_ne!(drawn.out, plain.out, "what was taken is marked");
    assert!(
        drawn.out.contains("drafting") && !drawn.out.contains("not taken"),
        "{}",
        drawn.out
    );
    assert!(
        drawn
            .err
            .starts_with("1 of 23 edges of `plan` were taken\nnot taken: begin, "),
        "{}",
        drawn.err
    );
    for (format, head) in [("dot", "digraph"), ("svg", "<svg")] {
        let drawn = project
            .run(&["machine", "coverage", "--format", format, &record])
            .exits(0);
        assert!(drawn.out.contains(head), "{}", drawn.out);
    }
}

#[test]
fn an_edge_that_is_missing_is_a_refusal_where_all_are_required() {
    let (project, record) = recorded();
    project.start(&[]);
    project.run(&["cancel"]).exits(0);
    let required = ["machine", "coverage", "--require-all", &record];
    project
        .run(&required)
        .exits(1)
        .says("not taken: begin, drafting -> reviewing (machine.toml:");

    // The same record with one line for each edge, and what is not to be counted.
    let file = std::path::Path::new(&record).join("plan.edges");
    let one = std::fs::read_to_string(&file).unwrap();
    let hash = one.split(' ').nth(1).unwrap();
    let listed = project.run(&["machine", "coverage", &record]).exits(0).out;
    let edges = listed.lines().take_while(|line| !line.is_empty());
    let mut all: String = edges
        .enumerate()
        .map(|(at, line)| {
            let words: Vec<_> = line.split_whitespace().collect();
            format!("plan {hash} {at} {} {} {}\n", words[1], words[2], words[4])
        })
        .collect();
    all.push_str("plan 0123456789abcdef 0 begin drafting reviewing\nnonsense\n");
    std::fs::write(&file, all).unwrap();
    project
        .run(&required)
        .exits(0)
        .says("23 of 23 edges of `plan` were taken")
        .says(&format!(
            "not counted: 1 of another version of the machine than {hash}"
        ))
        .says("not counted: 1 lines that are none");
}

#[test]
fn a_record_that_cannot_be_written_disturbs_no_loop() {
    let project = Project::new();
    std::fs::write(project.home.join("a file"), "x").unwrap();
    let blocked = project
        .home
        .join("a file/below")
        .to_str()
        .unwrap()
        .to_owned();
    let project = project.with("CLAUDEX_COVERAGE", &blocked);
    let id = project.start(&[]);
    let cancelled = project.run(&["cancel", &id]).exits(0);
    assert_eq!(cancelled.err, "");
    assert_eq!(project.field(&id, "phase"), "cancelled");

    // A relative one would be another folder for each process.
    let project = project.with("CLAUDEX_COVERAGE", "relative");
    let id = project.start(&[]);
    project.run(&["cancel", &id]).exits(0);
    assert!(!project.root.join("relative").exists());

    project.answers(
        &["machine", "coverage", "relative"],
        2,
        "relative is no folder",
    );
}
