//! What a stop costs, beside what the system asks for starting any process at all.
//!
//! Read the figures as ratios to `a process that does nothing`: machines differ, the ratio hardly does.
//! `cargo bench --bench stop`

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

fn claudex(root: &Path, arguments: &[&str], input: &str, evidence: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_claudex-loop"))
        .args(arguments)
        .current_dir(root)
        .env_clear()
        .env("HOME", root)
        .env("CLAUDEX_EVIDENCE", evidence)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary was built for this benchmark");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin
        .write_all(input.as_bytes())
        .expect("the hook reads its input");
    drop(stdin);
    assert!(child.wait().expect("the child is ours").success());
}

fn stop(root: &Path, evidence: &str) {
    let input = format!(r#"{{"session_id":"bench","cwd":{root:?},"hook_event_name":"Stop"}}"#);
    claudex(root, &["hook", "stop"], &input, evidence);
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
