//! The choice of a reviewer by its name, from `--reviewer` or the settings.
//!
//! `auto` is the first of codex and claude that is installed, else `lint`. If it cannot run, the
//! next installed client replaces it. The choice is always shown.

use camino::Utf8Path;

use crate::machine::Raw;
use crate::process::environment::find_installed;
use crate::process::limits::Limits;
use crate::program::exit::{Exit, Failure};
use crate::program::settings::{AUTO, Settings};
use crate::review::ReviewSpec;
use crate::review::reviewer::Reviewer;
use crate::review::settings::{ReviewerKind, ReviewerSettings};
use crate::text;

/// The reviewers that `auto` tries, in this order.
const CLIENTS: [&str; 2] = ["codex", "claude"];

/// Returns the reviewer and model that a loop's phase prefers in its round.
fn preferred(raw: &Raw, spec: &ReviewSpec) -> Option<(String, Option<String>)> {
    let turn = usize::try_from(raw.count(spec.round).saturating_sub(1)).unwrap_or(usize::MAX);
    let of_turn = |all: &[&str]| {
        let name = raw.fill(all.get(turn.checked_rem(all.len())?)?);
        Some(name).filter(|name| !name.is_empty())
    };
    Some((of_turn(spec.reviewers)?, of_turn(spec.models)))
}

/// Finds the reviewer of this name, or that of the settings. `auto` is the one that the loop's
/// phase prefers, if it is installed; those after it replace it in turn if it cannot run.
///
/// # Errors
/// Returns an error if the name is unknown.
pub fn choose(
    name: Option<&str>,
    review: Option<(&Raw, &ReviewSpec)>,
    settings: &Settings,
    root: &Utf8Path,
) -> Result<Vec<Reviewer>, Failure> {
    let name = name.unwrap_or(&settings.reviewer).trim();
    let is_auto = name == AUTO;
    let review = review.filter(|_| is_auto);
    let preferred = review.and_then(|(raw, spec)| preferred(raw, spec));
    let first = preferred.as_ref().map(|(name, _)| name.as_str());
    let mut names = vec![name];
    if is_auto {
        let others = CLIENTS.into_iter().filter(|name| Some(*name) != first);
        names = first.into_iter().chain(others).collect();
        names.retain(|name| {
            let reviewer = settings.reviewers.get(*name);
            reviewer.is_some_and(|reviewer| is_installed(reviewer, root))
        });
        if names.is_empty() {
            names.push("lint");
        }
    }
    let reviewers = names.into_iter().map(|name| {
        let Some(reviewer) = settings.reviewers.get(name) else {
            let problem = settings.unknown_reviewer(name);
            let (message, help) = problem.split_once('\n').unwrap_or_default();
            return Err(Failure::with_help(Exit::Usage, message, help));
        };
        let mut reviewer = reviewer.clone();
        let mut shown = name.to_owned();
        if is_auto {
            shown += " (auto)";
        }
        if let Some((_, model)) = preferred.as_ref().filter(|(first, _)| first == name) {
            reviewer.model = reviewer.model.or(model.clone());
            if let Some(model) = &reviewer.model {
                shown = format!("{name} (auto, {})", text::one_line(model, 60));
            }
        }
        Ok(Reviewer {
            name: name.to_owned(),
            shown,
            limits: Limits {
                timeout: reviewer.timeout.unwrap_or(settings.limits.timeout).0,
                idle: reviewer
                    .idle_timeout
                    .unwrap_or(settings.limits.idle_timeout)
                    .0,
            },
            settings: reviewer,
        })
    });
    reviewers.collect()
}

/// Returns whether a reviewer is installed outside of the project. It may not be logged in.
pub fn is_installed(settings: &ReviewerSettings, root: &Utf8Path) -> bool {
    settings.kind == ReviewerKind::Lint || find_installed(settings.program(), root).is_some()
}

#[cfg(all(test, feature = "plan"))]
mod tests;
