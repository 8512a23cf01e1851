//! Claude Code without a screen: one prompt, its events as JSON lines, and what they say at the end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
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

/// What the client printed in one run.
#[derive(Debug, Clone, Default)]
pub(super) struct Printed {
    /// Its events, one JSON object a line.
    pub(super) out: String,
    pub(super) err: String,
}

impl Headless {
    /// Starts the client with the prompt of `say`; what it prints goes to files of that name.
    pub(super) fn start(
        mut launch: Launch,
        say: Say,
        text: &str,
        resume: Option<&str>,
        log: &Path,
    ) -> miette::Result<Self> {
        launch.arguments.extend(
            [
                "-p",
                "--permission-mode",
                &say.mode,
                "--output-format",
                "stream-json",
                "--verbose",
                "--include-hook-events",
            ]
            .map(OsString::from),
        );
        match resume {
            Some(_) if say.r#continue => launch.arguments.push("--continue".into()),
            Some(id) => launch
                .arguments
                .extend(["--resume", id].map(OsString::from)),
            None => {}
        }
        launch
            .arguments
            .extend(say.arguments.iter().map(OsString::from));
        launch.arguments.extend(["--", text].map(OsString::from));
        let (out, err) = (log.with_extension("jsonl"), log.with_extension("err"));
        let child = launch
            .command()
            .stdout(fs_err::File::create(&out).into_diagnostic()?.into_parts().0)
            .stderr(fs_err::File::create(&err).into_diagnostic()?.into_parts().0)
            .spawn()
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot start {}", launch.program.display()))?;
        Ok(Self {
            child,
            out,
            err,
            say,
        })
    }

    /// Returns what it has printed so far.
    pub(super) fn printed(&self) -> Printed {
        let read = |path| {
            fs_err::read(path)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default()
        };
        Printed {
            out: read(&self.out),
            err: read(&self.err),
        }
    }

    /// Waits for its end, and holds it against what the step expects.
    pub(super) fn finish(mut self, limit: Duration) -> miette::Result<Printed> {
        let status = launch::wait(&mut self.child, limit).wrap_err("the client's turn")?;
        let printed = self.printed();
        self.expected(status, &printed)?;
        Ok(printed)
    }

    /// Ends it and its process group at once, without a word to either.
    pub(super) fn kill(&mut self) -> miette::Result<()> {
        launch::kill(&mut self.child)
    }

    fn expected(&self, status: ExitStatus, printed: &Printed) -> miette::Result<()> {
        if status.code() != Some(self.say.exit) {
            return Err(miette!(
                "the client ended with {status}, where {} was expected\n{}",
                self.say.exit,
                printed.err
            ));
        }
        let events = printed.events();
        let denied: Vec<_> = events
            .iter()
            .filter(|event| event["type"] == "result")
            .filter_map(|event| event["permission_denials"].as_array())
            .flatten()
            .map(|denial| format!("{} {}", denial["tool_name"], denial["tool_input"]))
            .collect();
        if denied.len() != self.say.denials {
            return Err(miette!(
                "{} tool calls were refused for want of a permission, where {} were expected: {denied:#?}",
                denied.len(),
                self.say.denials
            ));
        }
        let failed = events
            .iter()
            .find(|event| event["subtype"] == "hook_response" && event["outcome"] != "success");
        match failed {
            Some(hook) if !self.say.hooks_may_fail => Err(miette!("a hook failed: {hook:#}")),
            _ => Ok(()),
        }
    }
}

impl Drop for Headless {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl Printed {
    /// Its events; a line that is none is left out.
    pub(super) fn events(&self) -> Vec<Value> {
        self.out
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Returns the id that the client gave its session.
    pub(super) fn session(&self) -> Option<String> {
        self.events()
            .iter()
            .find_map(|event| Some(event["session_id"].as_str()?.to_owned()))
    }

    /// Returns all of it, as one text.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.out, self.err)
    }
}
