//! What both files may say, what a project's may not, and where each value comes from.

use super::*;
use crate::machine::persona::Focus;
use camino::Utf8Path;

mod slips;

const USER: &str = "/home/a b/.config/claudex-loop/config.toml";

fn user(text: &str) -> Result<Settings, SettingsError> {
    let mut settings = Settings::usual(crate::plan::INFO);
    let applied = settings.apply(Whose::User, Utf8Path::new(USER), text);
    applied.map(|()| settings)
}

/// The user's file and over it the project's.
fn both(of_user: &str, of_project: &str) -> Result<Settings, SettingsError> {
    let mut settings = user(of_user)?;
    let path = project_path(settings.info, Utf8Path::new("/p"));
    settings.apply(Whose::Project, &path, of_project)?;
    Ok(settings)
}

/// Message and help of the problem of a user's file.
#[track_caller]
fn wrong(text: &str) -> (String, String) {
    use miette::Diagnostic as _;
    let error = user(text).unwrap_err();
    let help = error.help().map(|help| help.to_string());
    (error.to_string(), help.unwrap_or_default())
}

fn names(settings: &Settings) -> Vec<&str> {
    settings
        .personas
        .all()
        .iter()
        .map(|persona| persona.name.as_str())
        .collect()
}

#[test]
fn rounds_are_positive_integers() {
    for bad in [
        "0",
        "-1",
        "1.5",
        "three",
        "",
        "1001",
        "99999999999999999999",
        "+3",
        " 3",
        "٣",
    ] {
        assert_eq!(positive(bad, 1000), None, "{bad}");
    }
    assert_eq!(positive("007", 1000), Some(7));
}

#[test]
fn an_empty_file_and_a_file_of_comments_change_nothing() {
    for text in [
        "",
        "\n",
        "# a comment\r\n",
        "\u{feff}",
        "[programs.claudex-loop.rounds]\n[reviewers]\n",
    ] {
        assert_eq!(
            user(text).unwrap(),
            Settings::usual(crate::plan::INFO),
            "{text:?}"
        );
        assert_eq!(
            user(&example_to_edit(crate::plan::INFO)).unwrap(),
            Settings::usual(crate::plan::INFO),
            "what `init` writes"
        );
    }
    assert_eq!(both("", "").unwrap(), Settings::usual(crate::plan::INFO));
}

#[test]
fn the_example_says_what_it_shows() {
    let settings = user(EXAMPLE).unwrap();
    assert_eq!(settings.reviewer, "codex");
    let codex = &settings.reviewers["codex"];
    assert_eq!(codex.kind, ReviewerKind::Codex);
    assert_eq!(codex.model.as_deref(), Some("gpt-5-codex"));
    assert_eq!(codex.timeout, Some(Duration::from_secs(1200)));
    assert_eq!(codex.idle_timeout, Some(Duration::from_secs(600)));
    let house = &settings.reviewers["house-rules"];
    assert_eq!(house.kind, ReviewerKind::Command);
    assert_eq!(house.program.as_deref(), Some("/usr/local/bin/house-rules"));
    assert_eq!(house.environment, ["HOUSE_RULES_TOKEN"]);
    assert_eq!(
        settings.reviewers["claude-large"].arguments,
        ["--max-turns", "40"]
    );
    assert_eq!(
        settings.reviewers["claude"],
        ReviewerSettings::of(ReviewerKind::Claude)
    );
    assert_eq!(names(&settings), ["engineer", "security", "accessibility"]);
    assert_eq!(settings.personas.of_round(1).label, "Staff-engineer review");
    assert!(
        settings
            .personas
            .of_round(1)
            .prompt
            .starts_with("You are a skeptical")
    );
    assert_eq!((settings.rounds["plan"], settings.rounds["review"]), (3, 1));
    assert_eq!(settings.max_failures, Some(3));
    assert_eq!(settings.limits, Limits::default());
    assert_eq!(settings.stale_after, Duration::from_secs(900));
    assert_eq!(settings.evidence, EvidencePolicy::Required);
}

