//! `doctor`: each check with its remedy, and nothing left behind.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Project, Ran, executable, tree, write};
use claudex_testkit::has;
use serde_json::{Value, json};

fn checks(ran: &Ran) -> Vec<Value> {
    serde_json::from_str::<Value>(&ran.out)
        .unwrap_or_else(|error| panic!("{error}: {ran:?}"))
        .as_array()
        .expect("a list")
        .clone()
}

#[track_caller]
fn check<'c>(checks: &'c [Value], name: &str) -> &'c Value {
    checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no check {name}: {checks:#?}"))
}

/// A script that stands for a program of this name, in a folder that comes first on PATH.
fn stand_in(project: &Project, name: &str, script: &str) -> PathBuf {
    let folder = project.home.join("bin");
    executable(&folder.join(name), script);
    folder
}

fn with_path(project: &Project, first: &Path) -> Ran {
    let mut command = project.command(&["doctor", "--json"]);
    command.env("PATH", path_with(first));
    Ran::of(command.output().unwrap())
}

fn path_with(first: &Path) -> String {
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", first.display())
}

#[test]
fn each_check_is_there_and_nothing_is_left_behind() {
    let project = Project::new();
    let before = (tree(&project.root), tree(&project.home));
    let ran = project.run(&["doctor", "--json"]).exits(0);
    let found = checks(&ran);
    for (name, required) in [
        ("program", true),
        ("path", false),
        ("launcher", false),
        ("hook", true),
        ("client", false),
        ("plugin", false),
        ("other hooks", false),
        ("state folder", true),
        ("locks", true),
        ("loops", false),
        ("state home", true),
        ("git", false),
        ("configuration", true),
        ("reviewer", true),
        ("reviewer lint", true),
        ("reviewer codex", false),
        ("reviewer claude", false),
    ] {
        let check = check(&found, name);
        assert_eq!(check["required"], required, "{name}");
        assert_eq!(check["ok"] == true, check["remedy"].is_null(), "{check}");
        assert!(required <= (check["ok"] == true), "{check}");
    }
    project.run(&["doctor"]).exits(0).says("ok    hook");
    assert_eq!((tree(&project.root), tree(&project.home)), before);
    // With a loop of the project's in mid-review, too.
    let (project, id) = Project::reviewing(&[]);
    let before = tree(&project.root);
    let found = checks(&project.run(&["doctor", "--json"]).exits(0));
    assert!(
        check(&found, "loops")["found"]
            .as_str()
            .unwrap()
            .contains("1 active")
    );
    assert_eq!(tree(&project.root), before, "{id}");
}

#[test]
fn a_state_home_that_cannot_be_used_is_named_with_what_to_do() {
    let project = Project::new();
    let home = project.home.join("state");
    let own = home.join("claudex-loop");
    let state_home = |project: &Project, code: i32| {
        let found = checks(&project.run(&["doctor", "--json"]).exits(code));
        let check = check(&found, "state home");
        assert_eq!(check["ok"] == true, code == 0, "{check}");
        format!("{} -> {}", check["found"], check["remedy"])
    };
    assert!(state_home(&project, 0).contains("made by the first start"));
    project.start(&[]);
    let before = tree(&home);
    assert!(!state_home(&project, 0).contains("first start"));

    for open in [own.clone(), own.join("loops")] {
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        let said = state_home(&project, 1);
        has(&said, "other users may look into it");
        has(&said, "chmod 700");
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert_eq!(tree(&home), before, "nothing is left behind");

    let link = own.join("prompts");
    std::os::unix::fs::symlink(&project.root, &link).unwrap();
    let said = state_home(&project, 1);
    has(&said, "prompts: it is a symlink");
    std::fs::remove_file(&link).unwrap();

    std::fs::remove_dir_all(&home).unwrap();
    std::fs::write(&home, "no folder").unwrap();
    let said = state_home(&project, 1);
    has(&said, "cannot be written");
    has(&said, "XDG_STATE_HOME");
    let project = project.with("XDG_STATE_HOME", "").with("HOME", "");
    let said = state_home(&project, 1);
    has(&said, "HOME is not set");
}

#[test]
fn a_reviewer_that_is_none_fails_with_the_near_name() {
    let project = Project::new().with("CLAUDEX_REVIEWER", "lnit");
    let ran = project
        .run(&["doctor"])
        .exits(1)
        .says("FAIL  reviewer")
        .says("-> did you mean `lint`?");
    has(&ran.out, "`lnit` is no reviewer");
    has(&ran.out, "What is marked `FAIL` is required");
}

#[test]
fn settings_that_cannot_be_used_fail_with_their_name() {
    let project = Project::new().with("CLAUDEX_STALE_MINUTES", "soon");
    let found = checks(&project.run(&["doctor", "--json"]).exits(1));
    let configuration = check(&found, "configuration");
    assert_eq!(configuration["ok"], false);
    assert!(
        configuration["found"]
            .as_str()
            .unwrap()
            .contains("CLAUDEX_STALE_MINUTES")
    );
    assert!(!configuration["remedy"].as_str().unwrap().is_empty());
    assert_eq!(
        check(&found, "hook")["ok"],
        true,
        "the round trip has settings of its own"
    );
}

#[test]
fn a_file_in_the_place_of_the_state_folder_fails() {
    let project = Project::new();
    std::fs::write(project.root.join(".claude"), "").unwrap();
    let found = checks(&project.run(&["doctor", "--json"]).exits(1));
    let folder = check(&found, "state folder");
    assert!(
        folder["found"].as_str().unwrap().contains("is no folder"),
        "{folder}"
    );
    project.run(&["start", "plan", "x"]).exits(3);
}

#[test]
fn a_loop_that_cannot_be_read_is_a_warning_that_names_it() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    std::fs::write(project.folder().join("20261122-010203-0a1b2c.state"), b"\0").unwrap();
    let found = checks(&project.run(&["doctor", "--json"]).exits(0));
    let loops = check(&found, "loops");
    assert_eq!(loops["ok"], false);
    assert!(
        loops["found"]
            .as_str()
            .unwrap()
            .contains("20261122-010203-0a1b2c.state")
    );
}

