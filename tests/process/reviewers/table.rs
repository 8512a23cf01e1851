//! The failure table of docs/reviewers.md: each row is played, and no case is without its row.

use serde_json::json;

use super::{
    Bench, claude_ends, claude_fails, claude_session, clean, codex_answers, codex_fails,
    codex_turn, complains, one_finding, says,
};

/// A row, as the document has it.
#[derive(Debug)]
struct Row {
    name: String,
    outcome: String,
    said: String,
    then: String,
}

fn rows() -> Vec<Row> {
    let text = include_str!("../../../docs/reviewers.md");
    let (_, rest) = text.split_once("<!-- failures begin -->").expect("a table");
    let (table, _) = rest.split_once("<!-- failures end -->").expect("its end");
    table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [name, _, outcome, said, then] = cells[..] else {
                panic!("not five cells: {line}");
            };
            Row {
                name: name.trim_matches('`').to_owned(),
                outcome: outcome.to_owned(),
                said: said.to_owned(),
                then: then.to_owned(),
            }
        })
        .collect()
}

/// Who plays a row: a client that is this script, unless it says otherwise.
enum Player {
    Codex(String),
    Claude(String),
    /// `codex`, and nobody installed it.
    Nobody,
}

/// Rows that need more than a script: the test that plays each, by file and name.
const ELSEWHERE: [(&str, &str, &str); 3] = [
    (
        "writes",
        include_str!("../review_mode/hostile.rs"),
        "work_tree_changed_during_review_is_said_everywhere",
    ),
    (
        "interrupted",
        include_str!("left.rs"),
        "review_interrupted_ends_its_group_and_runs_again",
    ),
    (
        "killed",
        include_str!("left.rs"),
        "review_killed_runs_again_by_same_line",
    ),
];

