//! No repository chooses a program: not by `.git`, a relative PATH or npm's PATH entries.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Project, executable, feed, lacks, path_without_clients, write};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin");

/// Returns a loop and a marker file. Git cannot read the project's sparse index without fetching an
/// object, by a command that creates the marker.
fn that_fetches(remote: &[(&str, &str)]) -> (Project, PathBuf) {
    let project = Project::new();
    let marker = project.home.join("marker");
    project.start(&[]);
    let folder = project.root.join(".claude");
    let kept = project.home.join("kept");
    std::fs::rename(&folder, &kept).unwrap();
    write(&folder.join("claudex/tracked"), "x");
    write(&project.root.join("src/a"), "x");
    project.git(&["add", "--force", "."]);
    project.git(&["commit", "--quiet", "--message", "x"]);
    let tree = project.git(&["rev-parse", "HEAD:.claude"]);
    project.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    assert!(!folder.exists());
    std::fs::rename(&kept, &folder).unwrap();
    let (start, rest) = tree.trim().split_at(2);
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

#[test]
fn crafted_repository_has_git_fetch_nothing() {
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
        // Git without our options runs it.
        project.shell("git", &["ls-files"]).output().unwrap();
        assert!(marker.exists(), "the repository is crafted: {remote:?}");
    }
}

/// The names that a shell, the program or a reviewer may look up.
const NAMES: &str =
    "git sh bash env codex claude claudex-loop dirname readlink grep sed cat node test printf";

/// Returns a project with programs of these names, and the PATHs that lead to them.
fn that_brings_programs(project: &Project) -> (PathBuf, [String; 5]) {
    let trap = project.home.join("trap");
    let program = project.home.join("program");
    executable(&program, &format!("echo \"$0 $*\" >> '{}'", trap.display()));
    let copy = format!(
        "for folder in node_modules/.bin . bin .cargo/bin; do mkdir -p $folder; \
         for name in {NAMES}; do cp -p \"$0\" $folder/$name; done; done"
    );
    let mut copying = project.shell("/bin/sh", &["-c", &copy, program.to_str().unwrap()]);
    assert!(copying.status().unwrap().success());
    let bin = project.root.join("node_modules/.bin");
    let link = project.home.join("link");
    symlink(&bin, &link).unwrap();
    let rest = path_without_clients();
    let [bin, link] = [&bin, &link].map(|path| path.to_str().unwrap());
    let paths = ["node_modules/.bin", "", ".", bin, link];
    (trap, paths.map(|first| format!("{first}:{rest}")))
}

fn install(project: &Project) {
    let installed = project.home.join(".cargo/bin/claudex-loop");
    std::fs::create_dir_all(installed.parent().unwrap()).unwrap();
    symlink(crate::support::program(), &installed).unwrap();
}

#[track_caller]
fn check_not_sprung(trap: &Path, what: impl std::fmt::Debug) {
    let sprung = std::fs::read_to_string(trap).unwrap_or_default();
    assert_eq!(sprung, "", "{what:?}");
}

#[test]
fn no_path_leads_the_program_into_the_project() {
    for at in 0..5 {
        let (project, id) = Project::reviewing(&[]);
        let mine = project.home.join("mine");
        let script = "codex; node; grep x < /dev/null\necho 'No substantive findings.'";
        executable(&mine, script);
        project.add_reviewer("mine", mine.to_str().unwrap(), &[]);
        // A state file makes the program ask git as well.
        write(&project.folder().join("decoy.state"), "phase: done\n");
        project.git(&["add", "--force", ".claude/claudex/decoy.state"]);
        let (trap, paths) = that_brings_programs(&project);
        let project = project.with("CLAUDEX_REVIEWER", "");
        let run = |line: &str| {
            let mut command = project.command(&line.replace("ID", &id));
            command.env("PATH", &paths[at]);
            let ran = feed(command, b"{\"session_id\":\"s1\"}");
            check_not_sprung(&trap, (&paths[at], line));
            ran
        };
        run("status").exits(0);
        run("list").exits(0);
        run("doctor");
        run("start review");
        run("review ID --reviewer auto")
            .exits(0)
            .says("lint (auto)");
        run("hook stop").exits(0);
        run("review ID --reviewer mine").exits(0);
        run("run PLAN.md --reviewer mine");
    }
}

/// The plugin's scripts that a client or an agent runs.
const SCRIPTS: [&str; 10] = [
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

#[test]
fn no_path_leads_the_scripts_into_the_project() {
    let (project, id) = Project::reviewing(&[]);
    install(&project);
    let (trap, paths) = that_brings_programs(&project);
    // An ended loop has no runner.
    let runner = project.home.join("runner.sh");
    std::fs::copy(project.runner(&id), &runner).unwrap();
    let shells = ["/bin/sh", "/bin/dash", "/bin/bash"];
    for shell in shells.iter().filter(|shell| Path::new(shell).is_file()) {
        for path in &paths {
            let run = |arguments: &[&str], homes: &[(&str, &str)]| {
                let mut command = project.shell(shell, arguments);
                command.env("PATH", path).envs(homes.iter().copied());
                let ran = feed(command, b"{\"session_id\":\"s1\"}");
                check_not_sprung(&trap, (shell, path, arguments, homes));
                ran
            };
            for script in SCRIPTS.map(|script| format!("{PLUGIN}/{script}")) {
                let ran = run(&[&script], &[]);
                if script.ends_with("/stop-hook.sh") {
                    let decision: Value = serde_json::from_str(&ran.out).unwrap();
                    assert!(decision.is_object(), "{ran:?}");
                    lacks(&ran.out, "was not found");
                }
                run(&[&script], &[("CARGO_HOME", ".cargo"), ("HOME", ".")]);
                run(&[&script], &[("CLAUDEX_LOOP_BIN", "./claudex-loop")]);
            }
            // After some stops it has ended, as only the program can report.
            let ran = run(&[runner.to_str().unwrap()], &[]);
            assert!(ran.code == 0 || ran.err.contains("is in phase"), "{ran:?}");
            let plugin = shlex::try_quote(PLUGIN).unwrap();
            let helpers = format!(". {plugin}/scripts/state-helpers.sh; claudex_new_review_id");
            run(&["-c", &helpers], &[("CLAUDE_PLUGIN_ROOT", PLUGIN)]).exits(0);
            run(&["-c", &helpers], &[]);
        }
    }
}

#[test]
fn script_finds_the_systems_shell_without_path() {
    let project = Project::new();
    install(&project);
    let mut hook = Command::new(Path::new(PLUGIN).join("hooks/stop-hook.sh"));
    hook.current_dir(&project.root)
        .env_clear()
        .env("PATH", "/no/such")
        .env("HOME", &project.home);
    let ran = feed(hook, b"{}").exits(0);
    assert!(ran.out.contains("approve") && ran.err.is_empty(), "{ran:?}");
}
