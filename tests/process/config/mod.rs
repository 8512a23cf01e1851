//! The configuration as people meet it: where it is, what holds and why, and the example and words that go with it.

mod wrong;

use std::path::Path;

use crate::support::{Project, write};
use claudex_testkit::has;
use serde_json::Value;

fn shown(project: &Project) -> Vec<Value> {
    let ran = project.run(&["config", "show", "--json"]).exits(0);
    serde_json::from_str(&ran.out).unwrap()
}

/// Value and origin of a setting; the origin as `config show` writes it.
#[track_caller]
fn setting(project: &Project, key: &str) -> (Value, String) {
    let all = shown(project);
    let one = all.iter().find(|one| one["key"] == key);
    let value = one.unwrap_or_else(|| panic!("{key}: {all:?}"))["value"].clone();
    let text = project.run(&["config", "show"]).exits(0).out;
    let line = text
        .lines()
        .find(|line| line.starts_with(&format!("{key} = ")));
    let (_, origin) = line.unwrap().rsplit_once("  ").unwrap();
    (value, origin.to_owned())
}

#[test]
fn a_relative_xdg_folder_is_ignored_and_a_home_that_is_none_is_an_error_with_a_remedy() {
    let project = Project::new().with("XDG_CONFIG_HOME", "relative");
    write(
        &project.root.join("relative/claudex-loop/config.toml"),
        "x = 1",
    );
    let home = project.home.join(".config");
    project.answers(&["config", "check"], 0, home.to_str().unwrap());
    project.run(&["config", "show"]).exits(0);

    let id = project.start(&[]);
    let project = project.with("HOME", "not/absolute");
    for arguments in [
        &["config", "show"][..],
        &["config", "check"],
        &["review", &id],
        &["start", "plan", "x"],
    ] {
        let ran = project.run(arguments).exits(2).says("claudex::config");
        has(&ran.err, "help: set HOME");
    }
    assert!(
        project
            .fire()
            .approved()
            .contains("there is no configuration folder")
    );
}

// --- what holds --------------------------------------------------------------------------------------------------

#[test]
fn a_flag_goes_before_the_environment_before_the_project_before_the_user_before_the_default() {
    let project = Project::new().with("CLAUDEX_REVIEWER", "");
    assert_eq!(
        setting(&project, "reviewer"),
        ("auto".into(), "default".to_owned())
    );
    assert_eq!(
        setting(&project, "rounds.plan"),
        (3.into(), "default (machine.toml)".to_owned())
    );
    assert_eq!(
        setting(&project, "rounds.review"),
        (1.into(), "default (machine.toml)".to_owned())
    );

    let project = project.configured(
        "reviewer = \"codex\"\n[programs.claudex-loop.rounds]\nplan = 5\n[limits]\nmax-failures = 2\n",
    );
    let user = project.user_file().display().to_string();
    assert_eq!(
        setting(&project, "reviewer"),
        ("codex".into(), format!("user {user}:1"))
    );
    assert_eq!(
        setting(&project, "rounds.plan"),
        (5.into(), format!("user {user}:3"))
    );

    write(&project.project_file(), "[rounds]\nplan = 6\n");
    let own = project.project_file().display().to_string();
    assert_eq!(
        setting(&project, "rounds.plan"),
        (6.into(), format!("project {own}:2"))
    );

    let project = project
        .with("CLAUDEX_REVIEWER", "fake-could-not-run")
        .with("CLAUDEX_MAX_PLAN_ROUNDS", "4");
    assert_eq!(
        setting(&project, "reviewer"),
        (
            "fake-could-not-run".into(),
            "environment CLAUDEX_REVIEWER".to_owned()
        )
    );
    assert_eq!(setting(&project, "rounds.plan").0, 4);

    let id = project.start(&[]);
    assert_eq!(project.field(&id, "max_rounds"), "4", "the environment's");
    assert_eq!(project.field(&id, "max_failures"), "2", "the user's");
    project.plan("# Plan\n");
    project.fire().blocked();
    project.answers(&["review", &id], 5, "reviewer: fake-could-not-run");
    project.review(&id, "fake-clean").exits(0);
    project.run(&["cancel", &id]).exits(0);
    let id = project.start(&["--rounds", "6"]);
    assert_eq!(project.field(&id, "max_rounds"), "6", "the flag's");
}

