//! `doctor`: each check with its help. It leaves no files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Project, executable, has, tree, write};

/// Runs the doctor, and returns result, finding and help of one check on one line.
#[track_caller]
fn line(project: &Project, code: i32, name: &str) -> String {
    let ran = project.run("doctor --json").exits(code);
    let checks: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no check {name}: {checks:#?}"));
    let text = |key: &str| check[key].as_str().unwrap_or_default().replace('\n', " ");
    format!("{}: {} -> {}", text("result"), text("found"), text("help"))
}

#[track_caller]
fn check(project: &Project, code: i32, name: &str, parts: &[&str]) {
    let line = line(project, code, name);
    parts.iter().for_each(|part| has(&line, part));
}

/// Writes a script under this name into a folder, and returns a PATH that begins with the folder.
fn stand_in(project: &Project, name: &str, script: &str) -> String {
    let folder = project.home.join("bin");
    executable(&folder.join(name), script);
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn doctor_beside_a_loop_changes_nothing() {
    let (project, _) = Project::reviewing(&[]);
    let before = tree(&project.root);
    check(&project, 0, "state folder", &["ok"]);
    assert_eq!(tree(&project.root), before);
}

#[test]
fn doctor_unusable_state_home_names_folder_and_fix() {
    let project = Project::new();
    let home = project.home.join("state");
    check(&project, 0, "state home", &["first start"]);
    project.start(&[]);

    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.state_home(), open).unwrap();
    let parts = ["problem", "open to other users", "chmod 700"];
    check(&project, 1, "state home", &parts);

    std::fs::remove_dir_all(&home).unwrap();
    std::fs::write(&home, "no folder").unwrap();
    let parts = ["problem", "cannot write", "XDG_STATE_HOME"];
    check(&project, 1, "state home", &parts);

    let project = project.with("XDG_STATE_HOME", "").with("HOME", "");
    let parts = ["problem", "neither HOME nor XDG_STATE_HOME"];
    check(&project, 1, "state home", &parts);
}

#[test]
fn doctor_names_unusable_settings_and_files() {
    let project = Project::new().with("CLAUDEX_STALE_MINUTES", "soon");
    let parts = ["problem", "CLAUDEX_STALE_MINUTES"];
    check(&project, 1, "configuration", &parts);
    let project = Project::new().with("CLAUDEX_REVIEWER", "lnit");
    let parts = [
        "problem",
        "lnit",
        "choose `auto`, `claude`, `codex`, `lint`",
    ];
    check(&project, 1, "configuration", &parts);
    project.answers("doctor", 1, "Fix each problem");

    let project = Project::new();
    std::fs::write(project.root.join(".claude"), "").unwrap();
    check(&project, 1, "state folder", &["problem", ".claude"]);
    let project = Project::new().with("CLAUDEX_STATE_DIR", "../loops");
    let fix = "write CLAUDEX_STATE_DIR as an absolute path";
    check(&project, 1, "state folder", &["problem", fix]);
    project.answers("start plan x", 3, fix);
}

#[test]
fn doctor_other_program_on_path_is_a_warning() {
    let project = Project::new();
    let path = stand_in(&project, "claudex-loop", "exit 1");
    let folder = project.home.join("bin").display().to_string();
    let parts = ["warning", "the first on PATH is", &folder];
    check(&project.with("PATH", &path), 0, "program", &parts);
}

#[test]
fn doctor_other_plugin_on_folder_is_a_warning() {
    let project = Project::new();
    check(&project, 0, "other plugins", &["ok"]);
    project.rival(
        "claudex@other",
        "sh \"${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh\"",
    );
    let works = "claudex@other also works on .claude/claudex";
    let parts = ["warning", works, "claude plugin disable claudex@other"];
    check(&project, 0, "other plugins", &parts);

    // Under another name, the command identifies it.
    project.rival("loops@other", "sh \"${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh\"");
    check(&project, 0, "other plugins", &["ok"]);
    project.rival("loops@other", "ls .claude/claudex/*.state");
    check(&project, 0, "other plugins", &["loops@other"]);
}

#[test]
fn doctor_disabled_hooks_are_a_problem() {
    let project = Project::new();
    let user = project.home.join(".claude/settings.json");
    check(&project, 0, "hooks", &["ok", "not installed"]);
    let hook = json!({"type": "command", "command": "/opt/bin/claudex-loop hook stop"});
    let settings = json!({"hooks": {"Stop": [{"hooks": [hook]}]}});
    write(&user, settings.to_string());
    let user = user.to_str().unwrap();
    check(&project, 0, "hooks", &["ok", user]);

    let file = project.root.join(".claude/settings.json");
    write(&file, "{\"disableAllHooks\": true}");
    let parts = ["problem", file.to_str().unwrap(), "disableAllHooks"];
    check(&project, 1, "hooks", &parts);
    // The client itself reports a file that is not JSON.
    write(&file, "{");
    check(&project, 0, "hooks", &["ok", user]);

    std::fs::remove_file(&file).unwrap();
    write(Path::new(user), format!("\u{feff}{settings}"));
    check(&project, 0, "hooks", &["ok", user]);
    write(Path::new(user), settings.to_string().trim_end_matches('}'));
    let problem =
        format!("warning: cannot read {user}: EOF while parsing an object at line 1 column");
    check(&project, 0, "hooks", &[&problem, "correct that file"]);
}
