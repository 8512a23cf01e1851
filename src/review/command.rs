//! The reviewer `command`: any program of the user's configuration. Its stdin is the prompt, its stdout the answer. A repository
//! never chooses it.

use super::client::Client;
use super::reviewer::{self, Cause, CauseKind, Outcome, Request, Reviewer};
use super::settings::ReviewerSettings;
use crate::process::{ProcessOutput, Watch};

/// `command`, under the name that the configuration gives it.
#[derive(Debug, Clone)]
pub struct Command {
    /// Its name in the configuration.
    pub name: String,
    /// Its settings.
    pub settings: ReviewerSettings,
}

impl Reviewer for Command {
    fn name(&self) -> &str {
        &self.name
    }

    fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome {
        if self.settings.program.as_deref().is_none_or(str::is_empty) {
            let detail = format!("the configuration of `{}` names no program", self.name);
            return Outcome::CouldNotRun(Cause::new(CauseKind::NotInstalled, &detail));
        }
        let client = Client {
            settings: &self.settings,
            program: "",
            variables: Vec::new(),
            arguments: self.settings.arguments.clone(),
            read: None,
        };
        match client.run(request, request.prompt, watch) {
            Err(cause) => Outcome::CouldNotRun(cause),
            Ok((ended, _)) => match reviewer::judge(&ended) {
                Outcome::CouldNotRun(cause) => Outcome::CouldNotRun(cause),
                _ if repeats(&ended, request.prompt) => {
                    Outcome::not_a_verdict("it repeats what it was asked")
                }
                outcome => outcome,
            },
        }
    }
}

/// Returns whether a program gave its prompt back, as `cat` does: the form of an answer that stands in there, or what the text
/// under review says, is no verdict on it.
fn repeats(ended: &ProcessOutput, prompt: &str) -> bool {
    let prompt = prompt.trim();
    let stdout = String::from_utf8_lossy(&ended.stdout);
    // In lines of its own: within one it is quoted.
    !prompt.is_empty()
        && stdout.match_indices(prompt).any(|(at, found)| {
            let before = &stdout[..at];
            let after = &stdout[at + found.len()..];
            (before.is_empty() || before.ends_with('\n'))
                && (after.is_empty() || after.starts_with(['\n', '\r']))
        })
}

#[cfg(test)]
mod tests;
