//! What a client is called with, what it sees, and what of its events a person sees.

use serde_json::json;

use super::{Bench, claude_ends, clean, codex_answers, codex_clean, one_finding, says};

/// A line that keeps arguments, environment and stdin of the call in files.
fn keeping(bench: &Bench) -> String {
    let note = |name| bench.note(name).display().to_string();
    format!(
        "printf '%s\\n' \"$@\" >'{}'\nenv >'{}'\npwd >'{}'\ncat >'{}'\n",
        note("arguments"),
        note("environment"),
        note("folder"),
        note("stdin")
    )
}

fn kept(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.note(name)).unwrap()
}

#[test]
fn codex_is_called_read_only_with_the_prompt_on_stdin_and_a_short_environment() {
    let mut bench = Bench::new();
    let home = bench.project.home.join(".codex");
    std::fs::create_dir(&home).unwrap();
    let config = "model_provider = \"mine\"\n[mcp_servers.docs]\ncommand = \"x\"\n[model_providers.mine]\nenv_key = \"MY_KEY\"\n";
    std::fs::write(home.join("config.toml"), config).unwrap();
    for (name, value) in [
        ("MY_KEY", "k"),
        ("OPENAI_API_KEY", "o"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
    ] {
        bench.project = bench.project.with(name, value);
    }
    let script = format!(
        "{}{}",
        keeping(&bench),
        codex_answers(&one_finding().to_string())
    );
    bench.install("codex", &script);
    bench
        .review("codex", &[])
        .exits(0)
        .says("reviewer: codex")
        .says("high=1 medium=0 low=0");

    let arguments = kept(&bench, "arguments");
    let words: Vec<&str> = arguments.lines().collect();
    assert_eq!((words[0], *words.last().unwrap()), ("exec", "-"));
    assert!(
        words
            .windows(2)
            .any(|pair| pair == ["--sandbox", "read-only"]),
        "{arguments}"
    );
    assert!(
        words.contains(&"mcp_servers.docs.enabled=false"),
        "{arguments}"
    );
    let schema = words
        .windows(2)
        .find(|pair| pair[0] == "--output-schema")
        .unwrap()[1];
    let home = bench.project.home.join("claudex-");
    assert!(
        schema.starts_with(home.to_str().unwrap()),
        "the schema is scratch data: {schema}"
    );
    let is_there = std::path::Path::new(schema).exists();
    assert!(!is_there, "and is gone afterwards");

    let environment = kept(&bench, "environment");
    let has = |line: &str| environment.lines().any(|found| found == line);
    assert!(has("MY_KEY=k") && has("OPENAI_API_KEY=o"), "{environment}");
    assert!(!environment.contains("AWS_SECRET"), "{environment}");
    assert!(has("CLAUDEX_REVIEWER_CHILD=1"), "{environment}");

    let prompt = kept(&bench, "stdin");
    assert!(
        prompt.contains("Move the queue.") && prompt.contains("JSON Schema"),
        "{prompt}"
    );
    assert!(kept(&bench, "folder").trim_end().ends_with("my plän's (1)"));
}

#[test]
fn claude_is_called_with_tools_that_read_and_without_hooks_or_servers() {
    let mut bench = Bench::new();
    bench.project = bench
        .project
        .with("ANTHROPIC_API_KEY", "k")
        .with("CLAUDECODE", "1")
        .configured("reviewer = \"claude\"\n");
    // What counts inside a client is what the session's hook saw.
    bench.project.fire();
    let answer =
        claude_ends(json!({ "structured_output": clean(), "result": clean().to_string() }));
    bench.install("claude", &format!("{}{answer}", keeping(&bench)));
    bench
        .review("claude", &[])
        .exits(0)
        .says("no substantive findings");

    let arguments = kept(&bench, "arguments");
    let words: Vec<&str> = arguments.lines().collect();
    let pair = |first: &str, second: &str| words.windows(2).any(|pair| pair == [first, second]);
    assert!(
        pair("--tools", "Read,Grep,Glob") && pair("--permission-mode", "dontAsk"),
        "{arguments}"
    );
    assert!(pair("--settings", r#"{"disableAllHooks":true}"#) && pair("--setting-sources", "user"));
    assert!(words.contains(&"--strict-mcp-config"), "{arguments}");
    let environment = kept(&bench, "environment");
    assert!(environment.contains("ANTHROPIC_API_KEY=k"), "{environment}");
    assert!(
        !environment
            .lines()
            .any(|line| line.starts_with("CLAUDECODE=")),
        "{environment}"
    );
    assert!(kept(&bench, "stdin").contains("Move the queue."));
}

#[test]
fn a_client_that_answers_in_plain_text_is_read_too() {
    for client in ["codex", "claude"] {
        for answer in [
            "Here it is:\n\n## High\n- line 1: no way back (write one)\n".to_owned(),
            format!("```json\n{}\n```\n", one_finding()),
        ] {
            let bench = Bench::new();
            bench.install(
                client,
                &format!("cat >/dev/null\ncat <<'END'\n{answer}\nEND\n"),
            );
            bench
                .review(client, &[])
                .exits(0)
                .says("high=1 medium=0 low=0");
        }
    }
}

#[test]
fn a_person_sees_what_it_does_and_never_raw_events() {
    let bench = Bench::new();
    let command = json!({ "type": "item.started", "item": { "id": "i1", "type": "command_execution",
        "command": "/bin/bash -lc 'cat PLAN.md \u{1b}[31m'", "status": "in_progress" } });
    let done = json!({ "type": "item.completed", "item": { "id": "i1", "type": "command_execution",
        "command": "/bin/bash -lc 'cat PLAN.md'", "aggregated_output": "x".repeat(100_000), "exit_code": 0 } });
    let message = json!({ "type": "item.completed", "item": { "type": "agent_message", "text": clean().to_string() } });
    let over = json!({ "type": "turn.completed", "usage": {} });
    bench.install("codex", &says(&[command, done, message, over], 0));
    let ran = bench.review("codex", &[]).exits(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines[1..3],
        ["claudex: reviewer: codex", "claudex: runs cat PLAN.md [31m"]
    );
    assert!(!ran.out.contains("\"type\""), "{}", ran.out);
    let progress =
        std::fs::read_to_string(bench.project.folder().join(&bench.id).join("progress.log"))
            .unwrap();
    assert_eq!(progress, "runs cat PLAN.md [31m\n");
}

#[test]
fn what_it_wrote_is_kept_and_named_where_there_is_no_verdict() {
    let bench = Bench::new();
    bench.install(
        "codex",
        "cat >/dev/null\necho 'I like it.'\necho 'and say so' >&2\n",
    );
    let ran = bench.review("codex", &[]).exits(5).says("what it wrote: ");
    let line = ran
        .out
        .lines()
        .find_map(|line| line.strip_prefix("claudex: what it wrote: "));
    let text = std::fs::read_to_string(line.unwrap()).unwrap();
    assert_eq!(text, "I like it.\n\n----- stderr -----\nand say so\n");
}

#[test]
fn a_command_of_the_configuration_gets_the_prompt_and_what_it_was_promised() {
    let mut bench = Bench::new();
    let answer = "echo looking >&2\ncat <<'END'\n## High\n- line 1: no way back (write one)\nEND\n";
    let program = bench.install("house rules", &format!("{}{answer}", keeping(&bench)));
    let config = format!(
        "[reviewers.house-rules]\nkind = \"command\"\nprogram = {:?}\narguments = [\"a b\", \"$(c)\"]\n\
         environment = [\"MY_TOKEN\"]\n",
        program.to_str().unwrap()
    );
    bench.project = bench
        .project
        .configured(config)
        .with("MY_TOKEN", "t")
        .with("OPENAI_API_KEY", "o");
    let ran = bench
        .review("house-rules", &[])
        .exits(0)
        .says("claudex: reviewer: house-rules")
        .says("claudex: looking")
        .says("high=1 medium=0 low=0");
    assert!(
        !ran.out.contains("claudex: ## High"),
        "its answer is no progress: {}",
        ran.out
    );
    assert_eq!(kept(&bench, "arguments"), "a b\n$(c)\n");
    let environment = kept(&bench, "environment");
    assert!(
        environment.contains("MY_TOKEN=t") && !environment.contains("OPENAI_API_KEY"),
        "{environment}"
    );
    assert!(kept(&bench, "stdin").contains("Move the queue."));
}

#[test]
fn a_reviewer_that_floods_its_stderr_fills_neither_the_disk_nor_the_client() {
    let bench = Bench::new();
    let line = "x".repeat(250);
    bench.install(
        "codex",
        &format!("yes {line} | head -c 3000000 >&2\n{}", codex_clean()),
    );
    let ran = bench
        .review("codex", &[])
        .exits(0)
        .says("claudex: it says more than is shown")
        .says("no substantive findings");
    let progress =
        std::fs::metadata(bench.project.folder().join(&bench.id).join("progress.log")).unwrap();
    assert!(
        (900_000..1_200_000).contains(&progress.len()),
        "{}",
        progress.len()
    );
    assert!(
        ran.out.len() < 12_000,
        "a client shows an agent 30,000 characters: {}",
        ran.out.len()
    );
    assert_eq!(ran.out.matches("says more than is shown").count(), 1);
    // Nor do many short lines, or whoever follows.
    let ran = bench
        .project
        .run(&["review", &bench.id, "--follow"])
        .exits(0);
    assert!(ran.out.len() < 12_000, "{}", ran.out.len());
    let bench = Bench::new();
    bench.install(
        "codex",
        &format!("yes | head -c 3000000 >&2\n{}", codex_clean()),
    );
    let ran = bench
        .review("codex", &[])
        .exits(0)
        .says("no substantive findings");
    assert!(ran.out.len() < 50_000, "{}", ran.out.len());
}

/// Returns a script that answers by this one, and a question that sends an answer back by the other; each call leaves a line in a file.
fn repairing(bench: &Bench, first: &str, second: &str) -> String {
    let calls = bench.note("calls").display().to_string();
    format!(
        "prompt=$(cat)\necho call >>'{calls}'\ncase $prompt in\n*'----- answer '*)\n{second}\n;;\n*)\n{first}\n;;\nesac\n"
    )
}

#[test]
fn unreadable_answer_of_client_is_asked_once_more() {
    let prose = "The export goes too early, and all orders of a night are lost.";
    let count = |bench: &Bench| {
        std::fs::read_to_string(bench.note("calls"))
            .unwrap()
            .lines()
            .count()
    };

    let bench = Bench::new();
    let repaired = codex_answers(&one_finding().to_string());
    bench.install(
        "codex",
        &repairing(&bench, &codex_answers(prose), &repaired),
    );
    bench
        .review("codex", &[])
        .exits(0)
        .says("asking once for the wanted form")
        .says("high=1");
    assert_eq!(count(&bench), 2);

    let bench = Bench::new();
    let again = claude_ends(json!({ "result": prose }));
    bench.install("claude", &repairing(&bench, &again, &again));
    bench
        .review("claude", &[])
        .exits(5)
        .says("the reviewer’s answer is not a verdict");
    assert_eq!(count(&bench), 2);

    let bench = Bench::new();
    let slow = "exec sleep 86400\n";
    bench.install("claude", &repairing(&bench, &again, slow));
    bench
        .review("claude", &["--timeout", "3s"])
        .exits(5)
        .says("the reviewer’s answer is not a verdict");
}
