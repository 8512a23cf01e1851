//! Input that is none lets the turn end, with one answer, and changes nothing.

use serde_json::{Value as Json, json};

use super::refusals::unchanged;
use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::project::Output;
use crate::report::Report;
use crate::runs::Loop;
use crate::search::Way;

/// Gives every hook what it cannot read.
pub(crate) fn run(setup: &Setup, way: &Way, report: &mut Report) -> Result<(), Failure> {
    let held = Loop::begin(setup, way)?;
    let mut tried = 0;
    for hook in ["stop", "answer", "prompt", "session-start"] {
        for (what, input) in inputs() {
            let place = format!("`hook {hook}` with {what}");
            let said = unchanged(&held, &place, || held.project.hook(hook, &input));
            let said = said.map_err(|failure| Failure {
                suite: Suite::Input,
                ..failure
            })?;
            let answered = answer(&said).map_err(|what| fail(setup, &place, what))?;
            if hook == "stop" && answered["decision"] != "approve" {
                return Err(fail(
                    setup,
                    &place,
                    format!("it holds the agent: {}", said.short()),
                ));
            }
            tried += 1;
        }
    }
    report.tried.push((
        Suite::Input,
        format!("{tried} inputs that no hook can read let the turn end"),
    ));
    Ok(())
}

fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let deep = "[".repeat(100_000);
    vec![
        ("nothing", Vec::new()),
        ("an empty line", b"\n".to_vec()),
        ("null", b"null".to_vec()),
        ("a list", b"[]".to_vec()),
        ("a text", b"\"stop\"".to_vec()),
        ("an object that is cut off", b"{\"session_id\": \"s".to_vec()),
        ("bytes that are no UTF-8", b"\xff\xfe{}".to_vec()),
        ("a zero byte", b"\0".to_vec()),
        (
            "nine megabytes",
            json!({"session_id": "x".repeat(9 << 20)})
                .to_string()
                .into_bytes(),
        ),
        ("100,000 brackets", deep.into_bytes()),
    ]
}

/// Returns the one answer that a hook may give: nothing, or one JSON object; and exit code 0, for any other is ignored or blocks.
pub(crate) fn answer(said: &Output) -> Result<Json, String> {
    if said.code != Some(0) || said.err.contains("panicked") {
        return Err(format!(
            "a hook ends with exit code 0, whatever it is given: {}",
            said.short()
        ));
    }
    match said.out.trim() {
        "" => Ok(Json::Null),
        printed => match serde_json::from_str(printed) {
            Ok(answer @ Json::Object(_)) => Ok(answer),
            _ => Err(format!(
                "a hook prints one JSON object or nothing: {}",
                said.short()
            )),
        },
    }
}

fn fail(setup: &Setup, place: &str, what: String) -> Failure {
    setup.failure(
        Suite::Input,
        place,
        what,
        "answer with exit code 0 and one approval that says what was wrong",
    )
}