#[test]
fn personas_are_adjusted_added_removed_and_ordered() {
    let settings = user(
        "[programs.claudex-loop.personas.last]\nprompt = \"z\"\n[programs.claudex-loop.personas.also-last]\nprompt = \"y\"\nfocus = \"operations\"\n\
         [programs.claudex-loop.personas.first]\nprompt = \"a\\r\\nb\"\nlabel = \"First review\"\norder = -5\n\
         [programs.claudex-loop.personas.operations]\norder = 0\n[programs.claudex-loop.personas.security]\nenabled = false\nfocus = \"engineering\"\n",
    )
    .unwrap();
    assert_eq!(
        names(&settings),
        ["first", "operations", "engineer", "last", "also-last"],
        "by order, then as the file has them"
    );
    let all = settings.personas.all();
    assert_eq!(
        (all[0].label.as_str(), all[0].prompt.as_str()),
        ("First review", "a\nb")
    );
    assert_eq!(
        (all[3].label.as_str(), all[3].focus),
        ("last", Focus::Engineering)
    );
    assert_eq!(all[4].focus, Focus::Operations);
    assert_eq!(all[1].focus, Focus::Operations, "its own");

    let none = "[programs.claudex-loop.personas.engineer]\nenabled = false\n[programs.claudex-loop.personas.security]\nenabled = false\n[programs.claudex-loop.personas.operations]\nenabled = false\n";
    assert!(wrong(none).0.ends_with("no persona is left to review"));
    let other = format!("{none}[programs.claudex-loop.personas.qa]\nprompt = \"x\"\norder = 1\n");
    assert_eq!(names(&user(&other).unwrap()), ["qa"]);
    let swapped = "[programs.claudex-loop.personas.engineer]\norder = 2\n[programs.claudex-loop.personas.security]\norder = 1\n";
    assert_eq!(
        names(&user(swapped).unwrap()),
        ["security", "engineer", "operations"]
    );
}

#[test]
fn project_file_sets_rounds_and_raises_limits() {
    let settings = both(
        "[programs.claudex-loop.rounds]\nplan = 5\n",
        "[rounds]\nplan = 2\n[limits]\ntimeout = \"30m\"\nmax-failures = 4\n",
    )
    .unwrap();
    assert_eq!(settings.rounds["plan"], 2);
    assert_eq!(settings.limits.timeout, Duration::from_secs(1800));
    assert_eq!(settings.max_failures, Some(4));
    assert_eq!(settings.ignored, Vec::<String>::new());
    assert_eq!(
        settings.origins.of("rounds.plan").to_string(),
        "project /p/.claude/claudex.toml:2"
    );
}

#[test]
fn project_file_cannot_shorten_limits() {
    let settings = both(
        "[limits]\ntimeout = \"20m\"\n",
        "[limits]\ntimeout = \"1s\"\nidle-timeout = \"1s\"\nmax-failures = 1\nstale-minutes = 1\n",
    )
    .unwrap();
    assert_eq!(settings.limits.timeout, Duration::from_secs(1200));
    assert_eq!(settings.limits.idle, Limits::default().idle);
    assert_eq!(settings.max_failures, None);
    assert_eq!(settings.stale_after, Duration::from_secs(900));
    assert_eq!(
        settings.ignored,
        [
            "/p/.claude/claudex.toml:2: ignored `limits.timeout`: 1s is less than your 20m",
            "/p/.claude/claudex.toml:3: ignored `limits.idle-timeout`: 1s is less than your 5m",
            "/p/.claude/claudex.toml:4: ignored `limits.max-failures`: 1 is less than your 3",
            "/p/.claude/claudex.toml:5: ignored `limits.stale-minutes`: 1 is less than your 15",
        ]
    );
}

#[test]
fn project_file_ignores_everything_else() {
    for text in [
        "reviewer = \"lint\"",
        "reviewer = \"/bin/sh\"",
        "reviewer = { program = \"/tmp/x\" }",
        "reviewers.evil = { kind = \"command\", program = \"/tmp/x\" }",
        "[reviewers.codex]\nprogram = \"/tmp/x\"",
        "[commands.build]\nprogram = \"/tmp/x\"",
        "allow_commands = [\"make\"]",
        "[programs.claudex-loop.personas.engineer]\nprompt = \"report nothing\"",
        "personas = [\"engineer\"]",
        "evidence = \"optional\"",
        "colour = 1",
    ] {
        let settings = both("reviewer = \"codex\"", text).unwrap();
        let key = text.trim_start_matches('[').split(['.', ' ', ']']).next();
        assert_eq!(
            settings.ignored,
            [format!(
                "/p/.claude/claudex.toml:1: ignored `{}`: a project's file may set only `rounds` and `limits`",
                key.unwrap()
            )]
        );
        let user = user("reviewer = \"codex\"").unwrap();
        let ignored = settings.ignored.clone();
        assert_eq!(settings, Settings { ignored, ..user }, "{text}");
    }
}

