//! Claude Code without a screen: one prompt, and its events as JSON lines.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use miette::{Context as _, IntoDiagnostic as _, miette};
use serde_json::Value;

use super::launch::{self, Launch};
use super::scenario::Say;

/// A client that was started.
#[derive(Debug)]
pub(super) struct Headless {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    say: Say,
}

/// The output of one client so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Printed {
    /// Events, one JSON object per line.
    out: String,
    err: String,
}

impl Headless {
    /// Starts the client with the prompt `text`. Its output goes to `log.jsonl` and `log.err`.
    pub(super) fn start(
        launch: Launch,
        say: &Say,
        text: &str,
        resume: Option<&str>,
        log: &Path,
    ) -> miette::Result<Self> {
        let launch = launch.with(["-p", "--verbose", "--permission-mode"]);
        let launch = launch.with([say.mode.as_deref().unwrap_or("default")]);
        let launch = launch.with(["--output-format", "stream-json", "--include-hook-events"]);
        let launch = match resume {
            Some(_) if say.r#continue => launch.with(["--continue"]),
            Some(id) => launch.with(["--resume", id]),
            None => launch,
        };
        let launch = launch.with(["--", text]);
        let out = log.with_extension("jsonl");
        let err = log.with_extension("err");
        let child = launch
            .command()
            .stdout(std::fs::File::create(&out).into_diagnostic()?)
            .stderr(std::fs::File::create(&err).into_diagnostic()?)
            .spawn()
            .into_diagnostic()
            .wrap_err("cannot start the client")?;
        Ok(Self {
            child,
            out,
            err,
            say: say.clone(),
        })
    }

    /// Returns the output so far.
    pub(super) fn printed(&self) -> Printed {
        let read = |path: &Path| {
            let bytes = fs_err::read(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Printed {
            out: read(&self.out),
            err: read(&self.err),
        }
    }

    /// Waits for the client's end, and checks what the step expects of it.
    pub(super) fn finish(&mut self, limit: Duration) -> miette::Result<()> {
        let status = launch::wait(&mut self.child, limit).wrap_err("the client's turn")?;
        let printed = self.printed();
        if status.code() != Some(self.say.exit) {
            let (expected, err) = (self.say.exit, &printed.err);
            return Err(miette!(
                "the client ended with {status}, expected {expected}\n{err}"
            ));
        }
        let events = printed.events();
        let denials: Vec<_> = events
            .iter()
            .filter(|event| event["type"] == "result")
            .filter_map(|event| event["permission_denials"].as_array())
            .flatten()
            .collect();
        if denials.len() != self.say.denials {
            let (count, expected) = (denials.len(), self.say.denials);
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
        launch::kill(&mut self.child)
    }
}

impl Drop for Headless {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl Printed {
    fn events(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Returns the client's id of the session.
    pub(super) fn session(&self) -> Option<String> {
        let events = self.events();
        events
            .iter()
            .find_map(|event| Some(event["session_id"].as_str()?.to_owned()))
    }

    /// Returns stdout and stderr as one text.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.out, self.err)
    }
}
