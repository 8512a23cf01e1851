//! The choice of a reviewer by its name, from `--reviewer` or the settings.
//!
//! `auto` is the first of [`AUTO`] that is installed, else `lint`. If it cannot run, the next installed client takes over. The choice
//! is always shown.

use camino::Utf8Path;

use crate::machine::Raw;
use crate::process::environment::find_installed;
use crate::process::limits::Limits;
use crate::program::exit::{Exit, Failure};
use crate::program::settings::Settings;
use crate::review::ReviewSpec;
use crate::review::cause::Cause;
use crate::review::client::Client;
use crate::review::settings::{ReviewerKind, ReviewerSettings};
use crate::text;

/// The reviewers that `auto` tries, in this order.
pub const AUTO: [&str; 2] = ["codex", "claude"];

/// A reviewer and how it was chosen.
pub struct Chosen {
    /// The reviewer.
    pub reviewer: Client,
    /// `codex (auto)`, `codex`.
    pub shown: String,
    /// The time limits of the settings.
    pub limits: Limits,
    /// The reviewers that take over in turn if this one cannot run: those of `auto`, and never `lint`.
    pub next: Vec<Chosen>,
}

impl Chosen {
    /// Makes a reviewer of the configuration.
    fn configured(name: &str, settings: ReviewerSettings, all: &Settings) -> Self {
        let usual = all.limits.review();
        let limits = Limits {
            timeout: settings.timeout.map_or(usual.timeout, |time| time.0),
            idle: settings.idle_timeout.map_or(usual.idle, |time| time.0),
        };
        let name = name.to_owned();
        Self {
            shown: name.clone(),
            reviewer: Client { name, settings },
            limits,
            next: Vec::new(),
        }
    }

    /// Asks the reviewer and, if it cannot run, the next one, with a line about that. `cause_of` returns why there is no verdict.
    pub fn ask_in_turn<T>(
        &self,
        cause_of: impl Fn(&T) -> Option<&Cause>,
        mut ask: impl FnMut(&Self, Option<&str>) -> T,
    ) -> T {
        let mut came = ask(self, None);
        let mut last = self;
        for next in &self.next {
            let Some(cause) = cause_of(&came).filter(|cause| cause.kind.falls_over()) else {
                break;
            };
            let from = &last.reviewer.name;
            let to = &next.reviewer.name;
            let line = format!("{from} could not run, {to} reviews instead: {cause}");
            came = ask(next, Some(&line));
            last = next;
        }
        came
    }
}

/// Returns the reviewer and the model that the phase of a loop prefers in its round, if the user chooses none.
fn preferred(raw: &Raw, spec: &ReviewSpec) -> Option<(String, Option<String>)> {
    let turn = usize::try_from(raw.count(spec.round).saturating_sub(1)).unwrap_or(usize::MAX);
    let of_turn = |all: &[&str]| {
        let name = raw.fill(all.get(turn.checked_rem(all.len())?)?);
        Some(name).filter(|name| !name.is_empty())
    };
    Some((of_turn(spec.reviewers)?, of_turn(spec.models)))
}

/// Finds the reviewer of this name, or that of the settings, for the project with this root. `auto` is the one that the review
/// of a loop's phase prefers, if it is installed.
///
/// # Errors
/// Returns an error if the name is unknown.
pub fn choose(
    name: Option<&str>,
    review: Option<(&Raw, &ReviewSpec)>,
    settings: &Settings,
    root: &Utf8Path,
) -> Result<Chosen, Failure> {
    let name = name.unwrap_or(&settings.reviewer).trim();
    if name == "auto" {
        return Ok(choose_installed(review, settings, root));
    }
    if let Some(found) = settings.reviewers.get(name) {
        return Ok(Chosen::configured(name, found.clone(), settings));
    }
    let problem = settings.unknown_reviewer(name);
    let (message, help) = problem.split_once('\n').unwrap_or_default();
    Err(Failure::with_help(Exit::Usage, message.to_owned(), help))
}