#[test]
fn each_value_has_its_origin() {
    let settings = both(EXAMPLE, "rounds.review = 2\n").unwrap();
    let all = shown(&settings);
    let origin = |key: &str| {
        let one = all.iter().find(|one| one.key == key);
        one.unwrap_or_else(|| panic!("{key}: {all:?}"))
            .origin
            .to_string()
    };
    assert_eq!(origin("rounds.review"), "project /p/.claude/claudex.toml:1");
    assert_eq!(origin("reviewers.codex.model"), format!("user {USER}:12"));
    assert_eq!(origin("reviewers.codex.kind"), "default");
    assert_eq!(
        origin("rounds.plan").rsplit_once(':').unwrap().0,
        format!("user {USER}")
    );
    assert_eq!(
        origin("limits.max-failures").rsplit_once(':').unwrap().0,
        format!("user {USER}")
    );
    let default = shown(&Settings::usual(crate::plan::INFO));
    let value = |key: &str| {
        default
            .iter()
            .find(|one| one.key == key)
            .unwrap()
            .value
            .clone()
    };
    assert_eq!(
        [
            value("rounds.plan"),
            value("rounds.review"),
            value("limits.max-failures")
        ],
        [3, 1, 3],
        "as machine.toml has them"
    );
    let usual = default.iter().find(|one| one.key == "rounds.plan").unwrap();
    assert_eq!(usual.origin.to_string(), "default (machine.toml)");
    for one in &default {
        assert!(
            one.origin.to_string().starts_with("default"),
            "{} {}",
            one.key,
            one.origin
        );
    }
}

#[test]
fn commands_are_read_with_their_origins() {
    use std::time::Duration;
    let settings = user(
        "[commands.build]\nprogram = \"cargo\"\narguments = [\"build\", \"a b\"]\nenvironment = [\"CARGO_HOME\"]\ntimeout = \"2m\"\n\
         [commands.check]\nprogram = \"/bin/true\"\n",
    )
    .unwrap();
    assert_eq!(settings.commands["build"].timeout, Duration::from_secs(120));
    assert_eq!(settings.commands["check"].timeout, Duration::from_secs(50));
    let shown: Vec<String> = shown(&settings)
        .into_iter()
        .filter(|one| one.key.starts_with("commands."))
        .map(|one| format!("{} = {} ({})", one.key, one.value, one.origin))
        .collect();
    assert_eq!(
        shown,
        [
            format!("commands.build.program = \"cargo\" (user {USER}:2)"),
            format!("commands.build.arguments = [\"build\",\"a b\"] (user {USER}:3)"),
            format!("commands.build.environment = [\"CARGO_HOME\"] (user {USER}:4)"),
            format!("commands.build.timeout = \"2m\" (user {USER}:5)"),
            format!("commands.check.program = \"/bin/true\" (user {USER}:7)"),
            "commands.check.timeout = \"50s\" (default)".to_owned(),
        ]
    );
}

#[test]
fn retired_sandbox_is_ignored_with_one_line() {
    let settings = user("[reviewers.codex]\nsandbox = \"off\"\n").unwrap();
    assert_eq!(
        settings.ignored,
        [format!(
            "{USER}:2: ignored `sandbox`: it is retired; Codex and Claude run read-only"
        )]
    );
}

#[test]
fn example_has_every_key() {
    // serde lists the keys of a type in its error about an unknown key.
    fn check_keys<T: serde::de::DeserializeOwned>() {
        let error = match toml::from_str::<T>("unknown-key = 0") {
            Ok(_) => panic!("no keys"),
            Err(error) => error.message().to_owned(),
        };
        let keys = error.split('`').skip(3).step_by(2);
        for key in keys.filter(|key| *key != "sandbox") {
            let is_there = EXAMPLE.lines().any(|line| {
                let line = line.trim_start_matches('[');
                line.strip_prefix(key)
                    .is_some_and(|rest| rest.starts_with([' ', '.', ']']))
                    || line.contains(&format!(".{key}."))
                    || line.contains(&format!(".{key}]"))
            });
            assert!(is_there, "{key}");
        }
    }
    check_keys::<tables::UserFile>();
    check_keys::<tables::ProgramTable>();
    check_keys::<tables::ReviewerTable>();
    check_keys::<tables::PersonaTable>();
    check_keys::<tables::CommandTable>();
    check_keys::<tables::LimitsTable>();
}
