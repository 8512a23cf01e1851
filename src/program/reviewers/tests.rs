//! The choice of a reviewer by its name, or by `auto`.
use std::time::Duration;

use super::*;
use crate::process::limits::Spelled;

const ROOT: &str = "/p";

#[test]
fn configured_reviewer_has_its_limits() {
    let mut settings = Settings::defaults(crate::plan::INFO);
    let mine = ReviewerSettings {
        program: Some("/bin/cat".to_owned()),
        timeout: Some(Spelled(Duration::from_secs(7))),
        ..ReviewerSettings::default()
    };
    settings.reviewers.insert("mine".to_owned(), mine);
    let chosen = choose(Some(" mine "), None, &settings, ROOT.into()).unwrap();
    assert_eq!(
        (chosen[0].shown.as_str(), &*chosen[0].name),
        ("mine", "mine")
    );
    assert_eq!(chosen[0].limits.timeout, Duration::from_secs(7));
    assert_eq!(
        chosen[0].limits.idle, settings.limits.idle_timeout.0,
        "what it leaves open is the usual"
    );
    let lint = choose(Some("lint"), None, &settings, ROOT.into()).unwrap();
    assert_eq!(lint[0].limits.timeout, settings.limits.timeout.0);
    assert_eq!(lint[0].limits.idle, settings.limits.idle_timeout.0);

    settings.reviewer = "mine".to_owned();
    assert_eq!(
        choose(None, None, &settings, ROOT.into()).unwrap()[0].shown,
        "mine"
    );
}

#[test]
fn unknown_name_is_refused() {
    let error = choose(
        Some("no\nsuch \u{1b}one"),
        None,
        &Settings::defaults(crate::plan::INFO),
        ROOT.into(),
    )
    .err()
    .unwrap();
    assert_eq!(error.to_string(), "‘no such one’ is not a reviewer");
    let help = miette::Diagnostic::help(&error).map(|help| help.to_string());
    assert_eq!(help.unwrap(), "choose `auto`, `claude`, `codex`, `lint`");
}
