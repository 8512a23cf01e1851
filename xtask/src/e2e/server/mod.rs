//! The model's service on loopback. The first segment of a request's path is the scenario's name
//! of the session; the agent that was cast for it answers. `messages` and `responses` translate the
//! two protocols.

mod messages;
mod responses;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use miette::IntoDiagnostic as _;
use serde_json::{Value, json};

use super::agent::{Agent, Heard, Rule};
use super::conversation::{Conversation, Exchange};

const MAX_REQUEST_BYTES: usize = 32 << 20;

/// The input and output tokens of an answer whose rule does not name any.
const ANSWER_TOKENS: u64 = 10;

/// The running service. It ends with this program.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    stage: Arc<Stage>,
}

/// The parts that the handlers share.
#[derive(Debug)]
struct Stage {
    conversation: Arc<Conversation>,
    cast: Mutex<HashMap<String, Agent>>,
    /// The number of answers so far, which makes ids unique.
    answers: AtomicU64,
}

struct Entry {
    kind: Kind,
    text: String,
}

/// The source of an [`Entry`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A prompt, a hook's feedback, or the client's own words.
    Prompt,
    /// A tool's result.
    Result,
    /// The model's own words.
    Words,
    /// The model's tool call, as `Name {json}`.
    Call,
}

struct Protocol {
    /// Returns the texts of a request in order.
    entries: fn(&Value) -> Vec<Entry>,
    document: fn(&Rule, &str, u64) -> Value,
    /// Splits a document into the events of a stream.
    events: fn(Value) -> Vec<Value>,
}

impl Server {
    /// Starts the service on a free port, with no agents yet.
    pub(super) fn start(conversation: Arc<Conversation>) -> miette::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .into_diagnostic()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).into_diagnostic()?;
        listener.set_nonblocking(true).into_diagnostic()?;
        let address = listener.local_addr().into_diagnostic()?;
        let stage = Arc::new(Stage {
            conversation,
            cast: Mutex::default(),
            answers: AtomicU64::new(0),
        });
        let router = Router::new()
            .fallback(handle)
            .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES))
            .with_state(Arc::clone(&stage));
        std::thread::spawn(move || {
            runtime.block_on(async {
                axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
            })
        });
        Ok(Self { address, stage })
    }

    /// Lets `agent` play a session's model from now on.
    pub(super) fn cast(&self, session: &str, agent: Agent) {
        self.stage.cast().insert(session.to_owned(), agent);
    }

    /// Returns the address of a session's model, without a slash at the end.
    pub(super) fn url(&self, session: &str) -> String {
        format!("http://{}/{session}", self.address)
    }
}

async fn handle(stage: State<Arc<Stage>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let path = uri.path().trim_start_matches('/');
    let (session, path) = path.split_once('/').unwrap_or((path, ""));
    match (method, path) {
        (Method::POST, "v1/messages") => {
            exchange(&stage, session, &body, &messages::PROTOCOL).await
        }
        (Method::POST, "v1/responses") => {
            exchange(&stage, session, &body, &responses::PROTOCOL).await
        }
        (Method::POST, "v1/messages/count_tokens") => {
            Json(json!({ "input_tokens": ANSWER_TOKENS })).into_response()
        }
        // Clients ask whether the service runs, and for its list of models.
        (Method::GET | Method::HEAD, _) => {
            Json(json!({ "object": "list", "data": [], "models": [] })).into_response()
        }
        _ => refuse(StatusCode::NOT_FOUND, "nothing is here"),
    }
}

/// Answers a request to the model.
async fn exchange(stage: &Stage, session: &str, body: &[u8], protocol: &Protocol) -> Response {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let entries = (protocol.entries)(&request);
    let heard = hear(session, &request, &entries);
    let reply = match stage.reply(heard, &entries) {
        Ok(reply) => reply,
        Err(why) => return refuse(StatusCode::INTERNAL_SERVER_ERROR, &why),
    };
    tokio::time::sleep(Duration::from_millis(reply.wait_ms)).await;
    if reply.hang {
        return std::future::pending().await;
    }
    if let Some(status) = reply.status {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return (status, [(CONTENT_TYPE, "application/json")], reply.body).into_response();
    }
    let model = request["model"].as_str().unwrap_or_default();
    let number = stage.answers.fetch_add(1, Ordering::Relaxed);
    let document = (protocol.document)(&reply, model, number);
    if request["stream"] != true {
        return Json(document).into_response();
    }
    let mut stream = String::new();
    for event in (protocol.events)(document) {
        let kind = event["type"].as_str().unwrap_or_default();
        stream.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
    }
    ([(CONTENT_TYPE, "text/event-stream")], stream).into_response()
}

/// Summarizes a request for the rules.
fn hear(session: &str, request: &Value, entries: &[Entry]) -> Heard {
    let is_own = |entry: &Entry| matches!(entry.kind, Kind::Words | Kind::Call);
    let join = |entries: &[Entry]| {
        let texts: Vec<_> = entries.iter().map(|entry| entry.text.as_str()).collect();
        texts.join("\n")
    };
    // The model's last words may be several messages.
    let new = entries.iter().rposition(is_own).map_or(0, |last| last + 1);
    let last_before = entries[..new].iter().rposition(|entry| !is_own(entry));
    let words = &entries[last_before.map_or(0, |last| last + 1)..new];
    let has_result = entries[new..].iter().any(|it| it.kind == Kind::Result);
    let is_called = |it: &&Entry| has_result && it.kind == Kind::Call;
    let called: Vec<_> = words
        .iter()
        .filter(is_called)
        .map(|it| it.text.as_str())
        .collect();
    Heard {
        session: session.to_owned(),
        newest: join(&entries[new..]),
        whole: join(entries),
        called: called.join("\n"),
        offered: items(&request["tools"])
            .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
            .collect(),
    }
}

impl Stage {
    fn cast(&self) -> MutexGuard<'_, HashMap<String, Agent>> {
        self.cast.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reply(&self, heard: Heard, entries: &[Entry]) -> Result<Rule, String> {
        let aside = messages::aside(&heard, entries);
        let turn = aside.is_none();
        let reply = match (aside, self.cast().get_mut(&heard.session)) {
            (_, None) => Err(format!("no agent plays the session {:?}", heard.session)),
            (Some(reply), _) => Ok(reply),
            (None, Some(agent)) => agent.answer(&heard).map_err(|error| format!("{error:#}")),
        };
        self.conversation.add(Exchange {
            heard,
            turn,
            reply: reply.clone(),
        });
        reply
    }
}

fn refuse(status: StatusCode, message: &str) -> Response {
    let error = json!({ "type": "invalid_request_error", "message": message });
    (status, Json(json!({ "type": "error", "error": error }))).into_response()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns a text, or the texts of a list's items.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let listed = items(value).filter_map(|item| item["text"].as_str());
    value.as_str().into_iter().chain(listed)
}