#[test]
fn a_client_that_is_not_logged_in_is_told_from_one_that_is() {
    let project = Project::new();
    let codex = r#"case "$*" in --version) echo codex-cli 1.2.3 ;; "login status") exit "$(cat "$HOME/login")" ;; *) exit 9 ;; esac"#;
    let first = stand_in(&project, "codex", codex);
    for (status, ok) in [("0", true), ("1", false)] {
        std::fs::write(project.home.join("login"), status).unwrap();
        let found = checks(&with_path(&project, &first).exits(0));
        let codex = check(&found, "reviewer codex");
        assert_eq!(codex["ok"], ok, "{codex}");
        assert!(
            codex["found"].as_str().unwrap().contains("codex-cli 1.2.3"),
            "{codex}"
        );
    }
    // Whom `auto` takes is the one that loops get: without a login none of them comes to a verdict.
    let mut command = project.command(&["doctor", "--json"]);
    command
        .env("PATH", path_with(&first))
        .env("CLAUDEX_REVIEWER", "auto");
    let found = checks(&Ran::of(command.output().unwrap()).exits(1));
    let codex = check(&found, "reviewer codex");
    assert_eq!(
        (&codex["ok"], &codex["required"]),
        (&json!(false), &json!(true)),
        "{codex}"
    );
    assert!(
        codex["remedy"]
            .as_str()
            .unwrap()
            .contains("CLAUDEX_REVIEWER=lint"),
        "{codex}"
    );
    let claude = r#"case "$*" in --version) echo '2.1.0 (Claude Code)' ;; "auth status") exit 1 ;; *) exit 9 ;; esac"#;
    let first = stand_in(&project, "claude", claude);
    let found = checks(&with_path(&project, &first).exits(0));
    let claude = check(&found, "reviewer claude");
    assert!(
        claude["found"].as_str().unwrap().contains("not logged in"),
        "{claude}"
    );
    assert!(
        claude["remedy"].as_str().unwrap().contains("log in"),
        "{claude}"
    );
}

#[test]
fn a_client_that_never_answers_is_ended() {
    let project = Project::new();
    let first = stand_in(&project, "codex", "exec sleep 86400");
    let begun = std::time::Instant::now();
    let found = checks(&with_path(&project, &first).exits(0));
    assert!(begun.elapsed() < crate::support::PATIENCE);
    let codex = check(&found, "reviewer codex");
    assert!(
        codex["found"]
            .as_str()
            .unwrap()
            .contains("no answer within"),
        "{codex}"
    );
}

#[test]
fn another_version_that_comes_first_on_path_is_named() {
    let project = Project::new();
    let first = stand_in(
        &project,
        "claudex-loop",
        "echo 'claudex-loop protocol 7 (9.9.9)'",
    );
    let found = checks(&with_path(&project, &first).exits(0));
    let path = check(&found, "path");
    assert_eq!(path["ok"], false);
    let said = path["found"].as_str().unwrap();
    has(said, first.to_str().unwrap());
    has(said, "protocol 7 (9.9.9)");
}

