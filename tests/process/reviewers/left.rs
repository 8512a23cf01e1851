//! Nothing of a reviewer outlives its review: not what left its process group, and not what a killed review left behind.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Bench, codex_clean};
use crate::support::{Background, age, descendants, is_alive, kill, tree, wait_for};

/// A script that leaves a process in a session of its own, and notes its id and its own.
fn leaves(bench: &Bench, then: &str) -> String {
    let file = bench.note("processes").display().to_string();
    format!(
        "cat >/dev/null\nsetsid sh -c 'echo $$ >>\"$0\"; exec sleep 86400' '{file}' </dev/null >/dev/null 2>&1 &\n\
         echo $$ >>'{file}'\nuntil [ \"$(wc -l <'{file}')\" -ge 2 ]; do sleep 0.01; done\n{then}\n"
    )
}

fn noted(bench: &Bench) -> Vec<u32> {
    let text = std::fs::read_to_string(bench.note("processes")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn review_in_background(bench: &Bench) -> Background {
    let child = bench
        .project
        .command(&["review", &bench.id, "--reviewer", "codex"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let background = Background::of(child);
    wait_for("the reviewer and what it left", || noted(bench).len() == 2);
    background
}

#[test]
fn what_left_the_group_is_ended_with_the_run() {
    let bench = Bench::new();
    bench.install("codex", &leaves(&bench, &codex_clean()));
    bench
        .review("codex", &[])
        .exits(0)
        .says("claudex: ended what the reviewer had left running (1)")
        .says("no substantive findings");
    let processes = noted(&bench);
    assert_eq!(processes.len(), 2);
    assert!(!processes.iter().any(|pid| is_alive(*pid)));
    assert!(bench.project.fire().reason.is_some(), "the loop goes on");
}

#[test]
fn a_review_that_is_interrupted_is_taken_up_by_the_same_line() {
    let bench = Bench::new();
    bench.install("codex", &leaves(&bench, "exec sleep 86400"));
    let review = review_in_background(&bench);
    let processes = noted(&bench);
    review.signal("TERM");
    review.end().exits(130).says("the review was interrupted");
    assert!(!processes.iter().any(|pid| is_alive(*pid)));
    assert_eq!(bench.outcome(), "none");

    bench.install("codex", &codex_clean());
    bench
        .review("codex", &[])
        .exits(0)
        .says("no substantive findings");
}

#[test]
fn where_all_processes_of_a_session_are_told_to_end_no_reviewer_has_failed() {
    for reviewer_ends in [
        "exec sleep 86400",
        "trap 'exit 143' TERM\nwhile :; do sleep 0.01; done",
    ] {
        let bench = Bench::new();
        bench.install("codex", &leaves(&bench, reviewer_ends));
        let review = review_in_background(&bench);
        // One command, in this order: the reviewer is gone before the review hears of it.
        let told = std::process::Command::new("kill")
            .args(["-s", "TERM"])
            .args(noted(&bench).iter().map(u32::to_string))
            .arg(review.id().to_string())
            .status()
            .unwrap();
        assert!(told.success());
        review.end().exits(130).says("the review was interrupted");
        assert_eq!(bench.outcome(), "none", "{reviewer_ends}");
    }
}

#[test]
fn a_killed_review_leaves_the_schema_of_the_answer_to_the_next_command() {
    let bench = Bench::new();
    let scratch = bench.project.folder().join("scratch");
    let schemas = || -> Vec<_> {
        let files = tree(&scratch).into_iter().map(|(path, _)| path);
        files.filter(|path| path.ends_with("answer.json")).collect()
    };
    let outside = || -> Vec<_> {
        // TMPDIR is the home, too.
        let entries = std::fs::read_dir(&bench.project.home).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "processes").collect()
    };
    let before = outside();
    for next in [&["sweep"][..], &["cancel", &bench.id]] {
        bench.install("codex", &leaves(&bench, "exec sleep 86400"));
        let review = review_in_background(&bench);
        assert_eq!(schemas().len(), 1);
        review.signal("KILL");
        review.end().exits(137);
        assert_eq!(schemas().len(), 1, "nobody was there to remove it");
        assert_eq!(outside(), before);
        bench.project.run(next).exits(0);
        assert!(tree(&scratch).is_empty(), "{next:?}: {:?}", tree(&scratch));
        noted(&bench).into_iter().for_each(kill);
        std::fs::remove_file(bench.note("processes")).unwrap();
    }
}

#[test]
fn what_a_killed_review_left_is_ended_by_the_next() {
    let bench = Bench::new();
    bench.install("codex", &leaves(&bench, "exec sleep 86400"));
    let review = review_in_background(&bench);
    let processes = noted(&bench);
    review.signal("KILL");
    review.end().exits(137);
    assert!(
        processes.iter().all(|pid| is_alive(*pid)),
        "nobody was there to end them"
    );
    assert_eq!(bench.outcome(), "none");

    bench.install("codex", &codex_clean());
    bench
        .review("codex", &[])
        .exits(0)
        .says("no substantive findings");
    assert!(!processes.iter().any(|pid| is_alive(*pid)));
}

/// Leaves a review killed, whose reviewer hears no TERM, and gives the reviewer's processes.
fn killed(bench: &Bench) -> Vec<u32> {
    bench.install(
        "codex",
        &format!("trap '' TERM\n{}", leaves(bench, "exec sleep 86400")),
    );
    let review = review_in_background(bench);
    let processes = noted(bench);
    review.signal("KILL");
    review.end().exits(137);
    assert!(
        processes.iter().all(|pid| is_alive(*pid)),
        "nobody was there to end them"
    );
    processes
}

#[test]
fn whoever_changes_a_loop_ends_what_a_killed_review_left() {
    let sweep = |bench: &Bench| {
        age(
            &bench.project.state_path(&bench.id),
            Duration::from_secs(86_400),
        );
        bench.project.run(&["sweep"]).exits(0);
    };
    let start = |bench: &Bench| {
        age(
            &bench.project.state_path(&bench.id),
            Duration::from_secs(86_400),
        );
        bench.project.start(&[]);
    };
    type Change<'c> = (&'c str, &'c dyn Fn(&Bench));
    let changes: [Change<'_>; 8] = [
        ("cancel", &|bench| {
            drop(bench.project.run(&["cancel", &bench.id]).exits(0))
        }),
        ("rollback", &|bench| {
            drop(bench.project.run(&["rollback", "--yes"]).exits(0))
        }),
        ("resume", &|bench| {
            drop(bench.project.run(&["resume", &bench.id]).exits(0))
        }),
        ("adopt", &|bench| {
            drop(bench.project.run(&["adopt", &bench.id, "--yes"]).exits(0))
        }),
        ("a verb that is refused", &|bench| {
            drop(bench.project.run(&["more", &bench.id]).exits(1));
        }),
        ("a stop", &|bench| drop(bench.project.fire().blocked())),
        ("sweep", &sweep),
        ("start", &start),
    ];
    for (what, change) in changes {
        let bench = Bench::new();
        let processes = killed(&bench);
        let begun = Instant::now();
        change(&bench);
        assert!(!processes.iter().any(|pid| is_alive(*pid)), "{what}");
        assert!(begun.elapsed() < crate::support::PATIENCE, "{what}");
    }
}

#[test]
fn a_look_at_a_loop_ends_nothing() {
    let bench = Bench::new();
    let processes = killed(&bench);
    bench.project.run(&["status"]).exits(0);
    bench.project.run(&["list"]).exits(0);
    bench.project.run(&["journal", &bench.id]).exits(0);
    assert!(processes.iter().all(|pid| is_alive(*pid)));
    bench.project.run(&["cancel", &bench.id]).exits(0);
    assert!(!processes.iter().any(|pid| is_alive(*pid)));
}

/// Makes a project in round 1 with a reviewer of the kind `command`, which is what `/bin/sh` does with this.
fn commanded(script: &str) -> Bench {
    let mut bench = Bench::new();
    let program = bench.install("mine", script);
    bench.project = bench.project.configured(format!(
        "[reviewers.mine]\nkind = \"command\"\nprogram = {program:?}\nsandbox = \"off\"\n"
    ));
    bench
}

#[test]
fn a_reviewer_that_stops_the_review_does_not_get_around_its_deadline() {
    let stops_again = "while :; do kill -STOP $PPID; done";
    let scripts = [
        "kill -STOP $PPID\nsleep 86400",
        // Its own time is over before anybody could know.
        "kill -STOP $PPID\ntrap '' TERM\nwhile :; do :; done",
        stops_again,
        // What has neither the group nor the mark is out of reach; what lacks one of them is not.
        "exec env -i /bin/sh -c 'while :; do kill -STOP $PPID; done'",
        "review=$PPID; setsid sh -c 'while :; do kill -STOP '$review'; done' &\nsleep 86400",
    ];
    // Side by side: each waits until the deadline is kept for it.
    std::thread::scope(|scope| {
        for script in scripts {
            scope.spawn(move || {
                let bench = commanded(script);
                let begun = Instant::now();
                bench
                    .review("mine", &["--timeout", "1s"])
                    .exits(5)
                    .says("the reviewer was ended after 1s");
                assert!(begun.elapsed() < crate::support::PATIENCE, "{script}");
                assert_eq!(bench.outcome(), "could-not-run");
                let reason = bench.project.fire().blocked();
                assert!(reason.contains("ended after 1s"), "{reason}");
            });
        }
    });
}

#[test]
fn a_reviewer_that_stops_the_review_and_answers_is_heard_after_the_deadline() {
    let bench = commanded("cat >/dev/null\nkill -STOP $PPID\necho 'No substantive findings.'");
    bench
        .review("mine", &["--timeout", "1s"])
        .exits(0)
        .says("no substantive findings");
}

#[test]
fn nothing_that_keeps_a_deadline_outlives_its_review() {
    let bench = Bench::new();
    bench.install("codex", &leaves(&bench, "exec sleep 86400"));
    for signal in ["TERM", "KILL"] {
        let review = review_in_background(&bench);
        let all = descendants(review.id());
        assert!(
            all.len() >= 2,
            "the reviewer, and who keeps its deadline: {all:?}"
        );
        review.signal(signal);
        review.end();
        bench.project.run(&["resume", &bench.id]).exits(0);
        wait_for("the end of all of them", || {
            !all.iter().any(|pid| is_alive(*pid))
        });
        std::fs::remove_file(bench.note("processes")).unwrap();
    }
}

#[test]
fn what_a_command_does_around_its_verdict_is_noticed_too() {
    let bench = Bench::new();
    bench
        .review("fake-leaves", &[])
        .exits(0)
        .says("claudex: ended what the reviewer had left running (1)");

    let bench = Bench::new();
    bench.review("fake-writes", &[]).exits(0);
    assert!(bench.project.root.join("written-by-the-reviewer").exists());

    let bench = Bench::new();
    let ran = bench.review("fake-endless", &["--timeout", "1s"]).exits(5);
    let line = ran
        .out
        .lines()
        .find_map(|line| line.strip_prefix("claudex: what it wrote: "));
    let kept = std::fs::metadata(line.unwrap()).unwrap().len();
    assert!(
        (1024..5 * 1024 * 1024).contains(&kept),
        "bounded, whatever it writes: {kept}"
    );
}

#[test]
fn a_reviewer_can_neither_change_its_loop_nor_wait_for_itself() {
    let bench = Bench::new();
    let program = assert_cmd::cargo::cargo_bin!("claudex-loop")
        .to_str()
        .unwrap();
    let program = shlex::try_quote(program).unwrap();
    let (id, told) = (&bench.id, bench.note("told").display().to_string());
    let calls: Vec<String> = [
        format!("review {id}"),
        format!("review {id} --follow"),
        format!("mark-done {id} --rejecting mine"),
        format!("cancel {id}"),
        format!("resume {id}"),
        "start plan another one".to_owned(),
        "rollback --yes".to_owned(),
    ]
    .iter()
    .map(|call| {
        format!("{program} {call} </dev/null >>'{told}' 2>&1; echo \"status $?\" >>'{told}'",)
    })
    .collect();
    let answer = codex_clean();
    bench.install(
        "codex",
        &format!(
            "{}\n{program} status >>'{told}' 2>&1\n{answer}",
            calls.join("\n"),
        ),
    );
    let before = bench.project.state(&bench.id);
    bench
        .review("codex", &["--timeout", "20s"])
        .exits(0)
        .says("no substantive findings");
    let told = std::fs::read_to_string(bench.note("told")).unwrap();
    assert_eq!(told.matches("status 1\n").count(), calls.len(), "{told}");
    assert_eq!(
        told.matches("a program that loops run (a reviewer, a drafter) changes none")
            .count(),
        calls.len(),
        "{told}"
    );
    assert!(told.contains("reviewing"), "it may look: {told}");
    assert_eq!(bench.project.state(&bench.id), before);
}
