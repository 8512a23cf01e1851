//! The service over a real connection, spoken to by hand.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::*;
use crate::e2e::story;

const PROMPT: &str =
    r#"{"stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"go"}]}"#;
const REVIEW: &str = r#"{"stream":true,"input":"go"}"#;

/// A session whose model has these rules.
fn playing(session: &str, rules: &str) -> (Server, Arc<Conversation>) {
    let conversation = Arc::new(Conversation::new());
    let server = Server::start(Arc::clone(&conversation)).unwrap();
    server.cast(session, agent(rules));
    (server, conversation)
}

fn agent(rules: &str) -> Agent {
    #[derive(serde::Deserialize)]
    struct File {
        rule: Vec<crate::e2e::agent::Rule>,
    }
    let file: File = toml::from_str(&format!("[[rule]]\nabout = 'it'\n{rules}")).unwrap();
    Agent::new(file.rule, crate::e2e::words::Words::default())
}

/// All that comes back, up to the end of the connection or `patience`; and whether the end was seen.
fn told_within(
    url: &str,
    method: &str,
    path: &str,
    body: &str,
    patience: Duration,
) -> (String, bool) {
    let (address, session) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(patience)).unwrap();
    let length = body.len();
    let head = format!(
        "{method} /{session}{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}"
    );
    stream
        .write_all(format!("{head}\r\n\r\n{body}").as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    let ended = stream.read_to_end(&mut answer).is_ok();
    (String::from_utf8(answer).unwrap(), ended)
}

fn told(url: &str, path: &str, body: &str) -> String {
    let (answer, ended) = told_within(url, "POST", path, body, Duration::from_secs(20));
    assert!(ended, "the connection is left open after: {answer}");
    answer
}

#[test]
fn an_answer_is_streamed_where_the_client_asks_for_it() {
    let (server, conversation) = playing("main", "newest = 'go'\nsay = 'Grüße'");
    let answer = told(&server.url("main"), "/v1/messages?beta=true", PROMPT);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("content-type: text/event-stream\r\n"));
    assert!(answer.contains("event: message_start\ndata: {\"type\":\"message_start\","));
    assert!(
        answer.contains("\"text\":\"Grüße\"") && answer.contains("event: message_stop\ndata: ")
    );
    let whole = told(
        &server.url("main"),
        "/v1/messages",
        &PROMPT.replace("true", "false"),
    );
    assert!(
        whole.contains("content-type: application/json\r\n")
            && whole.contains("\"stop_reason\":\"end_turn\"")
    );
    let noted = conversation.of(Some("main"));
    assert_eq!(noted.len(), 2);
    assert!(noted[0].turn && noted[0].heard.newest == "go" && noted[0].reply.about == "it");
}

#[test]
fn both_protocols_are_spoken_at_one_port() {
    let (server, _) = playing(
        "codex",
        "newest = 'go'\ncalls = [{ tool = 'exec_command', input = { cmd = 'ls' } }]",
    );
    let answer = told(&server.url("codex"), "/v1/responses", REVIEW);
    assert!(
        answer.contains("event: response.created\n")
            && answer.contains("event: response.completed\n"),
        "{answer}"
    );
    assert!(
        answer.contains(r#""arguments":"{\"cmd\":\"ls\"}""#),
        "{answer}"
    );
}

#[test]
fn calls_have_ids_that_no_other_call_of_the_scenario_has() {
    let (server, _) = playing("one", "calls = [{ tool = 'Bash' }, { tool = 'Bash' }]");
    server.cast("two", agent("calls = [{ tool = 'Bash' }]"));
    let mut ids = Vec::new();
    for session in ["one", "one", "two"] {
        let answer = told(&server.url(session), "/v1/messages", PROMPT);
        ids.extend(
            answer
                .split("\"id\":\"toolu_")
                .skip(1)
                .map(|it| it.split('"').next().unwrap().to_owned()),
        );
    }
    assert_eq!(ids.len(), 5);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "{ids:?}");
}

#[test]
fn each_session_has_a_model_of_its_own_whatever_its_name() {
    let (server, conversation) = playing("main", "times = 1\nsay = 'from main'");
    server.cast("zweite/\"ü %", agent("times = 1\nsay = 'from the other'"));
    let answer = told(&server.url("zweite/\"ü %"), "/v1/messages", PROMPT);
    assert!(answer.contains("from the other"), "{answer}");
    assert!(told(&server.url("main"), "/v1/messages", PROMPT).contains("from main"));
    assert!(told(&server.url("main"), "/v1/messages", PROMPT).contains("Nothing is left"));
    server.cast("main", agent("times = 1\nsay = 'from a third'"));
    assert!(told(&server.url("main"), "/v1/messages", PROMPT).contains("from a third"));
    assert_eq!(conversation.of(Some("main")).len(), 3);
    assert_eq!(conversation.of(Some("zweite/\"ü %")).len(), 1);
}

