//! Which programs run: no repository chooses one, whether by its `.git`, by a relative PATH or by what npm puts into PATH.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Project, executable, feed, path_without_clients, write};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin");

/// Makes a project with a loop, and a sparse index that git cannot read without an object that it would fetch by running a
/// command, which makes the marker.
fn that_fetches(remote: &[(&str, &str)]) -> (Project, PathBuf) {
    let project = Project::new();
    let marker = project.home.join("marker");
    project.start(&[]);
    let (folder, kept) = (project.root.join(".claude"), project.home.join("kept"));
    std::fs::rename(&folder, &kept).unwrap();
    write(&folder.join("claudex/tracked"), "x");
    write(&project.root.join("src/a"), "x");
    project.git(&["add", "--force", "."]);
    project.git(&["commit", "--quiet", "--message", "x"]);
    let tree = git_says(&project, &["rev-parse", "HEAD:.claude"]);
    project.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    assert!(!folder.exists());
    std::fs::rename(&kept, &folder).unwrap();
    let (start, rest) = tree.split_at(2);
    std::fs::remove_file(project.root.join(".git/objects").join(start).join(rest)).unwrap();
    let fixed = [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
    ];
    for (key, value) in fixed.iter().chain(remote) {
        project.git(&[
            "config",
            key,
            &value.replace("MARKER", marker.to_str().unwrap()),
        ]);
    }
    (project, marker)
}