/// Returns the first installed reviewer, with the others as the next ones.
fn choose_installed(
    review: Option<(&Raw, &ReviewSpec)>,
    settings: &Settings,
    root: &Utf8Path,
) -> Chosen {
    let is_installed = |name: &str| {
        let reviewer = settings.reviewers.get(name);
        reviewer.is_some_and(|reviewer| is_installed(reviewer, root))
    };
    let preferred = review
        .and_then(|(raw, spec)| preferred(raw, spec))
        .filter(|(name, _)| is_installed(name));
    let mut names = AUTO.to_vec();
    names.retain(|name| is_installed(name));
    if let Some((first, _)) = &preferred {
        names.retain(|name| name != first);
        names.insert(0, first);
    }
    if names.is_empty() {
        names.push("lint");
    }
    let chosen = names.into_iter().map(|name| {
        let mut found = settings.reviewers[name].clone();
        let mut label = format!("{name} (auto)");
        if let Some((_, model)) = preferred.as_ref().filter(|(first, _)| first == name) {
            found.model = found.model.or(model.clone());
            if let Some(model) = &found.model {
                label = format!("{name} (auto, {})", text::one_line(model, 60));
            }
        }
        Chosen {
            shown: label,
            ..Chosen::configured(name, found, settings)
        }
    });
    let mut next: Vec<Chosen> = chosen.collect();
    let first = next.remove(0);
    Chosen { next, ..first }
}

/// Returns whether the program of a reviewer is installed outside of the project. It may not be logged in.
pub fn is_installed(settings: &ReviewerSettings, root: &Utf8Path) -> bool {
    settings.kind == ReviewerKind::Lint || find_installed(settings.program(), root).is_some()
}

#[cfg(all(test, feature = "plan"))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::process::limits::Spelled;

    const ROOT: &str = "/p";

    #[test]
    fn configured_reviewer_has_its_limits() {
        let mut settings = Settings::usual(crate::plan::INFO);
        let mine = ReviewerSettings {
            program: Some("/bin/cat".to_owned()),
            timeout: Some(Spelled(Duration::from_secs(7))),
            ..ReviewerSettings::default()
        };
        settings.values.reviewers.insert("mine".to_owned(), mine);
        let chosen = choose(Some(" mine "), None, &settings, ROOT.into()).unwrap();
        assert_eq!(
            (chosen.shown.as_str(), &*chosen.reviewer.name),
            ("mine", "mine")
        );
        assert_eq!(chosen.limits.timeout, Duration::from_secs(7));
        assert_eq!(
            chosen.limits.idle, settings.limits.idle_timeout.0,
            "what it leaves open is the usual"
        );
        assert_eq!(
            choose(Some("lint"), None, &settings, ROOT.into())
                .unwrap()
                .limits,
            settings.limits.review()
        );

        settings.values.reviewer = "mine".to_owned();
        assert_eq!(
            choose(None, None, &settings, ROOT.into()).unwrap().shown,
            "mine"
        );
    }

    #[test]
    fn auto_without_clients_is_lint() {
        let mut settings = Settings::usual(crate::plan::INFO);
        for name in AUTO {
            let missing = ReviewerSettings {
                program: Some("/nowhere/at/all".to_owned()),
                ..settings.reviewers[name].clone()
            };
            settings.values.reviewers.insert(name.to_owned(), missing);
        }
        let mine = ReviewerSettings {
            program: Some("/bin/cat".to_owned()),
            ..ReviewerSettings::default()
        };
        settings.values.reviewers.insert("mine".to_owned(), mine);
        let chosen = choose(Some("auto"), None, &settings, ROOT.into()).unwrap();
        assert_eq!(
            (chosen.shown.as_str(), &*chosen.reviewer.name),
            ("lint (auto)", "lint")
        );
    }

    #[test]
    fn unknown_name_is_refused() {
        let error = choose(
            Some("no\nsuch \u{1b}one"),
            None,
            &Settings::usual(crate::plan::INFO),
            ROOT.into(),
        )
        .err()
        .unwrap();
        assert_eq!(error.to_string(), "‘no such one’ is not a reviewer");
        let help = miette::Diagnostic::help(&error).map(|help| help.to_string());
        assert_eq!(help.unwrap(), "choose `auto`, `claude`, `codex`, `lint`");
    }
}
