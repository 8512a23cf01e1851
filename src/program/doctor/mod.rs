//! `doctor`: is everything there that a loop needs? Each check with its remedy, one subject per file.
//!
//! A check looks, tries out in folders of its own, and leaves nothing behind.

pub mod child;
mod client;
mod commands;
mod configuration;
mod environment;
pub mod hook;
pub mod launcher;
mod project;
mod reviewers;
mod state_home;
mod tools;

use serde::Serialize;

use super::assembled::{CommandLine, Program};
use super::exit::{Exit, Failure};
use super::{Tone, locate, loops, out};
use crate::text;

/// One check. The names of its fields are those of `--json`.
#[derive(Debug, Serialize)]
pub struct Check {
    name: String,
    /// Whether no loop goes without it.
    required: bool,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Check {
    /// A check that no loop goes without.
    pub fn required(name: &str, result: Result<String, Problem>) -> Self {
        Self::of(name, true, result)
    }

    /// A check whose failure takes something away, and lets loops run.
    pub fn useful(name: &str, result: Result<String, Problem>) -> Self {
        Self::of(name, false, result)
    }

    fn of(name: &str, required: bool, result: Result<String, Problem>) -> Self {
        let (ok, found, remedy) = match result {
            Ok(found) => (true, found, None),
            Err(Problem { what, remedy }) => (false, what, Some(remedy)),
        };
        Self {
            name: name.to_owned(),
            required,
            ok,
            found: text::lines(&found, 500),
            remedy: remedy.map(|remedy| text::lines(&remedy, 500)),
        }
    }

    fn sign(&self) -> &'static str {
        match (self.ok, self.required) {
            (true, _) => "ok  ",
            (false, true) => "FAIL",
            (false, false) => "warn",
        }
    }
}

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub struct Problem {
    what: String,
    remedy: String,
}

impl Problem {
    /// Says what is wrong, and what to do about it.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// A diagnostic with its own help, else with this one.
    pub fn of(error: &dyn miette::Diagnostic, otherwise: &str) -> Self {
        let help = error.help().map(|help| help.to_string());
        Self::new(
            error.to_string(),
            help.unwrap_or_else(|| otherwise.to_owned()),
        )
    }
}

/// Runs the checks; exit 1 when a required one fails.
pub(super) fn doctor<M: CommandLine>(program: &Program<M>, json: bool) -> Result<Exit, Failure> {
    let info = program.info;
    let here = loops::here()?;
    let root = locate::root(info.state, &here);
    // Before those that run the program, which closes the folder to others.
    let state_home = state_home::check(info);
    let mut checks = launcher::checks(info, &super::dispatch::protocol::<M>(), &root);
    checks.extend(environment::check());
    checks.push(hook::check(info, &root));
    checks.extend(program.checks.iter().map(|check| check(&root)));
    checks.extend(client::checks(info, &here));
    checks.extend(project::checks(info, &here));
    checks.push(state_home);
    checks.push(tools::git(&root));
    let (configuration, settings) = configuration::check(info, &here);
    checks.push(configuration);
    checks.extend(commands::checks(info, &settings, &root));
    if M::TABLE.phases.iter().any(|phase| phase.review.is_some()) {
        checks.extend(reviewers::checks(&settings, &root));
    }
    let failed = checks
        .iter()
        .filter(|check| check.required && !check.ok)
        .count();
    if json {
        out::json(&checks);
    } else {
        print(&checks);
    }
    Ok(if failed > 0 {
        Exit::Refused
    } else {
        Exit::Complete
    })
}

fn print(checks: &[Check]) {
    let widest = checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    for check in checks {
        let label = format!("{}  {:<widest$}  ", check.sign(), check.name);
        let tone = match (check.ok, check.required) {
            (true, _) => Tone::Good,
            (false, true) => Tone::Bad,
            (false, false) => Tone::Warning,
        };
        out::toned(
            &format!("{label}{}", check.found),
            check.sign().trim_end(),
            tone,
        );
        if let Some(remedy) = &check.remedy {
            out::line(&format!("{}-> {remedy}", " ".repeat(label.len())));
        }
    }
    let count = |required| {
        checks
            .iter()
            .filter(|check| !check.ok && check.required == required)
            .count()
    };
    out::line(&match (count(true), count(false)) {
        (0, 0) => "Everything that was looked at is as it should be.".to_owned(),
        (0, _) => "Loops can run; what is marked `warn` takes something away.".to_owned(),
        (1, _) => {
            "What is marked `FAIL` is required: no loop runs as it should before it is mended."
                .to_owned()
        }
        (failed, _) => format!(
            "The {failed} marked `FAIL` are required: no loop runs as it should before they are mended."
        ),
    });
}
