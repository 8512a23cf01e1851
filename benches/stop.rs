//! What a stop costs, beside what the system asks for starting any process at all.
//!
//! Read the figures as ratios to `a process that does nothing`: machines differ, the ratio hardly does.
//! `cargo bench --bench stop`

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

const PROGRAM: &str = env!("CARGO_BIN_EXE_claudex-loop");

fn claudex(root: &Path, arguments: &[&str], input: &str, evidence: &str) {
    let mut command = Command::new(PROGRAM);
    let command = command.args(arguments).env_clear();
    call(root, command.env("CLAUDEX_EVIDENCE", evidence), input);
}

/// A Stop hook of the plugin, as the client runs it.
fn hook(root: &Path, command: &mut Command) {
    call(root, command.env_clear(), &event(root));
}

fn event(root: &Path) -> String {
    format!(r#"{{"session_id":"bench","cwd":{root:?},"hook_event_name":"Stop"}}"#)
}

fn call(root: &Path, command: &mut Command, input: &str) {
    let mut child = command
        .current_dir(root)
        .env("HOME", root)
        .env(
            "PATH",
            Path::new(PROGRAM).parent().expect("a program is in a folder"),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary was built for this benchmark");
    // Who answers without reading has gone by now.
    let _ = child
        .stdin
        .take()
        .expect("stdin is piped")
        .write_all(input.as_bytes());
    assert!(child.wait().expect("the child is ours").success());
}

fn stop(root: &Path, evidence: &str) {
    claudex(root, &["hook", "stop"], &event(root), evidence);
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let git = Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder.path())
        .status();
    assert!(git.expect("git is installed").success());
    folder
}

fn stops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stop");
    group.sample_size(20);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    group.bench_function("a process that does nothing", |bencher| {
        bencher.iter(|| {
            let status = Command::new("/bin/true")
                .env_clear()
                .stdout(Stdio::null())
                .status();
            assert!(status.expect("/bin/true is there").success());
        });
    });

    let idle = project();
    group.bench_function("a project without a loop", |bencher| {
        bencher.iter(|| stop(idle.path(), "required"))
    });

    let minimal = r#"answer=$(/bin/echo '{"decision":"approve"}'); printf '%s\n' "$answer""#;
    group.bench_function("a shell that prints a program's answer", |bencher| {
        bencher.iter(|| hook(idle.path(), Command::new("/bin/sh").args(["-c", minimal])));
    });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin/hooks/stop-hook.sh");
    group.bench_function("a project without a loop, through the plugin", |bencher| {
        bencher.iter(|| hook(idle.path(), &mut Command::new(script)));
    });

    let waiting = project();
    claudex(waiting.path(), &["start", "plan", "a topic"], "", "required");
    stop(waiting.path(), "required");
    group.bench_function("a loop that waits", |bencher| {
        bencher.iter(|| stop(waiting.path(), "required"))
    });

    // Each stop of a loop with a great many rounds commits one revision: journal line, two syncs, rename, runner.
    let moving = project();
    std::fs::write(moving.path().join("PLAN.md"), "# A plan\n").expect("the folder is ours");
    claudex(
        moving.path(),
        &["start", "plan", "--rounds", "1000", "--from-draft", "a topic"],
        "",
        "required",
    );
    group.bench_function("a round that advances", |bencher| {
        bencher.iter(|| stop(moving.path(), "optional"))
    });
    group.finish();
}

criterion_group!(benches, stops);
criterion_main!(benches);
