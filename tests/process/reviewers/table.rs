//! The failure table of docs/reviewers.md: each row is played, and each case has a row.

use serde_json::json;

use super::{
    Setup, claude_ends, claude_fails, claude_session, clean, codex_answers, codex_fails,
    codex_turn, complains, one_finding, says,
};
use crate::support::has;

/// A row of the document.
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
        .flat_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [names, _, outcome, said, then] = cells[..] else {
                panic!("not five cells: {line}");
            };
            names.split(", ").map(move |name| Row {
                name: name.trim_matches('`').to_owned(),
                outcome: outcome.to_owned(),
                said: said.to_owned(),
                then: then.to_owned(),
            })
        })
        .collect()
}

/// Rows that other tests play, by file and name.
const ELSEWHERE: [(&str, &str, &str); 3] = [
    (
        "writes",
        include_str!("../review_mode/hostile.rs"),
        "work_tree_changed_during_review_is_said_everywhere",
    ),
    (
        "interrupted",
        include_str!("interruption.rs"),
        "review_interrupted_ends_its_group_and_runs_again",
    ),
    (
        "killed",
        include_str!("interruption.rs"),
        "review_killed_runs_again_by_same_line",
    ),
];

/// Rows of clients that fail with a sentence: the row, Claude Code's error and status, the text.
const SENTENCES: &str = "\
codex-key | | unexpected status 401 Unauthorized: Incorrect API key provided: x., url: http://h/v1
codex-no-key | | Missing environment variable: `STANDIN_KEY`.
codex-usage-limit | | You\u{2019}ve hit your usage limit. Visit https://x or try again at 4:59 AM.
codex-quota | | Quota exceeded. Check your plan and billing details.
codex-rate-limit | | exceeded retry limit, last status: 429 Too Many Requests
codex-service | | We\u{2019}re currently experiencing high demand, which may cause temporary errors.
codex-stream | | stream disconnected before completion: stream closed before response.completed
codex-model | | The model `nope` does not exist or you do not have access to it.
claude-login | authentication_failed null | Not logged in \u{b7} Please run /login
claude-key | authentication_failed 401 | Invalid API key \u{b7} Fix external API key
claude-limit | rate_limit 429 | API Error: Request rejected (429) \u{b7} usage limit
claude-credit | billing_error 400 | Credit balance is too low
claude-service | server_error 529 | API Error: 529 Overloaded.
claude-refused | server_error null | API Error: Connection refused (ECONNREFUSED)
claude-model | model_not_found 404 | There's an issue with the selected model (nope). It may not exist.";

/// A row's name, the client's script, and the flags of the review. The client is Codex for
/// `codex-…`, Claude Code for `claude-…`, and any for other names.
type Case = (&'static str, String, &'static str);

