//! Puts an answer on the wire: as one document, as a stream of events, or as one of the faults that a service can have. It knows
//! neither what the events mean nor who made them.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::{future, stream};
use serde_json::Value;

use super::protocol::{Asked, Protocol};
use crate::e2e::agent::{Fault, Reply};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// Sends what `reply` is on the wire, after its wait.
pub(super) async fn send(
    protocol: &dyn Protocol,
    reply: &Reply,
    asked: &Asked,
    number: u64,
) -> Response {
    if reply.wait_ms > 0 {
        tokio::time::sleep(Duration::from_millis(reply.wait_ms)).await;
    }
    let events = protocol.events(reply, &asked.model, number);
    let first = events.first().map(event).unwrap_or_default();
    let whole = || protocol.whole(reply, &asked.model, number);
    match &reply.fault {
        None if asked.streamed => {
            let all: String = events.iter().map(event).collect();
            answer(StatusCode::OK, EVENTS, all)
        }
        None => document(StatusCode::OK, &whole()),
        Some(Fault::Status(status, body)) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            answer(status, JSON, body.clone())
        }
        Some(Fault::Hang) => future::pending().await,
        Some(Fault::Cut) if asked.streamed => answer(StatusCode::OK, EVENTS, cut(first)),
        Some(Fault::Cut) => {
            let mut half = whole().to_string();
            half.truncate(half.floor_char_boundary(half.len() / 2));
            answer(StatusCode::OK, JSON, cut(half))
        }
        Some(Fault::Event(last)) if asked.streamed => {
            answer(StatusCode::OK, EVENTS, format!("{first}{}", event(last)))
        }
        // Where nothing is streamed, what would have been the last event is all that there is.
        Some(Fault::Event(last)) => document(StatusCode::INTERNAL_SERVER_ERROR, last),
    }
}

/// Returns an answer that says why there is none.
pub(super) fn refusal(protocol: &dyn Protocol, status: StatusCode, message: &str) -> Response {
    document(status, &protocol.refusal(status, message))
}

/// Answers with a JSON document.
pub(super) fn document(status: StatusCode, body: &Value) -> Response {
    answer(status, JSON, body.to_string())
}

/// One event as the stream has it. Its JSON is a single line.
fn event(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap_or("message");
    format!("event: {kind}\ndata: {event}\n\n")
}

/// Makes a body that breaks off: the connection is closed in the middle of it.
fn cut(text: String) -> Body {
    Body::from_stream(stream::unfold(Some(text), async |left| {
        if let Some(text) = left {
            return Some((Ok(text), None));
        }
        // What was sent so far goes out before the connection is closed, not together with it into nothing.
        tokio::task::yield_now().await;
        Some((
            Err(std::io::Error::other("cut off, as the rule says")),
            None,
        ))
    }))
}

fn answer(status: StatusCode, kind: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