/// Every other row, with its flags.
fn cases() -> Vec<(&'static str, Player, &'static [&'static str])> {
    let codex = |script: String| Player::Codex(script);
    let claude = |script: String| Player::Claude(script);
    let endless = "cat >/dev/null\nwhile :; do echo working; sleep 0.05; done\n";
    let retry = json!({ "type": "error", "message": "Reconnecting... waiting for network (Connection failed: error \
        sending request)" });
    let waits = format!(
        "cat >/dev/null\ncat <<'END'\n{}\nEND\nwhile :; do echo '{retry}'; sleep 0.05; done\n",
        codex_turn(&[])
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    );
    let schema = json!({ "type": "result", "subtype": "error_max_structured_output_retries", "is_error": true,
        "errors": ["Failed to provide valid structured output after 5 attempts"] });
    let empty = says(
        &codex_turn(&[json!({ "type": "turn.completed", "usage": {} })]),
        0,
    );
    let message = json!({ "type": "item.completed", "item": { "type": "agent_message", "text": clean().to_string() } });
    let failed = json!({ "type": "turn.failed", "error": { "message": "stream disconnected before completion: stream \
        closed before response.completed" } });
    let cut_off = says(&codex_turn(&[message.clone(), failed]), 1);
    let announced = json!({ "verdict": "findings", "findings": [] }).to_string();
    let both = format!("{}\n{}", clean(), one_finding());
    let cut = one_finding().to_string();
    let (idle, short) = (
        &["--idle-timeout", "700ms"][..],
        &["--timeout", "500ms"][..],
    );
    vec![
        ("not-installed", Player::Nobody, &[][..]),
        (
            "no-interpreter",
            codex("exec no-such-interpreter codex.js\n".to_owned()),
            &[],
        ),
        (
            "codex-key",
            codex(codex_fails(
                "unexpected status 401 Unauthorized: Incorrect API key provided: x., url: http://h/v1",
            )),
            &[],
        ),
        (
            "codex-no-key",
            codex(codex_fails("Missing environment variable: `STANDIN_KEY`.")),
            &[],
        ),
        (
            "codex-usage-limit",
            codex(codex_fails(
                "You\u{2019}ve hit your usage limit. Visit https://x or try again at 4:59 AM.",
            )),
            &[],
        ),
        (
            "codex-quota",
            codex(codex_fails(
                "Quota exceeded. Check your plan and billing details.",
            )),
            &[],
        ),
        (
            "codex-rate-limit",
            codex(codex_fails(
                "exceeded retry limit, last status: 429 Too Many Requests",
            )),
            &[],
        ),
        (
            "codex-service",
            codex(codex_fails(
                "We\u{2019}re currently experiencing high demand, which may cause temporary errors.",
            )),
            &[],
        ),
        (
            "codex-stream",
            codex(codex_fails(
                "stream disconnected before completion: stream closed before response.completed",
            )),
            &[],
        ),
        ("codex-cut", codex(cut_off), &[]),
        ("codex-no-network", codex(waits), idle),
        (
            "codex-model",
            codex(codex_fails(
                "The model `nope` does not exist or you do not have access to it.",
            )),
            &[],
        ),
        (
            "codex-flag",
            codex(complains(
                "error: unexpected argument '--nope' found\n\nUsage: codex exec",
                2,
            )),
            &[],
        ),
        (
            "codex-config",
            codex(complains(
                "Error loading config.toml:\n/home/me/.codex/config.toml:12:10: unclosed table, expected `]`\n   |\n12 | [x\n",
                1,
            )),
            &[],
        ),
        ("codex-empty", codex(empty), &[]),
        ("codex-no-end", codex(says(&codex_turn(&[message]), 0)), &[]),
        ("codex-prose", codex(codex_answers("I like it.")), &[]),
        (
            "claude-login",
            claude(claude_fails(
                "authentication_failed",
                json!(null),
                "Not logged in \u{b7} Please run /login",
            )),
            &[],
        ),
        (
            "claude-key",
            claude(claude_fails(
                "authentication_failed",
                json!(401),
                "Invalid API key \u{b7} Fix external API key",
            )),
            &[],
        ),
        (
            "claude-limit",
            claude(claude_fails(
                "rate_limit",
                json!(429),
                "API Error: Request rejected (429) \u{b7} usage limit",
            )),
            &[],
        ),
        (
            "claude-credit",
            claude(claude_fails(
                "billing_error",
                json!(400),
                "Credit balance is too low",
            )),
            &[],
        ),
        (
            "claude-service",
            claude(claude_fails(
                "server_error",
                json!(529),
                "API Error: 529 Overloaded.",
            )),
            &[],
        ),
        (
            "claude-refused",
            claude(claude_fails(
                "server_error",
                json!(null),
                "API Error: Connection refused (ECONNREFUSED)",
            )),
            &[],
        ),
        (
            "claude-model",
            claude(claude_fails(
                "model_not_found",
                json!(404),
                "There's an issue with the selected model (nope). It may not exist.",
            )),
            &[],
        ),
        (
            "claude-flag",
            claude(complains("error: unknown option '--no-such-flag'", 1)),
            &[],
        ),
        (
            "claude-turns",
            claude(claude_ends(
                json!({ "subtype": "error_max_turns", "num_turns": 40, "errors": [] }),
            )),
            &[],
        ),
        (
            "claude-budget",
            claude(claude_ends(
                json!({ "subtype": "error_max_budget_usd", "total_cost_usd": 2.5 }),
            )),
            &[],
        ),
        (
            "claude-empty",
            claude(claude_ends(json!({ "result": "" }))),
            &[],
        ),
        (
            "claude-prose",
            claude(claude_ends(json!({ "result": "I like it." }))),
            &[],
        ),
        (
            "claude-schema",
            claude(says(&claude_session(&[schema]), 1)),
            &[],
        ),
        (
            "silent",
            claude("cat >/dev/null\nexec sleep 86400\n".to_owned()),
            idle,
        ),
        ("too-long", codex(endless.to_owned()), short),
        ("deaf", codex(format!("trap '' TERM\n{endless}")), short),
        (
            "crash",
            claude("cat >/dev/null\nkill -SEGV $$\n".to_owned()),
            &[],
        ),
        (
            "failed",
            claude(says(
                &claude_session(&[
                    json!({ "type": "result", "is_error": false, "structured_output": clean() }),
                ]),
                3,
            )),
            &[],
        ),
        (
            "empty",
            codex("cat >/dev/null\nprintf ' \\n\\t\\n'\n".to_owned()),
            &[],
        ),
        ("announced", codex(codex_answers(&announced)), &[]),
        ("two-answers", codex(codex_answers(&both)), &[]),
        ("cut-off", codex(codex_answers(&cut[..cut.len() - 2])), &[]),
        (
            "too-much",
            claude("cat >/dev/null\nhead -c 5000000 /dev/zero | tr '\\0' x\n".to_owned()),
            &[],
        ),
    ]
}

#[test]
fn each_row_has_its_case_and_each_case_its_row() {
    let mut documented: Vec<String> = rows().into_iter().map(|row| row.name).collect();
    let mut played: Vec<String> = cases()
        .iter()
        .map(|(name, ..)| (*name).to_owned())
        .collect();
    for (name, source, test) in ELSEWHERE {
        assert!(
            source.contains(&format!("#[test]\nfn {test}()")),
            "{name}: {test} is no test"
        );
        let row = rows()
            .into_iter()
            .find(|row| row.name == name)
            .expect("a row");
        assert!(
            source.contains(&row.said),
            "{name}: {test} looks for other words than the table's"
        );
        played.push(name.to_owned());
    }
    documented.sort();
    played.sort();
    assert_eq!(documented, played);
}

#[test]
fn each_row_comes_to_what_the_table_says() {
    let rows = rows();
    for (name, player, flags) in cases() {
        let row = rows
            .iter()
            .find(|row| row.name == name)
            .expect("see the test above");
        let bench = Bench::new();
        let reviewer = match player {
            Player::Codex(script) => {
                bench.install("codex", &script);
                "codex"
            }
            Player::Claude(script) => {
                bench.install("claude", &script);
                "claude"
            }
            Player::Nobody => "codex",
        };
        let ran = bench.review(reviewer, flags);
        assert_eq!(ran.code, 5, "{name}: {ran:?}");
        let printed = ran.out.replace('’', "'");
        let said = row.said.replace('’', "'");
        assert!(printed.contains(&said), "{name}: {printed}");
        assert_eq!(bench.outcome(), row.outcome, "{name}");
        assert!(
            !bench.project.findings(&bench.id, 1).exists(),
            "{name}: no findings without a verdict"
        );
        let fired = bench.project.fire();
        let reason = match row.then.as_str() {
            "waits" => fired.approved(),
            "retried" => {
                let reason = fired.blocked();
                let runner = format!("{}-runner.sh", bench.id);
                assert!(reason.contains(&runner), "{name}: {reason}");
                reason
            }
            other => panic!("{name}: {other}"),
        };
        let reason = reason.replace('’', "'");
        assert!(reason.contains(&said), "{name}: {reason}");
        assert_eq!(bench.project.field(&bench.id, "failures"), "1", "{name}");
    }
}
