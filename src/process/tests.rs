use std::fs;

use camino::Utf8PathBuf;

use super::output::plain_line;
use super::*;

/// The limits, which no test reaches.
const NO_LIMITS: Limits = Limits {
    timeout: Duration::from_secs(60),
    idle: Duration::from_secs(60),
};
/// A limit that is long enough for a shell to start on a busy machine.
const SHORT_TIMEOUT: Duration = Duration::from_millis(800);
const SHORT_LIMITS: Limits = Limits {
    timeout: SHORT_TIMEOUT,
    ..NO_LIMITS
};

/// A folder for a script to leave its process ids in.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().to_owned()).unwrap()
    }

    fn run(&self, script: &str, stdin: &[u8], limits: Limits) -> ProcessOutput {
        self.watch(script, stdin, limits, &mut |_| ControlFlow::Continue(()))
    }

    fn watch(
        &self,
        script: &str,
        stdin: &[u8],
        limits: Limits,
        watch: &mut Watch<'_>,
    ) -> ProcessOutput {
        let arguments = ["-c", script].map(str::to_owned);
        let call = Call {
            program: "/bin/sh",
            arguments: &arguments,
            directory: &self.path(),
            stdin,
            environment: &Environment::default(),
            limits,
        };
        supervise(&call, watch)
    }

    /// Checks that no process in `pids`, which the script wrote, is alive. KILL takes a moment.
    fn check_all_dead(&self, expected: usize) {
        let ids: Vec<i32> = fs::read_to_string(self.path().join("pids"))
            .unwrap()
            .lines()
            .map(|id| id.parse().unwrap())
            .collect();
        assert_eq!(ids.len(), expected, "the script did not get far enough");
        let since = Instant::now();
        while let Some(id) = ids.iter().find(|id| is_alive(**id)) {
            assert!(
                since.elapsed() < Duration::from_secs(5),
                "process {id} is still alive"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Returns whether a process runs. One that only waits to be reaped does not.
fn is_alive(id: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(id).unwrap();
    if rustix::process::test_kill_process(pid).is_err() {
        return false;
    }
    match fs::read_to_string(format!("/proc/{id}/stat")) {
        Ok(stat) => {
            let state = stat.rsplit(')').next().unwrap_or_default();
            !state.trim_start().starts_with(['Z', 'X'])
        }
        Err(_) => fs::metadata("/proc/self/stat").is_err(),
    }
}

#[track_caller]
fn check_end(ended: &ProcessOutput, expected: &str) {
    assert_eq!(format!("{:?}", ended.how), expected);
}

#[test]
fn child_reads_the_prompt_and_its_output_is_kept() {
    let bench = Bench::new();
    let script = "printf 'got: '; cat; echo note >&2";
    let ended = bench.run(script, "a\nprompt ü".as_bytes(), NO_LIMITS);
    check_end(&ended, "Exited(0)");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "got: a\nprompt ü");
    assert_eq!(ended.stderr_tail(), "note\n");
    assert!(!ended.truncated());
}

#[test]
fn output_before_the_end_is_read_however_slowly() {
    let bench = Bench::new();
    let script = "i=0; while [ $i -lt 16000 ]; do echo \"line $i of a reviewer that says much of what it does, and why\"; \
                  i=$((i + 1)); done >&2; echo answer; echo end >&2";
    let mut lines = 0;
    let ended = bench.watch(script, b"", NO_LIMITS, &mut |event| {
        if let Event::Line(..) = event {
            lines += 1;
            thread::sleep(Duration::from_micros(500));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(lines, 16_002);
    check_end(&ended, "Exited(0)");
    assert_eq!(ended.stdout, b"answer\n");
    let tail = ended.stderr_tail();
    assert!(tail.ends_with("end\n"), "{tail}");
}

#[test]
fn error_status_and_signal_differ() {
    let bench = Bench::new();
    let ended = bench.run("echo no >&2; exit 7", b"", NO_LIMITS);
    check_end(&ended, "Exited(7)");
    let ended = bench.run("kill -SEGV $$", b"", NO_LIMITS);
    check_end(&ended, "Signalled(11)");
}

#[test]
fn hanging_child_is_ended_with_its_children() {
    let bench = Bench::new();
    let begun = Instant::now();
    let script = "sleep 600 & echo $! >>pids; echo $$ >>pids; wait";
    let ended = bench.run(script, b"", SHORT_LIMITS);
    check_end(&ended, "TimedOut { after: 800ms }");
    // TERM was enough.
    assert!(begun.elapsed() < SHORT_TIMEOUT + TERM_GRACE_TIME);
    bench.check_all_dead(2);
}

#[test]
fn child_that_ignores_term_is_killed() {
    let bench = Bench::new();
    let begun = Instant::now();
    let script = "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! >>pids; echo $$ >>pids; \
                  while :; do sleep 1; done";
    let ended = bench.run(script, b"", SHORT_LIMITS);
    check_end(&ended, "TimedOut { after: 800ms }");
    assert!(begun.elapsed() >= SHORT_TIMEOUT + TERM_GRACE_TIME);
    bench.check_all_dead(2);
}

#[test]
fn child_may_write_after_term() {
    let bench = Bench::new();
    let script = "trap 'echo goodbye; exit 0' TERM; while :; do sleep 0.1; done";
    let ended = bench.run(script, b"", SHORT_LIMITS);
    check_end(&ended, "TimedOut { after: 800ms }");
    assert_eq!(ended.stdout, b"goodbye\n");
}

#[test]
fn grandchildren_with_and_without_pipes_are_ended() {
    let bench = Bench::new();
    let script = "trap '' HUP TERM; sleep 600 >/dev/null 2>&1 </dev/null & echo $! >>pids; \
                  sleep 600 & echo $! >>pids; echo verdict; exit 3";
    let ended = bench.run(script, b"", NO_LIMITS);
    check_end(&ended, "Exited(3)");
    assert_eq!(ended.stdout, b"verdict\n");
    bench.check_all_dead(2);
}

#[test]
fn child_without_streams_is_still_limited() {
    let bench = Bench::new();
    let script = "echo $$ >>pids; exec sleep 600 >&- 2>&-";
    let ended = bench.run(script, b"", SHORT_LIMITS);
    check_end(&ended, "TimedOut { after: 800ms }");
    bench.check_all_dead(1);
}

#[test]
fn child_that_never_reads_does_not_block() {
    let bench = Bench::new();
    let stdin = vec![b'x'; 10 * 1024 * 1024];
    let ended = bench.run("echo fine", &stdin, NO_LIMITS);
    check_end(&ended, "Exited(0)");
    assert_eq!(ended.stdout, b"fine\n");
    let ended = bench.run("sleep 600", &stdin, SHORT_LIMITS);
    check_end(&ended, "TimedOut { after: 800ms }");
}

#[test]
fn silence_is_idle_and_output_on_stderr_is_not() {
    let bench = Bench::new();
    let begun = Instant::now();
    let idle = |idle| Limits { idle, ..NO_LIMITS };
    let script = "echo begin; exec sleep 600";
    let ended = bench.run(script, b"", idle(SHORT_TIMEOUT));
    check_end(&ended, "Idle { after: 800ms }");
    assert_eq!(ended.stdout, b"begin\n");

    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i >&2; sleep 0.2; done; echo done";
    let ended = bench.run(script, b"", idle(2 * SHORT_TIMEOUT));
    check_end(&ended, "Exited(0)");
    // A shorter run would prove nothing.
    assert!(begun.elapsed() > 2 * SHORT_TIMEOUT);
}

#[test]
fn missing_program_or_directory_is_named() {
    let bench = Bench::new();
    let here = bench.path();
    let start = |program, directory: &Utf8Path| {
        let call = Call {
            program,
            arguments: &[],
            directory,
            stdin: b"",
            environment: &Environment::default(),
            limits: NO_LIMITS,
        };
        supervise(&call, &mut |_| ControlFlow::Continue(())).how
    };
    let end = start("no-such-reviewer", &here);
    assert!(matches!(end, ProcessEnd::NotInstalled { .. }));
    let end = start("/bin/sh", &here.join("gone"));
    assert!(matches!(end, ProcessEnd::Io { .. }));
    // A file that the system will not take as a program.
    let odd = here.join("odd");
    fs::write(&odd, [0u8, 1, 2, 3]).unwrap();
    fs::set_permissions(&odd, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let end = start(odd.as_str(), &here);
    assert!(matches!(end, ProcessEnd::Io { .. }));
}

#[test]
fn watcher_sees_each_line_and_ticks() {
    let bench = Bench::new();
    let mut lines = Vec::new();
    let mut ticks = 0;
    let script = r"printf 'out\033[2J\n'; sleep 0.6; printf 'err\r\n\nlast' >&2";
    bench.watch(script, b"", NO_LIMITS, &mut |event| {
        match event {
            Event::Line(_, line) => lines.push(plain_line(line)),
            Event::Tick => ticks += 1,
        }
        ControlFlow::Continue(())
    });
    assert_eq!(lines, ["out", "err", "last"]);
    assert!(ticks >= 2, "{ticks}");
}

#[test]
fn watcher_stops_the_child_at_tick_and_line() {
    let bench = Bench::new();
    let script = "echo $$ >>pids; echo ready; exec sleep 600";
    for stops_at_tick in [false, true] {
        let mut is_ready = false;
        let ended = bench.watch(script, b"", NO_LIMITS, &mut |event| {
            let is_tick = event == Event::Tick;
            is_ready |= !is_tick;
            if is_ready && is_tick == stops_at_tick {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        check_end(&ended, "Stopped");
    }
    bench.check_all_dead(2);
}

#[test]
fn panicking_watcher_leaves_no_process() {
    let bench = Bench::new();
    let script = "echo $$ >>pids; echo ready; exec sleep 600";
    let run = std::panic::AssertUnwindSafe(|| {
        bench.watch(script, b"", NO_LIMITS, &mut |event| {
            assert!(event == Event::Tick, "the watcher's own bug");
            ControlFlow::Continue(())
        })
    });
    assert!(std::panic::catch_unwind(run).is_err());
    bench.check_all_dead(1);
}
