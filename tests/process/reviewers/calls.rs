//! The calls of clients, their environment, and the events that a user sees.

use serde_json::json;

use super::{Setup, claude_clean, claude_ends, codex_answers, codex_clean, one_finding};
use crate::support::{begins, has, lacks};

/// Returns a line that writes the call's arguments, environment and stdin to files.
fn keeping(setup: &Setup) -> String {
    let note = |name| setup.note(name).display().to_string();
    let [arguments, environment, folder, stdin] =
        ["arguments", "environment", "folder", "stdin"].map(note);
    format!(
        "printf '%s\\n' \"$@\" >'{arguments}'\nenv >'{environment}'\npwd >'{folder}'\ncat >'{stdin}'\n"
    )
}

fn read_note(setup: &Setup, name: &str) -> String {
    std::fs::read_to_string(setup.note(name)).unwrap()
}

/// Checks that two arguments of the call are adjacent.
#[track_caller]
fn has_pair(arguments: &str, first: &str, second: &str) {
    has(arguments, &format!("\n{first}\n{second}\n"));
}

#[test]
fn codex_is_called_read_only_with_short_environment() {
    let mut setup = Setup::new();
    let home = setup.project.home.join(".codex");
    let config = "model_provider = \"mine\"\n[mcp_servers.docs]\ncommand = \"x\"\n[model_providers.mine]\nenv_key = \"MY_KEY\"\n";
    crate::support::write(&home.join("config.toml"), config);
    for (name, value) in [
        ("MY_KEY", "k"),
        ("OPENAI_API_KEY", "o"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
    ] {
        setup.project = setup.project.with(name, value);
    }
    let answer = codex_answers(&one_finding().to_string());
    setup.install("codex", &(keeping(&setup) + &answer));
    let ran = setup.review("codex", "").exits(0);
    ran.says("reviewer: codex").says("high=1 medium=0 low=0");

    let arguments = read_note(&setup, "arguments");
    begins(&arguments, "exec\n");
    crate::support::ends(&arguments, "\n-\n");
    has_pair(&arguments, "--sandbox", "read-only");
    has(&arguments, "\nmcp_servers.docs.enabled=false\n");
    let (_, schema) = arguments.split_once("\n--output-schema\n").unwrap();
    let schema = schema.lines().next().unwrap();
    begins(
        schema,
        setup.project.home.join("claudex-").to_str().unwrap(),
    );
    assert!(
        !std::path::Path::new(schema).exists(),
        "the schema is scratch data"
    );

    let environment = read_note(&setup, "environment");
    for line in ["MY_KEY=k", "OPENAI_API_KEY=o", "CLAUDEX_REVIEWER_CHILD=1"] {
        assert!(
            environment.lines().any(|found| found == line),
            "{environment}"
        );
    }
    lacks(&environment, "AWS_SECRET");
    let prompt = read_note(&setup, "stdin");
    has(&prompt, "Move the queue.");
    has(&prompt, "JSON Schema");
    assert!(
        read_note(&setup, "folder")
            .trim_end()
            .ends_with("my plän's (1)")
    );
}

#[test]
fn claude_is_called_with_tools_that_read() {
    let mut setup = Setup::new();
    setup.project = setup
        .project
        .with("ANTHROPIC_API_KEY", "k")
        .with("CLAUDECODE", "1")
        .configured("reviewer = \"claude\"\n");
    // Inside a client, the environment of the session's hook counts.
    setup.project.fire();
    setup.install("claude", &(keeping(&setup) + &claude_clean()));
    setup
        .review("claude", "")
        .exits(0)
        .says("no substantive findings");

    let arguments = read_note(&setup, "arguments");
    has_pair(&arguments, "--tools", "Read,Grep,Glob");
    has_pair(&arguments, "--permission-mode", "dontAsk");
    has_pair(&arguments, "--settings", r#"{"disableAllHooks":true}"#);
    has_pair(&arguments, "--setting-sources", "user");
    has(&arguments, "\n--strict-mcp-config\n");
    let environment = read_note(&setup, "environment");
    has(&environment, "ANTHROPIC_API_KEY=k");
    lacks(&environment, "\nCLAUDECODE=");
    has(&read_note(&setup, "stdin"), "Move the queue.");
}

#[test]
fn output_without_verdict_is_kept_and_named() {
    let setup = Setup::new();
    let script = "cat >/dev/null\necho 'I like it.'\necho 'and say so' >&2\n";
    setup.install("codex", script);
    let ran = setup.review("codex", "").exits(5);
    let mut lines = ran.out.lines();
    let path = lines.find_map(|line| line.strip_prefix("claudex: what it wrote: "));
    let text = std::fs::read_to_string(path.unwrap()).unwrap();
    assert_eq!(text, "I like it.\n\n----- stderr -----\nand say so\n");
}

#[test]
fn configured_command_gets_prompt_and_its_variables() {
    let mut setup = Setup::new();
    let answer = "echo looking >&2\ncat <<'END'\n## High\n- line 1: no way back (write one)\nEND\n";
    let program = setup.install("house rules", &(keeping(&setup) + answer));
    let config = format!(
        "[reviewers.house-rules]\nkind = \"command\"\nprogram = {program:?}\narguments = [\"a b\", \"$(c)\"]\n\
         environment = [\"MY_TOKEN\"]\n"
    );
    setup.project = setup
        .project
        .configured(config)
        .with("MY_TOKEN", "t")
        .with("OPENAI_API_KEY", "o");
    let ran = setup.review("house-rules", "").exits(0);
    has(&ran.out, "claudex: reviewer: house-rules");
    has(&ran.out, "claudex: looking");
    has(&ran.out, "high=1 medium=0 low=0");
    lacks(&ran.out, "claudex: ## High");
    assert_eq!(read_note(&setup, "arguments"), "a b\n$(c)\n");
    let environment = read_note(&setup, "environment");
    has(&environment, "MY_TOKEN=t");
    lacks(&environment, "OPENAI_API_KEY");
    has(&read_note(&setup, "stdin"), "Move the queue.");
}

#[test]
fn flood_on_stderr_is_cut_everywhere() {
    // Long lines, and many short ones.
    for (line, most) in [("x".repeat(250), 12_000), ("y".to_owned(), 50_000)] {
        let setup = Setup::new();
        let script = format!("yes {line} | head -c 3000000 >&2\n{}", codex_clean());
        setup.install("codex", &script);
        let ran = setup
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
            let progress = std::fs::metadata(setup.file("progress.log")).unwrap().len();
            assert!((900_000..1_200_000).contains(&progress), "{progress}");
            let followed = setup
                .project
                .run(&format!("review {} --follow", setup.id))
                .exits(0);
            assert!(followed.out.len() < most, "{}", followed.out.len());
        }
    }
}

/// Returns a script with a first answer and another after a question. Each call is noted.
fn repairing(setup: &Setup, first: &str, second: &str) -> String {
    let calls = setup.note("calls").display().to_string();
    format!(
        "prompt=$(cat)\necho call >>'{calls}'\ncase $prompt in\n*'----- answer '*)\n{second}\n;;\n*)\n{first}\n;;\nesac\n"
    )
}

#[test]
fn unreadable_answer_of_client_is_asked_once_more() {
    let prose = "The export goes too early, and all orders of a night are lost.";
    let calls = |setup: &Setup| read_note(setup, "calls").lines().count();

    let setup = Setup::new();
    let repaired = codex_answers(&one_finding().to_string());
    setup.install(
        "codex",
        &repairing(&setup, &codex_answers(prose), &repaired),
    );
    let ran = setup.review("codex", "").exits(0);
    ran.says("asking once for the wanted form").says("high=1");
    assert_eq!(calls(&setup), 2);

    let prose = claude_ends(json!({ "result": prose }));
    for (again, limits) in [(&*prose, ""), ("exec sleep 86400\n", "timeout = \"3s\"")] {
        let setup = Setup::new();
        setup.limit(limits);
        setup.install("claude", &repairing(&setup, &prose, again));
        let ran = setup.review("claude", "").exits(5);
        ran.says("the reviewer’s answer is not a verdict");
        assert_eq!(calls(&setup), 2);
    }
}
