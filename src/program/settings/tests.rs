//! Tests of the settings that each file may have, and of the source of each value.

use super::layers::Layers;
use super::*;

mod slips;

const USER: &str = "/home/a b/.config/claudex-loop/config.toml";

fn user(text: &str) -> Result<Settings, Failure> {
    let mut layers = Layers::defaults(crate::plan::INFO);
    layers.add_user(USER.into(), text)?;
    layers.finish()
}

/// Returns the example of docs/configuration.md, a user's file with every table.
fn example() -> &'static str {
    let page = include_str!("../../../docs/configuration.md");
    let (_, block) = page.split_once("```toml\n").unwrap();
    block.split("```").next().unwrap()
}

/// The settings of two files: for the user and for the project.
fn both(of_user: &str, of_project: &str) -> Result<Settings, Failure> {
    let mut layers = Layers::defaults(crate::plan::INFO);
    layers.add_user(USER.into(), of_user)?;
    layers.add_project("/p/.claude/claudex.toml".into(), of_project)?;
    layers.finish()
}

/// The message and help about a problem in a user's file.
#[track_caller]
fn wrong(text: &str) -> (String, String) {
    use miette::Diagnostic as _;
    let error = user(text).unwrap_err();
    let help = error.help().map(|help| help.to_string());
    (error.to_string(), help.unwrap_or_default())
}

/// The source of a setting.
#[track_caller]
fn source(settings: &Settings, key: &str) -> String {
    let row = settings.rows.iter().find(|row| row.key() == key);
    row.expect(key).source()
}

#[test]
fn file_without_values_changes_nothing() {
    let usual = Settings::defaults(crate::plan::INFO);
    for text in [
        "",
        "# a comment\r\n",
        "\u{feff}",
        "[programs.claudex-loop.rounds]\n[reviewers]\n",
    ] {
        assert_eq!(user(text).unwrap(), usual, "{text:?}");
    }
    assert_eq!(both("", "").unwrap(), usual);
}

#[test]
fn project_file_sets_rounds_and_raises_limits() {
    let settings = both(
        "[programs.claudex-loop.rounds]\nplan = 5\n",
        "[rounds]\nplan = 2\n[limits]\ntimeout = \"30m\"\nmax-failures = 4\n",
    )
    .unwrap();
    assert_eq!(settings.rounds["plan"].0, 2);
    assert_eq!(settings.limits.timeout, Spelled(Duration::from_secs(1800)));
    assert_eq!(settings.limits.max_failures.unwrap().0, 4);
    assert_eq!(settings.ignored, Vec::<String>::new());
    assert_eq!(
        source(&settings, "rounds.plan"),
        "project /p/.claude/claudex.toml:2:1"
    );
}

#[test]
fn project_file_cannot_lower_limits() {
    let user_file = "[limits]\ntimeout = \"20m\"\n";
    let lower =
        "[limits]\ntimeout = \"1s\"\nidle-timeout = \"1s\"\nmax-failures = 1\nstale-minutes = 1\n";
    let settings = both(user_file, lower).unwrap();
    let path = "/p/.claude/claudex.toml";
    assert_eq!(
        settings.ignored,
        [
            format!("{path}:2:1: ignored `limits.timeout`: it is less than yours"),
            format!("{path}:3:1: ignored `limits.idle-timeout`: it is less than yours"),
            format!("{path}:4:1: ignored `limits.max-failures`: it is less than yours"),
            format!("{path}:5:1: ignored `limits.stale-minutes`: it is less than yours"),
        ]
    );
    let of_user = user(user_file).unwrap();
    assert_eq!(
        settings,
        Settings {
            ignored: settings.ignored.clone(),
            ..of_user
        }
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
        let [line] = &settings.ignored[..] else {
            panic!("{text}: {:?}", settings.ignored);
        };
        let ignored = format!(
            ": ignored `{}`: a project's file may set only `rounds` and `limits`",
            key.unwrap()
        );
        assert!(line.ends_with(&ignored), "{text}: {line}");
        let ignored = settings.ignored.clone();
        let of_user = user("reviewer = \"codex\"").unwrap();
        assert_eq!(settings, Settings { ignored, ..of_user }, "{text}");
    }
}

#[test]
fn rows_have_values_and_sources() {
    let rows = |settings: &Settings| {
        let rows = settings.rows.iter().map(|row| {
            let value = text::one_line(&row.value.to_string(), 40);
            format!("{} = {value} ({})\n", row.key(), row.source())
        });
        rows.collect::<String>()
    };
    insta::assert_snapshot!("default_rows", rows(&Settings::defaults(crate::plan::INFO)));
    let all = both(example(), "rounds.review = 2\n").unwrap();
    insta::assert_snapshot!("example_rows", rows(&all));
}

#[test]
fn program_table_replaces_what_holds_for_all() {
    let settings = user(
        "reviewer = \"claude\"\nevidence = \"optional\"\n[limits]\nmax-failures = 2\nstale-minutes = 5\n\
         [programs.claudex-loop]\nreviewer = \"lint\"\nlimits.max-failures = 7\n[programs.other]\nreviewer = \"x\"\n",
    )
    .unwrap();
    assert_eq!(settings.reviewer, "lint");
    assert_eq!(settings.limits.max_failures.unwrap().0, 7);
    assert_eq!(settings.limits.stale_minutes.0, 5);
    assert_eq!(
        source(&settings, "limits.max-failures"),
        format!("user {USER}:8:8")
    );
}

#[test]
fn retired_sandbox_is_ignored_with_one_line() {
    let settings = user("[reviewers.codex]\nsandbox = \"off\"\n").unwrap();
    let line = "2:1: ignored `sandbox`: it is retired; Codex and Claude run read-only";
    assert_eq!(settings.ignored, [format!("{USER}:{line}")]);
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
        for key in keys {
            let is_there = example().lines().any(|line| {
                let line = line.trim_start_matches('[');
                line.strip_prefix(key)
                    .is_some_and(|rest| rest.starts_with([' ', '.', ']']))
                    || line.contains(&format!(".{key}."))
                    || line.contains(&format!(".{key}]"))
            });
            assert!(is_there, "{key}");
        }
    }
    check_keys::<Settings>();
    check_keys::<ReviewerSettings>();
    check_keys::<ConfiguredCommand>();
    check_keys::<LimitSettings>();
}
