//! The configuration for users: its place, the values and their origin, the example and its texts.

mod wrong;

use serde_json::Value;

use crate::support::{Project, write};

const PAGE: &str = include_str!("../../../docs/configuration.md");

/// Returns value and origin of a setting, as `config show` prints them.
#[track_caller]
fn setting(project: &Project, key: &str) -> (Value, String) {
    let all = project.json("config show --json");
    let setting = all.as_array().unwrap().iter().find(|one| one["key"] == key);
    let value = setting.unwrap_or_else(|| panic!("{key}: {all}"))["value"].clone();
    let text = project.run("config show").exits(0).out;
    let mut lines = text.lines();
    let line = lines.find(|line| line.starts_with(&format!("{key} = ")));
    let (_, origin) = line.unwrap().rsplit_once("  ").unwrap();
    (value, origin.to_owned())
}

#[test]
fn relative_config_folder_counts_as_none() {
    let project = Project::new().with("XDG_CONFIG_HOME", "relative");
    write(
        &project.root.join("relative/claudex-loop/config.toml"),
        "x = 1",
    );
    project.run("config show").exits(0);
    let project = project
        .with("HOME", "not/absolute")
        .with("CLAUDEX_REVIEWER", "");
    let reviewer = (Value::from("auto"), "default".to_owned());
    assert_eq!(setting(&project, "reviewer"), reviewer);
}

#[test]
fn nearer_layer_goes_before_the_others() {
    let check = |project: &Project, key: &str, value: Value, origin: &str| {
        assert_eq!(setting(project, key), (value, origin.to_owned()));
    };
    let project = Project::new().with("CLAUDEX_REVIEWER", "");
    check(&project, "reviewer", "auto".into(), "default");
    let default = "default (machine.toml)";
    check(&project, "rounds.plan", 3.into(), default);
    check(&project, "rounds.review", 1.into(), default);

    let project = project.configured(
        "reviewer = \"codex\"\n[programs.claudex-loop.rounds]\nplan = 5\n[limits]\nmax-failures = 2\n",
    );
    let user = format!("user {}", project.user_file().display());
    check(
        &project,
        "reviewer",
        "codex".into(),
        &(user.clone() + ":1:1"),
    );
    check(&project, "rounds.plan", 5.into(), &(user + ":3:1"));

    let file = project.project_file();
    write(&file, "[rounds]\nplan = 6\n");
    let of_project = format!("project {}:2:1", file.display());
    check(&project, "rounds.plan", 6.into(), &of_project);

    let failing = "fake-could-not-run";
    let project = project
        .with("CLAUDEX_REVIEWER", failing)
        .with("CLAUDEX_MAX_PLAN_ROUNDS", "4");
    let of_environment = "environment CLAUDEX_REVIEWER";
    check(&project, "reviewer", failing.into(), of_environment);

    let id = project.start(&[]);
    assert_eq!(project.field(&id, "max_rounds"), "4", "the environment's");
    assert_eq!(project.field(&id, "max_failures"), "2", "the user's");
    project.run("cancel").exits(0);
    let id = project.start(&["--rounds", "6"]);
    assert_eq!(project.field(&id, "max_rounds"), "6", "the flag's");
}

#[test]
fn documented_examples_hold() {
    let blocks = PAGE
        .split("\n```toml\n")
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap());
    let is_whole = |block: &&str| block.contains("[programs.claudex-loop.rounds]");
    let (user, own): (Vec<&str>, Vec<&str>) = blocks.partition(is_whole);
    let project = Project::new().configured(user[0]);
    assert_eq!((user.len(), own.is_empty()), (1, false));
    for own in own {
        write(&project.project_file(), own);
        project.run("config show").exits(0);
    }
    assert_eq!(setting(&project, "reviewers.codex.timeout").0, "20m");
}

/// Returns the block of the documentation with this text.
fn documented_block(holding: &str) -> &str {
    let block = PAGE.split("```").find(|block| block.contains(holding));
    block.expect(holding).split_once('\n').unwrap().1
}

#[test]
fn documentation_quotes_what_is_printed() {
    let project = Project::new().configured("\n\n\n[reviewers.codex]\nmodel = \"o4-mini\"\n");
    let evened = |project: &Project, text: &str| {
        let user = project.user_file().display().to_string();
        let file = project.project_file().display().to_string();
        text.replace(&user, "/home/me/.config/claudex-loop/config.toml")
            .replace(&file, "/home/me/shop/.claude/claudex.toml")
            .replace(
                &file.replace('\'', "’"),
                "/home/me/shop/.claude/claudex.toml",
            )
    };
    let ignored = "[reviewers.codex]\nprogram = \"/tmp/helper\"\n";
    write(&project.project_file(), ignored);
    let ran = project.run("config show").exits(0);
    let printed = evened(&project, &ran.err);
    let (_, block) = documented_block("$ claudex-loop config show >/dev/null\n")
        .split_once('\n')
        .unwrap();
    assert_eq!(printed.trim_end(), block.trim_end());

    write(&project.project_file(), "[rounds]\nplan = 5\n");
    let project = project.with("CLAUDEX_MAX_FAILURES", "2");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed: Vec<String> = evened(&project, &project.run("config show").exits(0).out)
        .lines()
        .map(words)
        .collect();
    let block = documented_block("CLAUDEX_MAX_FAILURES\n");
    assert!(block.lines().count() >= 5, "{block}");
    for line in block.lines() {
        assert!(printed.contains(&words(line)), "{line}\n{printed:#?}");
    }
}
