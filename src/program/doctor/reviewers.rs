//! Who can review: the one that a loop gets now, and each that is configured: installed, which version, logged in.

use crate::process::ProcessEnd;
use crate::program::reviewers;
use crate::program::settings::Settings;
use crate::review::settings::{ReviewerKind, ReviewerSettings};
use crate::review::{claude, codex};
use camino::Utf8Path;

use super::{Check, Problem, tools};

/// The chosen reviewer, which is required, then each configured one.
pub(super) fn checks(settings: &Settings, root: &Utf8Path) -> Vec<Check> {
    let chosen = reviewers::choose(None, None, settings, root);
    // Whom `auto` takes is needed as if it had been named.
    let name = chosen
        .as_ref()
        .map(|chosen| chosen.reviewer.name().to_owned());
    let name = name.unwrap_or_else(|_| settings.reviewer.clone());
    let chosen = chosen
        .map(|chosen| format!("{} reviews where no other is asked for", chosen.shown))
        .map_err(|error| {
            let variable = settings.info.variable("REVIEWER");
            Problem::of(
                &error,
                &format!("set {variable} to a reviewer that exists, or unset it"),
            )
        });
    let mut checks = vec![Check::required("reviewer", chosen)];
    for (configured, one) in &settings.reviewers {
        let is_chosen = *configured == name;
        checks.push(Check::of(
            &format!("reviewer {configured}"),
            is_chosen,
            check(settings, one, is_chosen, root),
        ));
    }
    let built_in = || Ok("built into this program".to_owned());
    let own = settings.info.own_reviewers().into_iter();
    checks.extend(own.map(|own| Check::of(&format!("reviewer {own}"), own == name, built_in())));
    checks
}

/// One reviewer. That an optional one is not installed is no problem: `lint` always is.
fn check(
    all: &Settings,
    settings: &ReviewerSettings,
    is_chosen: bool,
    root: &Utf8Path,
) -> Result<String, Problem> {
    let (login, names): (&[&str], Vec<String>) = match settings.kind {
        ReviewerKind::Lint => return Ok("built in, no model".to_owned()),
        ReviewerKind::Codex => (&["login", "status"], codex::variables()),
        ReviewerKind::Claude => (&["auth", "status"], claude::variables()),
        ReviewerKind::Command => (&[], Vec::new()),
    };
    let kind = settings.kind.to_string();
    let program = settings.program.as_deref().unwrap_or(&kind);
    let Some(found) = tools::found(program, root) else {
        return match is_chosen {
            false => Ok(format!(
                "`{program}` is not installed; not needed where another one reviews"
            )),
            true => Err(Problem::new(
                format!(
                    "`{program}` is not installed, or not in an absolute folder of PATH outside of the project"
                ),
                "install it, or choose another reviewer",
            )),
        };
    };
    let shown = found.display();
    if login.is_empty() {
        return Ok(format!("{shown}"));
    }
    let names: Vec<String> = names
        .into_iter()
        .chain(settings.environment.iter().cloned())
        .collect();
    let version = tools::version(&found, &names, root)
        .map_err(|what| Problem::new(what, "install it anew, or choose another reviewer"))?;
    // A provider of the person's own needs no login, and the client's own check knows nothing of it.
    if settings.kind == ReviewerKind::Codex
        && let Some(key) = codex::provider_key()
        && std::env::var_os(&key).is_some()
    {
        return Ok(format!("{shown} ({version}), with the key in {key}"));
    }
    let line = format!("{program} {}", login.join(" "));
    let ended = tools::run(&found, login, &names, root).map_err(|what| {
        Problem::new(
            format!("{shown} ({version}): `{line}`: {what}"),
            "run that line yourself and see",
        )
    })?;
    match ended.how {
        ProcessEnd::Exited(0) => Ok(format!("{shown} ({version}), logged in")),
        _ => Err(Problem::new(
            format!("{shown} ({version}): not logged in, says `{line}`"),
            format!(
                "log in with that client: start `{program}` once, or give it its key; or choose another reviewer, such as {}=lint",
                all.info.variable("REVIEWER")
            ),
        )),
    }
}