fn git_says(project: &Project, arguments: &[&str]) -> String {
    let output = project.shell("git", arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_crafted_repository_has_git_run_no_command_to_fetch_what_is_missing() {
    let remotes: [&[(&str, &str)]; 2] = [
        &[("remote.origin.url", "ext::touch MARKER")],
        &[
            ("remote.origin.url", "/no/such"),
            ("remote.origin.uploadpack", "touch 'MARKER'; false"),
        ],
    ];
    for remote in remotes {
        let (project, marker) = that_fetches(remote);
        for arguments in [
            &["status"][..],
            &["list"],
            &["doctor"],
            &["start", "plan", "x"],
            &["start", "review"],
            &["hook", "session-start"],
            &["rollback", "--dry-run"],
        ] {
            project.run_with_stdin(arguments, b"{}");
            assert!(!marker.exists(), "{arguments:?} {remote:?}");
        }
        project.fire();
        assert!(!marker.exists(), "stop {remote:?}");
        // A git that is asked without care does run it.
        git_says(&project, &["ls-files"]);
        assert!(marker.exists(), "the repository is crafted: {remote:?}");
    }
}

/// Names that a shell, the program, or a reviewer may look up.
const NAMES: [&str; 15] = [
    "git",
    "sh",
    "bash",
    "env",
    "codex",
    "claude",
    "claudex-loop",
    "dirname",
    "readlink",
    "grep",
    "sed",
    "cat",
    "node",
    "test",
    "printf",
];

/// Says how many PATHs lead into a project.
const PATHS: usize = 5;

/// Makes a project that brings programs of these names, and the PATHs that lead to them.
fn that_brings_programs(project: &Project) -> (PathBuf, [String; PATHS]) {
    let trap = project.home.join("trap");
    let bin = project.root.join("node_modules/.bin");
    for folder in [
        &bin,
        &project.root,
        &project.root.join("bin"),
        &project.root.join(".cargo/bin"),
    ] {
        for name in NAMES {
            executable(
                &folder.join(name),
                &format!("echo \"$0 $*\" >> '{}'", trap.display()),
            );
        }
    }
    let link = project.home.join("link");
    symlink(&bin, &link).unwrap();
    let rest = path_without_clients();
    let paths = [
        "node_modules/.bin",
        "",
        ".",
        bin.to_str().unwrap(),
        link.to_str().unwrap(),
    ];
    (trap, paths.map(|first| format!("{first}:{rest}")))
}

#[track_caller]
fn not_sprung(trap: &Path, what: impl std::fmt::Debug) {
    let sprung = std::fs::read_to_string(trap).unwrap_or_default();
    assert_eq!(sprung, "", "{what:?}");
}

#[test]
fn no_path_leads_the_program_into_the_project() {
    for at in 0..PATHS {
        let (project, id) = Project::reviewing(&[]);
        let mine = project.home.join("mine");
        executable(
            &mine,
            "codex; node; grep x < /dev/null\necho 'No substantive findings.'",
        );
        let project = project.configured(format!(
            "[reviewers.mine]\nkind = \"command\"\nprogram = {mine:?}\n"
        ));
        // So that git is asked for the states, too.
        write(&project.folder().join("decoy.state"), "phase: done\n");
        project.git(&["add", "--force", ".claude/claudex/decoy.state"]);
        let (trap, paths) = that_brings_programs(&project);
        let path = &paths[at];
        let run = |arguments: &[&str]| {
            let mut command = project.command(arguments);
            command.env("PATH", path);
            let ran = feed(command, b"{\"session_id\":\"s1\"}");
            not_sprung(&trap, (path, arguments));
            ran
        };
        run(&["status"]).exits(0);
        run(&["list"]).exits(0);
        run(&["doctor"]);
        run(&["start", "review"]);
        run(&["review", &id, "--reviewer", "auto"])
            .exits(0)
            .says("lint (auto)");
        run(&["hook", "stop"]).exits(0);
        run(&["review", &id, "--reviewer", "mine"]).exits(0);
        run(&["run", "PLAN.md", "--reviewer", "mine"]);
    }
}

#[test]
fn no_path_leads_the_plugins_scripts_into_the_project() {
    let (project, id) = Project::reviewing(&[]);
    let installed = project.home.join(".cargo/bin/claudex-loop");
    std::fs::create_dir_all(installed.parent().unwrap()).unwrap();
    symlink(assert_cmd::cargo::cargo_bin!("claudex-loop"), &installed).unwrap();
    let (trap, paths) = that_brings_programs(&project);
    // A loop that is over has none any more.
    let runner = project.home.join("runner.sh");
    std::fs::copy(project.folder().join(format!("{id}-runner.sh")), &runner).unwrap();
    let scripts = [
        "hooks/stop-hook.sh",
        "hooks/session-start-hook.sh",
        "hooks/pre-compact-hook.sh",
        "hooks/pre-tool-use-hook.sh",
        "hooks/prompt-hook.sh",
        "hooks/answer-hook.sh",
        "scripts/status.sh",
        "scripts/doctor.sh",
        "scripts/personas.sh",
        "scripts/start-loop.sh",
    ];
    let shells = ["/bin/sh", "/bin/dash", "/bin/bash"];
    for shell in shells.iter().filter(|shell| Path::new(shell).is_file()) {
        for path in &paths {
            let run = |arguments: &[&OsStr], homes: &[(&str, &str)]| {
                let mut command = project.shell(shell, &[]);
                command
                    .args(arguments)
                    .env("PATH", path)
                    .envs(homes.iter().copied());
                let ran = feed(command, b"{\"session_id\":\"s1\"}");
                not_sprung(&trap, (shell, path, arguments, homes));
                ran
            };
            for script in scripts {
                let script = Path::new(PLUGIN).join(script);
                let ran = run(&[script.as_os_str()], &[]);
                if script.ends_with("stop-hook.sh") {
                    let decision: Value = serde_json::from_str(&ran.out).unwrap();
                    assert!(decision.is_object(), "{ran:?}");
                    assert!(!ran.out.contains("was not found"), "{ran:?}");
                }
                for homes in [
                    &[("CARGO_HOME", ".cargo"), ("HOME", ".")][..],
                    &[("CLAUDEX_LOOP_BIN", "./claudex-loop")],
                ] {
                    run(&[script.as_os_str()], homes);
                }
            }
            // It is over after some stops, which only the program can say.
            let ran = run(&[runner.as_os_str()], &[]);
            assert!(ran.code == 0 || ran.err.contains("is in phase"), "{ran:?}");
            let plugin = shlex::try_quote(PLUGIN).unwrap();
            let helpers = format!(". {plugin}/scripts/state-helpers.sh; claudex_new_review_id");
            let root = [("CLAUDE_PLUGIN_ROOT", PLUGIN)];
            run(&["-c".as_ref(), helpers.as_ref()], &root).exits(0);
            run(&["-c".as_ref(), helpers.as_ref()], &[]);
        }
    }
}

#[test]
fn a_script_finds_the_systems_shell_where_path_has_none() {
    let project = Project::new();
    let installed = project.home.join(".cargo/bin/claudex-loop");
    std::fs::create_dir_all(installed.parent().unwrap()).unwrap();
    symlink(assert_cmd::cargo::cargo_bin!("claudex-loop"), &installed).unwrap();
    let mut hook = Command::new(Path::new(PLUGIN).join("hooks/stop-hook.sh"));
    hook.current_dir(&project.root)
        .env_clear()
        .env("PATH", "/no/such")
        .env("HOME", &project.home)
        .stderr(Stdio::piped());
    let ran = feed(hook, b"{}").exits(0);
    assert!(ran.out.contains("approve") && ran.err.is_empty(), "{ran:?}");
}