fn cases() -> Vec<Case> {
    let sentences = SENTENCES.lines().map(|line| {
        let cells: Vec<&str> = line.splitn(3, '|').map(str::trim).collect();
        let script = match cells[1].split_once(' ') {
            Some((error, status)) => claude_fails(error, status.parse().unwrap(), cells[2]),
            None => codex_fails(cells[2]),
        };
        (cells[0], script, "")
    });
    let endless = "cat >/dev/null\nwhile :; do echo working; sleep 0.05; done\n";
    let retry = json!({ "type": "error", "message": "Reconnecting... waiting for network (Connection failed: error \
        sending request)" });
    let turn = says(&codex_turn(&[]), 0).replace("exit 0", "");
    let waits = format!("{turn}while :; do echo '{retry}'; sleep 0.05; done\n");
    let schema = json!({ "type": "result", "subtype": "error_max_structured_output_retries", "is_error": true,
        "errors": ["Failed to provide valid structured output after 5 attempts"] });
    let over = json!({ "type": "turn.completed", "usage": {} });
    let message = json!({ "type": "item.completed", "item": { "type": "agent_message", "text": clean().to_string() } });
    let failed = json!({ "type": "turn.failed", "error": { "message": "stream disconnected before completion: stream \
        closed before response.completed" } });
    let announced = json!({ "verdict": "findings", "findings": [] }).to_string();
    let both = format!("{}\n{}", clean(), one_finding());
    let cut = one_finding().to_string();
    let turns = json!({ "subtype": "error_max_turns", "num_turns": 40, "errors": [] });
    let budget = json!({ "subtype": "error_max_budget_usd", "total_cost_usd": 2.5 });
    let wrong_flag = "error: unexpected argument '--nope' found\n\nUsage: codex exec";
    let wrong_file = "Error loading config.toml:\n/home/me/.codex/config.toml:12:10: unclosed table, expected `]`\n   |\n12 | [x\n";
    let unknown = "error: unknown option '--no-such-flag'";
    let flood = "cat >/dev/null\nhead -c 5000000 /dev/zero | tr '\\0' x\n";
    let answered = json!({ "type": "result", "is_error": false, "structured_output": clean() });
    let idle = "idle-timeout = \"700ms\"";
    let short = "timeout = \"500ms\"";
    let mut cases: Vec<Case> = vec![
        ("not-installed", String::new(), ""),
        (
            "no-interpreter",
            "exec no-such-interpreter codex.js\n".into(),
            "",
        ),
        (
            "codex-cut",
            says(&codex_turn(&[message.clone(), failed]), 1),
            "",
        ),
        ("codex-no-network", waits, idle),
        ("codex-flag", complains(wrong_flag, 2), ""),
        ("codex-config", complains(wrong_file, 1), ""),
        ("codex-empty", says(&codex_turn(&[over]), 0), ""),
        ("codex-no-end", says(&codex_turn(&[message]), 0), ""),
        ("codex-prose", codex_answers("I like it."), ""),
        ("claude-flag", complains(unknown, 1), ""),
        ("claude-turns", claude_ends(turns), ""),
        ("claude-budget", claude_ends(budget), ""),
        ("claude-empty", claude_ends(json!({ "result": "" })), ""),
        (
            "claude-prose",
            claude_ends(json!({ "result": "I like it." })),
            "",
        ),
        ("claude-schema", says(&claude_session(&[schema]), 1), ""),
        ("silent", "cat >/dev/null\nexec sleep 86400\n".into(), idle),
        ("too-long", endless.into(), short),
        ("deaf", format!("trap '' TERM\n{endless}"), short),
        ("crash", "cat >/dev/null\nkill -SEGV $$\n".into(), ""),
        ("failed", says(&claude_session(&[answered]), 3), ""),
        ("empty", "cat >/dev/null\nprintf ' \\n\\t\\n'\n".into(), ""),
        ("announced", codex_answers(&announced), ""),
        ("two-answers", codex_answers(&both), ""),
        ("cut-off", codex_answers(&cut[..cut.len() - 2]), ""),
        ("too-much", flood.into(), ""),
    ];
    cases.extend(sentences);
    cases
}

/// The other rows that Claude Code plays.
const BY_CLAUDE: [&str; 4] = ["silent", "crash", "failed", "too-much"];

#[test]
fn documented_rows_are_the_ones_played() {
    let rows = rows();
    let mut documented: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
    let cases = cases();
    let mut played: Vec<&str> = cases.iter().map(|(name, ..)| *name).collect();
    for (name, source, test) in ELSEWHERE {
        let is_test = source.contains(&format!("#[test]\nfn {test}()"));
        assert!(is_test, "{name}: {test} is not a test");
        let row = rows.iter().find(|row| row.name == name).expect("a row");
        let quotes_it = source.contains(&row.said);
        assert!(
            quotes_it,
            "{name}: {test} looks for other words than the table's"
        );
        played.push(name);
    }
    documented.sort();
    played.sort();
    assert_eq!(documented, played);
}

#[test]
fn each_row_comes_to_what_the_table_says() {
    let rows = rows();
    let setup = Setup::new();
    let copy = setup.project.copy();
    for (name, script, limits) in cases() {
        setup.project.restore(&copy);
        setup.limit(limits);
        let row = rows
            .iter()
            .find(|row| row.name == name)
            .expect("see the test above");
        let is_claude = name.starts_with("claude-") || BY_CLAUDE.contains(&name);
        let client = if is_claude { "claude" } else { "codex" };
        if !script.is_empty() {
            setup.install(client, &script);
        }
        let ran = setup.review(client, "");
        assert_eq!(ran.code, 5, "{name}: {ran:?}");
        let message = row.said.replace('’', "'");
        let quotes_it =
            |text: &str| assert!(text.replace('’', "'").contains(&message), "{name}: {text}");
        quotes_it(&ran.out);
        assert_eq!(setup.outcome(), row.outcome, "{name}");
        let findings = setup.project.findings(&setup.id, 1);
        assert!(!findings.exists(), "{name}: no findings without a verdict");
        let fired = setup.project.fire();
        match row.then.as_str() {
            "waits" => quotes_it(&fired.approved()),
            "retried" => {
                let reason = fired.blocked();
                has(&reason, &format!("{}-runner.sh", setup.id));
                quotes_it(&reason);
            }
            other => panic!("{name}: {other}"),
        }
        assert_eq!(setup.project.field(&setup.id, "failures"), "1", "{name}");
    }
}