#[test]
fn personas_of_the_user_review_in_their_order() {
    let project = Project::new().configured(
        "[programs.claudex-loop.personas.access]\nlabel = \"Accessibility review\"\nprompt = \"You use a screen reader.\"\norder = -1\n",
    );
    let ran = project.run(&["personas"]).exits(0);
    has(
        &ran.out,
        "Round 1: Accessibility review\n  You use a screen reader.\n",
    );
    let id = project.start(&["--rounds", "3"]);
    project.plan("# Plan\n");
    let block = project.fire().blocked();
    has(&block, "round 1 of 3, Accessibility review");
    project
        .review(&id, "fake-findings")
        .exits(0)
        .says("Accessibility review");
    project.plan("# Plan, revised\n");
    let block = project.fire().blocked();
    has(&block, "round 2 of 3, Senior-engineer review");
    project.answers(&["status"], 0, "Senior-engineer review");
}

// --- what goes with it -------------------------------------------------------------------------------------------

fn repository(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_examples_of_the_documentation_hold() {
    let text = repository("docs/configuration.md");
    let blocks: Vec<&str> = text
        .split("\n```toml\n")
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect();
    let (user, own): (Vec<&str>, Vec<&str>) = blocks
        .iter()
        .partition(|block| block.contains("[programs.claudex-loop.rounds]"));
    let [user] = user[..] else {
        panic!("not one whole example: {blocks:?}");
    };
    let project = Project::new().configured(user);
    assert!(!own.is_empty());
    for own in own {
        write(&project.project_file(), own);
        project.run(&["config", "check"]).exits(0);
    }
    assert_eq!(setting(&project, "reviewers.codex.timeout").0, "20m");
    let init = Project::new();
    init.run(&["config", "init"]).exits(0);
    let made = std::fs::read_to_string(init.user_file()).unwrap();
    let uncommented: Vec<&str> = made
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => rest,
            _ => line,
        })
        .collect();
    assert_eq!(
        uncommented.join("\n"),
        *user,
        "`config init` writes the same example"
    );
}

/// The block of the documentation that holds this.
fn quoted(holding: &str) -> String {
    let text = repository("docs/configuration.md");
    let block = text.split("```").find(|block| block.contains(holding));
    let (_, block) = block.expect(holding).split_once('\n').unwrap();
    block.to_owned()
}

#[test]
fn the_documentation_quotes_what_the_program_prints() {
    let project = Project::new().configured("\n\n\n[reviewers.codex]\nmodel = \"o4-mini\"\n");
    let evened = |project: &Project, text: &str| {
        text.replace(
            project.user_file().to_str().unwrap(),
            "/home/me/.config/claudex-loop/config.toml",
        )
        .replace(
            project.project_file().to_str().unwrap(),
            "/home/me/shop/.claude/claudex.toml",
        )
        .replace(
            &project.project_file().to_str().unwrap().replace('\'', "’"),
            "/home/me/shop/.claude/claudex.toml",
        )
    };
    write(
        &project.project_file(),
        "[reviewers.codex]\nprogram = \"/tmp/helper\"\n",
    );
    let ran = project.run(&["config", "check"]).exits(0);
    let printed = evened(&project, &format!("{}{}", ran.out, ran.err));
    let block = quoted("$ claudex-loop config check\nuser:");
    let (_, block) = block.split_once('\n').unwrap();
    assert_eq!(printed.trim_end(), block.trim_end());

    write(&project.project_file(), "[rounds]\nplan = 5\n");
    let project = project.with("CLAUDEX_MAX_FAILURES", "2");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed = evened(&project, &project.run(&["config", "show"]).exits(0).out);
    let printed: Vec<String> = printed.lines().map(words).collect();
    let block = quoted("CLAUDEX_MAX_FAILURES\n");
    assert!(block.lines().count() >= 5, "{block}");
    for line in block.lines() {
        assert!(printed.contains(&words(line)), "{line}\n{printed:#?}");
    }
}

#[test]
fn init_writes_a_file_that_changes_nothing_and_leaves_one_that_is_there() {
    let project = Project::new().with("CLAUDEX_REVIEWER", "");
    let before = shown(&project);
    project.answers(
        &["config", "init"],
        0,
        project.user_file().to_str().unwrap(),
    );
    assert_eq!(shown(&project), before);
    std::fs::write(project.user_file(), "reviewer = \"lint\"\n").unwrap();
    project.answers(&["config", "init"], 1, "edit it, or move it away first");
    let kept = std::fs::read_to_string(project.user_file()).unwrap();
    assert_eq!(kept, "reviewer = \"lint\"\n");
}
