//! Who reviews: by name, by `auto`, and what is said about a change in the middle of a loop.

use super::{
    Bench, claude_ends, claude_fails, clean, codex_answers, codex_clean, codex_fails, one_finding,
};

#[test]
fn auto_takes_the_first_that_is_installed_and_says_which() {
    for (installed, shown) in [
        (&["codex", "claude"][..], "reviewer: codex (auto)"),
        (&["claude"], "reviewer: claude (auto)"),
        (&[], "reviewer: lint (auto)"),
    ] {
        let bench = Bench::new();
        for name in installed {
            let script = match *name {
                "codex" => codex_clean(),
                _ => claude_ends(serde_json::json!({ "structured_output": clean() })),
            };
            bench.install(name, &script);
        }
        bench.review("auto", &[]).exits(0).says(shown);
    }
}

#[test]
fn a_change_in_the_middle_of_a_loop_is_said() {
    let bench = Bench::new();
    bench.install("codex", &codex_answers(&one_finding().to_string()));
    bench
        .review("auto", &[])
        .exits(0)
        .says("reviewer: codex (auto)\n");
    bench.project.plan("# Plan, revised\n");
    bench.project.fire().blocked();
    assert_eq!(bench.project.field(&bench.id, "round"), "2");
    bench.remove("codex");
    bench
        .review("auto", &[])
        .exits(0)
        .says("reviewer: lint (auto; codex reviewed the rounds before)");
    bench.project.plan("# Plan, revised again\n");
    bench.project.fire().blocked();
    bench.install("codex", &codex_clean());
    bench
        .review("codex", &[])
        .exits(0)
        .says("reviewer: codex (lint reviewed the rounds before)");
}

#[test]
fn a_name_that_is_none_is_refused_with_those_there_are() {
    let bench = Bench::new();
    bench
        .review("codx", &[])
        .exits(2)
        .says("`codx` is no reviewer")
        .says("`claude`, `codex`, `lint`");
}

#[test]
fn auto_without_quota_takes_next_installed_client() {
    let bench = Bench::new();
    bench.install(
        "codex",
        &codex_fails("You've hit your usage limit. Try again at 4:59 AM."),
    );
    let found = serde_json::json!({ "structured_output": clean() });
    bench.install("claude", &claude_ends(found));
    bench
        .review("auto", &[])
        .exits(0)
        .says("codex could not run, claude reviews instead: ")
        .says("4:59 AM")
        .says("reviewer: claude (auto)");
    let summary = bench.project.fire().blocked();
    assert!(
        summary.contains("Round 1: codex could not run, claude reviewed instead: "),
        "{summary}"
    );

    // A reviewer that was named stands alone.
    let bench = Bench::new();
    bench.install("codex", &codex_fails("Quota exceeded. Check your plan."));
    bench.install("claude", &codex_clean());
    bench.review("codex", &[]).exits(5);
}

#[test]
fn auto_without_any_client_waits_with_time() {
    let bench = Bench::new();
    bench.install(
        "codex",
        &codex_fails("Missing environment variable: `KEY`."),
    );
    let limit = "You've hit your session limit · resets 9:41pm (Europe/Berlin)";
    bench.install(
        "claude",
        &claude_fails("rate_limit", serde_json::json!(429), limit),
    );
    bench.review("auto", &[]).exits(5).says("9:41pm");
    let note = bench.project.fire().approved();
    assert!(note.contains("9:41pm"), "{note}");
    assert_eq!(bench.project.field(&bench.id, "phase"), "reviewing");
}
