//! `doctor`: each check with its help, and nothing left behind.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Project, Ran, executable, tree, write};

/// The checks of a run, by name.
struct Checks(Vec<Value>);

impl Checks {
    fn of(ran: &Ran) -> Self {
        Self(serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
    }

    /// Returns result, finding and help of a check on one line.
    #[track_caller]
    fn line(&self, name: &str) -> String {
        let check = self.0.iter().find(|check| check["name"] == name);
        let check = check.unwrap_or_else(|| panic!("no check {name}: {:#?}", self.0));
        let text = |key: &str| check[key].as_str().unwrap_or_default().replace('\n', " ");
        format!("{}: {} -> {}", text("result"), text("found"), text("help"))
    }
}

fn doctor(project: &Project, code: i32) -> Checks {
    Checks::of(&project.run(&["doctor", "--json"]).exits(code))
}

#[track_caller]
fn has(line: &str, parts: &[&str]) {
    for part in parts {
        assert!(line.contains(part), "{part}: {line}");
    }
}

/// Writes a script under this name into a folder, and returns a PATH that begins with it.
fn stand_in(project: &Project, name: &str, script: &str) -> (PathBuf, String) {
    let folder = project.home.join("bin");
    executable(&folder.join(name), script);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", folder.display());
    (folder, path)
}

#[test]
fn doctor_in_new_project_finds_no_problem_and_leaves_nothing() {
    let project = Project::new();
    let before = (tree(&project.root), tree(&project.home));
    let checks = doctor(&project, 0);
    for name in [
        "program",
        "client",
        "hooks",
        "other plugins",
        "state folder",
        "loops",
        "state home",
        "git",
        "configuration",
        "reviewer",
    ] {
        let line = checks.line(name);
        assert!(!line.starts_with("problem"), "{name}: {line}");
    }
    project.run(&["doctor"]).exits(0).says("ok       git");
    assert_eq!((tree(&project.root), tree(&project.home)), before);

    let (project, id) = Project::reviewing(&[]);
    let before = tree(&project.root);
    has(&doctor(&project, 0).line("loops"), &["1 active"]);
    assert_eq!(tree(&project.root), before, "{id}");
}

#[test]
fn doctor_unusable_state_home_names_folder_and_fix() {
    let project = Project::new();
    let home = project.home.join("state");
    let own = home.join("claudex-loop");
    has(&doctor(&project, 0).line("state home"), &["first start"]);
    project.start(&[]);

    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
    let open = ["problem", "open to other users", "chmod 700"];
    has(&doctor(&project, 1).line("state home"), &open);

    std::fs::remove_dir_all(&home).unwrap();
    std::fs::write(&home, "no folder").unwrap();
    let file = ["problem", "cannot write", "XDG_STATE_HOME"];
    has(&doctor(&project, 1).line("state home"), &file);

    let project = project.with("XDG_STATE_HOME", "").with("HOME", "");
    has(
        &doctor(&project, 1).line("state home"),
        &["HOME is not set"],
    );
}

#[test]
fn doctor_unusable_configuration_names_setting() {
    let project = Project::new().with("CLAUDEX_STALE_MINUTES", "soon");
    let line = doctor(&project, 1).line("configuration");
    has(&line, &["problem", "CLAUDEX_STALE_MINUTES"]);

    let project = Project::new().with("CLAUDEX_REVIEWER", "lnit");
    let line = doctor(&project, 1).line("configuration");
    has(&line, &["problem", "lnit", "did you mean `lint`?"]);
    project.run(&["doctor"]).exits(1).says("Fix each problem");
}

#[test]
fn doctor_file_instead_of_state_folder_is_a_problem() {
    let project = Project::new();
    std::fs::write(project.root.join(".claude"), "").unwrap();
    let line = doctor(&project, 1).line("state folder");
    has(&line, &["problem", ".claude"]);
}

#[test]
fn doctor_unreadable_loop_is_a_warning() {
    let project = Project::new();
    let file = "20261122-010203-0a1b2c.state";
    write(&project.folder().join(file), "\0");
    has(&doctor(&project, 0).line("loops"), &["warning", file]);
}

#[test]
fn doctor_other_program_first_on_path_is_a_warning() {
    let project = Project::new();
    let script = "echo 'claudex-loop protocol 7 (9.9.9)'";
    let (folder, path) = stand_in(&project, "claudex-loop", script);
    let line = doctor(&project.with("PATH", &path), 0).line("program");
    let folder = folder.to_str().unwrap();
    has(&line, &["warning", folder, "protocol 7 (9.9.9)"]);
}

#[test]
fn doctor_other_plugin_on_our_state_folder_is_a_warning() {
    let project = Project::new();
    has(&doctor(&project, 0).line("other plugins"), &["ok"]);
    project.rival();
    let line = doctor(&project, 0).line("other plugins");
    let works = "claudex@other also works on .claude/claudex";
    has(
        &line,
        &["warning", works, "claude plugin disable claudex@other"],
    );

    // Under another name, its command tells.
    let plugins = project.home.join(".claude/plugins/installed_plugins.json");
    let root = project.home.join("a plugin");
    write(
        &plugins,
        json!({"plugins": {"loops@other": [{"installPath": root}]}}).to_string(),
    );
    write(
        &project.home.join(".claude/settings.json"),
        json!({"enabledPlugins": {"loops@other": true}}).to_string(),
    );
    has(&doctor(&project, 0).line("other plugins"), &["ok"]);
    let hook = json!({"type": "command", "command": "ls .claude/claudex/*.state"});
    write(
        &root.join("hooks/hooks.json"),
        json!({"hooks": {"Stop": [{"hooks": [hook]}]}}).to_string(),
    );
    has(&doctor(&project, 0).line("other plugins"), &["loops@other"]);
}

#[test]
fn doctor_disabled_hooks_are_a_problem() {
    let project = Project::new();
    let user = project.home.join(".claude/settings.json");
    has(&doctor(&project, 0).line("hooks"), &["ok", "not installed"]);
    let hook = json!({"type": "command", "command": "/opt/bin/claudex-loop hook stop"});
    write(
        &user,
        json!({"hooks": {"Stop": [{"hooks": [hook]}]}}).to_string(),
    );
    let user = user.to_str().unwrap();
    has(&doctor(&project, 0).line("hooks"), &["ok", user]);

    let file = project.root.join(".claude/settings.json");
    write(&file, "{\"disableAllHooks\": true}");
    let line = doctor(&project, 1).line("hooks");
    has(
        &line,
        &["problem", file.to_str().unwrap(), "disableAllHooks"],
    );
    // The client reports a file that is not JSON itself.
    write(&file, "{");
    has(&doctor(&project, 0).line("hooks"), &["ok", user]);
}

#[test]
fn doctor_client_version_older_or_missing_is_a_warning() {
    let project = Project::new();
    let version = |version: &str| format!("echo '{version} (Claude Code)'");
    let (_, path) = stand_in(&project, "claude", &version("2.0.99"));
    let project = project.with("PATH", &path);
    let line = doctor(&project, 0).line("client");
    has(&line, &["warning", "2.0.99", "claude update"]);
    stand_in(&project, "claude", "exec sleep 86400");
    has(
        &doctor(&project, 0).line("client"),
        &["warning", "did not end in time"],
    );

    // The client that this runs in comes first.
    let inside = project.home.join("inside/claude");
    executable(&inside, &version("2.1.330"));
    let project = project.with("CLAUDE_CODE_EXECPATH", inside.to_str().unwrap());
    has(&doctor(&project, 0).line("client"), &["ok", "2.1.330"]);
}
