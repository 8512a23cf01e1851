//! The model's service, on loopback: a session's scripted agent behind the two protocols that the real clients speak. The path
//! of a request begins with the session's name. What was asked and answered is noted in the scenario's conversation.
//!
//! `messages` and `responses` translate a protocol, `sending` puts an answer, or a fault, on the wire. None of them knows what an
//! agent says, or what a scenario expects.

mod messages;
mod protocol;
mod responses;
mod sending;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::post;
use miette::{Context as _, IntoDiagnostic as _};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use self::protocol::{Asked, Protocol, TOKENS, What};
use super::agent::{Agent, Heard, Reply};
use super::conversation::{Conversation, Exchange};
use super::words::told;

/// The largest request that is read, in bytes; what the real service takes.
const LARGEST: usize = 32 << 20;

/// The service. It ends with this value, whatever is still asked of it.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    stage: Arc<Stage>,
    /// Dropped to end the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a service on a port of its own, with nobody to answer yet.
    ///
    /// # Errors
    /// The system gives no port, no thread, or no runtime.
    pub(super) fn start(conversation: Arc<Conversation>) -> miette::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .into_diagnostic()
            .wrap_err("cannot begin the model's service")?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .into_diagnostic()
            .wrap_err("cannot get a port on loopback for the model's service")?;
        let address = listener.local_addr().into_diagnostic()?;
        let stage = Arc::new(Stage {
            conversation,
            cast: Mutex::default(),
            answers: AtomicU64::new(0),
        });
        let routes = routes(Arc::clone(&stage));
        let (stop, stopped) = oneshot::channel::<()>();
        let serve = async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, routes).await
        };
        let thread = std::thread::Builder::new()
            .name("model".to_owned())
            // The runtime goes with the thread, and with it every connection, also one on which an answer hangs.
            .spawn(move || {
                runtime.block_on(futures_util::future::select(Box::pin(serve), stopped));
            })
            .into_diagnostic()
            .wrap_err("cannot start a thread for the model's service")?;
        Ok(Self {
            address,
            stage,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// From now on `agent` plays this session's model.
    pub(super) fn cast(&self, session: &str, agent: Agent) {
        self.stage.cast().insert(session.to_owned(), agent);
    }

    /// Returns where this session's model answers; no slash at the end.
    pub(super) fn url(&self, session: &str) -> String {
        format!("http://{}/{}", self.address, in_path(session))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && let Err(panic) = thread.join()
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Returns a name as one segment of a path.
fn in_path(name: &str) -> String {
    name.bytes().fold(String::new(), |mut path, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
        path
    })
}

/// Who plays, and where it is noted.
#[derive(Debug)]
struct Stage {
    conversation: Arc<Conversation>,
    cast: Mutex<HashMap<String, Agent>>,
    /// How many answers were begun: makes their ids, and those of their calls, unique in the scenario.
    answers: AtomicU64,
}

impl Stage {
    fn cast(&self) -> MutexGuard<'_, HashMap<String, Agent>> {
        self.cast.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the agent's answer, noted.
    ///
    /// # Errors
    /// Why there is none, as status and message; noted, too.
    fn reply(&self, asked: &Asked) -> Result<Reply, (StatusCode, String)> {
        let mut cast = self.cast();
        let Some(agent) = cast.get_mut(&asked.heard.session) else {
            drop(cast);
            let why = unknown(&asked.heard.session);
            self.note(asked.heard.clone(), false, Err(why.clone()));
            return Err((StatusCode::NOT_FOUND, why));
        };
        let reply = match &asked.what {
            What::Turn => agent.answer(&asked.heard),
            What::Summary {
                instruction,
                otherwise,
            } => {
                let alone = Heard {
                    newest: instruction.clone(),
                    called: String::new(),
                    ..asked.heard.clone()
                };
                agent
                    .answer_apart(&alone)
                    .map(|reply| reply.unwrap_or_else(|| otherwise.clone()))
            }
            What::Aside(reply) => Ok(reply.clone()),
        };
        drop(cast);
        let reply = reply.map_err(|error| told(&error));
        self.note(
            asked.heard.clone(),
            matches!(asked.what, What::Turn),
            reply.clone(),
        );
        reply.map_err(|why| (StatusCode::INTERNAL_SERVER_ERROR, why))
    }

    fn note(&self, heard: Heard, turn: bool, answer: Result<Reply, String>) {
        let (reply, failure) = match answer {
            Ok(reply) => (reply, None),
            Err(failure) => (Reply::default(), Some(failure)),
        };
        self.conversation.note(Exchange {
            at: self.conversation.now(),
            heard,
            turn,
            reply,
            failure,
        });
    }
}

fn unknown(session: &str) -> String {
    format!("nobody plays the session {session:?}: the service's path begins with a session's name")
}

fn routes(stage: Arc<Stage>) -> Router {
    Router::new()
        .route("/{session}/v1/messages", post(messages))
        .route("/{session}/v1/messages/count_tokens", post(count_tokens))
        .route("/{session}/v1/responses", post(responses))
        .fallback(elsewhere)
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(stage)
}

type Body = Result<Bytes, BytesRejection>;

async fn messages(stage: State<Arc<Stage>>, session: Path<String>, body: Body) -> Response {
    exchange(&stage, session.0, body, &messages::Messages).await
}

async fn responses(stage: State<Arc<Stage>>, session: Path<String>, body: Body) -> Response {
    exchange(&stage, session.0, body, &responses::Responses).await
}

/// Answers a request to the model.
async fn exchange(stage: &Stage, session: String, body: Body, protocol: &dyn Protocol) -> Response {
    let request = match body {
        Ok(body) => serde_json::from_slice::<Value>(&body).map_err(|error| {
            (
                StatusCode::BAD_REQUEST,
                format!("the request is no JSON: {error}"),
            )
        }),
        Err(rejection) => Err((
            rejection.status(),
            format!("cannot read the request: {rejection}"),
        )),
    };
    let request = match request {
        Ok(request) => request,
        Err((status, why)) => {
            let heard = Heard {
                session,
                ..Heard::default()
            };
            stage.note(heard, false, Err(why.clone()));
            return sending::refusal(protocol, status, &why);
        }
    };
    let mut asked = protocol.asked(&request);
    asked.heard.session = session;
    let number = stage.answers.fetch_add(1, Ordering::Relaxed);
    match stage.reply(&asked) {
        Ok(reply) => sending::send(protocol, &reply, &asked, number).await,
        Err((status, why)) => sending::refusal(protocol, status, &why),
    }
}

/// Returns how long a conversation is. Always the same: the usage of an answer is where a rule says it.
async fn count_tokens() -> Response {
    sending::document(StatusCode::OK, &json!({ "input_tokens": TOKENS }))
}

/// Answers what the clients look at beside: whether the service is there, and which models it has (none that they need to know
/// of).
async fn elsewhere(stage: State<Arc<Stage>>, path: axum::http::Uri, method: Method) -> Response {
    let session = path.path().split('/').nth(1).unwrap_or_default();
    let known = stage.cast().keys().any(|name| in_path(name) == session);
    if !known {
        let why = unknown(session);
        let heard = Heard {
            session: session.to_owned(),
            ..Heard::default()
        };
        stage.note(heard, false, Err(why.clone()));
        return sending::refusal(&messages::Messages, StatusCode::NOT_FOUND, &why);
    }
    if method == Method::GET || method == Method::HEAD {
        return sending::document(
            StatusCode::OK,
            &json!({ "object": "list", "data": [], "models": [] }),
        );
    }
    sending::refusal(
        &messages::Messages,
        StatusCode::NOT_FOUND,
        "there is nothing here",
    )
}