#[test]
fn a_session_that_nobody_plays_is_not_found_and_is_noted() {
    let (server, conversation) = playing("main", "say = 'x'");
    for path in ["/v1/messages", "/v1/responses", "/v1/models", ""] {
        let answer = told(&server.url("stranger"), path, PROMPT);
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
        assert!(
            answer.contains("nobody plays the session"),
            "{path}: {answer}"
        );
    }
    let noted = conversation.of(Some("stranger"));
    assert_eq!(noted.len(), 4);
    assert!(
        noted
            .iter()
            .all(|exchange| exchange.failure.is_some() && !exchange.turn)
    );
    assert!(story::of(&conversation).contains("FAILURE | nobody plays the session"));
}

#[test]
fn a_status_is_sent_with_its_body() {
    for (path, body) in [("/v1/messages", PROMPT), ("/v1/responses", REVIEW)] {
        let (server, _) = playing(
            "main",
            "status = 429\nbody = '{\"error\":{\"code\":\"x\"}}'",
        );
        let answer = told(&server.url("main"), path, body);
        assert!(
            answer.starts_with("HTTP/1.1 429 ")
                && answer.contains("content-type: application/json\r\n")
        );
        assert!(
            answer.ends_with("\r\n\r\n{\"error\":{\"code\":\"x\"}}"),
            "{answer}"
        );
    }
}

#[test]
fn a_stream_is_cut_after_its_first_event() {
    for (path, body, first) in [
        ("/v1/messages", PROMPT, "message_start"),
        ("/v1/responses", REVIEW, "response.created"),
    ] {
        let (server, _) = playing("main", "cut = true\nsay = 'unsaid'");
        let answer = told(&server.url("main"), path, body);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert_eq!(answer.matches("event: ").count(), 1, "{answer}");
        assert!(
            answer.contains(&format!("event: {first}\ndata: {{")) && !answer.contains("unsaid")
        );
        let whole = answer.contains("\r\n0\r\n") || answer.contains("content-length");
        assert!(!whole, "it ends as if that were all: {answer}");
    }
}

#[test]
fn a_last_event_is_sent_after_the_first_one() {
    let (server, _) = playing(
        "main",
        "event = '{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}'",
    );
    let answer = told(&server.url("main"), "/v1/messages", PROMPT);
    let events: Vec<_> = answer
        .lines()
        .filter(|line| line.starts_with("event: "))
        .collect();
    assert_eq!(events, ["event: message_start", "event: error"]);
    assert!(
        answer
            .contains("\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"),
        "{answer}"
    );
    let whole = told(
        &server.url("main"),
        "/v1/messages",
        &PROMPT.replace("true", "false"),
    );
    assert!(
        whole.starts_with("HTTP/1.1 500 ") && whole.contains("overloaded_error"),
        "{whole}"
    );
}

#[test]
fn a_service_that_hangs_sends_nothing_and_ends_with_its_scenario() {
    let (server, conversation) = playing("main", "hang = true");
    let url = server.url("main");
    let (answer, ended) = told_within(
        &url,
        "POST",
        "/v1/messages",
        PROMPT,
        Duration::from_millis(300),
    );
    assert_eq!((answer.as_str(), ended), ("", false));
    let waiting = std::thread::spawn(move || {
        told_within(
            &url,
            "POST",
            "/v1/responses",
            REVIEW,
            Duration::from_secs(20),
        )
    });
    while conversation.of(None).len() < 2 {
        std::thread::yield_now();
    }
    drop(server);
    let (answer, ended) = waiting.join().unwrap();
    assert_eq!(
        (answer.as_str(), ended),
        ("", true),
        "the connection is closed"
    );
}

#[test]
fn an_answer_comes_after_its_wait() {
    let (server, _) = playing("main", "wait-ms = 300\nsay = 'late'");
    let began = Instant::now();
    assert!(told(&server.url("main"), "/v1/messages", PROMPT).contains("late"));
    assert!(began.elapsed() >= Duration::from_millis(300));
}