#[test]
fn the_plugins_launcher_and_its_stop_script_are_tried() {
    let project = Project::new();
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    // As in the client: the plugin's folder comes last on PATH, and a program is before it.
    let mut command = project.shell("claudex-loop", &["doctor", "--json"]);
    let program = assert_cmd::cargo::cargo_bin!("claudex-loop");
    let path = format!(
        "{}:/usr/bin:/bin:{}",
        program.parent().unwrap().display(),
        plugin.join("bin").display()
    );
    command.env("PATH", path);
    let found = checks(&Ran::of(command.output().unwrap()).exits(0));
    let launcher = check(&found, "launcher");
    assert_eq!(launcher["ok"], true, "{launcher}");
    assert_eq!(launcher["required"], true);
    let hook = check(&found, "hook");
    assert!(
        hook["found"]
            .as_str()
            .unwrap()
            .contains("through the plugin's script"),
        "{hook}"
    );

    // A launcher that finds nothing fails.
    let lone = project.home.join("plugin/bin");
    std::fs::create_dir_all(&lone).unwrap();
    std::fs::copy(plugin.join("bin/claudex-loop"), lone.join("claudex-loop")).unwrap();
    let mut command = project.command(&["doctor", "--json"]);
    command.env("PATH", format!("/usr/bin:/bin:{}", lone.display()));
    let found = checks(&Ran::of(command.output().unwrap()).exits(1));
    let launcher = check(&found, "launcher");
    assert!(
        launcher["found"]
            .as_str()
            .unwrap()
            .contains("finds no program"),
        "{launcher}"
    );
    assert!(
        launcher["remedy"]
            .as_str()
            .unwrap()
            .contains("cargo install"),
        "{launcher}"
    );
}

/// Settings whose Stop hook runs this.
fn stops(command: &str) -> String {
    json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}).to_string()
}

#[test]
fn a_stop_hook_of_others_that_blocks_is_a_warning_with_its_file() {
    let project = Project::new();
    let found = checks(&project.run(&["doctor", "--json"]).exits(0));
    assert_eq!(check(&found, "other hooks")["ok"], true);
    let file = project.root.join(".claude/settings.local.json");
    write(&file, stops("sh \"$CLAUDE_PROJECT_DIR/it's mine.sh\""));
    write(
        &project.root.join("it's mine.sh"),
        "echo '{\"decision\":\"block\"}'",
    );
    let found = checks(&project.run(&["doctor", "--json"]).exits(0));
    let others = check(&found, "other hooks");
    assert_eq!(
        (&others["ok"], &others["required"]),
        (&json!(false), &json!(false)),
        "{others}"
    );
    for part in ["it's mine.sh", file.to_str().unwrap()] {
        assert!(others["found"].as_str().unwrap().contains(part), "{others}");
    }
    let remedy = others["remedy"].as_str().unwrap();
    assert!(
        remedy.contains("both reasons in one message") && remedy.contains("8 blocks"),
        "{others}"
    );
    // From a folder below, too; and one that only rings a bell is named without a warning.
    write(&project.root.join("it's mine.sh"), "printf '\\a'");
    let below = project.root.join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    let mut command = project.command(&["doctor", "--json"]);
    command.current_dir(&below);
    let found = checks(&Ran::of(command.output().unwrap()).exits(0));
    let others = check(&found, "other hooks");
    assert_eq!(others["ok"], true, "{others}");
    assert!(
        others["found"].as_str().unwrap().contains("it's mine.sh"),
        "{others}"
    );
}

#[test]
fn another_plugin_on_our_state_folder_is_named_with_what_switches_it_off() {
    let project = Project::new();
    project.rival();
    let found = checks(&project.run(&["doctor", "--json"]).exits(0));
    let others = check(&found, "other hooks");
    assert_eq!(others["ok"], false, "{others}");
    for part in ["works on .claude/claudex as ours does", "claudex@other"] {
        assert!(others["found"].as_str().unwrap().contains(part), "{others}");
    }
    assert_eq!(
        others["remedy"],
        "keep one. To switch that one off: claude plugin disable claudex@other"
    );
}

