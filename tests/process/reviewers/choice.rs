//! The choice of a reviewer: by name or by `auto`.

use serde_json::json;

use super::{Bench, claude_clean, claude_ends, claude_fails, clean, codex_clean, codex_fails};
use crate::support::has;

#[test]
fn auto_takes_the_first_installed_client() {
    for (installed, shown) in [
        (&["codex", "claude"][..], "reviewer: codex (auto)"),
        (&["claude"], "reviewer: claude (auto)"),
        (&[], "reviewer: lint (auto)"),
    ] {
        let bench = Bench::new();
        for name in installed {
            let is_codex = *name == "codex";
            bench.install(
                name,
                &if is_codex {
                    codex_clean()
                } else {
                    claude_clean()
                },
            );
        }
        bench.review("auto", "").exits(0).says(shown);
    }
}

#[test]
fn unknown_reviewer_gets_the_names() {
    let bench = Bench::new();
    let ran = bench.review("codx", "").exits(2);
    ran.says("`codx` is not a reviewer").says("choose `auto`, ");
}

#[test]
fn auto_without_quota_takes_next_installed_client() {
    let bench = Bench::new();
    let limit = codex_fails("You've hit your usage limit. Try again at 4:59 AM.");
    bench.install("codex", &limit);
    bench.install(
        "claude",
        &claude_ends(json!({ "structured_output": clean() })),
    );
    let ran = bench.review("auto", "").exits(0);
    has(&ran.out, "codex could not run, claude reviews instead: ");
    has(&ran.out, "4:59 AM");
    has(&ran.out, "reviewer: claude (auto)");
    let summary = bench.project.fire().blocked();
    has(
        &summary,
        "Round 1: codex could not run, claude reviewed instead: ",
    );

    // A named reviewer has no substitute.
    let bench = Bench::new();
    bench.install("codex", &codex_fails("Quota exceeded. Check your plan."));
    bench.install("claude", &codex_clean());
    bench.review("codex", "").exits(5);
}

#[test]
fn auto_without_any_client_waits_with_time() {
    let bench = Bench::new();
    bench.install(
        "codex",
        &codex_fails("Missing environment variable: `KEY`."),
    );
    let limit = "You've hit your session limit · resets 9:41pm (Europe/Berlin)";
    bench.install("claude", &claude_fails("rate_limit", json!(429), limit));
    bench.review("auto", "").exits(5).says("9:41pm");
    has(&bench.project.fire().approved(), "9:41pm");
    assert_eq!(bench.project.field(&bench.id, "phase"), "reviewing");
}