#[test]
fn one_session_that_waits_does_not_hold_another() {
    let (server, _) = playing("slow", "hang = true");
    server.cast("quick", agent("say = 'here'"));
    let _ = told_within(
        &server.url("slow"),
        "POST",
        "/v1/messages",
        PROMPT,
        Duration::from_millis(50),
    );
    assert!(told(&server.url("quick"), "/v1/messages", PROMPT).contains("here"));
}

#[test]
fn a_rule_that_cannot_be_used_is_the_clients_error_and_is_noted() {
    let (server, conversation) = playing("main", "say = '{{ nobody }}'");
    for (path, body) in [("/v1/messages", PROMPT), ("/v1/responses", REVIEW)] {
        let answer = told(&server.url("main"), path, body);
        assert!(
            answer.starts_with("HTTP/1.1 500 ") && answer.contains("nobody"),
            "{answer}"
        );
    }
    assert!(
        conversation.of(None).iter().all(|exchange| exchange
            .failure
            .as_ref()
            .unwrap()
            .contains("nobody"))
    );
}

#[test]
fn a_title_and_a_summary_use_no_rule() {
    let (server, conversation) = playing("main", "times = 1\nsay = 'the rule'");
    let title = r#"{"stream":true,"messages":[{"role":"user","content":"go"}]}"#;
    let summary = PROMPT.replace("go", "Respond with TEXT ONLY: a <summary>");
    assert!(told(&server.url("main"), "/v1/messages", title).contains("title"));
    assert!(told(&server.url("main"), "/v1/messages", &summary).contains("</summary>"));
    assert!(told(&server.url("main"), "/v1/messages", PROMPT).contains("the rule"));
    let turns: Vec<_> = conversation
        .of(None)
        .iter()
        .map(|exchange| exchange.turn)
        .collect();
    assert_eq!(turns, [false, false, true]);
    // What came just before the instruction is still to be summed up, and not yet to be answered.
    let result =
        r#""messages":[{"role":"user","content":[{"type":"tool_result","content":"a result"}]},{"#;
    let after_it = summary.replace(r#""messages":[{"#, result);
    server.cast("main", agent("newest = 'a result'\nsay = 'the rule'"));
    assert!(told(&server.url("main"), "/v1/messages", &after_it).contains("</summary>"));
    assert!(story::of(&conversation).contains("a result"));
    server.cast(
        "main",
        agent("newest = 'TEXT ONLY'\nsay = 'its own summary'"),
    );
    assert!(told(&server.url("main"), "/v1/messages", &summary).contains("its own summary"));
}

#[test]
fn what_clients_look_at_beside_is_there_and_is_not_noted() {
    let (server, conversation) = playing("main", "say = 'x'");
    let url = server.url("main");
    let counted = told(&url, "/v1/messages/count_tokens", PROMPT);
    assert!(counted.ends_with("{\"input_tokens\":10}"), "{counted}");
    for (method, path) in [("GET", "/v1/models"), ("HEAD", ""), ("GET", "/")] {
        let (answer, _) = told_within(&url, method, path, "", Duration::from_secs(20));
        assert!(
            answer.starts_with("HTTP/1.1 200 "),
            "{method} {path}: {answer}"
        );
    }
    server.cast("zwei ü", agent("say = 'x'"));
    let (answer, _) = told_within(
        &server.url("zwei ü"),
        "GET",
        "/",
        "",
        Duration::from_secs(20),
    );
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(told(&url, "/v1/else", "{}").starts_with("HTTP/1.1 404 "));
    assert!(conversation.of(None).is_empty());
}

#[test]
fn a_request_may_be_large_but_must_be_one() {
    let (server, conversation) = playing("main", "newest = 'go$'\nsay = 'all of it'");
    let large = PROMPT.replace("go", &format!("{}go", "x".repeat(5 << 20)));
    assert!(told(&server.url("main"), "/v1/messages", &large).contains("all of it"));
    let answer = told(&server.url("main"), "/v1/messages", "{\"messages\":");
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && answer.contains("no JSON"),
        "{answer}"
    );
    assert!(conversation.of(None)[1].failure.is_some());
}

#[test]
fn a_question_asked_again_is_told_once() {
    let (server, conversation) = playing("main", "times = 1\nstatus = 500");
    for _ in 0..2 {
        told(&server.url("main"), "/v1/messages", PROMPT);
    }
    let story = story::of(&conversation);
    assert_eq!(story.matches("heard | go\n").count(), 1, "{story}");
    assert_eq!(
        story.matches("heard | (the same again)\n").count(),
        1,
        "{story}"
    );
    assert!(
        story.contains("status 500 |") && story.contains("says | Nothing is left"),
        "{story}"
    );
}
