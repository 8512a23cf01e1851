//! Who reviews: by name, by `auto`, and what is said about a change in the middle of a loop.

use super::{Bench, claude_ends, clean, codex_answers, codex_clean, one_finding};

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