#[test]
fn codexs_review_gate_is_named_with_the_command_that_switches_it_off() {
    let project = Project::new();
    let config = project.home.join(".claude");
    let market = project.home.join("a market");
    let hook = stops("node \"${CLAUDE_PLUGIN_ROOT}/scripts/stop-review-gate-hook.mjs\"");
    write(&market.join("plugins/codex/hooks/hooks.json"), hook);
    write(
        &market.join(".claude-plugin/marketplace.json"),
        json!({"name": "openai-codex", "plugins": [{"name": "codex", "source": "./plugins/codex"}]})
            .to_string(),
    );
    let key = "codex@openai-codex";
    write(
        &config.join("plugins/installed_plugins.json"),
        json!({"version": 2, "plugins": {key: [{"scope": "user", "installPath": "/gone"}]}})
            .to_string(),
    );
    write(
        &config.join("plugins/known_marketplaces.json"),
        json!({"openai-codex": {"source": {"source": "directory", "path": market}, "installLocation": market}}).to_string(),
    );
    write(
        &config.join("settings.json"),
        json!({"enabledPlugins": {key: true}}).to_string(),
    );
    let others = || {
        let found = checks(&project.run(&["doctor", "--json"]).exits(0));
        check(&found, "other hooks").clone()
    };
    let off = others();
    assert_eq!(off["ok"], true, "{off}");
    assert!(
        off["found"]
            .as_str()
            .unwrap()
            .contains("which is off for this project"),
        "{off}"
    );

    let digest = claudex_loop::review::Digest::of(project.root.to_str().unwrap().as_bytes());
    let state = format!(
        "plugins/data/codex-openai-codex/state/my-pl-n-s-1-{}/state.json",
        &digest.as_str()[..16]
    );
    write(
        &config.join(state),
        "{\"version\": 1, \"config\": {\"stopReviewGate\": true}, \"jobs\": []}",
    );
    let on = others();
    assert_eq!(on["ok"], false, "{on}");
    assert!(
        on["found"]
            .as_str()
            .unwrap()
            .contains("Codex's review gate is on for this project"),
        "{on}"
    );
    assert!(
        on["remedy"]
            .as_str()
            .unwrap()
            .contains("/codex:setup --disable-review-gate"),
        "{on}"
    );
    project
        .run(&["doctor"])
        .exits(0)
        .says("warn  other hooks")
        .says("/codex:setup --disable-review-gate");
}

#[test]
fn our_hook_is_found_once_twice_or_switched_off() {
    let project = Project::new();
    let user = project.home.join(".claude/settings.json");
    let own = || {
        let found = checks(&project.run(&["doctor", "--json"]).exits(0));
        let own = check(&found, "plugin").clone();
        (
            own["ok"] == true,
            format!("{} {}", own["found"], own["remedy"]),
        )
    };
    let (ok, said) = own();
    assert!(ok && said.contains("not installed in"), "{said}");
    write(&user, stops("claudex-loop hook stop"));
    let (ok, said) = own();
    assert!(ok && said.contains(user.to_str().unwrap()), "{said}");
    let second = project.root.join(".claude/settings.json");
    write(&second, stops("/opt/bin/claudex-loop hook stop"));
    let (ok, said) = own();
    assert!(!ok, "{said}");
    has(&said, "2 times");
    has(&said, second.to_str().unwrap());
    write(&second, "{\"disableAllHooks\": true}");
    let (ok, said) = own();
    assert!(!ok, "{said}");
    has(&said, "disableAllHooks");
    has(&said, "take that out");
}

#[test]
fn a_client_that_is_too_old_is_warned_of_and_the_one_that_this_runs_in_comes_first() {
    let project = Project::new();
    let answers = |version: &str| {
        format!("case \"$*\" in --version) echo '{version} (Claude Code)' ;; *) exit 0 ;; esac")
    };
    let first = stand_in(&project, "claude", &answers("2.0.99"));
    let found = checks(&with_path(&project, &first).exits(0));
    let client = check(&found, "client");
    assert_eq!(
        (&client["ok"], &client["required"]),
        (&json!(false), &json!(false)),
        "{client}"
    );
    assert!(
        client["found"].as_str().unwrap().contains("2.0.99"),
        "{client}"
    );
    assert!(
        client["remedy"].as_str().unwrap().contains("claude update"),
        "{client}"
    );
    let inside = project.home.join("inside/claude");
    executable(&inside, &answers("2.1.330"));
    let mut command = project.command(&["doctor", "--json"]);
    command
        .env("PATH", path_with(&first))
        .env("CLAUDE_CODE_EXECPATH", &inside);
    let found = checks(&Ran::of(command.output().unwrap()).exits(0));
    let client = check(&found, "client");
    assert_eq!(client["ok"], true, "{client}");
    assert!(
        client["found"].as_str().unwrap().contains("2.1.330"),
        "{client}"
    );
}
