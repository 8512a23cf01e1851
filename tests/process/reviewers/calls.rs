//! The calls of clients, their environment, and the events that a user sees.

use serde_json::json;

use super::{Bench, claude_clean, claude_ends, codex_answers, codex_clean, one_finding};
use crate::support::{begins, has, lacks};

/// Returns a line that writes the call's arguments, environment and stdin to files.
fn keeping(bench: &Bench) -> String {
    let note = |name| bench.note(name).display().to_string();
    let [arguments, environment, folder, stdin] =
        ["arguments", "environment", "folder", "stdin"].map(note);
    format!(
        "printf '%s\\n' \"$@\" >'{arguments}'\nenv >'{environment}'\npwd >'{folder}'\ncat >'{stdin}'\n"
    )
}

fn read_note(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.note(name)).unwrap()
}

/// Checks that two arguments of the call are adjacent.
#[track_caller]
fn has_pair(arguments: &str, first: &str, second: &str) {
    has(arguments, &format!("\n{first}\n{second}\n"));
}

#[test]
fn codex_is_called_read_only_with_short_environment() {
    let mut bench = Bench::new();
    let home = bench.project.home.join(".codex");
    let config = "model_provider = \"mine\"\n[mcp_servers.docs]\ncommand = \"x\"\n[model_providers.mine]\nenv_key = \"MY_KEY\"\n";
    crate::support::write(&home.join("config.toml"), config);
    for (name, value) in [
        ("MY_KEY", "k"),
        ("OPENAI_API_KEY", "o"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
    ] {
        bench.project = bench.project.with(name, value);
    }
    let answer = codex_answers(&one_finding().to_string());
    bench.install("codex", &(keeping(&bench) + &answer));
    let ran = bench.review("codex", "").exits(0);
    ran.says("reviewer: codex").says("high=1 medium=0 low=0");

    let arguments = read_note(&bench, "arguments");
    begins(&arguments, "exec\n");
    crate::support::ends(&arguments, "\n-\n");
    has_pair(&arguments, "--sandbox", "read-only");
    has(&arguments, "\nmcp_servers.docs.enabled=false\n");
    let (_, schema) = arguments.split_once("\n--output-schema\n").unwrap();
    let schema = schema.lines().next().unwrap();
    begins(
        schema,
        bench.project.home.join("claudex-").to_str().unwrap(),
    );
    assert!(
        !std::path::Path::new(schema).exists(),
        "the schema is scratch data"
    );

    let environment = read_note(&bench, "environment");
    for line in ["MY_KEY=k", "OPENAI_API_KEY=o", "CLAUDEX_REVIEWER_CHILD=1"] {
        assert!(
            environment.lines().any(|found| found == line),
            "{environment}"
        );
    }
    lacks(&environment, "AWS_SECRET");
    let prompt = read_note(&bench, "stdin");
    has(&prompt, "Move the queue.");
    has(&prompt, "JSON Schema");
    assert!(
        read_note(&bench, "folder")
            .trim_end()
            .ends_with("my plän's (1)")
    );
}

#[test]
fn claude_is_called_with_tools_that_read() {
    let mut bench = Bench::new();
    bench.project = bench
        .project
        .with("ANTHROPIC_API_KEY", "k")
        .with("CLAUDECODE", "1")
        .configured("reviewer = \"claude\"\n");
    // Inside a client, the environment of the session's hook counts.
    bench.project.fire();
    bench.install("claude", &(keeping(&bench) + &claude_clean()));
    bench
        .review("claude", "")
        .exits(0)
        .says("no substantive findings");

    let arguments = read_note(&bench, "arguments");
    has_pair(&arguments, "--tools", "Read,Grep,Glob");
    has_pair(&arguments, "--permission-mode", "dontAsk");
    has_pair(&arguments, "--settings", r#"{"disableAllHooks":true}"#);
    has_pair(&arguments, "--setting-sources", "user");
    has(&arguments, "\n--strict-mcp-config\n");
    let environment = read_note(&bench, "environment");
    has(&environment, "ANTHROPIC_API_KEY=k");
    lacks(&environment, "\nCLAUDECODE=");
    has(&read_note(&bench, "stdin"), "Move the queue.");
}

#[test]
fn output_without_verdict_is_kept_and_named() {
    let bench = Bench::new();
    let script = "cat >/dev/null\necho 'I like it.'\necho 'and say so' >&2\n";
    bench.install("codex", script);
    let ran = bench.review("codex", "").exits(5);
    let mut lines = ran.out.lines();
    let path = lines.find_map(|line| line.strip_prefix("claudex: what it wrote: "));
    let text = std::fs::read_to_string(path.unwrap()).unwrap();
    assert_eq!(text, "I like it.\n\n----- stderr -----\nand say so\n");
}

#[test]
fn configured_command_gets_prompt_and_its_variables() {
    let mut bench = Bench::new();
    let answer = "echo looking >&2\ncat <<'END'\n## High\n- line 1: no way back (write one)\nEND\n";
    let program = bench.install("house rules", &(keeping(&bench) + answer));
    let config = format!(
        "[reviewers.house-rules]\nkind = \"command\"\nprogram = {program:?}\narguments = [\"a b\", \"$(c)\"]\n\
         environment = [\"MY_TOKEN\"]\n"
    );
    bench.project = bench
        .project
        .configured(config)
        .with("MY_TOKEN", "t")
        .with("OPENAI_API_KEY", "o");
    let ran = bench.review("house-rules", "").exits(0);
    has(&ran.out, "claudex: reviewer: house-rules");
    has(&ran.out, "claudex: looking");
    has(&ran.out, "high=1 medium=0 low=0");
    lacks(&ran.out, "claudex: ## High");
    assert_eq!(read_note(&bench, "arguments"), "a b\n$(c)\n");
    let environment = read_note(&bench, "environment");
    has(&environment, "MY_TOKEN=t");
    lacks(&environment, "OPENAI_API_KEY");
    has(&read_note(&bench, "stdin"), "Move the queue.");
}

#[test]
fn flood_on_stderr_is_cut_everywhere() {
    // Long lines, and many short ones.
    for (line, most) in [("x".repeat(250), 12_000), ("y".to_owned(), 50_000)] {
        let bench = Bench::new();
        let script = format!("yes {line} | head -c 3000000 >&2\n{}", codex_clean());
        bench.install("codex", &script);
        let ran = bench
            .review("codex", "")
            .exits(0)
            .says("no substantive findings");
        // A client shows an agent 30,000 characters.
        assert!(ran.out.len() < most, "{}", ran.out.len());
        if most == 12_000 {
            assert_eq!(
                ran.out
                    .matches("claudex: its further output is not shown")
                    .count(),
                1
            );
            let progress = std::fs::metadata(bench.file("progress.log")).unwrap().len();
            assert!((900_000..1_200_000).contains(&progress), "{progress}");
            let followed = bench
                .project
                .run(&format!("review {} --follow", bench.id))
                .exits(0);
            assert!(followed.out.len() < most, "{}", followed.out.len());
        }
    }
}

/// Returns a script with a first answer and another after a question. Each call is noted.
fn repairing(bench: &Bench, first: &str, second: &str) -> String {
    let calls = bench.note("calls").display().to_string();
    format!(
        "prompt=$(cat)\necho call >>'{calls}'\ncase $prompt in\n*'----- answer '*)\n{second}\n;;\n*)\n{first}\n;;\nesac\n"
    )
}

#[test]
fn unreadable_answer_of_client_is_asked_once_more() {
    let prose = "The export goes too early, and all orders of a night are lost.";
    let calls = |bench: &Bench| read_note(bench, "calls").lines().count();

    let bench = Bench::new();
    let repaired = codex_answers(&one_finding().to_string());
    bench.install(
        "codex",
        &repairing(&bench, &codex_answers(prose), &repaired),
    );
    let ran = bench.review("codex", "").exits(0);
    ran.says("asking once for the wanted form").says("high=1");
    assert_eq!(calls(&bench), 2);

    let prose = claude_ends(json!({ "result": prose }));
    for (again, limits) in [(&*prose, ""), ("exec sleep 86400\n", "timeout = \"3s\"")] {
        let bench = Bench::new();
        bench.limit(limits);
        bench.install("claude", &repairing(&bench, &prose, again));
        let ran = bench.review("claude", "").exits(5);
        ran.says("the reviewer’s answer is not a verdict");
        assert_eq!(calls(&bench), 2);
    }
}
