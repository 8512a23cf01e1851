//! The choice of a reviewer: by name or by `auto`.

use serde_json::json;

use super::{Setup, claude_clean, claude_ends, claude_fails, clean, codex_clean, codex_fails};
use crate::support::has;

#[test]
fn auto_takes_the_first_installed_client() {
    for (installed, shown) in [
        (&["codex", "claude"][..], "reviewer: codex (auto)"),
        (&["claude"], "reviewer: claude (auto)"),
        (&[], "reviewer: lint (auto)"),
    ] {
        let setup = Setup::new();
        // `auto` asks no reviewer of another name.
        setup.project.add_reviewer("mine", "/bin/cat", &[]);
        for name in installed {
            let script = match *name {
                "codex" => codex_clean(),
                _ => claude_clean(),
            };
            setup.install(name, &script);
        }
        setup.review("auto", "").exits(0).says(shown);
    }
}

#[test]
fn auto_without_quota_takes_next_installed_client() {
    let setup = Setup::new();
    let limit = codex_fails("You've hit your usage limit. Try again at 4:59 AM.");
    setup.install("codex", &limit);
    setup.install(
        "claude",
        &claude_ends(json!({ "structured_output": clean() })),
    );
    let ran = setup.review("auto", "").exits(0);
    has(&ran.out, "codex could not run, claude reviews instead: ");
    has(&ran.out, "4:59 AM");
    has(&ran.out, "reviewer: claude (auto)");
    let summary = setup.project.fire().blocked();
    has(
        &summary,
        "Round 1: codex could not run, claude reviewed instead: ",
    );

    // A named reviewer has no substitute.
    let setup = Setup::new();
    setup.install("codex", &codex_fails("Quota exceeded. Check your plan."));
    setup.install("claude", &codex_clean());
    setup.review("codex", "").exits(5);
}

#[test]
fn auto_without_any_client_waits_with_time() {
    let setup = Setup::new();
    setup.install(
        "codex",
        &codex_fails("Missing environment variable: `KEY`."),
    );
    let limit = "You've hit your session limit · resets 9:41pm (Europe/Berlin)";
    setup.install("claude", &claude_fails("rate_limit", json!(429), limit));
    setup.review("auto", "").exits(5).says("9:41pm");
    has(&setup.project.fire().approved(), "9:41pm");
    assert_eq!(setup.project.field(&setup.id, "phase"), "reviewing");
}
