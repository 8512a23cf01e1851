//! A conversation with Claude Code without a screen: a process for each prompt, with JSON lines.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use miette::{Context as _, miette};
use serde_json::Value;

use super::process::Running;
use super::scenario::Say;

#[derive(Debug, Default)]
pub(super) struct Session {
    /// The clients that were started, the newest last.
    clients: Vec<Running>,
    /// The prompt of the client that is running.
    turn: Option<Say>,
}

impl Session {
    /// Starts the client with a prompt. Its output is kept in `folder`.
    pub(super) fn start(
        &mut self,
        mut client: Command,
        say: Say,
        folder: &Path,
    ) -> miette::Result<()> {
        if self.turn.is_some() {
            return Err(miette!("the session `{}` is still running", say.session));
        }
        client
            .args(["-p", "--verbose", "--permission-mode"])
            .arg(say.mode.as_deref().unwrap_or("default"))
            .args(["--output-format", "stream-json", "--include-hook-events"]);
        match self.id() {
            Some(_) if say.r#continue => client.arg("--continue"),
            Some(id) => client.args(["--resume", &id]),
            None => &mut client,
        };
        let log = format!("{}-{}", say.session, self.clients.len() + 1);
        client.args(["--", &say.text]);
        let running = Running::start(&mut client, &folder.join(log))?;
        self.clients.push(running);
        self.turn = Some(say);
        Ok(())
    }

    pub(super) fn id(&self) -> Option<String> {
        let mut events = self.clients.iter().flat_map(events);
        events.find_map(|event| Some(event["session_id"].as_str()?.to_owned()))
    }

    pub(super) fn text(&self) -> String {
        let clients = self.clients.iter();
        clients
            .map(|client| format!("{}\n{}", client.out(), client.err()))
            .collect()
    }

    /// Waits for the client's end, and checks it against the step of its prompt.
    pub(super) fn finish(&mut self, limit: Duration) -> miette::Result<()> {
        let (client, say) = self.take_turn()?;
        let status = client.wait(limit).wrap_err("the client's turn")?;
        if status.code() != Some(say.exit) {
            let expected = say.exit;
            let err = client.err();
            return Err(miette!(
                "the client ended with {status}, expected {expected}\n{err}"
            ));
        }
        let events = events(client);
        let denials: Vec<_> = events
            .iter()
            .filter(|event| event["type"] == "result")
            .filter_map(|event| event["permission_denials"].as_array())
            .flatten()
            .collect();
        if denials.len() != say.denials {
            let count = denials.len();
            let expected = say.denials;
            return Err(miette!(
                "{count} calls were refused, expected {expected}: {denials:#?}"
            ));
        }
        let is_failed_hook =
            |event: &&Value| event["subtype"] == "hook_response" && event["outcome"] != "success";
        match events.iter().find(is_failed_hook) {
            Some(hook) => Err(miette!("a hook failed: {hook:#}")),
            None => Ok(()),
        }
    }

    pub(super) fn kill(&mut self) -> miette::Result<()> {
        self.take_turn()?.0.kill()
    }

    fn take_turn(&mut self) -> miette::Result<(&mut Running, Say)> {
        let turn = self.clients.last_mut().zip(self.turn.take());
        turn.ok_or_else(|| miette!("no client of the session is running"))
    }
}

/// Returns the events that a client has printed so far.
fn events(client: &Running) -> Vec<Value> {
    let out = client.out();
    let lines = out.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}
