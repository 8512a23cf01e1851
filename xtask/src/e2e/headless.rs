//! Claude Code without a screen: one prompt, and its events as JSON lines.

use std::path::Path;
use std::time::Duration;

use miette::{Context as _, miette};
use serde_json::Value;

use super::launch::{Launch, Running};
use super::scenario::Say;

/// A client that was started.
#[derive(Debug)]
pub(super) struct Headless {
    running: Running,
    say: Say,
}

impl Headless {
    /// Starts the client with the prompt `text`.
    pub(super) fn start(
        launch: Launch,
        say: &Say,
        text: &str,
        resume: Option<&str>,
        log: &Path,
    ) -> miette::Result<Self> {
        let launch = launch
            .with(["-p", "--verbose", "--permission-mode"])
            .with([say.mode.as_deref().unwrap_or("default")])
            .with(["--output-format", "stream-json", "--include-hook-events"]);
        let launch = match resume {
            Some(_) if say.r#continue => launch.with(["--continue"]),
            Some(id) => launch.with(["--resume", id]),
            None => launch,
        };
        Ok(Self {
            running: launch.with(["--", text]).start(log)?,
            say: say.clone(),
        })
    }

    /// Returns stdout and stderr so far.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.running.out(), self.running.err())
    }

    /// Returns the client's id of the session.
    pub(super) fn session(&self) -> Option<String> {
        let events = self.events();
        events
            .iter()
            .find_map(|event| Some(event["session_id"].as_str()?.to_owned()))
    }

    /// Waits for the client's end, and checks what the step expects of it.
    pub(super) fn finish(&mut self, limit: Duration) -> miette::Result<()> {
        let status = self.running.wait(limit).wrap_err("the client's turn")?;
        if status.code() != Some(self.say.exit) {
            let expected = self.say.exit;
            let err = self.running.err();
            return Err(miette!(
                "the client ended with {status}, expected {expected}\n{err}"
            ));
        }
        let events = self.events();
        let results = events.iter().filter(|event| event["type"] == "result");
        let denials: Vec<_> = results
            .filter_map(|event| event["permission_denials"].as_array())
            .flatten()
            .collect();
        if denials.len() != self.say.denials {
            let count = denials.len();
            let expected = self.say.denials;
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

    /// Kills the client and its process group.
    pub(super) fn kill(&mut self) -> miette::Result<()> {
        self.running.kill()
    }

    fn events(&self) -> Vec<Value> {
        let out = self.running.out();
        let lines = out.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}
